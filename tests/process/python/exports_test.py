"""Reads what `lockstep export` and log.tensorboard write with TensorBoard's, MLflow's and pandas' own readers.

Usage: exports_test.py LOCKSTEP [WORKER]. Without WORKER nothing is trained. Exits 77, saying why, where Python lacks
one of the readers.
"""
import importlib.util
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def write_run(run):
    """A run that went on from step 15 after 25 steps; its loss of step s is 4 / s, NaN at step 16."""
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({
        "recipe": "textgen", "config": {"optimizer.lr": 0.5, "data.path": "/data/corpus.txt"}, "started": 1000,
        "lockstep": "0.1.0", "host": "here"}))
    (run / "state.json").write_text(json.dumps({"state": "finished", "why": "", "time": 1050}))
    events = []

    def start(step):
        events.append({"kind": "start", "step": step, "unit": "tokens"})

    def steps(first, last, scale):
        for s in range(first + 1, last + 1):
            loss = None if scale == 4 and s == 16 else scale / s
            events.append({"kind": "step", "step": s, "loss": loss, "lr": 0.5, "units_per_s": 10.0 * s,
                           "logged": {"accuracy": 0.25}, "memory": [{"peak": 7}]})
            if s % 10 == 0:
                events.append({"kind": "eval", "step": s, "metrics": {"loss": 5 / s}, "best": True, "seconds": 0.5})

    start(0)
    steps(0, 15, 4)
    steps(15, 25, 99)
    events.append({"kind": "resume", "step": 15})
    start(15)
    steps(15, 30, 4)
    lines = [json.dumps({**event, "time": 1000 + i}) for i, event in enumerate(events)]
    (run / "events.jsonl").write_text("\n".join(lines) + "\n")


def scalars(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    found = {tag: events.Scalars(tag) for tag in events.Tags()["scalars"]}
    assert found, events.Tags()
    return found


def check_losses(steps, values):
    assert list(steps) == list(range(1, 31)), list(steps)
    for step, value in zip(steps, values):
        assert math.isnan(value) if step == 16 else math.isclose(value, 4 / step, rel_tol=1e-6), (step, value)


def check_tensorboard(lockstep, run, folder):
    subprocess.run([lockstep, "export", run, "--tensorboard", folder], check=True)
    found = scalars(folder)
    check_losses([one.step for one in found["train/loss"]], [one.value for one in found["train/loss"]])
    assert found["train/loss"][0].wall_time == 1001
    assert [one.step for one in found["eval/loss"]] == [10, 20, 30]
    assert found["throughput/tokens_per_s"][7].value == 80
    assert {"train/lr", "train/accuracy", "memory/rank0_peak_bytes", "time/evaluation_s"} <= set(found)


def check_mlflow(lockstep, run, folder):
    from mlflow.tracking import MlflowClient
    subprocess.run([lockstep, "export", run, "--mlflow", folder], check=True)
    client = MlflowClient(tracking_uri=folder.absolute().as_uri())
    experiment = client.get_experiment_by_name("textgen")
    found = client.search_runs([experiment.experiment_id])
    assert len(found) == 1, found
    assert found[0].info.run_name == run.name and found[0].info.status == "FINISHED", found[0].info
    assert found[0].info.start_time == 1000000
    assert found[0].data.params["optimizer.lr"] == "0.5"
    history = client.get_metric_history(found[0].info.run_id, "train/loss")
    history.sort(key=lambda one: one.step)
    check_losses([one.step for one in history], [one.value for one in history])
    assert found[0].data.metrics["eval/loss"] == 5 / 30, found[0].data.metrics


def check_csv(lockstep, run, folder):
    import pandas
    subprocess.run([lockstep, "export", run, "--csv", folder], check=True)
    steps = pandas.read_csv(folder / "steps.csv", float_precision="round_trip")
    check_losses(steps["step"], steps["loss"])
    evaluations = pandas.read_csv(folder / "evaluations.csv", float_precision="round_trip")
    assert list(evaluations["metrics.loss"]) == [5 / 10, 5 / 20, 5 / 30], evaluations


def check_training(lockstep, folder):
    """Trains 20 steps, goes on from step 10, and looks at what TensorBoard makes of both files."""
    (folder / "corpus.txt").write_text("the model trains on every device, and learns.\n" * 400)
    options = ["train", "textgen", f"data.path={folder}/corpus.txt", "tokenizer.kind=bytes", "model.layers=1",
               "model.width=16", "model.heads=2", "model.context=16", "batch.global=12", "stop.steps=20",
               "checkpoint.every_steps=5", "checkpoint.keep=9", "log.tensorboard=true", f"run.root={folder}/runs"]
    subprocess.run([lockstep, *options, "--devices", "cpu:2", "--name", "board"], check=True)
    run = folder / "runs/board"
    before = scalars(run / "tensorboard")["train/loss"]
    assert [one.step for one in before] == list(range(1, 21))
    for step in (15, 20):
        shutil.rmtree(run / f"checkpoints/step-{step:09}")
    subprocess.run([lockstep, "resume", run, "stop.steps=25", "--devices", "cpu:2"], check=True)
    assert len(os.listdir(run / "tensorboard")) == 2
    after = scalars(run / "tensorboard")["train/loss"]
    assert [one.step for one in after] == list(range(1, 26)), [one.step for one in after]
    events = map(json.loads, (run / "events.jsonl").read_text().splitlines())
    logged = {event["step"]: event for event in events if event["kind"] == "step"}
    for one in after:
        assert math.isclose(one.value, logged[one.step]["loss"], rel_tol=1e-6), one
        assert one.wall_time == logged[one.step]["time"], "a later line stands for one that was taken back"


def main():
    for module in ("tensorboard", "mlflow", "pandas"):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: python3 has no {module}")
            sys.exit(77)
    lockstep = pathlib.Path(sys.argv[1]).absolute()
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = folder / "made"
        write_run(run)
        check_tensorboard(lockstep, run, folder / "tb")
        check_mlflow(lockstep, run, folder / "mlruns")
        check_csv(lockstep, run, folder / "csv")
        if len(sys.argv) > 2:
            check_training(lockstep, folder)
    print("TensorBoard, MLflow and pandas read all of it")


if __name__ == "__main__":
    main()
