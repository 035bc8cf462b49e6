#!/usr/bin/env bash
# Shows that programs built from wheels alone (scripts/without-toolkit.sh scripts/build.sh …) run on a machine with
# GPUs and without a CUDA toolkit: trains with every toolkit hidden, with our kernels and with LibTorch's operators
# in turn, and writes a record. For root.
#   bench/wheels.sh OUT_FILE [GPUS]      GPUS is 1
# Environment: LOCKSTEP names the tool (build/lockstep); REPEATS (2), STEPS (200) and WARM_UP (60);
# LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"

[ $# = 1 ] || [ $# = 2 ] || die "wheels.sh takes a file and a number of GPUs" "bench/wheels.sh OUT_FILE [GPUS]"
out=$1 gpus=${2:-1}
tool=${LOCKSTEP:-$checkout/build/lockstep}
[ -x "$tool" ] || die "$tool is not there" "build it, or name it with LOCKSTEP"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run KERNELS: one JSON line. KERNELS is "own" or "aten".
run() {
  if ! LOCKSTEP_KERNELS=$1 "$checkout/scripts/without-toolkit.sh" "$tool" train textgen preset=bench-textgen \
    "stop.steps=${STEPS:-200}" log.every_steps=10 eval.every_steps=0 "run.root=$work/run" --name step \
    --devices "$(seq -s, 0 $((gpus - 1)))" </dev/null >"$work/log" 2>&1; then
    tail -n 20 "$work/log" >&2
    die "lockstep failed with kernels $1 and no toolkit"
  fi
  python3 "$checkout/bench/read_run.py" "$work/run/step" --after "${WARM_UP:-60}"
  rm -rf "$work/run"
}

{
  echo "# A build from wheels alone, trained with every CUDA toolkit hidden. Written by bench/wheels.sh."
  echo "command = \"bench/wheels.sh $(basename "$out") $gpus\""
  echo "commit = \"$(measured_commit "$checkout")\""
  echo "date = $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "machine = [$(nvidia-smi --query-gpu=name --format=csv,noheader | sed 's/.*/"&"/' | paste -sd, | sed 's/,/, /g')]"
  echo "gpus = $gpus"
  echo "nvcc_found = $("$checkout/scripts/without-toolkit.sh" sh -c 'if test -s "$(command -v nvcc)"; then echo true; else echo false; fi')"
  for _ in $(seq "${REPEATS:-2}"); do
    for kernels in own aten; do
      printf '\n[[run]]\nkernels = "%s"\n' "$kernels"
      run "$kernels" | python3 -c 'import json, sys
for key, value in json.load(sys.stdin).items():
    print(key, "=", json.dumps(value))'
    done
  done
} >"$work/record"
mkdir -p "$(dirname "$out")"
mv "$work/record" "$out"
cat "$out"
