#!/usr/bin/env bash
# safetensors 0.8 saves a NumPy array that is transposed, sliced or in Fortran order as another array, and says nothing.
#
# Guess: safetensors.numpy.save() writes the values of an array by index, as numpy.save does and as safetensors 0.7 did, or
# refuses an array that is not contiguous, as safetensors.torch does.
# Seen with numpy 2.3.5: 0.7.0 gives back each array as it was. 0.8.0 takes the bytes from where the array begins in memory,
# in their order there: the shape stays, the values are others. A slice with a step gets values that were left out of it.
# The documentation asks for "contiguous and dense", which Fortran order is, too. Weights that were transposed for another
# framework, and components of scikit-learn's PCA, are such arrays.
# Fails if either version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
cat >"$work/save.py" <<'PYTHON'
import sys

import numpy
import safetensors
import safetensors.numpy

square = numpy.arange(9, dtype="float32").reshape(3, 3)
arrays = {"as it is": square, "transposed": square.T, "Fortran order": numpy.asfortranarray(square), "each second column": square[:, ::2]}
for name, array in arrays.items():
    path = f"{sys.argv[1]}/one.safetensors"
    safetensors.numpy.save_file({"weight": array}, path)
    files = [safetensors.numpy.load_file(path)["weight"], safetensors.numpy.load(safetensors.numpy.save({"weight": array}))["weight"]]
    same = [numpy.array_equal(array, file) for file in files]
    print(f"{safetensors.__version__}, {name}: shape {'kept' if files[0].shape == array.shape else 'lost'}, values kept {same}")
PYTHON
for version in 0.7.0 0.8.0; do
  "$work/venv/bin/python" -m pip install -q "safetensors==$version" numpy==2.3.5
  "$work/venv/bin/python" -W error "$work/save.py" "$work" | tee -a "$work/said"
done
diff "$work/said" - <<'TEXT'
0.7.0, as it is: shape kept, values kept [True, True]
0.7.0, transposed: shape kept, values kept [True, True]
0.7.0, Fortran order: shape kept, values kept [True, True]
0.7.0, each second column: shape kept, values kept [True, True]
0.8.0, as it is: shape kept, values kept [True, True]
0.8.0, transposed: shape kept, values kept [False, False]
0.8.0, Fortran order: shape kept, values kept [False, False]
0.8.0, each second column: shape kept, values kept [False, False]
TEXT
