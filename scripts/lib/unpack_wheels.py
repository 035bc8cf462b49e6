"""Unpacks what a C++ build needs of some wheels: unpack_wheels.py FOLDER WHEEL..."""

import errno
import os
import shutil
import sys
import time
import zipfile

# Headers, libraries, programs, the version, and the licences that come with them.
WANTED = ("torch/include/", "torch/lib/", "torch/version.py", "nvidia/", "include/", "cmake/data/", "lightgbm/lib/",
          "lightgbm/VERSION.txt")


def wanted(name):
    top = name.split("/", 1)[0]
    return name.startswith(WANTED) or top.endswith((".dist-info", ".data"))


def unpack(folder, wheel):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = os.path.join(folder, member.filename)
            inside = os.path.abspath(path).startswith(os.path.abspath(folder) + os.sep)
            if member.is_dir() or not inside or not wanted(member.filename):
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with archive.open(member) as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            os.chmod(path, 0o755 if member.external_attr >> 16 & 0o100 else 0o644)
            # The wheel's own times: unpacking again makes no build start from nothing.
            changed = time.mktime(member.date_time + (0, 0, -1))
            os.utime(path, (changed, changed))


def main():
    folder, wheels = sys.argv[1], sys.argv[2:]
    try:
        for wheel in wheels:
            unpack(folder, wheel)
    except (OSError, zipfile.BadZipFile) as error:
        shutil.rmtree(folder, ignore_errors=True)
        full = getattr(error, "errno", None) == errno.ENOSPC
        print(f"error: cannot unpack '{wheel}': {error}", file=sys.stderr)
        if full:
            print("\nhint: free some space, or set LOCKSTEP_CACHE to a folder on a larger disk", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
