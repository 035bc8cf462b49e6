"""Runs a training and compares every estimate of time left with the truth.

Usage: python3 bench/time_left.py LOCKSTEP train RECIPE [OPTION…]
Prints TOML: for each progress line after the first tenth, the share of the run behind it, the seconds that
were left, the estimate, and its error as a share of the whole run.
"""
import re
import subprocess
import sys
import time

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

lines = []
process = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
for line in process.stderr:
    lines.append((time.monotonic(), line))
if process.wait() != 0:
    sys.exit("".join(line for _, line in lines[-20:]))
steps = [(at, line) for at, line in lines if " eta " in line]
begin = steps[0][0]
end = next(at for at, line in lines if line.startswith("finished"))
print("# How good the estimates of the time left were; written by bench/time_left.py.")
print(f'command = "{" ".join(["lockstep", *sys.argv[2:]])}"\nseconds = {end - begin:.1f}\nlines = [')
worst = 0.0
for at, line in steps:
    share = (at - begin) / (end - begin)
    if share < 0.1:
        continue
    estimate = sum(int(n) * UNITS[u] for n, u in re.findall(r"(\d+)([smhd])", line.split(" eta ")[1]))
    error = (estimate - (end - at)) / (end - begin)
    worst = max(worst, abs(error))
    print(f"  {{share = {share:.2f}, left_s = {end - at:.1f}, estimate_s = {estimate}, error = {error:.3f}}},")
print(f"]\nworst_error = {worst:.3f}  # of the whole run")
