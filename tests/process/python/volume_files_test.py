"""Volumes that Python's libraries write are what recipes/volume/files reads of them: values, axes, sizes and places.

Usage: volume_files_test.py DUMP_VOLUME_FILES. Exits 77, saying why, where Python lacks them.
"""
import importlib.util
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

for module in ("numpy", "tifffile", "nibabel", "SimpleITK", "PIL", "skimage"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: python3 has no {module}")
        sys.exit(77)

import nibabel
import numpy as np
import SimpleITK
import skimage.io
import tifffile
from PIL import Image

DUMP = pathlib.Path(sys.argv[1]).absolute()
RANDOM = np.random.default_rng(5)
VOLUME = RANDOM.integers(0, 200, (6, 5, 9)).astype(np.uint8)
CHANNELS = RANDOM.integers(0, 60000, (2, 6, 5, 9)).astype(np.uint16)
LABELS = RANDOM.integers(0, 5, (6, 5, 9)).astype(np.uint8)


def dump(kind, path, out):
    done = subprocess.run([DUMP, kind, path, out], stdout=subprocess.PIPE, text=True)
    assert done.returncode in (0, 1), (path, done)
    found = {}
    for line in done.stdout.splitlines():
        name, rest = line.split(" ", 1)
        found[name] = rest if name == "error" else np.array(rest.split(), float)
    return found


def expect(path, values, spacing=None, labels=False):
    """values: [C, D, H, W], or [D, H, W]; spacing: z, y, x in mm."""
    values = np.asarray(values)
    values = values if values.ndim == 4 else values[None]
    found = dump("labels" if labels else "image", path, "out.raw")
    assert "error" not in found, (path, found)
    assert tuple(found["shape"].astype(int)) == values.shape, (path, found, values.shape)
    read = np.fromfile("out.raw", np.uint8 if labels else np.float32).reshape(values.shape)
    assert (read == values.astype(read.dtype)).all(), path
    if spacing is None:
        assert "spacing" not in found, (path, found)
    elif spacing is not any:
        assert np.allclose(found["spacing"], spacing, rtol=1e-6), (path, found)
    return found


def expect_refused(path, *words, labels=False):
    found = dump("labels" if labels else "image", path, "out.raw")
    for word in words:
        assert word in found.get("error", ""), (path, word, found)


def tifffile_types():
    for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64,
                  np.float16, np.float32, np.float64):
        for options in ({}, {"compression": "zlib"}, {"byteorder": ">"}, {"tile": (16, 16)}):
            tifffile.imwrite("a.tif", VOLUME.astype(dtype), photometric="minisblack", **options)
            expect("a.tif", tifffile.imread("a.tif"))
    for dtype in (np.uint8, np.int64):  # argmax and skimage.measure.label give int64
        tifffile.imwrite("a.tif", LABELS.astype(dtype))
        expect("a.tif", LABELS, labels=True)


def tifffile_photometric():
    mask = LABELS > 2
    tifffile.imwrite("a.tif", mask)  # MinIsWhite, of 1 bit
    assert tifffile.TiffFile("a.tif").pages[0].photometric == 0
    expect("a.tif", mask, labels=True)
    expect("a.tif", tifffile.imread("a.tif"))
    imagej = f"ImageJ=1.54f\nimages={len(mask)}\nslices={len(mask)}\nloop=false\nmin=0.0\nmax=1.0\n"
    tifffile.imwrite("a.tif", mask.astype(np.uint8), photometric="miniswhite", metadata=None, description=imagej)
    expect("a.tif", SimpleITK.GetArrayFromImage(SimpleITK.ReadImage("a.tif")), labels=True)
    expect("a.tif", tifffile.imread("a.tif"), labels=True)
    tifffile.imwrite("a.tif", VOLUME, photometric="palette",
                     colormap=RANDOM.integers(0, 65536, (3, 256)).astype(np.uint16))
    expect("a.tif", tifffile.imread("a.tif"))
    tifffile.imwrite("a.tif", VOLUME[:3])
    expect_refused("a.tif", "in colour", "photometric='minisblack'")


