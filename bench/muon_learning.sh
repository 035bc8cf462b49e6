#!/usr/bin/env bash
# Trains the preset `shakespeare` with AdamW and with Muon, five seeds each at the same rate and number of steps, and
# writes a record of the validation losses with what `lockstep compare` says of them. Several runs share a GPU, so
# their step times say nothing.
#   bench/muon_learning.sh OUT_FILE [GPUS]     GPUS is 1
# Environment: LOCKSTEP names the tool (build/lockstep); STEPS (500); LR, the rate of both (the preset's); SEEDS
# ("1 2 3 4 5"); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || [ $# = 2 ] || die "muon_learning.sh takes a file and a number of GPUs" "bench/muon_learning.sh OUT_FILE [GPUS]"
out=$1 gpus=${2:-1} tool=${LOCKSTEP:-$checkout/build/lockstep} steps=${STEPS:-500}
seeds=${SEEDS:-1 2 3 4 5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
started=() count=0
for kind in adamw muon; do
  for seed in $seeds; do
    "$tool" train textgen preset=shakespeare "optimizer.kind=$kind" "seed=$seed" "stop.steps=$steps" \
      "eval.every_steps=$((steps / 5))" ${LR:+"optimizer.lr=$LR"} checkpoint.every_steps=0 log.every_steps=50 "run.root=$work" \
      --name "$kind-s$seed" --devices "$((count % gpus))" >"$work/$kind-s$seed.log" 2>&1 &
    started+=($!) count=$((count + 1))
  done
done
failed=0
for pid in "${started[@]}"; do wait "$pid" || failed=1; done
if ((failed)); then tail -n 5 "$work"/*.log >&2 && die "a run failed"; fi

runs_of() { for seed in $seeds; do printf '%s/%s-s%s ' "$work" "$1" "$seed"; done; }
# shellcheck disable=SC2046
verdict=$("$tool" compare --groups "adamw=$(runs_of adamw | xargs | tr ' ' ,)" "muon=$(runs_of muon | xargs | tr ' ' ,)" \
  --varied optimizer.kind 2>&1) || true
{
  printf '# Validation losses by AdamW and by Muon at equal steps; written by bench/muon_learning.sh.\n'
  printf 'command = "bench/muon_learning.sh %s %s"\ncommit = "%s"\n' "$(basename "$out")" "$gpus" "$(measured_commit "$checkout")"
  printf 'machine = "%s"\ndate = %s\nsteps = %s\n' \
    "$(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | xargs)" "$date" "$steps"
  # shellcheck disable=SC2046
  python3 "$checkout/bench/read_losses.py" $(runs_of adamw) $(runs_of muon)
  printf '\n[compare]\nsays = """\n%s\n"""\n' "$(sed "s|$work/||g" <<<"$verdict")"
} >"$work/record"
mkdir -p "$(dirname "$out")"
mv "$work/record" "$out"
cat "$out"
