#!/usr/bin/env bash
# Builds bench/micro/channel_norm.cu with variants of src/ops/channel_norm/channel_norm.cu.
#   bench/micro/channel_norm.sh PROGRAM [ONE,TWO…]      by default 3,2: as the library has it
# A variant asks for elements so many turns ahead where it reads ONE tensor, or TWO (for_turns in voxels.cuh).
# Needs nvcc (.lockstep/nvcc, or on PATH); ARCHITECTURE is 90.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# -ge 1 ] || die "channel_norm.sh takes the program to write" "bench/micro/channel_norm.sh PROGRAM [ONE,TWO…]"
program=$1
shift
if [ $# = 0 ]; then set -- 3,2; fi
nvcc=$(cat "$checkout/.lockstep/nvcc" 2>/dev/null || command -v nvcc) || die "there is no nvcc" "run scripts/setup.sh with LOCKSTEP_CUDA=ON"
include=''
for one in "$(dirname "$nvcc")/../include" "$(cat "$checkout/.lockstep/torch" 2>/dev/null)/../nvidia/cu13/include"; do
  if [ -e "$one/cuda_runtime.h" ]; then include=$one; fi
done
[ -n "$include" ] || die "the headers of CUDA's runtime are not there"
runtime=$(find -L "$include/../lib" "$include/../lib64" -name libcudart_static.a 2>/dev/null | sed -n 1p) || true
[ -n "$runtime" ] || die "libcudart_static.a is not there"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
architecture=${ARCHITECTURE:-90}
compile() {
  "$nvcc" -std=c++20 -O3 -ccbin "${CXX:-g++}" -gencode "arch=compute_$architecture,code=sm_$architecture" -I"$checkout/src" -I"$include" -I"$work" \
    -c "$@"
}
objects=()
for pair in "$@"; do
  one=${pair%,*} two=${pair#*,}
  name=ahead_${one}_$two
  echo "VARIANT($name)" >>"$work/variants.inc"
  compile "$checkout/src/ops/channel_norm/channel_norm.cu" -o "$work/$name.o" -DNORM_AHEAD_1="$one" -DNORM_AHEAD_2="$two" \
    -Dlaunch_channel_norm_forward="forward_$name" -Dlaunch_channel_norm_backward="backward_$name" \
    -Dlaunch_channel_moments="moments_$name" -Dlaunch_sums="sums_$name" -Dlaunch_finish_sums="finish_sums_$name"
  objects+=("$work/$name.o")
done
compile "$checkout/src/ops/channel_norm/channel_norm_on_chip.cu" -o "$work/on_chip.o"
compile "$checkout/bench/micro/channel_norm.cu" -o "$work/bench.o"
"${CXX:-g++}" "$work/bench.o" "$work/on_chip.o" "${objects[@]}" "$runtime" -ldl -lpthread -lrt -o "$program"
