#!/usr/bin/env bash
# Compares the loader with Python's ways to read the same packed text, in turn, and writes a record.
#   bench/loader.sh OUT_FILE      needs a python3 with torch
# Environment: PROGRAM names bench-loader (build/bench-loader); CONTEXT (1024), MICRO (32) and
# SECONDS_EACH (3); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "loader.sh takes the file to write" "bench/loader.sh OUT_FILE"
program=${PROGRAM:-$checkout/build/bench-loader} context=${CONTEXT:-1024} micro=${MICRO:-32} seconds=${SECONDS_EACH:-3}
[ -x "$program" ] || die "$program is not there" "build the target bench-loader"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 - "$work/tokens" <<'PYTHON'
import struct, sys
import numpy as np

count = 100_000_000  # 200 MB: as a corpus in the page cache
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<8sIIq", b"LSTOKENS", 1, 2, count))
    np.random.default_rng(1).integers(0, 50257, count, dtype=np.uint16).tofile(file)
PYTHON
for threads in 0 1 2 4 8; do "$program" "$work/tokens" "$context" "$micro" "$threads" "$seconds" >>"$work/ours"; done
python3 "$checkout/bench/peers/loader.py" "$work/tokens" "$context" "$micro" "$seconds" >"$work/peers"
for threads in 0 1; do "$program" "$work/tokens" "$context" "$micro" "$threads" "$seconds" >>"$work/ours"; done
commit=$(measured_commit "$checkout")
python3 - "$work" "$commit" "$context" "$micro" >"$work/record" <<'PYTHON'
import json, os, pathlib, platform, sys, time

work, commit, context, micro = pathlib.Path(sys.argv[1]), *sys.argv[2:]
ours = [json.loads(line) for line in (work / "ours").read_text().splitlines()]
peers = [json.loads(line) for line in (work / "peers").read_text().splitlines()]
text = lambda value: json.dumps(value)
best = max(run["samples_per_core_s"] for run in ours)
loader = max((run for run in peers if run["reader"] == "DataLoader"), key=lambda run: run["samples_per_s"])
mapped = next(run for run in peers if run["reader"] == "memory map")
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "unknown")
print(f'command = "bench/loader.sh OUT_FILE"\ncommit = {text(commit)}')
print(f'machine = {text(f"{os.cpu_count()} cores, {cpu}")}\ndate = "{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}"')
print(f"context = {context}\nmicro_batch = {micro}")
print(f'per_core_over_best_data_loader = {best / loader["samples_per_core_s"]:.2f}  # with {loader["workers"]} workers')
print(f'per_core_over_memory_map = {best / mapped["samples_per_core_s"]:.2f}')
for name, runs in (("ours", ours), ("peer", peers)):
    for run in runs:
        print(f"\n[[{name}]]")
        for key, value in run.items():
            print(f"{key} = {text(value)}")
PYTHON
mv "$work/record" "$1"
cat "$1"
