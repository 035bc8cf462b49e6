"""Starts lockstep-worker under the real torchrun on 2 CPU ranks, and compares with `lockstep train`.

Usage: torchrun_test.py LOCKSTEP WORKER. Exits 77, saying why, where Python lacks torch.
"""
import importlib.util
import json
import math
import pathlib
import subprocess
import sys
import tempfile


def losses(run):
    events = map(json.loads, (run / "events.jsonl").read_text().splitlines())
    return [event["loss"] for event in events if event["kind"] == "step"]


def main():
    lockstep, worker = (pathlib.Path(word).absolute() for word in sys.argv[1:3])
    if importlib.util.find_spec("torch") is None:
        print("skipped: python3 has no torch")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "corpus.txt").write_text("the model trains on every device, and learns.\n" * 400)
        options = ["train", "textgen", f"data.path={folder}/corpus.txt", "tokenizer.kind=bytes", "model.layers=1",
                   "model.width=16", "model.heads=2", "model.context=16", "batch.global=12", "stop.steps=20",
                   f"run.root={folder}/runs"]
        subprocess.run([lockstep, *options, "--devices", "cpu:2", "--name", "own"], check=True)
        subprocess.run([sys.executable, "-m", "torch.distributed.run", "--no-python", "--standalone",
                        "--nproc-per-node", "2", worker, *options, "--devices=cpu", "--name", "torchrun"], check=True)
        own, foreign = losses(folder / "runs/own"), losses(folder / "runs/torchrun")
        record = json.loads((folder / "runs/torchrun/run.json").read_text())
    # torchrun gives each rank one thread, so that sums are rounded otherwise.
    same = len(own) == len(foreign) == 20 and all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(own, foreign))
    assert same, (own, foreign)
    assert len(record["devices"]) == 2, record["devices"]
    print(f"20 losses that agree, the last {own[-1]:.4f}")


if __name__ == "__main__":
    main()
