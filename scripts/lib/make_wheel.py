"""Makes a wheel of a folder.

    make_wheel.py STAGE OUT --version VERSION --tag TAG

STAGE/scripts goes into an environment's bin/, STAGE/data into its uppermost folder (its prefix). The same files make the
same bytes: entries are in order and have the time SOURCE_DATE_EPOCH. Prints the wheel's path and size.
"""

import argparse
import base64
import csv
import hashlib
import io
import os
import pathlib
import time
import zipfile

EXECUTABLE, PLAIN = 0o100755, 0o100644

METADATA = """Metadata-Version: 2.1
Name: lockstep
Version: {version}
Summary: Puts every GPU of a machine to work: exact data parallel training, batches of jobs, monitoring, comparison
License: Apache-2.0
Requires-Python: >=3.10
Provides-Extra: torch
Requires-Dist: torch >=2.11, <2.16 ; extra == 'torch'
Description-Content-Type: text/markdown

{readme}"""


def entries(stage, wheel_name):
    """(name in the wheel, bytes, mode) of each staged file, in order."""
    for path in sorted(path for path in stage.rglob("*") if path.is_file()):
        name = path.relative_to(stage).as_posix()
        mode = EXECUTABLE if os.access(path, os.X_OK) else PLAIN
        yield f"{wheel_name}.data/{name}", path.read_bytes(), mode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stage", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--tag", required=True)
    words = parser.parse_args()

    checkout = pathlib.Path(__file__).resolve().parent.parent.parent
    name = f"lockstep-{words.version}"
    info = f"{name}.dist-info"
    licence = (checkout / "LICENSE").read_text()
    metadata = METADATA.format(version=words.version, readme=(checkout / "README.md").read_text())
    about = f"Wheel-Version: 1.0\nGenerator: lockstep\nRoot-Is-Purelib: false\nTag: {words.tag}\n"
    files = list(entries(words.stage, name))
    files += [(f"{info}/{file}", text.encode(), PLAIN) for file, text in [("LICENSE", licence), ("METADATA", metadata), ("WHEEL", about)]]

    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for file, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.writerow([file, f"sha256={digest}", len(content)])
    rows.writerow([f"{info}/RECORD", "", ""])
    files.append((f"{info}/RECORD", record.getvalue().encode(), PLAIN))

    when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    wheel = words.out / f"{name}-{words.tag}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, content, mode in files:
            entry = zipfile.ZipInfo(file, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, which gives the mode its meaning
            entry.external_attr = mode << 16
            archive.writestr(entry, content, compresslevel=9)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
