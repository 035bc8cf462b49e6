"""Writes volumes and their labels as deflate TIFF: sheets in noise, with a band whose labels are to be ignored.

Usage: python3 bench/volume_set.py FOLDER COUNT EDGE      needs numpy and tifffile
FOLDER/train_images and FOLDER/train_labels get COUNT files of EDGE planes of EDGE x EDGE bytes, the same each time.
Labels are 0, 1 (the sheet) and 2 (ignored).
"""
import pathlib
import sys

import numpy as np
import tifffile


def volume(random, noise, edge):
    z, y, x = np.ogrid[:edge, :edge, :edge]
    waves, bend = random.uniform(0.03, 0.09, 2), edge / 8
    height = edge / 2 + bend * np.sin(waves[0] * y + random.uniform(0, 6)) + bend * np.cos(waves[1] * x)
    distance = np.abs(z - height)
    corner = random.integers(0, noise.shape[0] - edge, 3)
    cloud = noise[tuple(slice(begin, begin + edge) for begin in corner)]
    labels = (distance < 3).astype(np.uint8)
    labels[:, : edge // 16] = 2
    return cloud + np.clip(150 - 12 * distance, 40, 150).astype(np.uint8), labels


def main():
    folder, count, edge = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    random = np.random.default_rng(1)
    noise = random.integers(0, 60, (edge + 32,) * 3, dtype=np.uint8)
    for kind in ("train_images", "train_labels"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for i in range(count):
        for kind, values in zip(("train_images", "train_labels"), volume(random, noise, edge)):
            tifffile.imwrite(folder / kind / f"{i:04}.tif", values, compression="zlib", photometric="minisblack")


if __name__ == "__main__":
    main()
