"""For each objective of the gbdt recipe: Python's lightgbm opens the model and predicts the same, and the metrics are
scikit-learn's. The data are scikit-learn's own tables, as CSV files without a time, and a made ranking.

Usage: gbdt_objectives_test.py LOCKSTEP. Exits 77, saying why, where Python lacks lightgbm, pandas or scikit-learn.
"""
import gzip
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile

for module in ("numpy", "pandas", "lightgbm", "sklearn", "scipy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: python3 has no {module}")
        sys.exit(77)

import lightgbm
import numpy as np
import pandas as pd
from scipy import stats
from sklearn import datasets, metrics

FEW_TREES = ["n_estimators=40", "num_leaves=15", "learning_rate=0.1"]


def run(tool, folder, *words):
    result = subprocess.run([tool, *words], cwd=folder, text=True, capture_output=True)
    if result.returncode != 0 and "lib_lightgbm.so" in result.stderr:
        print("skipped: Lockstep has no LightGBM")
        sys.exit(77)
    assert result.returncode == 0, result.stderr
    return result.stdout


class Trained:
    """A run on FOLDER/NAME.csv, with its test rows as pandas reads them."""

    def __init__(self, tool, folder, table, name, objective, label, *words):
        if not (folder / f"{name}.csv").exists():
            table.to_csv(folder / f"{name}.csv", index=False)
        run_name = f"{name}-{objective}"
        run(tool, folder, "train", "gbdt", "--name", run_name, f"data.path={name}.csv", "features=*", f"label={label}",
            f"objective={objective}", *FEW_TREES, *words)
        result = folder / "runs" / run_name
        self.metadata = json.loads((result / "metadata.json").read_text())
        self.test = self.metadata["metrics"]["test"]
        self.predictions = pd.read_csv(result / "predictions.csv")
        # pandas' own way to read numbers misses some by a bit, and a row then takes another branch.
        self.rows = pd.read_csv(folder / f"{name}.csv", float_precision="round_trip").iloc[self.predictions["row"].to_numpy() - 1]
        model = lightgbm.Booster(model_file=result / "model.txt")
        self.theirs = model.predict(self.rows[self.metadata["features"]].to_numpy(dtype=float))
        labels = pd.read_csv(io.BytesIO(gzip.decompress((result / "labels.csv.gz").read_bytes())))
        parts = [set(labels.row[labels.split == part]) for part in ("train", "valid", "test")]
        assert sum(map(len, parts)) == len(set.union(*parts)) == len(labels), "parts overlap"
        evaluated = run(tool, folder, "evaluate", run_name)
        assert f" {len(self.predictions)} " in evaluated, evaluated

    def same_predictions(self, ours):
        worst = np.abs(self.theirs - ours.to_numpy()).max()
        assert worst <= 1e-12, worst

    def same(self, name, value, error=1e-9):
        assert abs(self.test[name] - value) <= error * max(1, abs(value)), (name, self.test[name], value)
        low, high = self.test[name + "_interval"]
        assert low is None or low <= self.test[name] <= high, (name, low, high)


def binary(tool, folder):
    data = datasets.load_breast_cancer(as_frame=True)
    table = data.data.assign(diagnosis=np.where(data.target == 1, "benign", "malignant"))
    one = Trained(tool, folder, table, "cancer", "binary", "diagnosis")
    one.same_predictions(one.predictions.probability)
    assert one.metadata["label"]["classes"] == ["benign", "malignant"]
    label, probability = one.predictions.label == "malignant", one.predictions.probability
    one.same("auc", metrics.roc_auc_score(label, probability))
    one.same("log_loss", metrics.log_loss(label, probability))
    one.same("f1", metrics.f1_score(label, probability > 0.5))
    one.same("accuracy", metrics.accuracy_score(label, probability > 0.5))
    assert one.test["auc"] > 0.95


