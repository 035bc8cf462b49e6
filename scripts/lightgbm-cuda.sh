#!/usr/bin/env bash
# Builds LightGBM with CUDA from its source on the package index, in the cache, and copies the library to where
# gbdt.device=cuda finds it. 5 to 10 minutes on 2 cores for each architecture; what is built once is kept.
#   lightgbm-cuda.sh FOLDER      FOLDER: of a build; the library comes to FOLDER/lightgbm-cuda
# Environment: LIGHTGBM_CUDA_ARCHITECTURES ("90" or "75;90"; by default those of this machine's GPUs, or all
# supported), LIGHTGBM_SOURCE (the file lightgbm-VERSION.tar.gz, where it cannot be fetched), NCCL_ROOT (a folder with
# include/nccl.h and lib/; by default the NCCL of LibTorch), LOCKSTEP_NVCC, LOCKSTEP_TORCH, LOCKSTEP_CACHE, CXX, JOBS.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/choosing.sh
. "$here/lib/choosing.sh"
# shellcheck source=scripts/lib/lightgbm_cuda.sh
. "$here/lib/lightgbm_cuda.sh"

[ $# = 1 ] || die "lightgbm-cuda.sh takes the folder of a build" "make lightgbm-cuda"
folder=$1
deps=''
read -r _ version source_hash < <(wheel_lines "$here/source-lightgbm.txt")

choose_architectures
built=$cache/lightgbm-cuda-$version-${architectures//;/-}
if ! is_built "$built"; then
  find_compiler
  [ -n "$compiler" ] || die "no g++ $oldest_compiler or newer was found" "make setup installs one"
  torch_dir=${LOCKSTEP_TORCH:-$(cat "$chosen/torch" 2>/dev/null || true)}
  find_nvcc
  find_nccl
  find_cmake
  say "LightGBM $version with CUDA for ${architectures//;/, }: nvcc $nvcc, NCCL in $nccl, CMake $cmake"
  use_source
  build_library "$built"
fi
mkdir -p "$folder" "$chosen"
rm -rf "$folder/lightgbm-cuda"
cp -r "$built" "$folder/lightgbm-cuda"
write_choice lightgbm_cuda "$built"
say "LightGBM $version with CUDA for ${architectures//;/, } is in $folder/lightgbm-cuda: lockstep train gbdt gbdt.device=cuda max_depth=-1 is_unbalance=false"
