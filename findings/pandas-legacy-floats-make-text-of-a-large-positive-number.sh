#!/usr/bin/env bash
# pandas.read_csv(float_precision="legacy") makes text of a column with one positive number beyond float64, and -inf of a negative one.
#
# Guess: the converters of read_csv differ in the last digits alone, as its documentation suggests; a number that is too
# large is inf for each of them, and -1 times it is -inf.
# Seen with pandas 3.0.1 and numpy 2.3.5: None, "high" and "round_trip" read 1e309 as inf and -1e309 as -inf. "legacy" reads
# -1e309 as -inf too, but with 1e309 in it the whole column is str, also its other numbers. No warning is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q pandas==3.0.1 numpy==2.3.5
cat >"$work/read.py" <<'PYTHON'
import io
import warnings

import pandas

warnings.simplefilter("error")
for cell in ("1e309", "-1e309"):
    for converter in (None, "high", "round_trip", "legacy"):
        column = pandas.read_csv(io.StringIO(f"loss\n0.5\n{cell}\n"), float_precision=converter)["loss"]
        print(f"{cell} {converter}: {column.dtype} {column.tolist()}")
PYTHON
"$work/venv/bin/python" "$work/read.py" | tee "$work/said"
diff "$work/said" - <<'TEXT'
1e309 None: float64 [0.5, inf]
1e309 high: float64 [0.5, inf]
1e309 round_trip: float64 [0.5, inf]
1e309 legacy: str ['0.5', '1e309']
-1e309 None: float64 [0.5, -inf]
-1e309 high: float64 [0.5, -inf]
-1e309 round_trip: float64 [0.5, -inf]
-1e309 legacy: float64 [0.5, -inf]
TEXT
