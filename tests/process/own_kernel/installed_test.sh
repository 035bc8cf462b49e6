#!/usr/bin/env bash
# Installs Lockstep and builds examples/own_kernel against the installed tree: installed_test.sh BUILD_DIR SOURCE_DIR
# cpu|kernels. With cpu it is trained without its kernels on 1 and 3 ranks; with kernels they are compiled by the real
# nvcc for two architectures, and looked at.
set -euo pipefail
build=$1 source=$2 part=$3
fail() { printf 'failed: %s\n' "$*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
# A part of the long tests, at two of ten commits: examples/own_model is built and trained outside at each.
case $part${LOCKSTEP_TEST_TENTH:-all} in
  cpu[0-1] | cpu[3-6] | cpu[8-9]) skip "in another tenth of the long tests; make test-all runs all of them" ;;
esac
nvcc=$(sed -n 's/^set(lockstep_built_with_nvcc "\(.*\)").*/\1/p' "$build/package/lockstep-config.cmake")
if [ "$part" = kernels ]; then
  [ -n "$nvcc" ] || skip "built without a compiler of CUDA kernels"
  [ -e "$build/liblockstep-cuda.so" ] || skip "liblockstep-cuda.so is not built"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

LOCKSTEP_INSTALL_TORCH=OFF cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; fail install; }
cp -r "$source/examples/own_kernel" "$work/own"
[ "$(wc -l <"$work/own/CMakeLists.txt")" -le 4 ] || fail "CMakeLists.txt has more than 4 lines"
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
configure() {
  cmake -S "$work/own" -B "$work/own/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_CXX_COMPILER="$compiler" "$@" >"$work/cmake.log" || { cat "$work/cmake.log"; fail cmake; }
}
make_target() {
  cmake --build "$work/own/build" --target "$1" >"$work/build.log" 2>&1 || { cat "$work/build.log"; fail build; }
}

if [ "$part" = kernels ]; then
  configure -DLOCKSTEP_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=75;90"
  make_target own_kernel-cuda
  library=$work/own/build/libown_kernel-cuda.so
  if grep -q warning "$work/build.log"; then cat "$work/build.log"; fail "nvcc warns"; fi
  readelf -d "$library" | grep -q 'NEEDED.*libcudart.so' || fail "not linked to LibTorch's CUDA runtime"
  if nm -D --defined-only "$library" | grep -q cudaLaunchKernel; then fail "it brings a CUDA runtime of its own"; fi
  objects=$("$(dirname "$nvcc")/cuobjdump" --list-elf "$library" 2>/dev/null || strings -a "$library")
  for architecture in sm_75 sm_90; do
    grep -q "$architecture" <<<"$objects" || fail "no code for $architecture"
  done
  exit 0
fi

configure -DLOCKSTEP_CUDA=OFF
grep -q 'the plugin own_kernel is built without rbf.cu: LOCKSTEP_CUDA=OFF' "$work/cmake.log" || fail "not said: $(cat "$work/cmake.log")"
make_target own_kernel
cd "$work"
for ranks in 1 3; do
  prefix/bin/lockstep train --plugin own/build/libown_kernel.so own_kernel --devices "cpu:$ranks" --name "r$ranks" \
    stop.epochs=2 2>"$ranks.log" || { cat "$ranks.log"; fail "train on $ranks ranks"; }
done
python3 - <<'P'
import json
def of(name, kind):
    return [e for e in map(json.loads, open(f"runs/{name}/events.jsonl")) if e["kind"] == kind]
one, three = ([e["loss"] for e in of(name, "step")] for name in ("r1", "r3"))
assert len(one) == len(three) == 40, (len(one), len(three))
worst = max(abs(a - b) / a for a, b in zip(one, three))
assert worst < 1e-4, worst
assert three[-1] < three[0], three
print(f"largest relative difference of 40 losses on 1 and 3 ranks: {worst:.1e}")
P
