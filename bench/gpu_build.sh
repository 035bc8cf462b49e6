#!/usr/bin/env bash
# Builds Lockstep on a machine with GPUs against the torch that python3 imports, without installing
# anything.
#   bench/gpu_build.sh [FOLDER [TARGET…]]       FOLDER is build; without a TARGET, everything
# Environment: LOCKSTEP_DEPS names a folder made by scripts/pack-deps.sh where the system lacks the
# packages; LOCKSTEP_TORCH another LibTorch; CXX the compiler; JOBS the number of build jobs.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
cd "$checkout"

folder=${1:-build}
if [ $# -gt 0 ]; then shift; fi

torch=${LOCKSTEP_TORCH:-$(python3 -c '
import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] if spec else "")')}
if [ ! -e "$torch/lib/libtorch_cuda.so" ]; then
  die "python3 has no torch with CUDA" "name the folder of another with LOCKSTEP_TORCH=DIR"
fi

compiler=${CXX:-$(command -v g++-13 || command -v g++ || true)}
[ -n "$compiler" ] || die "no g++ was found" "install g++ 12 or newer, or name it with CXX"
generator=(-G Ninja)
command -v ninja >/dev/null || generator=()

# scripts/gpu-test.sh and scripts/test.sh look here for what the build was made with.
mkdir -p .lockstep
[ -e .lockstep/torch ] || echo "$torch" >.lockstep/torch
[ -e .lockstep/compiler ] || echo "$compiler" >.lockstep/compiler

cmake -S . -B "$folder" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$compiler" -DLOCKSTEP_TORCH="$torch" -DLOCKSTEP_CUDA=ON -DLOCKSTEP_UNITY=ON \
  ${LOCKSTEP_DEPS:+-DLOCKSTEP_DEPS="$LOCKSTEP_DEPS"}
targets=()
for target in "$@"; do targets+=(--target "$target"); done
time cmake --build "$folder" -j "${JOBS:-$(build_jobs)}" "${targets[@]}"
