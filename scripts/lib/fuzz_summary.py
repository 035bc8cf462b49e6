"""What one fuzzer's log says, in a line and, where a record is named, in its section there.
  fuzz_summary.py NAME LOG RUNS RECORD COMMIT      RECORD: a TOML file, or empty
Exit code 1 on a finding."""
import datetime
import fcntl
import os
import re
import sys

HEAD = """# Runs of 10,000,000 executions of each fuzzer (tests/fuzz) under ASan and UBSan, none with a finding. A
# section is of the last run of that fuzzer. Written by scripts/fuzz.sh.
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


def main():
    name, log, runs, record, commit = sys.argv[1:]
    with open(log, errors="replace") as file:
        text = file.read()
    executions = number(r"stat::number_of_executed_units: (\d+)", text)
    seconds = number(r"Done \d+ runs in (\d+) second", text)
    edges = number(r"cov: (\d+)", text)
    artifacts = re.findall(r"Test unit written to (\S+)", text)
    # A slow unit is reported from 1 s on; what took longer than that is a hang.
    good = "Done " in text and executions >= int(runs) and not artifacts
    rate = executions // max(1, seconds)
    print(f"{name:12} {executions:>10} executions  {rate:>6}/s  {seconds:>6} s  {edges:>6} edges"
          f"{'' if good else '  FINDING'}", flush=True)
    if not good:
        tail = "\n".join(text.splitlines()[-40:])
        sys.stderr.write(f"{tail}\n\nerror: the fuzzer {name} has a finding; its output is in {log}\n")
        for artifact in artifacts:
            sys.stderr.write(f"\nhint: repeat it with build-fuzz/fuzz-{name} {artifact}\n")
        return 1
    if record:
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        write_record(record, name,
                     f'command = "scripts/fuzz.sh {runs} {name}"\ncommit = "{commit}"\ndate = {date}\n'
                     f"cores = {os.cpu_count()}\nexecutions = {executions}\nseconds = {seconds}\n"
                     f"executions_per_s = {rate}\nedges = {edges}")
    return 0


sys.exit(main())
