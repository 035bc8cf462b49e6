#!/usr/bin/env bash
# A label map that goes through nibabel's get_fdata() and its own header comes back as 1.00000002, 2.00000004, 3.00000006.
#
# Guess: labels 0 to 3, read with get_fdata() from a file of uint8 and saved with that image's affine and header, come back as 0
# to 3: the numbers are whole, and uint8 holds them all.
# Seen with nibabel 5.4.2, numpy 2.3.5 and simpleitk 2.5.7: get_fdata() gives float64; the header still says uint8, so the
# writer stretches the values over 0 to 255 and puts a scale into the header, as it does with any float. The scale is a float32. Read
# again, `labels == 1` is true nowhere, and every region is empty; SimpleITK reads 0 to 3 from the same file. An array
# of integers is saved as it is. Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q nibabel==5.4.2 numpy==2.3.5 simpleitk==2.5.7
cat >"$work/labels.py" <<'PYTHON'
import sys

import nibabel
import numpy
import SimpleITK

path = sys.argv[1] + "/labels.nii.gz"
labels = numpy.zeros((4, 4, 4), "uint8")
labels[0], labels[1], labels[2] = 1, 2, 3
nibabel.save(nibabel.Nifti1Image(labels, numpy.eye(4)), path)
for kind in ("float64", "uint8"):
    image = nibabel.load(path)
    array = image.get_fdata() if kind == "float64" else numpy.asarray(image.dataobj)
    again = nibabel.Nifti1Image(array, image.affine, image.header)
    nibabel.save(again, f"{sys.argv[1]}/{kind}.nii.gz")
    read = nibabel.load(f"{sys.argv[1]}/{kind}.nii.gz")
    values = read.get_fdata()
    other = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(f"{sys.argv[1]}/{kind}.nii.gz"))
    print(f"{array.dtype} saved as {read.get_data_dtype()}: nibabel {[round(float(v), 8) for v in numpy.unique(values)]}, "
          f"voxels == 1, 2, 3: {[int((values == label).sum()) for label in (1, 2, 3)]}; "
          f"SimpleITK {[int((other == label).sum()) for label in (1, 2, 3)]}")
PYTHON
"$work/venv/bin/python" -W error "$work/labels.py" "$work" 2>&1 | tee "$work/said"
diff "$work/said" - <<'TEXT'
float64 saved as uint8: nibabel [0.0, 1.00000002, 2.00000004, 3.00000006], voxels == 1, 2, 3: [0, 0, 0]; SimpleITK [16, 16, 16]
uint8 saved as uint8: nibabel [0.0, 1.0, 2.0, 3.0], voxels == 1, 2, 3: [16, 16, 16]; SimpleITK [16, 16, 16]
TEXT
