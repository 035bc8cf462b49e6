"""Where LightGBM trains when a GPU is named by CUDA_VISIBLE_DEVICES as UUID, by OpenCL and by CUDA: memory and activity of all
GPUs while one training runs on each in turn, as TOML.

    device_mask.py OUT_FILE LOCKSTEP [--rows 2000000] [--trees 60] [--ways gpu cuda]
Needs two GPUs, and nvidia-smi. The driver does not list processes that compute by OpenCL, so it is the GPUs that are looked at.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

QUERY = ["nvidia-smi", "--query-gpu=uuid,memory.used,utilization.gpu", "--format=csv,noheader,nounits"]


def look():
    rows = [line.split(", ") for line in subprocess.run(QUERY, capture_output=True, text=True, check=True).stdout.splitlines()]
    return {uuid: (float(used), float(busy)) for uuid, used, busy in rows}


def train(asked, way, uuid, before, folder):
    """More memory than before, and the highest activity, of each GPU while one training runs."""
    command = [asked.lockstep, "train", "gbdt", f"data.made_rows={asked.rows}", "objective=regression", "test=none", "split.valid_share=0",
               "early_stopping=0", "max_depth=-1", "num_leaves=255", f"n_estimators={asked.trees}", f"gbdt.device={way}"]
    out = folder / f"{way}-{uuid}"
    out.mkdir()
    child = subprocess.Popen(command, env={**os.environ, "LOCKSTEP_OUT": str(out), "CUDA_VISIBLE_DEVICES": uuid}, cwd=folder,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    most = {one: [0.0, 0.0] for one in before}
    while child.poll() is None:
        for one, (used, busy) in look().items():
            most[one] = [max(most[one][0], used - before[one][0]), max(most[one][1], busy)]
        time.sleep(0.2)
    said = child.stderr.read().strip().splitlines()
    obeys = child.returncode == 0 and most[uuid][0] > 50 and all(used < 50 for one, (used, _) in most.items() if one != uuid)
    return {"way": way, "asked_for": uuid, "exit_code": child.returncode, "obeys": obeys,
            "memory_mib": [round(used) for used, _ in most.values()], "busy_percent": [round(busy) for _, busy in most.values()],
            "said": "" if child.returncode == 0 else " ".join(said[-3:])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("lockstep")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--trees", type=int, default=60)
    parser.add_argument("--ways", nargs="+", default=["gpu", "cuda"])
    asked = parser.parse_args()
    asked.lockstep = str(pathlib.Path(asked.lockstep).absolute())
    gpus = list(look())
    lines = [f'command = "bench/device_mask.py OUT_FILE LOCKSTEP"', f'commit = "{os.environ.get("LOCKSTEP_COMMIT", "unknown")}"',
             f'date = "{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}"', f"gpus = {json.dumps(gpus)}"]
    with tempfile.TemporaryDirectory() as name:
        for way in asked.ways:
            for uuid in gpus:
                found = train(asked, way, uuid, look(), pathlib.Path(name))
                print(json.dumps(found), flush=True)
                lines += ["", "[[training]]"] + [f"{key} = {json.dumps(value)}" for key, value in found.items()]
    asked.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
