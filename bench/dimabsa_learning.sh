#!/usr/bin/env bash
# What the dimabsa recipe learns from nothing on quadruplets made of MAMS (recipes/dimabsa/data/make_tuples.py), on CPUs: tasks 3
# and 2, scores of its 500 test sentences, which are evaluated once, after the last step. Writes a record.
#   bench/dimabsa_learning.sh OUT_FILE MAMS
# MAMS: a folder with train.jsonl and test.jsonl of MAMS-ATSA.
# Environment: LOCKSTEP names the tool (build/lockstep); SEEDS ("42"); DEVICES (cpu:2); NOTE is put into the record; LOCKSTEP_COMMIT
# where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 2 ] || die "dimabsa_learning.sh takes two arguments" "bench/dimabsa_learning.sh OUT_FILE MAMS"
case $1 in /*) out=$1 ;; *) out=$PWD/$1 ;; esac
mams=$(cd "$2" && pwd)
tool=${LOCKSTEP:-$checkout/build/lockstep}
recipe=$checkout/recipes/dimabsa/data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for split in train test; do
  python3 "$recipe/make_tuples.py" "$mams/$split.jsonl" "eng_restaurant_${split}_task3.jsonl"
done

settings=(precision=fp32 data.path=eng_restaurant_train_task3.jsonl data.valid_path=eng_restaurant_test_task3.jsonl
  model.width=64 model.layers=2 model.heads=4 model.vocabulary=4000 batch.global=8 stop.epochs=3 eval.every_epochs=3)
categories=("data.categories=$recipe/restaurant_categories.txt")
date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
for task in 3 2; do
  for seed in ${SEEDS:-42}; do
    words=("task=$task" "seed=$seed" "${settings[@]}")
    ((task == 2)) || words+=("${categories[@]}")
    begin=$SECONDS
    if ! "$tool" train dimabsa --name "run-$task-$seed" --devices "${DEVICES:-cpu:2}" "${words[@]}" >train.log 2>&1; then
      tail -n 20 train.log >&2
      die "training failed" "see above"
    fi
    printf '%s %s %s %s\n' "$task" "$seed" $((SECONDS - begin)) "runs/run-$task-$seed" >>runs.list
  done
done

commit=$(measured_commit "$checkout")
python3 - "$commit" "$date" "$(uname -m), $(nproc) cores" "${settings[*]}" "${DEVICES:-cpu:2}" "${NOTE:-}" >record <<'PYTHON'
import json, pathlib, sys

commit, date, machine, settings, devices, note = sys.argv[1:]
print(f'command = "bench/dimabsa_learning.sh OUT_FILE MAMS"\ncommit = "{commit}"\ndate = "{date}"\nmachine = "{machine}"')
print(f'settings = "{settings}"\ndevices = "{devices}"')
if note:
    print(f'note = "{note}"')
for line in open("runs.list"):
    task, seed, seconds, run = line.split()
    tables = max((pathlib.Path(run) / "evaluations").iterdir())
    read = lambda name: json.loads((tables / name).read_text())
    print(f"\n[[run]]\ntask = {task}\nseed = {seed}\nwall_s = {seconds}\nsteps = {read('metrics.json')['step']}")
    for name, value in read("metrics.json")["metrics"].items():
        print(f"{name} = {value:.4f}")
    groups = read("null.json") + (read("categories.json") if task == "3" else [])
    for group in groups:
        if group["gold"]:
            print(f"group.{json.dumps(group['group'])} = {{gold = {group['gold']}, f1 = {group['f1']:.4f}, cf1 = {group['cf1']:.4f}}}")
PYTHON
mv record "$out"
cat "$out"