def tifffile_axes():
    czyx, zcyx = CHANNELS, np.swapaxes(CHANNELS, 0, 1)
    gray = {"photometric": "minisblack"}
    for name, options in (("a.tif", gray), ("a.ome.tif", gray), ("a.tif", {"imagej": True})):
        for axes, array in (("CZYX", czyx), ("ZCYX", zcyx), ("ZYX", VOLUME)):
            if "imagej" in options and axes == "CZYX":
                continue  # ImageJ's order is ZCYX
            tifffile.imwrite(name, array, metadata={"axes": axes}, **options)
            expect(name, czyx if len(axes) == 4 else VOLUME)
        tifffile.imwrite(name, czyx, metadata={"axes": "TZYX"}, **options)
        expect_refused(name, "time series of 2 frames", "write each frame as a file")
        tifffile.imwrite(name, VOLUME, metadata={"axes": "CYX"}, **options)
        expect_refused(name, "6 pages are channels of one plane", "metadata={'axes': 'ZYX'}", "files.as_planes=true")
    for name, options in (("a.tif", {"imagej": True}), ("a.ome.tif", gray)):
        tifffile.imwrite(name, VOLUME, **options)  # takes the first axis for channels
        assert tifffile.TiffFile(name).series[0].axes == "CYX"
        expect_refused(name, "6 pages are channels of one plane", "files.as_planes=true")
    tifffile.imwrite("a.tif", czyx, **gray)
    expect_refused("a.tif", "does not say what is a channel", "metadata={'axes': 'CZYX'}")
    with tifffile.TiffWriter("a.tif") as writer:
        writer.write(VOLUME, **gray)
        writer.write(VOLUME, **gray)
    expect_refused("a.tif", "6 x 5 x 9, but it has 12 pages")
    with tifffile.TiffWriter("a.tif") as writer:
        for plane in VOLUME:
            writer.write(plane, contiguous=True)
    expect("a.tif", VOLUME)


def ome_sizes():
    sizes = {f"PhysicalSize{axis}": size for axis, size in zip("XYZ", (0.5, 0.25, 2))}
    for unit, mm in (("µm", 1e-3), ("nm", 1e-6), ("mm", 1), (None, 1e-3)):
        units = {f"PhysicalSize{axis}Unit": unit for axis in "XYZ"} if unit else {}
        tifffile.imwrite("a.ome.tif", VOLUME, photometric="minisblack", metadata={"axes": "ZYX", **sizes, **units})
        expect("a.ome.tif", VOLUME, spacing=np.array([2, 0.25, 0.5]) * mm)


def tiffs_of_others():
    skimage.io.imsave("a.tif", VOLUME, check_contrast=False)
    expect("a.tif", skimage.io.imread("a.tif"))
    SimpleITK.WriteImage(SimpleITK.GetImageFromArray(VOLUME), "a.tif")
    expect("a.tif", VOLUME, spacing=any)
    pages = [Image.fromarray(plane) for plane in VOLUME]
    pages[0].save("a.tif", save_all=True, append_images=pages[1:])
    expect("a.tif", VOLUME)
    bits = [page.point(lambda value: 255 * (value > 99), mode="1") for page in pages]
    bits[0].save("a.tif", save_all=True, append_images=bits[1:], compression="group4")
    expect_refused("a.tif", "compression, CCITT, is not read", "tiffcp -c lzw")
    bits[0].save("a.tif", save_all=True, append_images=bits[1:])
    expect("a.tif", VOLUME > 99, labels=True)


def png_slices():
    folder = pathlib.Path("slices")
    folder.mkdir()
    palette = RANDOM.integers(0, 256, 768).tolist()
    for bits in (8, 4, 1):
        labels = LABELS if bits > 1 else LABELS > 2
        for z, plane in enumerate(labels):
            if bits == 1:
                Image.fromarray(plane).save(folder / f"{z}.png")
            else:
                picture = Image.fromarray(plane)
                picture.putpalette(palette)
                picture.save(folder / f"{z}.png", bits=bits)
        expect(folder, np.stack([np.array(Image.open(folder / f"{z}.png")) for z in range(len(labels))]), labels=True)
        expect(folder, labels, labels=True)


def save_nifti(path, array, affine=np.diag([0.8, 0.9, 2.5, 1]), fields=(), dtype=None):
    """fields: (byte, format, numbers…) of the header to overwrite."""
    nibabel.save(nibabel.Nifti1Image(array, affine, dtype=dtype), path)
    data = bytearray(pathlib.Path(path).read_bytes())
    for at, form, *numbers in fields:
        struct.pack_into(form, data, at, *numbers)
    pathlib.Path(path).write_bytes(data)


