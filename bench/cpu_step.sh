#!/usr/bin/env bash
# Compares a step of small text models on the CPU with eager PyTorch's on the same cores, in turn,
# and writes a record.
#   bench/cpu_step.sh OUT_FILE
# Environment: PYTHON (python3), one that has torch; LOCKSTEP names the tool (build/lockstep);
# REPEATS (3); STEPS of each run (60 and 10); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "cpu_step.sh takes the file to write" "bench/cpu_step.sh OUT_FILE"
text=$checkout/recipes/textgen/data/tinyshakespeare.txt
out=$1 tool=${LOCKSTEP:-$checkout/build/lockstep} python=${PYTHON:-python3}
[ -x "$tool" ] || die "$tool is not there" "make build"
"$python" -c 'import torch' 2>/dev/null || die "$python has no torch" "name another with PYTHON"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure NAME LAYERS WIDTH HEADS CONTEXT BATCH STEPS OPTIONS…
measure() {
  local name=$1 layers=$2 width=$3 heads=$4 context=$5 batch=$6 steps=$7 line
  shift 7
  for repeat in $(seq "${REPEATS:-3}"); do
    "$python" "$checkout/bench/peers/cpu_step.py" "$text" "$layers" "$width" "$heads" "$context" "$batch" "$steps" >"$work/peer"
    while read -r line; do
      echo "{\"program\": \"peer\", \"model\": \"$name\", \"repeat\": $repeat, \"result\": $line}" >>"$work/runs"
    done <"$work/peer"
    for devices in cpu cpu:2; do
      CUDA_VISIBLE_DEVICES='' "$tool" train textgen "$@" "data.path=$text" tokenizer.kind=bytes \
        model.gelu=tanh model.dropout=0 model.attention_dropout=0 batch.global="$batch" \
        stop.steps="$steps" log.every_steps=1 eval.every_steps=0 run.root="$work/runs-dir" \
        --name "$name-$repeat-$devices" --devices "$devices" >"$work/log" 2>&1 || {
        tail -n 20 "$work/log" >&2
        die "lockstep failed on $name"
      }
      line=$("$python" "$checkout/bench/read_run.py" "$work/runs-dir/$name-$repeat-$devices" --after $((steps / 5)))
      echo "{\"program\": \"ours\", \"model\": \"$name\", \"repeat\": $repeat, \"devices\": \"$devices\", \"result\": $line}" >>"$work/runs"
    done
  done
}

measure small 3 128 4 128 32 "${STEPS:-60}" preset=small
measure shakespeare 6 384 6 256 8 "${STEPS:-10}" preset=shakespeare

commit=$(measured_commit "$checkout")
"$python" - "$work/runs" "$commit" >"$work/record" <<'PYTHON'
import json, os, statistics, sys, time

import torch

runs = [json.loads(line) for line in open(sys.argv[1])]
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "unknown")
text = lambda value: json.dumps(value)
print("# A training step on the CPU of ours beside eager PyTorch, in turn; written by bench/cpu_step.sh.")
print(f'command = "bench/cpu_step.sh OUT_FILE"\ncommit = {text(sys.argv[2])}')
print(f'machine = {text(f"{len(os.sched_getaffinity(0))} cores, {cpu}")}')
print(f'date = "{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}"\ntorch = {text(torch.__version__)}')
for model in dict.fromkeys(run["model"] for run in runs):
    def medians(program, key):
        found = {}
        for run in runs:
            if run["model"] == model and run["program"] == program:
                found.setdefault(key(run), []).append(run["result"]["step_ms"])
        return {name: statistics.median(times) for name, times in found.items()}
    ours = medians("ours", lambda run: run["devices"])
    peer = medians("peer", lambda run: f'{run["result"]["threads"]} threads' + (", fused AdamW" if run["result"]["fused_adamw"] else ""))
    print(f"\n[{model}]\nours_over_best_peer = {ours['cpu'] / min(peer.values()):.3f}")
    for name, value in ours.items():
        print(f'ours_ms.{text(name)} = {value:.2f}')
    for name, value in peer.items():
        print(f'peer_ms.{text(name)} = {value:.2f}')
for run in runs:
    print("\n[[run]]")
    for key, value in run.items():
        if key != "result":
            print(f"{key} = {text(value)}")
    for key, value in run["result"].items():
        if key in ("step_ms", "threads", "fused_adamw", "loss"):
            print(f"{key} = {text(value)}")
PYTHON
mv "$work/record" "$out"
cat "$out"
