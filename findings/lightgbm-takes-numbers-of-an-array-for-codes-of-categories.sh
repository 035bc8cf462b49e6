#!/usr/bin/env bash
# A LightGBM model of a pandas category column gives other predictions for the same numbers in a NumPy array.
#
# Guess: LightGBM's categories are whole numbers, and the column holds 1 to 5; so predict(frame) and predict(frame.to_numpy()) agree,
# or the second one raises, since the model file lists the categories.
# Seen with lightgbm 4.7.0, pandas 3.1.1 and numpy 2.3.5: the trees hold codes, the places of values among the sorted categories, and
# only a frame is translated into codes. The array's numbers 1 to 5 are taken for codes 0 to 4: each row gets
# the prediction of the next category, and 5 is unknown. What reads the saved model without pandas (the C API, other languages) does the
# same. A column of the strings "1" to "5" is translated to nothing: all are unknown. Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q lightgbm==4.7.0 pandas==3.1.1 numpy==2.3.5
cat >"$work/predict.py" <<'PYTHON'
import sys

import lightgbm
import numpy
import pandas

sizes = numpy.random.default_rng(0).integers(1, 6, 2000)
frame = pandas.DataFrame({"size": pandas.Categorical(sizes)})
parameters = {"objective": "regression", "num_threads": 1, "learning_rate": 0.5, "cat_smooth": 0, "cat_l2": 0}
model = lightgbm.train(parameters, lightgbm.Dataset(frame, 100.0 * sizes), 60)
model.save_model(sys.argv[1] + "/model.txt")
with open(sys.argv[1] + "/model.txt") as file:
    print("SEEN in the model file:", *(line.strip() for line in file if line.startswith("pandas_categorical")))
saved = lightgbm.Booster(model_file=sys.argv[1] + "/model.txt")
rows = pandas.DataFrame({"size": pandas.Categorical([1, 2, 3, 4, 5])})
for name, data in {
    "frame": rows,
    "array": rows.to_numpy(dtype=float),
    "array of codes": rows["size"].cat.codes.to_numpy(dtype=float)[:, None],
    "frame of strings": rows.astype({"size": str}).astype({"size": "category"}),
}.items():
    print(f"SEEN {name}: {[round(float(value)) for value in saved.predict(data)]}")
PYTHON
"$work/venv/bin/python" -W error "$work/predict.py" "$work" >"$work/printed" 2>&1 || { cat "$work/printed" && exit 1; }
if grep -i 'warning.*categor' "$work/printed"; then exit 1; fi
sed -n 's/^SEEN //p' "$work/printed" | tee "$work/said"
diff "$work/said" - <<'TEXT'
in the model file: pandas_categorical:[[1, 2, 3, 4, 5]]
frame: [100, 200, 300, 400, 500]
array: [200, 300, 400, 500, 200]
array of codes: [100, 200, 300, 400, 500]
frame of strings: [200, 200, 200, 200, 200]
TEXT
