#!/usr/bin/env bash
# What processes wait for that begin at once on a GPU: the driver makes their contexts one after the other.
#   bench/contexts.sh OUT_FILE [LIBRARY]      LIBRARY is loaded before, for example libtorch_cuda.so
# Needs g++ and CUDA's headers and static runtime (.lockstep/torch, or CUDA_HOME), or PROGRAM, what this makes elsewhere.
# Environment: NUMBERS ("1 4 16 32 64"), how many at once; CUDA_VISIBLE_DEVICES (0).
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
# shellcheck source=scripts/lib/gpus.sh
. "$checkout/scripts/lib/gpus.sh"
[ $# = 1 ] || [ $# = 2 ] || die "contexts.sh takes a file" "bench/contexts.sh OUT_FILE [LIBRARY]"
out=$1 library=${2:-}
export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=${PROGRAM:-$work/contexts}
if [ -z "${PROGRAM:-}" ]; then
  home=${CUDA_HOME:-$(cat "$checkout/.lockstep/torch" 2>/dev/null)/../nvidia/cu13}
  runtime=$(find -L "$home" -name libcudart_static.a 2>/dev/null | sed -n 1p) || true
  [ -n "$runtime" ] || die "libcudart_static.a is not there" "set CUDA_HOME"
  "${CXX:-g++}" -std=c++20 -O1 -I"$home/include" "$checkout/bench/micro/contexts.cpp" "$runtime" -ldl -lpthread -lrt -o "$program"
fi
{
  echo "# Processes that begin at once on one GPU, each of which makes a context, takes 1 MB, waits 0.3 s and gives all back: seconds"
  echo "# of the slowest for loading, the context, giving back and all of it. Written by bench/contexts.sh."
  echo "command = \"bench/contexts.sh $(basename "$out")${library:+ $(basename "$library")}\""
  echo "date = $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "machine = \"$(smi name | sed -n 1p), $(nproc) cores, driver $(smi driver_version | sed -n 1p)\""
  echo
  echo "[seconds]  # processes = [load, context, give back, all]"
  for number in ${NUMBERS:-1 4 16 32 64}; do
    for ((i = 0; i < number; ++i)); do "$program" ${library:+"$library"} >"$work/$i" & done
    wait
    all=$(for ((i = 0; i < number; ++i)); do cat "$work/$i"; done |
      awk '{for (i = 1; i <= 4; ++i) if ($i > most[i]) most[i] = $i} END {print most[1]+0 ", " most[2]+0 ", " most[3]+0 ", " most[4]+0}')
    echo "$number = [$all]"
    rm -f "$work"/[0-9]*
  done
} >"$out"
cat "$out"
