#!/usr/bin/env bash
# Where a NIfTI file has two transforms, nibabel and SimpleITK can put the same voxel on opposite sides of the head.
#
# Guess: both readers give a voxel the same place in the world, up to the sign convention (RAS and LPS); where sform and qform
# disagree, both follow the sform.
# Seen with nibabel 5.4.2, simpleitk 2.5.7 and numpy 2.3.5: with sform code 1 (scanner) both take the sform. With sform code 2
# (aligned, as registration tools write it) and qform code 1, nibabel takes the sform, SimpleITK the qform. Where a
# registration changed the sform alone, a model that was trained on volumes of one reader sees those of the other in another place, or
# mirrored, as here. With no code at all they differ too. Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q nibabel==5.4.2 numpy==2.3.5 simpleitk==2.5.7
cat >"$work/place.py" <<'PYTHON'
import sys

import nibabel
import numpy
import SimpleITK

sform, qform = numpy.diag([2.0, 2, 2, 1]), numpy.diag([-2.0, 2, 2, 1])
sform[:3, 3], qform[:3, 3] = [-10, 0, 0], [30, 0, 0]
for sform_code, qform_code in ((1, 1), (1, 0), (0, 1), (2, 1), (2, 0), (0, 0)):
    image = nibabel.Nifti1Image(numpy.zeros((10, 10, 10), "uint8"), None)
    image.header.set_zooms((2, 2, 2))
    image.set_sform(sform, sform_code)
    image.set_qform(qform, qform_code)
    path = sys.argv[1] + "/image.nii"
    nibabel.save(image, path)
    one = [float(value) for value in (nibabel.load(path).affine @ [9, 0, 0, 1])[:3]]
    left, posterior, superior = SimpleITK.ReadImage(path).TransformIndexToPhysicalPoint((9, 0, 0))
    other = [0.0 - left, 0.0 - posterior, superior + 0.0]
    names = ["sform" if place == [8, 0, 0] else "qform" if place == [12, 0, 0] else str(place) for place in (one, other)]
    print(f"sform code {sform_code}, qform code {qform_code}: nibabel {names[0]}, SimpleITK {names[1]}")
PYTHON
"$work/venv/bin/python" -W error "$work/place.py" "$work" 2>&1 | tee "$work/said"
diff "$work/said" - <<'TEXT'
sform code 1, qform code 1: nibabel sform, SimpleITK sform
sform code 1, qform code 0: nibabel sform, SimpleITK sform
sform code 0, qform code 1: nibabel qform, SimpleITK qform
sform code 2, qform code 1: nibabel sform, SimpleITK qform
sform code 2, qform code 0: nibabel sform, SimpleITK sform
sform code 0, qform code 0: nibabel [-9.0, -9.0, -9.0], SimpleITK [-18.0, 0.0, 0.0]
TEXT