NO_CODES = (252, "<hh", 0, 0)
XYZ = np.moveaxis(VOLUME, 0, 2).swapaxes(0, 1).astype(np.int16)


def nifti_headers():
    turned = np.array([[0, -0.9, 0, 3], [0.8, 0, 0, -40], [0, 0, 2.5, 7], [0, 0, 0, 1.0]])
    sizes = (80, "<3f", -0.8, 0.9, 2.5)
    for affine, fields in ((np.diag([0.8, 0.9, 2.5, 1]), []), (turned, []), (turned, [(252, "<hh", 1, 0)]),
                           (turned, [NO_CODES]), (turned, [NO_CODES, sizes]), (turned, [sizes]),
                           (turned, [(252, "<hh", 1, 0), sizes]), (turned, [(112, "<2f", 2, 3)]),
                           (turned, [(112, "<2f", float("nan"), 3)]), (turned, [(112, "<2f", 0, 3)])):
        save_nifti("a.nii", XYZ, affine, fields)
        image = nibabel.load("a.nii")
        found = expect("a.nii", image.get_fdata().T, spacing=any)
        assert np.allclose(found["affine"].reshape(4, 4), image.affine, atol=1e-5), (fields, found, image.affine)
        assert np.allclose(found["spacing"], image.header.get_zooms()[::-1]), (fields, found)
        assert np.allclose(found["spacing"], SimpleITK.ReadImage("a.nii").GetSpacing()[::-1]), (fields, found)
    save_nifti("a.nii", XYZ, fields=[(112, "<2f", 2, float("nan"))])
    try:
        nibabel.load("a.nii")
        raise AssertionError("nibabel reads a slope without an intercept")
    except nibabel.spatialimages.HeaderDataError:
        expect_refused("a.nii", "scl_slope is 2, but its scl_inter is nan")
    for dtype in (np.int64, np.uint64):
        save_nifti("a.nii", XYZ.astype(dtype), dtype=dtype)
        expect("a.nii", XYZ.T, spacing=any)
        save_nifti("a.nii", LABELS.T.astype(dtype), dtype=dtype)
        expect("a.nii", LABELS, spacing=any, labels=True)


def scaled_labels():
    for dtype in (np.int16, np.uint8):
        for classes in (2, 3, 4, 5, 6, 8, 30):
            header = nibabel.Nifti1Image(XYZ.astype(dtype), np.eye(4)).header
            labels = RANDOM.integers(0, classes, XYZ.shape).astype(np.float64)
            labels[0, 0, :2] = 0, classes - 1
            nibabel.save(nibabel.Nifti1Image(labels, np.eye(4), header), "a.nii.gz")
            expect("a.nii.gz", labels.T, spacing=any, labels=True)
    labels[1, 1, 1] = 1.5
    nibabel.save(nibabel.Nifti1Image(labels, np.eye(4), header), "a.nii.gz")
    expect_refused("a.nii.gz", "scl_slope is", "round the labels", labels=True)


def places():
    scanner = np.array([[-0.8, 0, 0, 90], [0, 0, -2.5, -120], [0, 0.9, 0, 30], [0, 0, 0, 1]])
    same, unknown = 0, 1

    def place():
        return int(dump("place", "image.nii", "label.nii")["place"][0])

    for fields in ([], [NO_CODES], [NO_CODES, (80, "<3f", -0.8, 0.9, 2.5)]):
        save_nifti("image.nii", XYZ, scanner, fields)
        image = nibabel.load("image.nii")
        nibabel.save(nibabel.Nifti1Image(np.asarray(image.dataobj) // 100, image.affine), "label.nii")
        assert place() == same, fields
        if not any(field[0] == 80 for field in fields):  # SimpleITK mirrors a grid of such sizes
            SimpleITK.WriteImage(SimpleITK.ReadImage("image.nii") > 100, "label.nii")
            assert place() == same, fields
    save_nifti("image.nii", XYZ, scanner)
    save_nifti("label.nii", XYZ, np.eye(4))
    assert place() == unknown
    SimpleITK.WriteImage(SimpleITK.GetImageFromArray(VOLUME), "label.nii")
    assert place() == unknown


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check in (tifffile_types, tifffile_photometric, tifffile_axes, ome_sizes, tiffs_of_others, png_slices,
                      nifti_headers, scaled_labels, places):
            check()
            print("equal:", check.__name__)
        os.chdir("/")


main()
