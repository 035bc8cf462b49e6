"""Reads stores that MLflow and trackio themselves wrote, and writes into MLflow's, which must go on working.

Usage: tracker_stores_test.py LOCKSTEP [here|other]. With "other" it runs in the Python that LOCKSTEP_TRACKERS_PYTHON names, which
has another version of MLflow (requirements-trackers.txt). Exits 77, saying why, where there is no such Python or no MLflow.
"""
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from exports_test import write_run

STEP_S = {"base": 1.0, "slow": 1.1}
OWN = """
import sys, mlflow
try:
    with mlflow.start_run(): mlflow.log_metric("own", 1.0, step=1)
    print(len(mlflow.search_runs(search_all_experiments=True, output_format="list")))
except Exception as error:
    print("raises", type(error).__name__)
"""


def tool(lockstep, *words, code=0):
    ran = subprocess.run([lockstep, *map(str, words)], capture_output=True, text=True)
    assert ran.returncode == code, (words, ran.returncode, ran.stdout, ran.stderr)
    return ran.stdout if code == 0 else ran.stderr


def own_runs(folder, allow=True):
    """What a program of a user's own prints that logs a run into the default store of this folder."""
    environment = {**os.environ, "MLFLOW_ALLOW_FILE_STORE": "true" if allow else "false"}
    return subprocess.run([sys.executable, "-c", OWN], cwd=folder, env=environment, capture_output=True,
                          text=True).stdout.strip().splitlines()[-1]


def client_of(uri):
    from mlflow.tracking import MlflowClient
    return MlflowClient(tracking_uri=uri)


def make_runs(uri):
    """Two runs of 60 steps; a NaN that was added a day later, and a metric of the machine, which counts by itself."""
    from mlflow.entities import Metric, Param
    begin = 1_700_000_000_000
    client = client_of(uri)
    experiment = client.create_experiment("textgen")
    for name, step_s in STEP_S.items():
        run = client.create_run(experiment, run_name=name).info.run_id
        metrics = [Metric("score", math.nan, begin + 86_400_000, 1)]
        for step in range(1, 61):
            time = begin + int(step_s * 1000 * step)
            metrics.append(Metric("loss", 4 / step, time, step))
            if step % 20 == 0:
                metrics.append(Metric("val/loss", 5 / step, time, step))
        metrics += [Metric("system/cpu", float(sample), begin + sample, sample) for sample in range(500)]
        client.log_batch(run, metrics, [Param("lr", "0.1"), Param("seed", str(len(name)))])
        client.set_terminated(run)
    gone = client.create_run(experiment, run_name="gone").info.run_id
    client.delete_run(gone)


def check_reading(lockstep, store):
    listed = json.loads(tool(lockstep, "runs", store, "--json"))
    assert sorted(run["name"] for run in listed) == sorted(STEP_S), listed
    assert all(run["experiment"] == "textgen" and run["state"] == "finished" for run in listed), listed
    by_name = {run["name"]: run["id"] for run in listed}
    words = (f"{store}#base", f"{store}#textgen/slow")
    for pair in (words, tuple(f"{store}#{by_name[name]}" for name in STEP_S)):
        rows = json.loads(tool(lockstep, "compare", *pair, "--table", "--json"))
        for row, (name, step_s) in zip(rows, STEP_S.items()):
            assert row["name"] == name, row
            text = json.dumps(row)
            assert math.isclose(row["measured"]["step_s"], step_s, rel_tol=1e-6), text
            assert math.isclose(row["measured"]["train_s"], 59 * step_s, rel_tol=1e-6), text
            assert math.isclose(row["measured"]["best.val/loss"], 5 / 60), text
            assert "system/cpu" not in text, text
    compared = json.loads(tool(lockstep, "compare", *words, "--json", "--assume", "data,options,devices,global_batch"))
    row = next(one for one in compared["quantities"] if one["name"] == "step_s")
    assert math.isclose(row["estimate"], 1.1, rel_tol=1e-6), row
    assert "holds 2 runs" in tool(lockstep, "compare", store, words[0], code=2)
    assert "there is no run" in tool(lockstep, "compare", f"{store}#nobody", words[0], code=2)


def check_experiment_that_is_there(lockstep, run, folder):
    store = folder / "mlruns"
    uri = store.absolute().as_uri()
    make_runs(uri)
    before = own_runs(folder)
    tool(lockstep, "export", run, "--mlflow", store)
    client = client_of(uri)
    named = [one for one in client.search_experiments() if one.name == "textgen"]
    assert len(named) == 1, named
    names = [one.info.run_name for one in client.search_runs([client.get_experiment_by_name("textgen").experiment_id])]
    assert sorted(names) == sorted([*STEP_S, run.name]), names
    assert int(own_runs(folder)) == int(before) + 2, (before, names)
    check_reading_of_own(lockstep, f"{store}#{run.name}")


