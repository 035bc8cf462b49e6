#!/usr/bin/env bash
# Trains the preset `shakespeare` for 1,000 steps with everything on (bf16, our kernels, one CUDA
# graph a step) and plainly (fp32, ATen's operators, no graph), with three seeds each, and writes a
# record of the validation losses. Runs share a GPU, so their step times say nothing.
#   bench/equality.sh OUT_FILE
# Environment: LOCKSTEP names the tool (build/lockstep).
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
out=$1 tool=${LOCKSTEP:-$checkout/build/lockstep}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader | wc -l)

train() { # NAME SEED GRAPH PRECISION DEVICE
  "$tool" train textgen preset=shakespeare "seed=$2" "graph=$3" "precision=$4" stop.steps=1000 \
    log.every_steps=50 "run.root=$work" --name "$1" --devices "$5" >"$work/$1.log" 2>&1 \
    || { tail -n 20 "$work/$1.log" >&2; return 1; }
}

# The plain runs take longest: one a GPU, and beside them the others one after the other.
started=()
for seed in 1 2 3; do
  LOCKSTEP_KERNELS=aten train "plain-seed$seed" "$seed" off fp32 "$((seed % gpus))" & started+=($!)
done
for seed in 1 2 3; do train "everything-seed$seed" "$seed" auto bf16 0; done
for pid in "${started[@]}"; do wait "$pid"; done
commit=$(measured_commit "$checkout")
{
  printf 'command = "bench/equality.sh OUT_FILE"\ncommit = "%s"\n' "$commit"
  printf 'machine = "%s"\n' "$(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | xargs)"
  printf 'date = "%s"\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  python3 "$checkout/bench/read_losses.py" "$work"/everything-seed{1,2,3} "$work"/plain-seed{1,2,3}
} >"$work/record"
mv "$work/record" "$out"
cat "$out"
