#!/usr/bin/env bash
# Hugging Face datasets: with_format("numpy") gives float32 for a column of float64.
#
# Guess: NumPy has each type of the column; a float64 feature comes as float64, and integers, which keep theirs, confirm it. (That
# "torch" gives float32 is what a model wants.)
# Seen with datasets 5.2.0 and numpy 2.3.5: times in seconds that are 10 s apart come as equal numbers, rounded to 128 s, and a
# difference is 0; so are prices and sums beyond 16,777,216. An integer column with one missing value comes as float32
# too, and ids beyond that number become others. features still says float64 and int64, nothing is printed, and
# with_format("pandas") or "arrow" gives what was stored.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q datasets==5.2.0 numpy==2.3.5
cat >"$work/formats.py" <<'PYTHON'
import datasets

rows = {"time": [1.7e9, 1.7e9 + 10], "id": [16777217, 16777219], "part": [16777217, None]}
data = datasets.Dataset.from_dict(rows)
print("features:", {name: kind.dtype for name, kind in data.features.items()})
for kind in ("numpy", "pandas"):
    got = data.with_format(kind)[:]
    print(f"{kind}: time {got['time'].dtype}, {float(got['time'][1] - got['time'][0])} s apart; "
          f"id {got['id'].dtype} {int(got['id'][0])}; part {got['part'].dtype} {int(got['part'][0])}")
PYTHON
HF_HUB_OFFLINE=1 HF_HOME="$work/home" "$work/venv/bin/python" "$work/formats.py" 2>"$work/err" | tee "$work/said"
if grep -i 'warn\|float' "$work/err"; then exit 1; fi
diff "$work/said" - <<'TEXT'
features: {'time': 'float64', 'id': 'int64', 'part': 'int64'}
numpy: time float32, 0.0 s apart; id int64 16777217; part float32 16777216
pandas: time float64, 10.0 s apart; id int64 16777217; part float64 16777217
TEXT
