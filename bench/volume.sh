#!/usr/bin/env bash
# Measures the volume recipe on two GPUs of one machine beside PyTorch's, in turn, and writes a record of every run.
#   bench/volume.sh OUT_FILE      needs a python3 with torch
# A step: PyTorch compiled on one GPU; ours on each GPU alone, on both, and on both with the batch of one. A volume of
# 320³ in tiles: PyTorch compiled, and ours.
# Environment: BUILD is the folder of programs (build; targets lockstep, lockstep-worker, lockstep-cuda,
# bench-volume-tiles); REPEATS (2) and STEPS (80); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "volume.sh takes the file to write" "bench/volume.sh OUT_FILE"
case $1 in /*) out=$1 ;; *) out=$PWD/$1 ;; esac
build=${BUILD:-$checkout/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# keep PROGRAM REPEAT JSON
keep() {
  printf '{"program": "%s", "repeat": %s, "result": %s}\n' "$1" "$2" "$3" >>results
  printf '%s %s: %s\n' "$1" "$2" "$3" >&2
}
# ours NAME REPEAT DEVICES WORDS…
ours() {
  local name=$1 repeat=$2 devices=$3
  shift 3
  if ! "$build/lockstep" train volume preset=bench-volume "stop.steps=${STEPS:-80}" log.every_steps=10 --name run \
    --devices "$devices" "$@" >ours.log 2>&1; then
    tail -n 20 ours.log >&2
    die "lockstep failed on devices $devices"
  fi
  keep "$name" "$repeat" "$(python3 "$checkout/bench/read_run.py" runs/run --after 30)"
  rm -rf runs/run
}
peer() {
  python3 "$checkout/bench/peers/$1" "${@:2}" 2>peer.log | grep '^{' | tail -n 1 || die "the peer failed" "$(tail -n 5 peer.log)"
}

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
for repeat in $(seq "${REPEATS:-2}"); do
  keep torch_compile "$repeat" "$(peer step.py volume single_compile --amp fp16 --steps 20)"
  ours gpu_0 "$repeat" 0
  ours gpu_1 "$repeat" 1
  ours both "$repeat" 0,1
  ours both_one_batch "$repeat" 0,1 batch.global=32 batch.accumulation=0
  keep tiles_torch_compile "$repeat" "$(peer volume_tiles.py 320 16 3)"
  keep tiles "$repeat" "$("$build/bench-volume-tiles" 320 16 3 | tail -n 1)"
done
commit=$(measured_commit "$checkout")
python3 - "$commit" "$date" >record <<'PYTHON'
import json, statistics, subprocess, sys

runs = [json.loads(line) for line in open("results")]


def median(program, key):
    return statistics.median(run["result"][key] for run in runs if run["program"] == program)


gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout
print(f'command = "bench/volume.sh OUT_FILE"\ncommit = "{sys.argv[1]}"\ndate = "{sys.argv[2]}"')
print(f'machine = "{"; ".join(gpu.split(chr(10))).strip("; ")}"')
alone = max(median("gpu_0", "step_ms"), median("gpu_1", "step_ms"))
print(f'step_over_compile = {median("gpu_0", "step_ms") / median("torch_compile", "free_ms"):.3f}')
print(f'both_over_slower_alone = {median("both", "step_ms") / alone:.4f}')
print(f'one_batch_on_both_is_faster = {alone / median("both_one_batch", "step_ms"):.3f}')
print(f'peak_over_compile = {median("gpu_0", "peak_gb") / median("torch_compile", "mem_gb"):.3f}')
print(f'tiles_over_compile = {median("tiles", "seconds") / median("tiles_torch_compile", "seconds"):.3f}')
for run in runs:
    print(f'\n[[run]]\nprogram = "{run["program"]}"\nrepeat = {run["repeat"]}')
    for key, value in run["result"].items():
        print(f"{key} = {json.dumps(value)}")
PYTHON
mv record "$out"
cat "$out"
