#!/usr/bin/env bash
# Trains presets that are meant for two T4s with as much memory as those have, and an episode of the fewshot recipe that does
# not fit into it: a few steps each, and a record of all. About two minutes.
#   bench/memory_caps.sh OUT_FILE [GPUS]      GPUS is 1; needs a python3 with torch
# The allocator of LibTorch refuses what would go beyond LIMIT_GB; what the driver itself keeps is not in that.
# Environment: BUILD is the folder of programs (build); LIMIT_GB (15.75); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || [ $# = 2 ] || die "memory_caps.sh takes a file and a number of GPUs" "bench/memory_caps.sh OUT_FILE [GPUS]"
case $1 in /*) out=$1 ;; *) out=$PWD/$1 ;; esac
gpus=${2:-1} limit_gb=${LIMIT_GB:-15.75}
tool=${BUILD:-$checkout/build}/lockstep
total_mib=$(nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits | sed -n 1p)
PYTORCH_ALLOC_CONF=per_process_memory_fraction:$(awk "BEGIN {print $limit_gb * 1e9 / ($total_mib * 1048576)}")
export PYTORCH_ALLOC_CONF
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 "$checkout/bench/fewshot_set.py" pictures
python3 "$checkout/bench/dimabsa_set.py" sentences

# run NAME RECIPE WORDS…
run() {
  local name=$1 code=0
  shift
  "$tool" train "$@" --name run --devices "$(seq -s, 0 $((gpus - 1)))" eval.every_epochs=0 checkpoint.every_epochs=0 \
    log.every_steps=2 >"$name.log" 2>&1 || code=$?
  python3 - "$name" "$code" "$*" >>results <<'PYTHON'
import json, pathlib, sys

name, code, words = sys.argv[1:]
events = []
if pathlib.Path("runs/run/events.jsonl").exists():
    events = [json.loads(line) for line in open("runs/run/events.jsonl")]
steps = [event for event in events if event["kind"] == "step"]
print(f"[{name}]\nwords = {json.dumps(words)}\nexit_code = {code}\nsteps = {steps[-1]['step'] if steps else 0}")
if steps:
    print(f"peak_gb = {max(rank['peak'] for rank in steps[-1]['memory']) / 1e9:.3f}\nstep_ms = {1e3 * steps[-1]['step_s']:.2f}")
    print(f"computed_again = {json.dumps(any(event.get('recompute') for event in events))}")
print()
PYTHON
  sed -n '$p' "$name.log" >&2
  rm -rf runs/run
}

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
episode=(fewshot data.path=pictures data.novel_share=0 stop.episodes=$((40 * gpus)))
run dimabsa_kaggle dimabsa preset=kaggle task=2 model.path=sentences/bert data.path=sentences/eng_made_train_task2.jsonl \
  data.valid_share=0 stop.epochs=0 stop.steps=40
run fewshot_t4x2 "${episode[@]}" preset=t4x2 "batch.global=$gpus"
# 60 pictures of 640²: more than the limit, less than the GPU really has, so that it shows in the run.
large=("${episode[@]}" preset=resnet50 "batch.global=$gpus" episode.n_way=5 episode.k_shot=10 episode.queries=10 episode.size=640
  precision=fp16)
run fewshot_large_in_full "${large[@]}" memory.recompute=off
run fewshot_large "${large[@]}"
{
  echo "command = \"bench/memory_caps.sh $(basename "$out") $gpus\""
  echo "commit = \"$(measured_commit "$checkout")\""
  echo "date = $date"
  echo "machine = \"$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | paste -sd';' | sed 's/;/; /g')\""
  echo "limit_gb = $limit_gb"
  echo
  cat results
} >record
mv record "$out"
cat "$out"
