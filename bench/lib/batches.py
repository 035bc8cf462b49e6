"""Runs batches of the tool within a time, and reads what became of them out of their ledgers."""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import time


def job_file(path, command, count, **keys):
    """A job file with a job for each {n} from 1 to count."""
    lines = [f"command = {json.dumps(command)}"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    path.write_text("\n".join(lines) + f"\n[matrix]\nn = {{from = 1, to = {count}}}\n")


def run_batch(tool, folder, name, words, limit_s, kind="run", devices="", device_count=0):
    """`lockstep batch KIND --name NAME WORDS`: after limit_s nothing more starts, and soon all is ended.

    Returns the figures of its ledger, with what it printed at its end."""
    log = folder / f"{name}.log"
    shutil.rmtree(folder / "runs" / name, ignore_errors=True)
    command = [tool, "batch", kind, *(["--devices", devices] if devices else []), "--name", name, *words]
    with open(log, "w") as out:
        child = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)
        cut = False
        for wait_s in (limit_s, 20, 15):
            try:
                child.wait(wait_s)
                break
            except subprocess.TimeoutExpired:
                cut = True
                child.send_signal(signal.SIGINT)
        else:
            child.kill()
            child.wait()
    batch = folder / "runs" / name
    if not (batch / "ledger.sqlite").exists():
        sys.exit(f"{' '.join(command)}:\n{log.read_text()[-3000:]}")
    found = {"name": name, "code": child.returncode, "cut_short": cut, **figures(batch, device_count)}
    print(f"bench: {json.dumps({key: value for key, value in found.items() if key != 'notes'})}", file=sys.stderr)
    if found["done"] == 0:
        print(f"bench: nothing was done:\n{log.read_text()[-3000:]}", file=sys.stderr)
        for job_log in sorted((batch / "logs").glob("*.log"))[:2]:
            print(f"bench: {job_log.name}:\n{job_log.read_text()[-1500:]}", file=sys.stderr)
    return found


def rows_of(batch, question):
    ledger = sqlite3.connect(f"file:{batch / 'ledger.sqlite'}?mode=ro", uri=True)
    try:
        return ledger.execute(question).fetchall()
    finally:
        ledger.close()


def balance(values):
    """The least over the most; 1: the devices are equal."""
    return round(min(values) / max(values), 3) if values and max(values) > 0 else None


def figures(batch, device_count=0):
    """Jobs by state; of the attempts that were done, how fast they came, where, and what they took there."""
    states = dict(rows_of(batch, "SELECT state, count(*) FROM job WHERE listed GROUP BY state"))
    done = rows_of(batch, "SELECT started, ended, devices, gpu_memory_bytes, gpu_activity_percent FROM attempt "
                          "WHERE outcome = 'done'")
    places = dict(rows_of(batch, "SELECT placement, count(*) FROM attempt WHERE placement IS NOT NULL GROUP BY placement"))
    attempts = rows_of(batch, "SELECT count(*), count(DISTINCT job) FROM attempt")[0]
    by_device = {}
    for started, ended, devices, _, _ in done:
        for device in json.loads(devices):
            jobs, seconds = by_device.get(device, (0, 0.0))
            by_device[device] = (jobs + 1, seconds + ended - started)
    wall = max(row[1] for row in done) - min(row[0] for row in done) if done else 0
    peaks = [row[3] for row in done if row[3]]
    active = [row[4] for row in done if row[4]]
    used = [by_device[device] for device in sorted(by_device)]
    used += [(0, 0.0)] * (device_count - len(used))
    return {
        "jobs": sum(states.values()), "done": states.get("done", 0), "failed": states.get("failed", 0),
        "attempts": attempts[0], "seconds": round(wall, 2),
        "per_minute": round(60 * len(done) / wall, 1) if wall else 0,
        "job_s": round(statistics.median(row[1] - row[0] for row in done), 3) if done else None,
        "at_once": round(sum(row[1] - row[0] for row in done) / wall, 2) if wall else 0,
        "verified": places.get("verified", 0), "wrong": places.get("wrong", 0),
        "unverifiable": places.get("unverifiable", 0), "too_short_to_tell": places.get("unseen", 0),
        "peak_mib": round(max(peaks) / 2**20) if peaks else None,
        "activity_percent": round(statistics.median(active), 1) if active else None,
        "device_jobs": [jobs for jobs, _ in used], "device_job_seconds": [round(seconds, 1) for _, seconds in used],
        "balance_of_jobs": balance([jobs for jobs, _ in used]),
        "balance_of_seconds": balance([seconds for _, seconds in used]),
        "notes": [text for text, in rows_of(batch, "SELECT text FROM note ORDER BY id")],
    }


def head(command):
    """What each record begins with; commit and time come from the environment of the script."""
    gpu = ""
    if shutil.which("nvidia-smi"):
        gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                             capture_output=True, text=True).stdout
    cores = len(os.sched_getaffinity(0))
    machine = "; ".join([*gpu.strip().splitlines(), f"{cores} cores"])
    return [f'command = "{command}"', f'commit = "{os.environ.get("COMMIT", "unknown")}"',
            f'date = "{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}"', f"machine = {json.dumps(machine)}"]


def table(name, values):
    """A table of TOML; what is not known is left out."""
    lines = [f"\n[[{name}]]"]
    for key, value in values.items():
        if value is not None:
            lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines)


def write(path, lines):
    pathlib.Path(path).write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
