"""What recipes/volume/metrics finds is what SciPy, scikit-image and MedPy find, for noise and for sheets.

Usage: volume_metrics_test.py DUMP_VOLUME_METRICS. Exits 77, saying why, where Python lacks the first two; without
MedPy the HD95 and Dice are not compared.
"""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

for module in ("numpy", "scipy", "skimage"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: python3 has no {module}")
        sys.exit(77)

import numpy as np
from scipy import ndimage
from skimage.measure import euler_number
from skimage.metrics import variation_of_information

binary = importlib.import_module("medpy.metric.binary") if importlib.util.find_spec("medpy") else None

CORNERS = np.ones((3, 3, 3))


def volumes():
    """Pairs of masks with spacing and tolerance."""
    generator = np.random.default_rng(7)
    for shape, share, spacing, tolerance in (
            ((20, 21, 22), 0.03, (1, 1, 1), 2), ((12, 9, 70), 0.3, (2.5, 1, 0.5), 2),
            ((9, 30, 64), 0.7, (1, 1, 1), 1.5), ((16, 16, 130), 0.02, (1, 1, 1), 11),
            ((5, 6, 7), 0, (1, 1, 1), 2)):
        yield (generator.random(shape) < share, generator.random(shape) < share, spacing, tolerance)
    for spacing, tolerance in (((1, 1, 1), 2), ((3, 1, 1), 3)):
        z, y, x = np.indices((48, 60, 66))
        place = (z + 4 * np.sin(y / 9) + 3 * np.cos(x / 7)) % 12
        truth = place < 1.5
        moved = np.roll(truth, 1, axis=0)
        holes = ndimage.uniform_filter(generator.random(truth.shape), 5) > 0.55
        yield truth, moved & ~holes | (generator.random(truth.shape) < 0.001), spacing, tolerance


def ours(dump, folder, truth, predicted, spacing, tolerance):
    for name, mask in (("truth", truth), ("predicted", predicted)):
        (folder / name).write_bytes(mask.astype(np.uint8).tobytes())
    out = subprocess.run(
        [dump, folder / "truth", folder / "predicted", *map(str, (*truth.shape, *spacing, tolerance)), folder / "out"],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    numbers = {name: float(value) for name, value in map(str.split, out.splitlines())}
    read = lambda kind, dtype: np.fromfile(folder / f"out.{kind}", dtype).reshape(truth.shape)
    return numbers, read("labels26", np.int32), read("labels6", np.int32), read("squared", np.float32)


def assert_same_parts(found, expected):
    """The same partition, whatever the labels are called."""
    pairs = np.unique(np.stack([found.ravel(), expected.ravel()]), axis=1)
    assert pairs.shape[1] == len(np.unique(found)) == len(np.unique(expected)), pairs


def corners(mask):
    """Corners of the grid whose voxels are neither all set nor all clear."""
    padded = np.pad(mask, 1).astype(int)
    sums = sum(padded[a:a + mask.shape[0] + 1, b:b + mask.shape[1] + 1, c:c + mask.shape[2] + 1]
               for a in (0, 1) for b in (0, 1) for c in (0, 1))
    return (sums > 0) & (sums < 8)


def near(points, others, spacing, tolerance):
    if not others.any():
        return 0
    distances = ndimage.distance_transform_edt(~others, sampling=spacing)
    return int((points & (distances <= tolerance * (1 + 1e-9))).sum())


def compare(dump, folder, truth, predicted, spacing, tolerance):
    numbers, labels26, labels6, squared = ours(dump, folder, truth, predicted, spacing, tolerance)
    all_labels = ndimage.label(truth, CORNERS)[0]
    assert_same_parts(labels26, all_labels)
    assert_same_parts(labels6, ndimage.label(truth)[0])
    if truth.any():
        expected = ndimage.distance_transform_edt(~truth, sampling=spacing)
        assert np.allclose(np.sqrt(squared), expected, rtol=1e-5), np.abs(np.sqrt(squared) - expected).max()

    a, b = corners(truth), corners(predicted)
    surface = [a.sum(), near(a, b, spacing, tolerance), b.sum(), near(b, a, spacing, tolerance)]
    assert [numbers[n] for n in ("truth", "truth_near", "predicted", "predicted_near")] == surface, (numbers, surface)

    either = truth | predicted
    if either.any():
        voi = variation_of_information(all_labels[either], ndimage.label(predicted, CORNERS)[0][either])
        assert np.allclose((numbers["split"], numbers["merge"]), voi), (numbers, voi)

    euler = euler_number(truth, connectivity=3) if truth.any() else 0
    cavities = ndimage.label(np.pad(~truth, 1, constant_values=True))[1] - 1
    parts = all_labels.max()
    assert numbers["euler"] == euler, (numbers, euler)
    assert (numbers["b0"], numbers["b2"]) == (parts, cavities), (numbers, parts, cavities)
    assert numbers["b1"] == parts + cavities - euler
    if binary and truth.any() and predicted.any():
        hd95 = binary.hd95(predicted, truth, voxelspacing=spacing)
        assert np.isclose(numbers["hd95"], hd95, rtol=1e-6), (numbers, hd95)
        assert np.isclose(numbers["dice"], binary.dc(predicted, truth), rtol=1e-12), numbers
    elif binary:
        assert np.isnan(numbers["hd95"]), numbers
    print(truth.shape, numbers)


def main():
    dump = pathlib.Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory() as folder:
        for pair in volumes():
            compare(dump, pathlib.Path(folder), *pair)
    if binary is None:
        print("HD95 and Dice were not compared: python3 has no medpy")


main()
