#!/usr/bin/env bash
# Configures a build folder where needed and builds targets in it, with what setup.sh chose.
#   build.sh FOLDER [-DOPTION=VALUE…] [TARGET…]       no target: all of them
# Environment: V=1 shows every command; ONLY_CONFIGURE=1 builds nothing; BUILD_TORCH=DIR takes
# another LibTorch than the chosen one; BUILD_CHOICES=DIR other choices than those in .lockstep;
# LOCKSTEP_UNITY=OFF compiles every source by itself.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"

folder=$1
shift
choice() { cat "${BUILD_CHOICES:-$checkout/.lockstep}/$1" 2>/dev/null || true; }
options=(-G Ninja -DCMAKE_CXX_COMPILER="$(choice compiler)" -DLOCKSTEP_TORCH="${BUILD_TORCH:-$(choice torch)}"
  -DLOCKSTEP_CUDA="$(choice cuda)" -DLOCKSTEP_CUDA_ARCHITECTURES="$(choice architectures)"
  -DLOCKSTEP_NVCC="$(choice nvcc)" -DLOCKSTEP_LIGHTGBM="$(choice lightgbm)" -DLOCKSTEP_CUDNN_FRONTEND="$(choice cudnn_frontend)"
  -DLOCKSTEP_DEPS="$(choice deps)" -DLOCKSTEP_TESTS="$(choice tests)" -DLOCKSTEP_UNITY="${LOCKSTEP_UNITY:-ON}")
targets=()
for word in "$@"; do
  if [[ $word == -D* ]]; then options+=("$word"); else targets+=("$word"); fi
done

# A cache of the compiler that cannot be written to, as in a home folder that is read-only, would fail the build.
if command -v ccache >/dev/null && ! mkdir -p "$(ccache --get-config cache_dir 2>/dev/null || echo "$HOME/.ccache")/tmp" 2>/dev/null; then
  export CCACHE_DIR=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}/ccache
  mkdir -p "$CCACHE_DIR" 2>/dev/null || export CCACHE_DISABLE=1
fi

# Other options than last time, or a configuration that failed: from the start.
stamp=$folder/.configured-with
if [ ! -e "$folder/build.ninja" ] || [ "$(cat "$stamp" 2>/dev/null)" != "${options[*]}" ]; then
  mkdir -p "$folder"
  rm -f "$folder/CMakeCache.txt" "$stamp"
  log=$folder/configure.log
  if ! cmake -S "$checkout" -B "$folder" "${options[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    die "the build could not be configured" "see CMake's message above; it is kept in $log"
  fi
  if [ -n "${V:-}" ]; then cat "$log"; else sed -n 's/^-- note: /build: /p' "$log" >&2; fi
  echo "${options[*]}" >"$stamp"
fi

if [ -n "${ONLY_CONFIGURE:-}" ]; then exit 0; fi
verbose=()
if [ -n "${V:-}" ]; then verbose=(-v); fi
exec ninja -C "$folder" -j "$(build_jobs)" "${verbose[@]}" "${targets[@]}"