def check_reading_of_own(lockstep, word):
    rows = json.loads(tool(lockstep, "compare", word, "--table", "--json"))
    assert "loss" in json.dumps(rows[0]), rows


def check_deleted_experiment(lockstep, run, folder):
    client = client_of((folder / "mlruns").absolute().as_uri())
    client.delete_experiment(client.create_experiment("textgen"))
    assert "was deleted in MLflow" in tool(lockstep, "export", run, "--mlflow", folder / "mlruns", code=2)


def check_beside_a_database(lockstep, run, folder):
    """MLflow 3.x reads mlflow.db until mlruns holds an experiment; 2.x reads mlruns whatever lies beside it."""
    make_runs(f"sqlite:///{folder}/mlflow.db")
    assert "would no longer read" in tool(lockstep, "export", run, "--mlflow", folder / "mlruns", code=2)
    assert not list(folder.glob("mlruns/*/meta.yaml"))
    before = own_runs(folder, allow=False)
    tool(lockstep, "export", run, "--mlflow", folder / "lockstep-mlruns")
    after = own_runs(folder, allow=False)
    assert "raises" not in before + after and int(after) == int(before) + 1, (before, after)
    client = client_of((folder / "lockstep-mlruns").absolute().as_uri())
    assert len(client.search_runs([client.get_experiment_by_name("textgen").experiment_id])) == 1


def check_results(lockstep, folder):
    """A run that trains in the tool has its metrics in its record."""
    run = folder / "trees"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({
        "recipe": "gbdt", "config": {"gbdt.num_leaves": 31}, "started": 1000, "seconds": 2.5, "lockstep": "0.1.0",
        "results": {"data": "d0", "used.num_leaves": 31, "rows.train": 800, "test.auc": 0.75}}))
    (run / "state.json").write_text(json.dumps({"state": "finished", "why": "", "time": 1003}))
    tool(lockstep, "export", run, "--mlflow", folder / "results")
    client = client_of((folder / "results").absolute().as_uri())
    found = client.search_runs([client.get_experiment_by_name("gbdt").experiment_id])[0].data
    assert found.metrics["test.auc"] == 0.75 and found.metrics["rows.train"] == 800, found.metrics
    assert found.metrics["wall_s"] == 2.5, found.metrics
    assert found.params["used.num_leaves"] == "31" and found.params["gbdt.num_leaves"] == "31", found.params


def check_trackio(lockstep, folder):
    if importlib.util.find_spec("trackio") is None:
        print("trackio is not there")
        return
    os.environ["TRACKIO_DIR"] = str(folder / "trackio")
    import trackio
    for name in STEP_S:
        trackio.init(project="textgen", name=name, config={"lr": 0.1, "model": {"layers": 2}})
        for step in range(1, 5):
            trackio.log({"train/loss": 4 / step, "score": math.nan if step == 4 else 1.0}, step=step)
        trackio.finish()
    store = folder / "trackio/textgen.db"
    before = sorted(os.listdir(store.parent))
    listed = json.loads(tool(lockstep, "runs", store, "--json"))
    assert sorted(run["name"] for run in listed) == sorted(STEP_S), listed
    rows = json.loads(tool(lockstep, "compare", f"{store}#base", f"{store}#slow", "--table", "--json"))
    assert "best.train/loss" in json.dumps(rows), rows
    assert sorted(os.listdir(store.parent)) == before, "something was left beside the database"


def main():
    if "other" in sys.argv[2:]:
        other = os.environ.get("LOCKSTEP_TRACKERS_PYTHON")
        if not other:
            print("skipped: LOCKSTEP_TRACKERS_PYTHON names no Python with another version of MLflow")
            sys.exit(77)
        os.execv(other, [other, __file__, sys.argv[1]])
    for module in ("mlflow", "sqlalchemy", "alembic"):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: python3 has no {module}")
            sys.exit(77)
    import mlflow
    lockstep = pathlib.Path(sys.argv[1]).absolute()
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = folder / "made"
        write_run(run)
        parts = {name: folder / name for name in ("database", "files", "there", "deleted", "beside")}
        for part in parts.values():
            part.mkdir()
        make_runs(f"sqlite:///{parts['database']}/mlflow.db")
        check_reading(lockstep, parts["database"] / "mlflow.db")
        make_runs((parts["files"] / "mlruns").absolute().as_uri())
        check_reading(lockstep, parts["files"] / "mlruns")
        check_experiment_that_is_there(lockstep, run, parts["there"])
        check_deleted_experiment(lockstep, run, parts["deleted"])
        check_beside_a_database(lockstep, run, parts["beside"])
        check_results(lockstep, folder)
        check_trackio(lockstep, folder)
    print(f"MLflow {mlflow.__version__}: read, and goes on after exports")


if __name__ == "__main__":
    main()
