#!/usr/bin/env bash
# What the fewshot recipe learns of chess pieces from random weights: eight classes are trained on, four are new; 5 shots, intervals
# over episodes, beside a model that was hardly trained. Writes a record.
#   bench/fewshot_learning.sh OUT_FILE CHESS
# CHESS: a folder with train.json, valid.json, train/ and valid/.
# Environment: LOCKSTEP names the tool (build/lockstep); SEEDS ("1 2"); DEVICES (0); EPISODES (4000); WORDS are added to the
# options; LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 2 ] || die "fewshot_learning.sh takes two arguments" "bench/fewshot_learning.sh OUT_FILE CHESS"
case $1 in /*) out=$1 ;; *) out=$PWD/$1 ;; esac
chess=$(cd "$2" && pwd)
tool=${LOCKSTEP:-$checkout/build/lockstep}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

settings=(preset=resnet50 model.depth=18 batch.global=8 episode.size=384 optimizer.lr=1e-3 episode.k_shot=5 evaluate.episodes=100
  data.novel=white-knight,black-knight,white-queen,black-queen eval.every_epochs=0 checkpoint.every_epochs=0)
read -ra more <<<"${WORDS:-}"
# learn NAME WORDS…
learn() {
  local begin=$SECONDS
  if ! "$tool" train fewshot --name "$1" --devices "${DEVICES:-0}" "data.path=$chess" "${settings[@]}" "${more[@]}" "${@:2}" >train.log 2>&1; then
    tail -n 20 train.log >&2
    die "training failed" "see above"
  fi
  printf '%s %s\n' "$1" $((SECONDS - begin)) >>runs.list
}

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
learn untrained stop.episodes=8 optimizer.lr=1e-9
for seed in ${SEEDS:-1 2}; do learn "seed-$seed" "seed=$seed" "stop.episodes=${EPISODES:-4000}"; done

commit=$(measured_commit "$checkout")
python3 - "$commit" "$date" "${settings[*]} ${more[*]}" "${DEVICES:-0}" >record <<'PYTHON'
import json, pathlib, sys

commit, date, settings, devices = sys.argv[1:]
print(f'command = "bench/fewshot_learning.sh OUT_FILE CHESS"\ncommit = "{commit}"\ndate = "{date}"\nsettings = "{settings.strip()}"\ndevices = "{devices}"')
for line in open("runs.list"):
    name, seconds = line.split()
    tables = max((pathlib.Path("runs") / name / "evaluations").iterdir())
    print(f'\n[[run]]\nname = "{name}"\nwall_s = {seconds}')
    for metric, value in json.loads((tables / "metrics.json").read_text())["metrics"].items():
        print(f"{metric} = {value:.4f}")
PYTHON
mv record "$out"
cat "$out"
