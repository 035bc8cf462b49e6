"""Starts runs on a folder of many volumes and watches them, for bench/volume_start.sh.

Usage: python3 bench/volume_start.py TOOL WORK STEPS
WORK/data holds the volumes; runs and their cache go below WORK. Prints TOML.
"""
import os
import pathlib
import re
import subprocess
import sys
import threading
import time


def children(process):
    task = pathlib.Path(f"/proc/{process}/task")
    return [int(child) for thread in task.iterdir() for child in (thread / "children").read_text().split()]


def status(process):
    lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return {key: int(fields[key].split()[0]) / 1024 for key in ("RssAnon", "RssFile", "RssShmem")}


def sample(process, name, most):
    """Keeps the largest of what was seen, of a process that may end meanwhile."""
    try:
        memory = status(process)
        found = {"private_mib": memory["RssAnon"], "mapped_files_mib": memory["RssFile"],
                 "open_files": len(os.listdir(f"/proc/{process}/fd")),
                 "maps": len(pathlib.Path(f"/proc/{process}/maps").read_text().splitlines())}
    except (OSError, KeyError):
        return
    for key, value in found.items():
        most.setdefault(name, {})[key] = max(round(value), most.get(name, {}).get(key, 0))


def train(tool, work, options):
    command = [tool, "train", "volume", f"data.path={work}/data", f"run.root={work}/runs", "preset=small",
               "data.ignore=2", "data.valid_share=0", "checkpoint.every=0s", "--devices", "cpu:1", *options]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    most, ended = {}, threading.Event()

    def watch():
        while not ended.wait(0.1):
            sample(process.pid, "tool", most)
            for child in children(process.pid) if process.poll() is None else []:
                sample(child, "worker", most)

    watcher = threading.Thread(target=watch)
    watcher.start()
    text = process.stdout.read()
    process.wait()
    ended.set()
    watcher.join()
    if process.returncode != 0:
        raise SystemExit(text)
    parts = re.search(r"start-up ([\d.]+)s: (.*)", text)
    waits = re.findall(r"data ([\d.]+)%", text)
    return {"start_up_s": float(parts[1]), "parts": parts[2], "all_s": round(time.perf_counter() - begin, 1),
            "last_data_wait_percent": float(waits[-1])}, most


def forget(folder):
    """The system's copies in memory of the files below a folder."""
    for path in folder.rglob("*"):
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def show(table, values):
    print(f"\n[{table}]")
    for key, value in values.items():
        print(f"{key} = " + (f'"{value}"' if isinstance(value, str) else str(value)))


def main():
    tool, work, steps = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    first, most = train(tool, work, ["stop.steps=2"])
    show("first_start", first)
    show("first_start.tool", most["tool"])
    cached = [path for path in work.rglob("*.vox")]
    show("cache", {"files": len(cached), "mib": round(sum(path.stat().st_size for path in cached) / 2**20)})
    show("later_start", train(tool, work, ["stop.steps=2"])[0])
    forget(work)
    show("later_start_nothing_in_memory", train(tool, work, ["stop.steps=2"])[0])
    run, most = train(tool, work, [f"stop.steps={steps}", "data.patches=1"])
    show("training", {"steps": int(steps), "patches": 4 * int(steps), **run})
    show("training.tool", most["tool"])
    show("training.worker", most["worker"])


if __name__ == "__main__":
    main()
