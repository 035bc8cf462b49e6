"""Whether two builds of Lockstep train to the same bits.

Usage: python3 bench/same_bits.py OLD_TOOL NEW_TOOL [CASE…] [--gpus N] [--list]
Each case trains the same few steps with both tools: weights and optimizer state of the last checkpoint, and the losses
and gradient norms of all steps, must be equal bit for bit. A case is NAME of --list, or the beginning of one.
On CPU ranks without --gpus; with it on N GPUs, deterministic, with CUDA graphs and without.
Exit code 0: all equal; 1: some differ; 2: a case could not be run.
"""
import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

ALWAYS = "seed=5 log.every_steps=1 eval.every_steps=0"
SMALL = {
    "textgen": "stop.steps=8 batch.global=8 batch.micro=4 model.width=32 model.layers=2 model.heads=2 data.valid_share=0",
    "volume": "stop.steps=5 batch.global=4 batch.micro=1 data.patch=16 model.width=4 model.depth=2",
    "fewshot": "stop.steps=5 batch.global=2 batch.micro=1 model.depth=18 model.width=16 model.neck=16 model.hidden=32 model.embedding=16",
    "dimabsa": "stop.steps=8 batch.global=4 model.width=32 model.layers=2",
}
# Each case is a recipe, a number of ranks, and options over those above.
CASES = {
    "textgen-1": ("textgen", 1, ""),
    "textgen-2": ("textgen", 2, ""),
    "textgen-bf16": ("textgen", 2, "precision=bf16"),
    "textgen-fp16": ("textgen", 2, "precision=fp16"),
    "textgen-accumulation": ("textgen", 2, "batch.micro=2"),
    "textgen-bf16-accumulation": ("textgen", 2, "batch.micro=2 precision=bf16"),
    "textgen-untied": ("textgen", 2, "model.tied=false"),
    "textgen-frozen": ("textgen", 2, "train.freeze=ln.* optimizer.groups=blocks.*:lr=0.01 optimizer.weight_decay=0.1"),
    "textgen-reduce-bf16": ("textgen", 2, "precision=bf16 reduce_precision=bf16"),
    "textgen-shard": ("textgen", 2, "shard_optimizer=true"),
    "textgen-shard-bf16-average": ("textgen", 3, "batch.global=12 shard_optimizer=true precision=bf16 ema.decay=0.9"),
    "textgen-average": ("textgen", 2, "ema.decay=0.9"),
    "textgen-adam": ("textgen", 2, "optimizer.kind=adam"),
    "textgen-sgd": ("textgen", 2, "optimizer.kind=sgd optimizer.momentum=0 optimizer.lr=0.1"),
    "textgen-sgd-momentum": ("textgen", 2, "optimizer.kind=sgd optimizer.nesterov=true precision=bf16"),
    "textgen-recompute": ("textgen", 2, "memory.recompute=blocks optimizer.clip=0"),
    "textgen-exact-1": ("textgen", 1, "exact=true batch.micro=1"),
    "textgen-exact-2": ("textgen", 2, "exact=true batch.micro=1"),
    "textgen-exact-3": ("textgen", 3, "exact=true batch.micro=1 batch.global=6 precision=bf16"),
    "textgen-resume": ("textgen", 2, ""),
    "textgen-muon": ("textgen", 2, "optimizer.kind=muon"),
    "textgen-muon-shard": ("textgen", 2, "optimizer.kind=muon shard_optimizer=true"),
    "textgen-muon-exact": ("textgen", 2, "optimizer.kind=muon exact=true batch.micro=1"),
    "textgen-muon-resume": ("textgen", 2, "optimizer.kind=muon"),
    "dimabsa-1": ("dimabsa", 1, ""),
    "dimabsa-2": ("dimabsa", 2, ""),
    "dimabsa-bf16": ("dimabsa", 2, "precision=bf16 shard_optimizer=true"),
    "volume-2": ("volume", 2, ""),
    "volume-sync": ("volume", 2, "norm.statistics=sync"),
    "fewshot-2": ("fewshot", 2, ""),
}


def tensors_of(path):
    """Name to (dtype, shape, bytes) of a safetensors file."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    begin = 8 + length
    return {
        name: (entry["dtype"], entry["shape"], data[begin + entry["data_offsets"][0] : begin + entry["data_offsets"][1]])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def result_of(run):
    found = {}
    checkpoint = sorted((run / "checkpoints").glob("step-*"))[-1]
    for path in sorted(checkpoint.glob("*.safetensors")):
        found |= {f"{path.name}: {name}": value for name, value in tensors_of(path).items()}
    for line in (run / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event.get("kind") == "step":
            found[f"step {event['step']}"] = (event.get("loss"), event.get("grad_norm"))
    return found


def lockstep(tool, words, gpus):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    if not gpus:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    ended = subprocess.run([tool, *words], env=environment, capture_output=True, text=True)
    if ended.returncode != 0:
        print(ended.stdout[-2000:], ended.stderr[-2000:], file=sys.stderr)
        raise SystemExit(2)


def train(tool, case, extra, gpus, root):
    """What a case becomes with one tool."""
    recipe, ranks, options = CASES[case]
    ranks = gpus or ranks
    devices = ",".join(map(str, range(ranks))) if gpus else f"cpu:{ranks}"
    # The last of two equal keys would be refused, so a case's own win here.
    values = dict(word.split("=", 1) for word in f"{ALWAYS} {SMALL[recipe]} {options} {extra}".split())
    resumed = case.endswith("resume")
    steps = values["stop.steps"]
    if resumed:
        values["stop.steps"] = str(int(steps) - 3)
    options = [f"{key}={value}" for key, value in values.items()]
    lockstep(tool, ["train", recipe, *options, f"run.root={root}", "--name", "run", "--devices", devices], gpus)
    if resumed:
        fewer = "0" if gpus else f"cpu:{ranks - 1}"
        lockstep(tool, ["resume", str(root / "run"), f"stop.steps={steps}", "--devices", fewer], gpus)
    return result_of(root / "run")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", nargs="?")
    parser.add_argument("new", nargs="?")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(f"{name}: {ranks} ranks, {recipe} {options}" for name, (recipe, ranks, options) in CASES.items()))
        return 0
    if not arguments.new:
        parser.error("name two tools, the old one first")
    names = [name for name in CASES if not arguments.cases or any(name.startswith(case) for case in arguments.cases)]
    if not names:
        parser.error(f"there is no case {' '.join(arguments.cases)}; see --list")
    modes = ["deterministic=true graph=off", "deterministic=true"] if arguments.gpus else [""]
    differing = 0
    for name in names:
        for mode in modes:
            with tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                old = train(arguments.old, name, mode, arguments.gpus, root / "old")
                new = train(arguments.new, name, mode, arguments.gpus, root / "new")
            wrong = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
            differing += bool(wrong)
            told = f"DIFFERS in {len(wrong)} of {len(old)}, as {sorted(wrong)[0]}" if wrong else f"{len(old)} equal"
            print(f"{name} {mode}".strip() + f": {told}", flush=True)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
