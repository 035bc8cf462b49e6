#!/usr/bin/env bash
# Compares patches of volumes, from deflate TIFF and with augmentation, with torch's DataLoader, in turn, and writes a
# record.
#   bench/volume_loader.sh OUT_FILE      needs a python3 with torch and tifffile (with imagecodecs it reads faster)
# Environment: PROGRAM names bench-volume-patches (build/bench-volume-patches); VOLUMES (4), EDGE (160) and
# SECONDS_EACH (4); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "volume_loader.sh takes the file to write" "bench/volume_loader.sh OUT_FILE"
program=${PROGRAM:-$checkout/build/bench-volume-patches} volumes=${VOLUMES:-4} edge=${EDGE:-160} seconds=${SECONDS_EACH:-4}
[ -x "$program" ] || die "$program is not there" "build the target bench-volume-patches"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$checkout/bench/volume_set.py" "$work/data" "$volumes" "$edge"
"$program" "$work/data" "$work/cache" "$seconds" >>"$work/ours"
python3 "$checkout/bench/peers/volume_loader.py" "$work/data" "$seconds" >"$work/peers"
"$program" "$work/data" "$work/cache" "$seconds" >>"$work/ours"
python3 - "$work" "$(measured_commit "$checkout")" "$volumes" "$edge" >"$work/record" <<'PYTHON'
import json, os, pathlib, sys, time

import tifffile, torch

work, commit, volumes, edge = pathlib.Path(sys.argv[1]), *sys.argv[2:]
ours = [json.loads(line) for line in (work / "ours").read_text().splitlines()]
peers = [json.loads(line) for line in (work / "peers").read_text().splitlines()]
rate = lambda run: run.get("patches_per_core_s", 0)
reader = lambda name: max((run for run in peers if run["reader"] == name), key=rate)
best = lambda kind: max(rate(run) for run in ours if run["kind"] == kind)
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "unknown")
try:
    import imagecodecs
    codecs = f"imagecodecs {imagecodecs.__version__}"
except ImportError:
    codecs = "zlib"
print(f'command = "bench/volume_loader.sh OUT_FILE"\ncommit = {json.dumps(commit)}')
print(f'machine = {json.dumps(f"{os.cpu_count()} cores, {cpu}")}\ndate = "{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}"')
print(f'torch = "{torch.__version__}"\n# {volumes} volumes of {edge}^3 bytes; tifffile {tifffile.__version__}, deflate by {codecs}')
print("# Patches of 64^3 a second and core, ours over the peer's at its best number of workers, with the same work:")
for name, kind, other in (
    ("over_reading_each_time", "turns, brightness, contrast", "TIFF read for each patch"),
    ("over_volumes_in_memory", "turns, brightness, contrast", "volumes in memory"),
    ("over_volumes_in_memory_values_on_the_device", "turns", "volumes in memory, values on the device"),
):
    peer = reader(other)
    print(f'{name} = {best(kind) / rate(peer):.2f}  # with {peer["workers"]} workers')
    if peer["workers"] == 0:
        ahead = max((run for run in peers if run["reader"] == other and run["workers"] > 0), key=rate)
        print(f'{name}_and_ahead_of_the_step = {best(kind) / rate(ahead):.2f}  # with {ahead["workers"]} workers')
for name, runs in (("ours", ours), ("peer", peers)):
    for run in runs:
        print(f"\n[[{name}]]")
        for key, value in run.items():
            print(f"{key} = {json.dumps(value)}")
PYTHON
mv "$work/record" "$1"
cat "$1"
