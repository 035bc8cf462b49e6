#!/usr/bin/env bash
# Keras' CSVLogger(append=True) keeps the first header while the columns of later rows are those of the new fit.
#
# Guess: a log that is appended to has one meaning for each column, or the logger warns or writes another header where the
# metrics of the new fit differ.
# Seen with keras 3.15.1, jax 0.8.1 and numpy 2.3.5: the first fit logs accuracy and loss. The second one goes on with
# ReduceLROnPlateau, which adds learning_rate; names are sorted, so that the column `loss` now holds the learning rate, the loss
# stands below val_accuracy, and two cells have no name. What reads or draws the column shows that the loss fell to 0.01.
# Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q keras==3.15.1 jax==0.8.1 numpy==2.3.5
cat >"$work/fit.py" <<'PYTHON'
import csv
import sys

import keras
import numpy

rng = numpy.random.default_rng(0)
x = rng.normal(size=(64, 4)).astype("float32")
y = (x[:, :1] > 0).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(keras.optimizers.SGD(0.01), loss="binary_crossentropy", metrics=["accuracy"])
log = f"{sys.argv[1]}/log.csv"
model.fit(x, y, epochs=2, verbose=0, callbacks=[keras.callbacks.CSVLogger(log, append=True)])
plateau = keras.callbacks.ReduceLROnPlateau(monitor="loss")
model.fit(x, y, epochs=4, initial_epoch=2, verbose=0, callbacks=[plateau, keras.callbacks.CSVLogger(log, append=True)])
loss = model.evaluate(x, y, verbose=0)[0]
with open(log) as file:
    print("header:", file.readline().strip())
with open(log) as file:
    rows = list(csv.DictReader(file))
for row in rows:
    named = float(row["loss"])
    print(f"epoch {row['epoch']}: loss {'is a loss' if named > 0.1 else f'{named:.2f}'}, cells without a name: {len(row.get(None, []))}")
print("the loss of the last epoch is below val_accuracy:", abs(float(rows[-1]["val_accuracy"]) - loss) < 0.05)
PYTHON
KERAS_BACKEND=jax JAX_PLATFORMS=cpu "$work/venv/bin/python" "$work/fit.py" "$work" 2>"$work/err" | tee "$work/said"
if grep -i 'csvlogger\|header\|column' "$work/err"; then exit 1; fi
diff "$work/said" - <<'TEXT'
header: epoch,accuracy,loss,val_accuracy,val_loss
epoch 0: loss is a loss, cells without a name: 0
epoch 1: loss is a loss, cells without a name: 0
epoch 2: loss 0.01, cells without a name: 2
epoch 3: loss 0.01, cells without a name: 2
the loss of the last epoch is below val_accuracy: True
TEXT
