#!/usr/bin/env bash
# A mask that tifffile writes of NumPy's bool comes out of SimpleITK turned around, and with four channels.
#
# Guess: a boolean array saved by tifffile.imwrite is read by SimpleITK as a volume of 0 and 1 (or 0 and 255), foreground
# still foreground, as the same array saved as uint8 is.
# Seen with tifffile 2026.3.3, simpleitk 2.5.7 and numpy 2.3.5: tifffile saves one bit a voxel with WhiteIsZero for what
# tifffile itself reads back as it was; SimpleITK reads RGBA, [0, 0, 0, 255] where the mask is true and [255, 255, 255, 255]
# where it is false. So `image > 0` on the colours selects the background, and on the last channel selects all.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q tifffile==2026.3.3 simpleitk==2.5.7 numpy==2.3.5
cat >"$work/read.py" <<'PYTHON'
import sys

import numpy
import SimpleITK
import tifffile

mask = numpy.zeros((2, 8, 16), bool)
mask[:, 2:5, 3:9] = True
for name, array in (("bool", mask), ("uint8", mask.astype("uint8"))):
    path = f"{sys.argv[1]}/{name}.tif"
    tifffile.imwrite(path, array, photometric=None if name == "bool" else "minisblack")
    same = numpy.array_equal(tifffile.imread(path), array)
    image = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(path))
    values = [numpy.unique(image[mask == side].reshape(int((mask == side).sum()), -1), axis=0).tolist() for side in (True, False)]
    print(f"{name}: tifffile reads it back: {same}; SimpleITK: true {values[0]}, false {values[1]}")
PYTHON
"$work/venv/bin/python" "$work/read.py" "$work" 2>/dev/null | tee "$work/said"
diff "$work/said" - <<'TEXT'
bool: tifffile reads it back: True; SimpleITK: true [[0, 0, 0, 255]], false [[255, 255, 255, 255]]
uint8: tifffile reads it back: True; SimpleITK: true [[1]], false [[0]]
TEXT