def multiclass(tool, folder):
    for name, data, objective, least in (("iris", datasets.load_iris(as_frame=True), "multiclass", 0.8),
                                         ("wine", datasets.load_wine(as_frame=True), "softmax", 0.8),
                                         ("digits", datasets.load_digits(as_frame=True), "multiclassova", 0.9)):
        names = [str(word) for word in data.target_names]
        table = data.data.assign(kind=[names[target] for target in data.target])
        one = Trained(tool, folder, table, name, objective, "kind", "min_child_samples=5")
        assert one.metadata["label"]["classes"] == sorted(names)
        columns = [f"probability_{word}" for word in sorted(names)]
        one.same_predictions(one.predictions[columns])
        label, called = one.predictions.label.astype(str), one.predictions.prediction.astype(str)
        one.same("accuracy", metrics.accuracy_score(label, called))
        for average in ("precision", "recall", "f1"):
            score = getattr(metrics, f"{average}_score")(label, called, average="macro", zero_division=0)
            one.same(f"macro_{average}", score)
        if objective != "multiclassova":  # whose probabilities do not add up to 1
            one.same("log_loss", metrics.log_loss(label, one.predictions[columns], labels=sorted(names)))
        confusion = metrics.confusion_matrix(label, called, labels=sorted(names))
        ours = [[one.test["confusion"][true][guess] for guess in sorted(names)] for true in sorted(names)]
        assert (confusion == np.array(ours)).all()
        assert one.test["accuracy"] >= least, one.test["accuracy"]


def regression(tool, folder):
    table = datasets.load_diabetes(as_frame=True).frame
    for objective, words in (("regression", []), ("mae", []), ("huber", []), ("quantile", ["params=alpha=0.75"]),
                             ("poisson", []), ("gamma", []), ("tweedie", []), ("mape", []), ("fair", [])):
        one = Trained(tool, folder, table, "diabetes", objective, "target", *words)
        prediction, label = one.predictions.prediction, one.predictions.label
        one.same_predictions(prediction)
        one.same("rmse", metrics.root_mean_squared_error(label, prediction))
        one.same("mae", metrics.mean_absolute_error(label, prediction))
        one.same("r2", metrics.r2_score(label, prediction))
        one.same("spearman", stats.spearmanr(label, prediction).statistic)
        one.same("base_rmse", label.std(ddof=0))
        if objective == "quantile":
            one.same("pinball", metrics.mean_pinball_loss(label, prediction, alpha=0.75))
            one.same("coverage", (label <= prediction).mean())
        if objective == "regression":
            assert one.test["r2"] > 0.2, one.test["r2"]


def ranking(tool, folder):
    generator = np.random.default_rng(2)
    rows = []
    for query in range(120):
        hits = generator.normal(size=(int(generator.integers(2, 15)), 3))
        relevance = np.clip(np.round(hits[:, 0] + 0.5 * hits[:, 1] + 0.3 * generator.normal(size=len(hits))), 0, 4)
        rows += [{"query": f"q{query}", "a": hit[0], "b": hit[1], "c": hit[2], "relevance": int(value)}
                 for hit, value in zip(hits, relevance)]
    table = pd.DataFrame(rows)
    for objective in ("ranking", "rank_xendcg"):
        one = Trained(tool, folder, table, "queries", objective, "relevance", "group=query")
        one.same_predictions(one.predictions.score)
        assert one.metadata["features"] == ["a", "b", "c"]
        groups = [group for _, group in one.predictions.groupby("group") if group.label.max() > 0]
        for k in (1, 3, 5, 10):
            of_groups = [metrics.ndcg_score([2.0 ** group.label - 1], [group.score], k=k) for group in groups]
            one.same(f"ndcg@{k}", np.mean(of_groups))
        one.same("map", np.mean([metrics.average_precision_score(group.label > 0, group.score) for group in groups]))
        assert one.test["ndcg@10"] > one.test["base_ndcg@10"] + 0.1
        sizes = one.predictions.groupby("group").size()
        assert (sizes == table.groupby("query").size()[sizes.index]).all(), "torn groups"


def main():
    tool = str(pathlib.Path(sys.argv[1]).absolute())
    for check in (binary, multiclass, regression, ranking):
        with tempfile.TemporaryDirectory() as name:
            check(tool, pathlib.Path(name))
        print(f"{check.__name__}: as lightgbm and scikit-learn")


main()
