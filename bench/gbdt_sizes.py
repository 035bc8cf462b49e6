"""Made tables of several sizes, trained by `lockstep train gbdt` on each device, as TOML.

    gbdt_sizes.py LOCKSTEP FOLDER --rows 100 … --leaves 31 … --devices cpu-1 cpu-all gpu cuda --threads 16 --trees 50
Each training is a process of its own. training_s is the recipe's phase `training`: LightGBM takes the rows over, starts
its device and grows the trees; making or reading rows and the prediction are not in it.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

NAMES = {"cpu-1": "CPU, 1 thread", "cpu-all": "CPU, all threads", "gpu": "OpenCL", "cuda": "CUDA"}


def words_of(device, asked):
    words = {"cpu-1": ["gbdt.threads=1"], "cpu-all": [f"gbdt.threads={asked.threads}"],
             "gpu": ["gbdt.device=gpu", f"gbdt.threads={asked.threads}"],
             "cuda": ["gbdt.device=cuda", f"gbdt.threads={asked.threads}"]}[device]
    if device == "cuda" and asked.cuda_library:
        words.append(f"gbdt.library={asked.cuda_library}")
    return words


def train(asked, device, rows, leaves, trees, limit_s):
    """The time of training, of the whole process, the trees, and the most leaves; or why there is none."""
    folder = asked.folder / f"{device}-{rows}-{leaves}"
    folder.mkdir(parents=True)
    command = [asked.lockstep, "train", "gbdt", f"data.made_rows={rows}", "objective=regression", "test=none",
               "split.valid_share=0", "early_stopping=0", "subsample=1", "colsample_bytree=1", "max_depth=-1",
               f"num_leaves={leaves}", f"n_estimators={trees}", *words_of(device, asked)]
    started = time.perf_counter()
    try:
        result = subprocess.run(command, env={**os.environ, "LOCKSTEP_OUT": str(folder)}, cwd=folder, text=True,
                                capture_output=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return f"not over within {limit_s:.0f} s"
    wall = time.perf_counter() - started
    if result.returncode != 0:
        said = [line for line in result.stderr.splitlines() if "error" in line.lower()] or result.stderr.splitlines()
        return said[0].strip() if said else f"exit code {result.returncode}"
    record = json.loads((folder / "metadata.json").read_text())
    return {"training_s": record["phases"]["training"], "process_s": wall, "trees": record["model"]["trees"],
            "most_leaves": record["model"]["most_leaves"], "gpu_name": record["library"].get("gpu_name", "")}


def quoted(text):
    return json.dumps(str(text))


def table(found, asked):
    """The same as a table of the guide: seconds of training, the least in bold."""
    devices = [one for one in asked.devices if any(key[0] == one for key in found)]
    lines = ["| rows | leaves | " + " | ".join(NAMES[one] for one in devices) + " |", "|---" * (len(devices) + 2) + "|"]
    for rows in asked.rows:
        for leaves in asked.leaves:
            times = {one: found[one, rows, leaves]["training_s"] for one in devices if (one, rows, leaves) in found}
            cells = [f"{times[one]:.3g}" if one in times else "" for one in devices]
            cells = [f"**{cell}**" if times.get(one) == min(times.values(), default=0) else cell
                     for one, cell in zip(devices, cells)]
            lines.append(f"| {rows:,} | {leaves} | " + " | ".join(cells) + " |")
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lockstep", type=lambda word: str(pathlib.Path(word).absolute()))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, nargs="+", required=True)
    parser.add_argument("--leaves", type=int, nargs="+", required=True)
    parser.add_argument("--devices", choices=NAMES, nargs="+", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--trees", type=int, default=30)
    parser.add_argument("--cuda-library", default="")
    parser.add_argument("--seconds", type=float, default=110)
    asked = parser.parse_args()
    end = time.perf_counter() + asked.seconds
    found, not_there, not_run, gpus = {}, {}, [], {}
    for device in asked.devices:  # also warms its driver up
        result = train(asked, device, 1000, 3, 1, 60)
        if isinstance(result, str):
            not_there[device] = result
        elif result["gpu_name"]:
            gpus[device] = result["gpu_name"]
    for rows in sorted(asked.rows):
        for leaves in asked.leaves:
            for device in reversed(asked.devices):  # one thread last: it takes longest
                if device in not_there:
                    continue
                left = end - time.perf_counter()
                result = train(asked, device, rows, leaves, asked.trees, left) if left > 0 else "no time was left"
                if isinstance(result, str):
                    not_run.append((device, rows, leaves, result))
                else:
                    found[device, rows, leaves] = result
    if not found:
        sys.exit(f"nothing was trained: {not_there}")
    print(f"trees = {asked.trees}\nthreads = {asked.threads}\ncolumns = 28")
    for device, name in gpus.items():
        print(f"{device} = {quoted(name)}")
    for device, why in not_there.items():
        print(f"[[not_there]]\ndevice = {quoted(device)}\nwhy = {quoted(why)}")
    print("\n# Seconds of training, a process each:")
    for line in table(found, asked):
        print(f"# {line}")
    for device, rows, leaves, why in not_run:
        print(f"\n[[not_run]]\ndevice = {quoted(device)}\nrows = {rows}\nleaves = {leaves}\nwhy = {quoted(why)}")
    for (device, rows, leaves), one in found.items():
        print(f"\n[[training]]\ndevice = {quoted(device)}\nrows = {rows}\nleaves = {leaves}")
        del one["gpu_name"]
        for key, value in one.items():
            print(f"{key} = {value:.6f}" if isinstance(value, float) else f"{key} = {value}")


main()
