#!/usr/bin/env bash
# Measures what it brings that small training jobs share a device: 64 jobs of lockstep train textgen and of a Python
# program of the same size, one per device and packed by measurement, in turn; then jobs of which one needs more memory
# than the others leave. Counts verified placements, peaks, and how evenly devices are used. About three minutes.
#   bench/packing.sh OUT_FILE      needs a GPU, and a python3 with torch
# Environment: LOCKSTEP (build/lockstep), DEVICES ("0,1"; all), JOBS (64), LIMIT (seconds after which a batch starts no
# more jobs; 36), PROGRAM (a stand-in for all jobs), ONLY (textgen_small or python_small, and no lack of memory); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
# shellcheck source=bench/lib/gpu_batches.sh
. "$checkout/bench/lib/gpu_batches.sh"
[ $# = 1 ] || die "packing.sh takes the file to write" "bench/packing.sh OUT_FILE"
prepare_batches "$1"
python3 "$checkout/bench/packing.py" "$work/record" "$tool" "$work" --jobs "${JOBS:-64}" --limit "${LIMIT:-36}" \
  --devices "${DEVICES:-}" --count "$device_count" ${PROGRAM:+--program "$PROGRAM"} ${ONLY:+--only "$ONLY"}
mv "$work/record" "$out"
