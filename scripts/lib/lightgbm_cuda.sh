# shellcheck shell=bash disable=SC2034,SC2154
# What LightGBM with CUDA is built from and with: architectures, nvcc, NCCL, CMake, its source.

# GPUs from Turing to Blackwell, where this machine has none.
all_architectures='75;80;86;89;90;100;120'

# Sets `architectures`: "75;90".
choose_architectures() {
  find_gpus
  architectures=${LIGHTGBM_CUDA_ARCHITECTURES:-$(gpu_architectures)}
  if [ -z "$architectures" ]; then
    architectures=$all_architectures
    say "no GPU is here: building for all architectures; LIGHTGBM_CUDA_ARCHITECTURES=90 builds for one, which is quicker"
  fi
  architectures=$(tr ', ' ';;' <<<"$architectures")
  [[ $architectures =~ ^[0-9]+(\;[0-9]+)*$ ]] || die \
    "LIGHTGBM_CUDA_ARCHITECTURES is '$architectures', which is no list of architectures" \
    "for example 90 for an H100, or 75;90 for a T4 too"
}

# Whether a folder holds a library whose NCCL is where it was.
is_built() { [ -s "$1/lib/lib_lightgbm.so" ] && [ -e "$(cat "$1/nccl" 2>/dev/null)" ]; }

# Sets `nvcc`: the one that kernels are compiled with, else a toolkit's.
find_nvcc() {
  nvcc=$(cat "$chosen/nvcc" 2>/dev/null || true)
  if [ -z "${LOCKSTEP_NVCC:-}" ] && [ -x "$nvcc" ]; then return; fi
  LOCKSTEP_CUDA=ON use_cuda_compiler
  if [ -z "$nvcc" ]; then nvcc=$(command -v nvcc || true); fi
  if [ -z "$nvcc" ] && [ -x "${LOCKSTEP_SETUP_ROOT:-}/usr/local/cuda/bin/nvcc" ]; then
    nvcc=${LOCKSTEP_SETUP_ROOT:-}/usr/local/cuda/bin/nvcc
  fi
  [ -n "$nvcc" ] || die "no nvcc was found, which LightGBM with CUDA is compiled by" \
    "set LOCKSTEP_NVCC to the path of one (11.8 or newer)"
}

nccl_library() { compgen -G "$1/lib/libnccl.so*" | sort | sed -n 1p || true; }
has_nccl() { [ -e "$1/include/nccl.h" ] && [ -n "$(nccl_library "$1")" ]; }

# Sets `nccl`: a folder with include/nccl.h and lib/libnccl.so: the user's, LibTorch's, or the wheel's.
find_nccl() {
  local candidate
  if [ -n "${NCCL_ROOT:-}" ]; then
    has_nccl "$NCCL_ROOT" || die "NCCL_ROOT is '$NCCL_ROOT', which lacks include/nccl.h or lib/libnccl.so" \
      "unset it to use that of LibTorch"
    nccl=$NCCL_ROOT
    return
  fi
  for candidate in "$torch_dir/../nvidia/nccl" "$cache/nccl/nvidia/nccl"; do
    if has_nccl "$candidate"; then
      nccl=$(realpath "$candidate")
      return
    fi
  done
  grep '^nvidia-nccl' "$here/wheels-cuda.txt" >"$cache/nccl.txt"
  use_bundle "$cache/nccl.txt" "$cache/nccl" || die "NCCL was not found and cannot be fetched" \
    "set NCCL_ROOT to a folder with include/nccl.h and lib/libnccl.so"
  nccl=$cache/nccl/nvidia/nccl
}

# Sets `cmake` and `ninja`: of the machine, where LightGBM takes that CMake, else of the wheels.
find_cmake() {
  local version
  cmake=$(command -v cmake || true) ninja=$(command -v ninja || true)
  version=$("${cmake:-false}" --version 2>/dev/null | sed -n 's/^cmake version //p')
  if [ -n "$ninja" ] && at_least "${version:-0}" 3.28; then return; fi
  use_bundle "$here/wheels-tools.txt" "$cache/tools" || die \
    "LightGBM needs CMake 3.28 or newer and ninja, and CMake is ${version:-not here}" "pip install cmake ninja"
  cmake=$cache/tools/cmake/data/bin/cmake
  ninja=$(compgen -G "$cache/tools/ninja-*.data/scripts/ninja")
}

