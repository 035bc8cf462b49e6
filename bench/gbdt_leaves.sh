#!/usr/bin/env bash
# Larger LightGBM models on windows of daily bars: 127 leaves, depth 9 and 500 trees against 255, 15 and 1,000, on six symbols with six
# windows each. Batches of both run in turn, several times; then `lockstep compare` says how much slower and how much better.
#   bench/gbdt_leaves.sh OUT_FILE DATA      DATA: a folder with a file SYMBOL.csv each
# Environment: LOCKSTEP (build/lockstep), ROUNDS (10), SYMBOLS (AAPL,AIG,BAC,GOOG,IBM,QQQ), START (2015-04-01), END (2018-03-17),
# PATIENCE ("50 0": rounds without a better validation loss after which training stops, each asked by itself; 0: all trees),
# CONTEXT (anything that disturbed it); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 2 ] || die "gbdt_leaves.sh takes a file and a folder" "bench/gbdt_leaves.sh OUT_FILE DATA"
case $1 in /*) out=$1 ;; *) out=$PWD/$1 ;; esac
data=$(cd "$2" && pwd)
tool=$(realpath "${LOCKSTEP:-$checkout/build/lockstep}")
rounds=${ROUNDS:-10}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_STATE_HOME=$work/state
windows=("data.path=$data" "symbols=${SYMBOLS:-AAPL,AIG,BAC,GOOG,IBM,QQQ}" "start=${START:-2015-04-01}" "end=${END:-2018-03-17}"
  window_days=180)

# train NAME PATIENCE LEAVES DEPTH TREES
train() {
  "$tool" batch gbdt "${windows[@]}" "early_stopping=$2" "num_leaves=$3" "max_depth=$4" "n_estimators=$5" --name "$1" >"$1.log" 2>&1 ||
    { tail -n 5 "$1.log" >&2 && die "the batch $1 failed"; }
}
names() { seq -f "$1-%g" -s, "$rounds"; }

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
for patience in ${PATIENCE:-50 0}; do
  train warm-up "$patience" 127 9 500
  rm -rf runs/warm-up runs/warm-up.toml
  for round in $(seq "$rounds"); do
    if ((round % 2)); then order="base large"; else order="large base"; fi
    for side in $order; do
      if [ "$side" = base ]; then train "base$patience-$round" "$patience" 127 9 500; else train "large$patience-$round" "$patience" 255 15 1000; fi
    done
  done
  "$tool" compare --groups "base=$(names "base$patience")" "large=$(names "large$patience")" --varied used.num_leaves,used.max_depth,used.num_iterations \
    --json >"$patience.json"
done
python3 - "$(measured_commit "$checkout")" "$date" "$rounds" "${CONTEXT:-}" "${PATIENCE:-50 0}" >record <<'PYTHON'
import json, os, sys

commit, date, rounds, context, patiences = sys.argv[1:]
print(f'command = "bench/gbdt_leaves.sh OUT_FILE DATA"\ncommit = "{commit}"\ndate = "{date}"\ncores = {os.cpu_count()}\nrounds = {rounds}')
if context:
    print(f"context = {json.dumps(context)}")
for patience in patiences.split():
    found = json.load(open(f"{patience}.json"))
    print(f"\n[early_stopping_{patience}]\nverdict = {json.dumps(found['verdict'])}")
    print(f"differences = {json.dumps([one['text'] for one in found['differences']])}")
    for row in found["quantities"]:
        print(f"\n[[early_stopping_{patience}.quantity]]")
        for key, value in row.items():
            if isinstance(value, (str, int, float)) and not isinstance(value, bool):
                print(f"{key} = {json.dumps(value)}")
            elif isinstance(value, list) and all(isinstance(one, (int, float)) for one in value):
                print(f"{key} = {json.dumps(value)}")
            elif isinstance(value, dict) and value and all(isinstance(one, (int, float, str)) for one in value.values()):
                print(f"{key} = {{ {', '.join(f'{name} = {json.dumps(one)}' for name, one in value.items())} }}")
PYTHON
mv record "$out"
grep -A1 '^\[early' "$out"
