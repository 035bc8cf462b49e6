"""Prints the validation losses of runs as TOML: python3 bench/read_losses.py RUN_DIR…"""
import json
import pathlib
import sys

for run in map(pathlib.Path, sys.argv[1:]):
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    evals = [(event["step"], event["metrics"]["loss"]) for event in events if event["kind"] == "eval"]
    best = min(evals, key=lambda pair: pair[1])
    print(f'\n[[run]]\nname = "{run.name}"\nbest_step = {best[0]}\nbest_loss = {best[1]:.4f}')
    print(f"last_step = {evals[-1][0]}\nlast_loss = {evals[-1][1]:.4f}")
    print("losses = [" + ", ".join(f"[{step}, {loss:.4f}]" for step, loss in evals) + "]")
