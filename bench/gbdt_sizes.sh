#!/usr/bin/env bash
# Trains made tables of several sizes by `lockstep train gbdt` on one thread, on all threads, by OpenCL and by CUDA, and
# writes a record of what pays: rows x leaves x device.
#   bench/gbdt_sizes.sh OUT_FILE
# Environment: LOCKSTEP (build/lockstep), ROWS ("100 1000 10000 100000 1000000"), LEAVES ("31 127 255"), TREES (30),
# DEVICES ("cpu-1 cpu-all gpu cuda"; one that is not there is named and left out), CUDA_LIBRARY (lib_lightgbm.so with
# CUDA; empty: what gbdt.device=cuda finds by itself), SECONDS_IN_ALL (110: no training begins later), CONTEXT (anything
# that disturbed it); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "gbdt_sizes.sh takes the file to write" "bench/gbdt_sizes.sh OUT_FILE"
tool=${LOCKSTEP:-$checkout/build/lockstep}
[ -x "$tool" ] || die "$tool is not there" "build the target lockstep"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sort | uniq -c | awk '{$1=$1 " x"} 1' | paste -sd, || true)
read -ra rows <<<"${ROWS:-100 1000 10000 100000 1000000}"
read -ra leaves <<<"${LEAVES:-31 127 255}"
read -ra devices <<<"${DEVICES:-cpu-1 cpu-all gpu cuda}"
python3 "$checkout/bench/gbdt_sizes.py" "$tool" "$work" --rows "${rows[@]}" --leaves "${leaves[@]}" \
  --devices "${devices[@]}" --threads "$(usable_cores)" --trees "${TREES:-30}" \
  --cuda-library "${CUDA_LIBRARY:-}" --seconds "${SECONDS_IN_ALL:-110}" >"$work/found"
{
  record_head "$checkout" "bench/gbdt_sizes.sh OUT_FILE" "${gpus:-}"
  cat "$work/found"
} >"$work/record"
mv "$work/record" "$1"
cat "$1"
