"""What one fuzzer's log says, in a line and, where a record is named, in its section there.
  fuzz_summary.py --runs N --seed N --program FILE [--commit ID] [--record FILE] NAME LOG…
A LOG is of a process. A slow input is tried again, since other programs may have made it slow.
Exit code 1 on a finding."""
import argparse
import datetime
import fcntl
import json
import os
import re
import subprocess
import sys

HEAD = """# Long runs of each fuzzer (tests/fuzz) under ASan and UBSan, none with a finding: whoever mends one takes
# that fuzzer's section out, and it begins anew. The lists have an entry a run: the processes that shared it,
# the seed of the first, the executions of all, the seconds of the slowest, the edges that the best reached.
# Written by scripts/fuzz.sh EXECUTIONS NAME.
"""


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def sections(path):
    """The sections of the record by name."""
    try:
        with open(path) as file:
            parts = re.split(r"^\[(\w+)\]\n", file.read(), flags=re.M)
    except FileNotFoundError:
        return {}
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2])}


def write_record(path, name, body):
    with open(path + ".lock", "w") as lock:  # several fuzzers may end at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        all_sections = sections(path) | {name: body}
        with open(path + ".new", "w") as file:
            file.write(HEAD)
            for key in sorted(all_sections):
                file.write(f"\n[{key}]\n{all_sections[key]}\n")
        os.replace(path + ".new", path)
    os.remove(path + ".lock")


def piece(path):
    """(executions, seconds, edges, findings, whether it came to its end) of one process."""
    with open(path, errors="replace") as file:
        text = file.read()
    return (number(r"stat::number_of_executed_units: (\d+)", text),
            number(r"Done \d+ runs in (\d+) second", text), number(r"cov: (\d+)", text),
            re.findall(r"Test unit written to (\S+)", text), "Done " in text)


def holds(program, artifact):
    """Whether what was found is found again, of an input that was slow."""
    if "slow-unit-" not in os.path.basename(artifact):
        return True
    for _ in range(3):
        try:
            said = subprocess.run([program, artifact], capture_output=True, text=True, errors="replace", timeout=20)
        except subprocess.TimeoutExpired:
            continue
        took = re.search(r"^Executed .* in (\d+) ms$", said.stderr, flags=re.M)
        if said.returncode == 0 and took and int(took.group(1)) < 1000:
            os.remove(artifact)
            return False
    return True


def earlier(path, name):
    """The lists of the fuzzer's section: a long run may be had in several."""
    body = sections(path).get(name, "")
    return {key: json.loads(values) for key, values in re.findall(r"^(\w+) = (\[.*\])$", body, flags=re.M)}


def main():
    parser = argparse.ArgumentParser()
    for option in ("runs", "seed"):
        parser.add_argument("--" + option, type=int, required=True)
    parser.add_argument("--program", required=True)
    for option in ("commit", "record"):
        parser.add_argument("--" + option, default="")
    parser.add_argument("name")
    parser.add_argument("log", nargs="+")
    given = parser.parse_args()
    pieces = [piece(log) for log in given.log]
    pieces = [(*p[:3], [one for one in p[3] if holds(given.program, one)], p[4]) for p in pieces]
    executions, edges = sum(p[0] for p in pieces), max(p[2] for p in pieces)
    seconds = max(p[1] for p in pieces)
    # A slow unit is reported from 1 s on; what took longer than that is a hang.
    good = executions >= given.runs and not any(p[3] for p in pieces) and all(p[4] for p in pieces)
    rate = executions // max(1, seconds)
    print(f"{given.name:12} {executions:>10} executions  {rate:>6}/s  {seconds:>6} s  {edges:>6} edges"
          f"{'' if good else '  FINDING'}", flush=True)
    if not good:
        for log, (_, _, _, artifacts, ended) in zip(given.log, pieces):
            if ended and not artifacts:
                continue
            with open(log, errors="replace") as file:
                sys.stderr.write("\n".join(file.read().splitlines()[-40:]))
            sys.stderr.write(f"\n\nerror: the fuzzer {given.name} has a finding; its output is in {log}\n")
            for artifact in artifacts:
                sys.stderr.write(f"\nhint: repeat it with build-fuzz/fuzz-{given.name} {artifact}\n")
        return 1
    if given.record:
        before = earlier(given.record, given.name)
        lists = {
            "commit": given.commit,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "cores": os.cpu_count(),
            "processes": len(pieces),
            "seed": given.seed,
            "executions": executions,
            "seconds": seconds,
            "edges": edges,
        }
        body = "".join(f"{key} = {json.dumps(before.get(key, []) + [value])}\n" for key, value in lists.items())
        write_record(given.record, given.name, f"total = {sum(before.get('executions', [])) + executions}\n{body.rstrip()}")
    return 0


sys.exit(main())
