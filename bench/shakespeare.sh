#!/usr/bin/env bash
# Trains the preset `shakespeare` on 1 and 2 GPUs and in every precision, and writes a record of the
# best and last validation losses.
#   bench/shakespeare.sh CORPUS OUT_FILE      CORPUS is tinyshakespeare's input.txt
# Environment: LOCKSTEP names the tool (build/lockstep); STEPS overrides the preset's.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
corpus=$(realpath "$1") out=$2 tool=${LOCKSTEP:-$checkout/build/lockstep}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

train() { # NAME DEVICES PRECISION
  "$tool" train textgen preset=shakespeare "data.path=$corpus" "precision=$3" log.every_steps=50 \
    ${STEPS:+"stop.steps=$STEPS"} "run.root=$work" --name "$1" --devices "$2" >"$work/$1.log" 2>&1 \
    || { tail -n 20 "$work/$1.log" >&2; exit 1; }
}
"$tool" prepare textgen preset=shakespeare "data.path=$corpus" "run.root=$work" --devices 0 >/dev/null 2>&1 || true
train bf16-1gpu-a 0 bf16 & train bf16-1gpu-b 1 bf16 & wait
train bf16-2gpus 0,1 bf16
train fp16-1gpu 0 fp16 & train fp32-1gpu 1 fp32 & wait
commit=$(git -C "$checkout" rev-parse HEAD 2>/dev/null) || commit=${LOCKSTEP_COMMIT:-unknown}
{
  printf 'command = "bench/shakespeare.sh CORPUS OUT_FILE"\ncommit = "%s"\n' "$commit"
  printf 'machine = "%s"\n' "$(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | xargs)"
  printf 'date = "%s"\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  python3 "$checkout/bench/read_losses.py" "$work"/bf16-1gpu-a "$work"/bf16-1gpu-b "$work"/bf16-2gpus \
    "$work"/fp16-1gpu "$work"/fp32-1gpu
} >"$out"
cat "$out"
