#!/usr/bin/env bash
# Compiles the GPU code with the compiler and the headers of the wheels alone, once for each supported architecture
# and once for all, and records it in bench/results/cuda-architectures.toml. It needs no GPU; where there is a
# toolkit, root, to hide it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
architectures=(75 80 86 89 90 100 120)
folder=$checkout/build-cuda
kernels=(activation adam cross_entropy dropout embedding layer_norm stamp uniform)

LOCKSTEP_CUDA=ON "$here/setup.sh" --quick
hidden=("$here/without-toolkit.sh")
if ! command -v nvcc >/dev/null && [ ! -e /usr/local/cuda ]; then hidden=(); fi
# seconds ARCHITECTURES TARGET…: how long that takes.
seconds() {
  local begin=$EPOCHREALTIME
  "${hidden[@]}" "$here/build.sh" "$folder" -DLOCKSTEP_CUDA=ON -DLOCKSTEP_CUDA_ARCHITECTURES="$1" -DLOCKSTEP_TESTS=OFF "${@:2}" >&2
  awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.1f", b - a}'
}
objects=()
for kernel in "${kernels[@]}"; do objects+=("src/backends/cuda/$kernel.cu.o"); done

record=$checkout/bench/results/cuda-architectures.toml
nvcc=$(cat "$checkout/.lockstep/nvcc")
runs=()
for architecture in "${architectures[@]}"; do
  took=$(seconds "$architecture" "${objects[@]}")
  runs+=("[[run]]
architectures = [$architecture]
kernels_s = $took
")
done
took=$(seconds "$(IFS=';'; echo "${architectures[*]}")" lockstep-cuda)
built=$("$(dirname "$nvcc")/../bin/cuobjdump" --list-elf "$folder/liblockstep-cuda.so" 2>/dev/null || strings -a "$folder/liblockstep-cuda.so")
for architecture in "${architectures[@]}"; do
  grep -q "sm_$architecture" <<<"$built" || die "the library holds no code for sm_$architecture"
done
{
  echo "# Kernels compiled with the wheels' compiler alone; written by scripts/cuda-all.sh."
  echo "command = \"make cuda-all\""
  echo "date = $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "commit = \"$(measured_commit "$checkout")\""
  echo "machine = \"$(usable_cores) cores, no GPU, no CUDA toolkit\""
  echo "nvcc = \"$("$nvcc" --version | sed -n 's/.*release [0-9.]*, V\(.*\)/\1/p')\""
  echo
  printf '%s\n' "${runs[@]}"
  echo "[[run]]"
  echo "architectures = [$(IFS=,; echo "${architectures[*]}" | sed 's/,/, /g')]"
  echo "library_s = $took"
  echo "library_bytes = $(stat -c %s "$folder/liblockstep-cuda.so")"
} >"$record"
say "recorded in bench/results/cuda-architectures.toml"
