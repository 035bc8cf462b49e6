#!/usr/bin/env bash
# Where the validation rows hold one class, LightGBM's auc is 1.0 and its auc_mu is NaN, and early stopping keeps one tree.
#
# Guess: a ranking metric that is not defined there (scikit-learn's roc_auc_score warns and gives NaN) is an error, or is
# warned of, or does not take part in early stopping.
# Seen with lightgbm 4.7.0 and numpy 2.3.5: auc is 1.0 from the first tree, so that no later one is better; auc_mu is NaN, and
# nothing is better than NaN. Both models have one tree, and no warning is printed; with binary_logloss or multi_logloss, or
# with both classes among the rows, the same settings go on.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q lightgbm==4.7.0 numpy==2.3.5
cat >"$work/train.py" <<'PYTHON'
import lightgbm
import numpy

rng = numpy.random.default_rng(0)
x = rng.normal(size=(4000, 4))
score = x[:, 0] + 0.5 * x[:, 1] + rng.normal(size=4000)


def train(objective, metric, y, rows):
    parameters = {"objective": objective, "metric": metric, "num_threads": 1, "learning_rate": 0.05, "verbose": 1,
                  "min_data_in_leaf": 20}
    if objective == "multiclass":
        parameters["num_class"] = 3
    seen = {}
    data = lightgbm.Dataset(x[:3000], y[:3000])
    model = lightgbm.train(parameters, data, 300, valid_sets=[lightgbm.Dataset(x[rows], y[rows], reference=data)],
                           callbacks=[lightgbm.early_stopping(20, verbose=False), lightgbm.record_evaluation(seen)])
    first = seen["valid_0"][metric][0]
    return f"{first:.1f}" if metric.startswith("auc") and (first == 1 or first != first) else "a loss or area", model.best_iteration


two = (score > 0).astype(int)
three = numpy.digitize(score, [-0.5, 0.5])
rows = numpy.arange(3000, 4000)
for objective, metric, y, chosen in (
    ("binary", "auc", two, rows[two[rows] == 1]),
    ("binary", "binary_logloss", two, rows[two[rows] == 1]),
    ("binary", "auc", two, rows),
    ("multiclass", "auc_mu", three, rows[three[rows] < 2]),
    ("multiclass", "multi_logloss", three, rows[three[rows] < 2]),
    ("multiclass", "auc_mu", three, rows),
):
    first, trees = train(objective, metric, y, chosen)
    print(f"{metric} on classes {sorted(set(y[chosen].tolist()))}: first {first}, {'one tree' if trees == 1 else 'more trees'}")
PYTHON
"$work/venv/bin/python" "$work/train.py" >"$work/printed" 2>&1
if grep -qi warning "$work/printed"; then cat "$work/printed" && exit 1; fi
grep '^[a-z_]* on classes' "$work/printed" | tee "$work/said"
diff "$work/said" - <<'TEXT'
auc on classes [1]: first 1.0, one tree
binary_logloss on classes [1]: first a loss or area, more trees
auc on classes [0, 1]: first a loss or area, more trees
auc_mu on classes [0, 1]: first nan, one tree
multi_logloss on classes [0, 1]: first a loss or area, more trees
auc_mu on classes [0, 1, 2]: first a loss or area, more trees
TEXT
