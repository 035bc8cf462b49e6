#!/usr/bin/env bash
# Trains the preset `shakespeare` on 1 and 2 GPUs and in every precision, with two seeds, and writes a
# record of the validation losses. Several runs share a GPU, so its step times say nothing.
#   bench/shakespeare.sh OUT_FILE
# Environment: LOCKSTEP names the tool (build/lockstep); STEPS overrides the preset's.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
out=$1 tool=${LOCKSTEP:-$checkout/build/lockstep}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

train() { # NAME SEED DEVICES PRECISION
  "$tool" train textgen preset=shakespeare "seed=$2" "precision=$4" log.every_steps=50 \
    ${STEPS:+"stop.steps=$STEPS"} "run.root=$work" --name "$1" --devices "$3" >"$work/$1.log" 2>&1 \
    || { tail -n 20 "$work/$1.log" >&2; return 1; }
  echo "$work/$1" >>"$work/done"
}
together() { # waits for every run that was started, and fails if one did
  local failed=0
  for pid in "${started[@]}"; do wait "$pid" || failed=1; done
  started=()
  return "$failed"
}

# Two seeds of each, so that a difference can be told from chance.
started=()
for seed in 1 2; do
  for precision in bf16 fp16 fp32; do
    train "$precision-1gpu-seed$seed" "$seed" "$((seed - 1))" "$precision" & started+=($!)
  done
done
together
for seed in 1 2; do
  for precision in bf16 fp32; do
    train "$precision-2gpus-seed$seed" "$seed" 0,1 "$precision" & started+=($!)
  done
done
together
commit=$(measured_commit "$checkout")
{
  printf 'command = "bench/shakespeare.sh OUT_FILE"\ncommit = "%s"\n' "$commit"
  printf 'machine = "%s"\n' "$(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | xargs)"
  printf 'date = "%s"\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  sort "$work/done" | xargs python3 "$checkout/bench/read_losses.py"
} >"$work/record"
mv "$work/record" "$out"
cat "$out"
