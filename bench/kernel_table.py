"""Adds up the GPU time of a trace (profile.first_step) by kernel.

Usage: python3 bench/kernel_table.py TRACE STEPS [ROWS]
"""
import collections
import json
import sys

trace, steps = sys.argv[1], int(sys.argv[2])
rows = int(sys.argv[3]) if len(sys.argv) > 3 else 40
with open(trace, encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
gpu = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
total, count = collections.Counter(), collections.Counter()
for event in gpu:
    name = event["name"]
    total[name] += event["dur"]
    count[name] += 1
begin = min(e["ts"] for e in gpu)
end = max(e["ts"] + e["dur"] for e in gpu)
print(f"{(end - begin) / steps / 1e3:.3f} ms a step from first to last kernel, "
      f"{sum(total.values()) / steps / 1e3:.3f} ms in kernels, {len(gpu) / steps:.0f} kernels a step")
for name, microseconds in total.most_common(rows):
    print(f"{microseconds / steps / 1e3:8.3f} ms {count[name] / steps:7.1f} x {microseconds / count[name]:8.1f} us  {name[:140]}")
