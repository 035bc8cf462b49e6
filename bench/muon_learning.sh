#!/usr/bin/env bash
# Trains the preset `shakespeare` with AdamW and with Muon at several rates, five seeds each, and writes a record of the
# validation losses after equal steps, with what `lockstep compare` says of the best rates of the two. Several runs
# share a GPU, so their step times say nothing.
#   bench/muon_learning.sh OUT_FILE [GPUS]     GPUS is 1; cpu: on the CPU, a thread each
# Environment: LOCKSTEP names the tool (build/lockstep); STEPS (500); ADAMW and MUON, their rates ("1e-3 3e-3" and "3e-3
# 1e-2"); SEEDS ("1 2 3 4 5"); PRESET; LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || [ $# = 2 ] || die "muon_learning.sh takes a file and a number of GPUs" "bench/muon_learning.sh OUT_FILE [GPUS]"
out=$1 gpus=${2:-1} machine=
if [ "$gpus" = cpu ]; then
  machine="$(usable_cores) cores"
  export OMP_NUM_THREADS=1
else
  machine=$(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | xargs)
fi
tool=${LOCKSTEP:-$checkout/build/lockstep} steps=${STEPS:-500}
seeds=${SEEDS:-1 2 3 4 5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
started=() count=0 sides=()
train() { # KIND RATE
  sides+=("$1-$2")
  for seed in $seeds; do
    device=cpu:1
    if [ "$gpus" != cpu ]; then device=$((count % gpus)); fi
    "$tool" train textgen "preset=${PRESET:-shakespeare}" "optimizer.kind=$1" "optimizer.lr=$2" "seed=$seed" "stop.steps=$steps" \
      "eval.every_steps=$((steps / 5))" checkpoint.every_steps=0 log.every_steps=50 "run.root=$work" \
      --name "$1-$2-s$seed" --devices "$device" >"$work/$1-$2-s$seed.log" 2>&1 &
    started+=($!) count=$((count + 1))
  done
}
for rate in ${ADAMW:-1e-3 3e-3}; do train adamw "$rate"; done
for rate in ${MUON:-3e-3 1e-2}; do train muon "$rate"; done
failed=0
for pid in "${started[@]}"; do wait "$pid" || failed=1; done
if ((failed)); then tail -n 5 "$work"/*.log >&2 && die "a run failed"; fi

runs_of() { for seed in $seeds; do printf '%s/%s-s%s\n' "$work" "$1" "$seed"; done; }
# best KIND: the side of that kind whose last losses have the least mean.
best() {
  for side in "${sides[@]}"; do
    if [ "${side%%-*}" != "$1" ]; then continue; fi
    # shellcheck disable=SC2046
    python3 "$checkout/bench/read_losses.py" $(runs_of "$side") |
      awk -v side="$side" '/^last_loss/ {sum += $3; n++} END {printf "%.6f %s\n", sum / n, side}'
  done | sort -n | head -n 1 | cut -d' ' -f2
}
adamw=$(best adamw) muon=$(best muon)
verdict=$("$tool" compare --groups "adamw=$(runs_of "$adamw" | paste -sd,)" "muon=$(runs_of "$muon" | paste -sd,)" \
  --varied optimizer.kind --varied optimizer.lr 2>&1) || true
{
  printf '# Validation losses by AdamW and by Muon at equal steps; written by bench/muon_learning.sh.\n'
  printf 'command = "bench/muon_learning.sh %s %s"\ncommit = "%s"\n' "$(basename "$out")" "$gpus" "$(measured_commit "$checkout")"
  printf 'machine = "%s"\ndate = %s\nsteps = %s\nbest = ["%s", "%s"]\n' \
    "$machine" "$date" "$steps" "$adamw" "$muon"
  for side in "${sides[@]}"; do
    # shellcheck disable=SC2046
    python3 "$checkout/bench/read_losses.py" $(runs_of "$side")
  done
  printf '\n[compare]\nsays = """\n%s\n"""\n' "$(sed "s|$work/||g" <<<"$verdict")"
} >"$work/record"
mkdir -p "$(dirname "$out")"
mv "$work/record" "$out"
cat "$out"