# Sets `source` to the archive of LightGBM's source, with the right hash.
use_source() {
  source=${LIGHTGBM_SOURCE:-$cache/wheels/lightgbm-$version.tar.gz}
  if [ ! -e "$source" ] && [ -z "${LIGHTGBM_SOURCE:-}" ]; then
    say "downloading the source of LightGBM $version"
    mkdir -p "$cache/wheels"
    PIP_REQUIRE_VIRTUALENV=0 "$(find_pip)" -m pip download --quiet --no-deps --no-cache-dir --no-binary lightgbm \
      --disable-pip-version-check --dest "$cache/wheels" "lightgbm==$version" >&2 ||
      die "the source of LightGBM $version could not be fetched" \
        "see pip's message above; LIGHTGBM_SOURCE names a file lightgbm-$version.tar.gz that was brought here"
  fi
  [ -e "$source" ] || die "there is no '$source'" "LIGHTGBM_SOURCE is the path of lightgbm-$version.tar.gz"
  has_hash "$source" "$source_hash" || die "'$source' is not the source of LightGBM $version: it has another SHA-256" \
    "remove it and run make lightgbm-cuda again"
}

# build_library FOLDER: lib/lib_lightgbm.so, stripped, with its version and licence.
build_library() (
  work=$cache/lightgbm-cuda-build
  exec 9>"$cache/lightgbm-cuda.lock"  # another than of downloads: it is held for minutes
  flock 9
  rm -rf "$work" "$1.new"
  mkdir -p "$work" "$1.new/lib"
  tar -xzf "$source" -C "$work" --strip-components 1
  runtime=$(compgen -G "$(dirname "$nvcc")/../lib*/libcudart.so*" | sort | sed -n 1p) || true
  # The wheels' libraries have no links without a version, which CMake looks for.
  if ! "$cmake" -S "$work" -B "$work/build" -G Ninja -DCMAKE_MAKE_PROGRAM="$ninja" -DCMAKE_BUILD_TYPE=Release \
    -DUSE_CUDA=ON -DBUILD_CLI=OFF -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CUDA_COMPILER="$nvcc" \
    -DCMAKE_CUDA_ARCHITECTURES="$architectures" ${runtime:+-DCUDA_CUDART="$runtime"} -DBUILD_WITH_SHARED_NCCL=ON \
    -DUSE_NCCL_LIB_PATH=ON -DNCCL_LIBRARY="$(nccl_library "$nccl")" -DNCCL_ROOT="$nccl" >"$work/log" 2>&1; then
    tail -n 30 "$work/log" >&2
    die "LightGBM could not be configured" "see CMake's message above; all of it is in $work/log"
  fi
  say "compiling LightGBM: minutes for each architecture"
  if ! nice "$ninja" -C "$work/build" -j "${JOBS:-$(build_jobs)}" >"$work/log" 2>&1; then
    tail -n 30 "$work/log" >&2
    die "LightGBM could not be compiled" "see the compiler's message above; all of it is in $work/log"
  fi
  cp "$work/lib_lightgbm.so" "$1.new/lib/"
  strip --strip-unneeded "$1.new/lib/lib_lightgbm.so"
  cp "$work/LICENSE" "$1.new/"
  echo "$version" >"$1.new/VERSION.txt"
  nccl_library "$nccl" >"$1.new/nccl"
  rm -rf "$1" "$work"
  mv "$1.new" "$1"
)

# write_choice FILE TEXT: of what later configurations read.
write_choice() {
  echo "$2" >"$chosen/$1.$$"
  mv "$chosen/$1.$$" "$chosen/$1"
}
