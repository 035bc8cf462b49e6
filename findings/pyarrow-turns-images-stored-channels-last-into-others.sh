#!/usr/bin/env bash
# pyarrow keeps images whose channels lie last in memory, and gives back other images, of another shape.
#
# Guess: FixedShapeTensorArray.from_numpy_ndarray(x).to_numpy_ndarray() is x, also where x is a view (channels first by index, last in
# memory), for which the type has a permutation; array[0].to_numpy() is the first part of it, or something raises.
# Seen with pyarrow 26.0.1 and numpy 2.3.5: contiguous images come back. Of a view of (3, 2, 4) the storage is right, but the type gets
# the inverse permutation, [1, 2, 0] for [2, 0, 1] of the specification, and the images come back as (4, 3, 2) with other pixels,
# some twice and some never. At 3 x 8 x 8 the same raises. The matrix [[0, 3], [1, 4], [2, 5]] of a transposed array
# is right as a part of the whole, and [[0, 2], [1, 3], [2, 4]] where one asks for it alone; a square one is right both ways,
# so a test with one passes. Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q pyarrow==26.0.1 numpy==2.3.5
cat >"$work/images.py" <<'PYTHON'
import numpy
import pyarrow


def pixels(*shape):
    return numpy.arange(numpy.prod(shape)).reshape(shape)


def got(take, expected):
    try:
        values = take()
    except pyarrow.ArrowInvalid as error:
        return f"ArrowInvalid, {error}"
    return f"{values.shape} {'the same' if numpy.array_equal(values, expected) else 'others'}, {len(numpy.unique(values))} values"


for name, x in {
    "contiguous images": pixels(2, 3, 2, 4),
    "channels last": numpy.moveaxis(pixels(2, 2, 4, 3), -1, 1),
    "channels last, 8 x 8": numpy.moveaxis(pixels(2, 8, 8, 3), -1, 1),
    "transposed matrices": pixels(2, 2, 3).transpose(0, 2, 1),
    "transposed squares": pixels(2, 3, 3).transpose(0, 2, 1),
}.items():
    array = pyarrow.FixedShapeTensorArray.from_numpy_ndarray(x)
    print(f"{name}: {x.shape}, {x.size} values, permutation {array.type.permutation}")
    print("  all:", got(array.to_numpy_ndarray, x))
    print("  one:", got(array[0].to_numpy, x[0]))
    if x.shape == (2, 3, 2):
        print("  one:", array[0].to_numpy().tolist(), "for", x[0].tolist())
PYTHON
"$work/venv/bin/python" "$work/images.py" 2>"$work/err" | tee "$work/said"
test ! -s "$work/err"
diff "$work/said" - <<'TEXT'
contiguous images: (2, 3, 2, 4), 48 values, permutation [0, 1, 2]
  all: (2, 3, 2, 4) the same, 48 values
  one: (3, 2, 4) the same, 24 values
channels last: (2, 3, 2, 4), 48 values, permutation [1, 2, 0]
  all: (2, 4, 3, 2) others, 36 values
  one: (4, 3, 2) others, 15 values
channels last, 8 x 8: (2, 3, 8, 8), 384 values, permutation [1, 2, 0]
  all: ArrowInvalid, strides must not involve buffer over run
  one: ArrowInvalid, strides must not involve buffer over run
transposed matrices: (2, 3, 2), 12 values, permutation [1, 0]
  all: (2, 3, 2) the same, 12 values
  one: (3, 2) others, 5 values
  one: [[0, 2], [1, 3], [2, 4]] for [[0, 3], [1, 4], [2, 5]]
transposed squares: (2, 3, 3), 18 values, permutation [1, 0]
  all: (2, 3, 3) the same, 18 values
  one: (3, 3) the same, 9 values
TEXT
