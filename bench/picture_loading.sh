#!/usr/bin/env bash
# Compares pictures that are decoded and resized to 320^2 with torch's DataLoader and Pillow, in turn, and writes a record.
#   bench/picture_loading.sh OUT_FILE FOLDER      FOLDER holds JPEG or PNG; needs a python3 with torch and Pillow
# Environment: PROGRAM names bench-picture-loading (build/bench-picture-loading); SECONDS_EACH (3) and REPEATS (2);
# LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 2 ] || die "picture_loading.sh takes the file to write and a folder of pictures" "bench/picture_loading.sh OUT_FILE FOLDER"
program=${PROGRAM:-$checkout/build/bench-picture-loading} seconds=${SECONDS_EACH:-3} pictures=$2
[ -x "$program" ] || die "$program is not there" "build the target bench-picture-loading"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for _ in $(seq "${REPEATS:-2}"); do
  "$program" "$pictures" "$seconds" >>"$work/ours"
  python3 "$checkout/bench/peers/picture_loading.py" "$pictures" "$seconds" >>"$work/peers"
done
python3 - "$work" "$(measured_commit "$checkout")" "$pictures" >"$work/record" <<'PYTHON'
import json, os, pathlib, sys, time

import PIL, torch
from PIL import features

work, commit, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
ours, peers = ([json.loads(line) for line in (work / name).read_text().splitlines()] for name in ("ours", "peers"))
files = [path for path in folder.iterdir() if path.suffix in (".jpg", ".jpeg", ".png")]
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "unknown")
jpeg = f"libjpeg-turbo {features.version('libjpeg_turbo')}" if features.check("libjpeg_turbo") else "libjpeg"
best = lambda runs, kind, unit: max((run for run in runs if run["kind"] == kind), key=lambda run: run[unit])
print(f'command = "bench/picture_loading.sh OUT_FILE FOLDER"\ncommit = {json.dumps(commit)}')
print(f'machine = {json.dumps(f"{os.cpu_count()} cores, {cpu}")}\ndate = "{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}"')
print(f'torch = "{torch.__version__}"\npillow = "{PIL.__version__}, {jpeg}"')
print(f"# {len(files)} pictures of {sum(path.stat().st_size for path in files) / len(files) / 1024:.0f} KiB each to 320 x 320")
print("# Pictures a second, ours over the peer's, each at its best number of threads or workers:")
for name, kind in (("decoded", "decoded each time"), ("kept", "kept")):
    for words, unit in (("per_core", "pictures_per_core_s"), ("in_all", "pictures_per_s")):
        mine, other = best(ours, kind, unit), best(peers, kind, unit)
        print(f'{name}_{words} = {mine[unit] / other[unit]:.2f}  # {mine["threads"]} threads, {other["workers"]} workers')
    ahead = best([run for run in peers if run["workers"] > 0], kind, "pictures_per_core_s")
    print(f'{name}_per_core_and_ahead_of_the_step = {best(ours, kind, "pictures_per_core_s")["pictures_per_core_s"] / ahead["pictures_per_core_s"]:.2f}'
          f'  # {ahead["workers"]} workers')
for name, runs in (("ours", ours), ("peer", peers)):
    for run in runs:
        print(f"\n[[{name}]]")
        for key, value in run.items():
            print(f"{key} = {json.dumps(value)}")
PYTHON
mv "$work/record" "$1"
cat "$1"
