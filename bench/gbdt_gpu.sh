#!/usr/bin/env bash
# Trains windows of made prices by lockstep batch gbdt with four workers on the CPU (and with all cores), by OpenCL
# and by CUDA: 12 windows each, then 576, or as many as LIMIT allows. Counts placements, and windows per minute.
#   bench/gbdt_gpu.sh OUT_FILE     needs a GPU; for CUDA make lightgbm-cuda
# Environment: LOCKSTEP (build/lockstep), DEVICES ("0,1"; all), LIMIT (seconds of the larger batches; 45), WAYS
# (cpu,cpu_all,gpu,cuda); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
# shellcheck source=bench/lib/gpu_batches.sh
. "$checkout/bench/lib/gpu_batches.sh"
[ $# = 1 ] || die "gbdt_gpu.sh takes the file to write" "bench/gbdt_gpu.sh OUT_FILE"
prepare_batches "$1"
python3 "$checkout/bench/gbdt_gpu.py" "$work/record" "$tool" "$work" --limit "${LIMIT:-45}" --devices "${DEVICES:-}" \
  --count "$device_count" --ways "${WAYS:-cpu,cpu_all,gpu,cuda}"
mv "$work/record" "$out"
