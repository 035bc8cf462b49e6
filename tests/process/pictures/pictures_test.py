"""Makes a picture anew and compares it with the one that the pages show.

Usage: pictures_test.py CHECKOUT BUILD NAME. Of moving pictures and charts the words are compared, as numbers differ from
machine to machine; of pictures in pixels the size alone. Exits 77, saying why, where the picture cannot be made here, or
another tenth of the long tests has it.
"""
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

FILES = {"train": ["train.svg"], "doctor": ["doctor.svg"], "monitor": ["monitor.svg"],
         "report": ["report-light.png", "report-dark.png"], "volume": ["volume-mask.png"], "fewshot": ["fewshot-boxes.jpg"],
         "curve": ["textgen-curve.svg"], "dimabsa": ["dimabsa-valence.png"],
         "gbdt": ["gbdt-heatmap.svg"]}
LONG = ["train", "curve", "report", "volume", "fewshot", "dimabsa", "gbdt"]  # a training or a batch each
MOST_BYTES = 60_000


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def words(svg):
    """What a picture says, without numbers and the bars of progress."""
    text = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)
    text = re.sub(r"<[^>]*>", "\n", text)
    return {word for word in re.split(r"[^A-Za-z]+", text) if len(word) > 3}


def size_of(data):
    """Width and height of a PNG, or the kind of another picture."""
    return struct.unpack(">II", data[16:24]) if data.startswith(b"\x89PNG") else data[:3]


def compare(name, made, kept):
    assert len(kept) <= MOST_BYTES, f"{name} has {len(kept)} bytes"
    if name == "doctor.svg":
        assert made == kept, f"{name} is another picture now: run make pictures"
    elif name.endswith(".svg"):
        ours, theirs = words(made.decode()), words(kept.decode())
        assert len(ours & theirs) >= 0.9 * len(ours | theirs), f"{name} says other words now: {sorted(ours ^ theirs)}; run make pictures"
    else:
        assert size_of(made) == size_of(kept), f"{name} has another size now: {size_of(made)}, not {size_of(kept)}; run make pictures"


def main():
    checkout, build, name = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    tenth = os.environ.get("LOCKSTEP_TEST_TENTH", "all")
    if name in LONG and tenth != "all" and LONG.index(name) != int(tenth) % len(LONG):
        skip("in another tenth of the long tests; make test-all runs all of them")
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([checkout / "scripts/pictures.sh", build, out, name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        if done.returncode == 2 and "could not be installed" in done.stdout:
            skip("pyte and pillow cannot be fetched here")
        assert done.returncode == 0, done.stdout
        for file in FILES[name]:
            if not pathlib.Path(out, file).exists():
                skip(done.stdout.strip())
            compare(file, pathlib.Path(out, file).read_bytes(), (checkout / "docs/pictures" / file).read_bytes())


if __name__ == "__main__":
    main()
