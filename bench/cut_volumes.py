"""Cuts each training volume of a folder into two along y, so that one of few volumes can be held back in part.

Usage: python3 bench/cut_volumes.py FOLDER OUT ID…. Needs tifffile. ID becomes IDa and IDb.
"""
import pathlib
import sys

import tifffile


def main():
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for part in ("train_images", "train_labels"):
        (out / part).mkdir(parents=True, exist_ok=True)
        for name in sys.argv[3:]:
            voxels = tifffile.imread(folder / part / f"{name}.tif")
            middle = voxels.shape[1] // 2
            for letter, half in (("a", voxels[:, :middle]), ("b", voxels[:, middle:])):
                tifffile.imwrite(out / part / f"{name}{letter}.tif", half.copy(), compression="zlib",
                                 photometric="minisblack")


if __name__ == "__main__":
    main()
