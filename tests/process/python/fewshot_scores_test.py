#!/usr/bin/env python3
"""The scores of detections on 200 random sets are pycocotools', and it reads what is written.

Usage: fewshot_scores_test.py DUMP_FEWSHOT_SCORES. Exits 77, saying why, where Python lacks pycocotools.
       fewshot_scores_test.py --record FILE      writes the cases of the unit tests with pycocotools' numbers
"""
import contextlib
import importlib.util
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

for module in ("numpy", "pycocotools"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: python3 has no {module}")
        sys.exit(77)

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

SIDES = [4, 16, 31, 32, 33, 60, 95, 96, 97, 150, 300]


def random_box(draw):
    width, height = draw.choice(SIDES), draw.choice(SIDES)
    if draw.random() < 0.3:
        width, height = round(width * draw.uniform(0.5, 2), 2), round(height * draw.uniform(0.5, 2), 2)
    return [draw.choice([draw.randint(-5, 400), round(draw.uniform(0, 400), 2)]), draw.randint(-5, 300), width, height]


def moved(draw, box):
    """A box near it: the same one, moved by pixels, or with half of its extent."""
    x, y, width, height = box
    kind = draw.randrange(5)
    if kind == 0:
        return [x, y, width, height / 2]
    if kind == 1:
        return list(box)
    far = 0.15 if kind < 4 else 0.6
    return [x + draw.uniform(-far, far) * width, y + draw.uniform(-far, far) * height,
            width * draw.uniform(0.8, 1.2), height * draw.uniform(0.8, 1.2)]


def random_case(draw, large):
    """A set: pictures and categories by id, truths and detections. Scores are coarse, so many are equal."""
    pictures = draw.sample(range(-3, 60), draw.randint(1, 6))
    categories = draw.sample(range(1, 40), draw.randint(1, 4))
    truths, results = [], []
    empty = draw.choice(categories + [None])
    for picture in pictures:
        for category in categories:
            for _ in range(0 if category == empty else draw.choice([0, 0, 1, 2, 3, 6])):
                box = random_box(draw)
                area = box[2] * box[3] if draw.random() < 0.7 else draw.choice([500, 1024, 1024.5, 9216, 20000])
                crowd = int(draw.random() < 0.12)
                truths.append([picture, category, *box, area, crowd, int(draw.random() < 0.1)])
    for truth in truths:
        for _ in range(draw.choice([0, 1, 1, 1, 2, 3])):
            category = truth[1] if draw.random() < 0.9 else draw.choice(categories)
            results.append([truth[0], category, moved(draw, truth[2:6]), round(draw.random(), draw.choice([1, 2, 15]))])
    for _ in range(draw.randint(1, 12)):
        results.append([draw.choice(pictures), draw.choice(categories), random_box(draw), round(draw.random(), 1)])
    if large:
        for _ in range(130):
            results.append([pictures[0], categories[0], random_box(draw), round(draw.random(), 2)])
    draw.shuffle(results)
    return {"pictures": pictures, "categories": categories, "truths": truths, "results": results}


def cases(seed, count):
    draw = random.Random(seed)
    return [random_case(draw, i % 10 == 9) for i in range(count)]


def results_of(case):
    return [{"image_id": picture, "category_id": category, "bbox": box, "score": score}
            for picture, category, box, score in case["results"]]


class Evaluation(COCOeval):
    """pycocotools drops "ignore" of the ground truth for "iscrowd"; here both are kept."""

    def _prepare(self):
        super()._prepare()
        for truth in self.cocoGt.dataset["annotations"]:
            truth["ignore"] = truth["iscrowd"] or truth["left_out"]


def pycocotools(case, results):
    """precision [T, R, K, A, M], recall [T, K, A, M] and the twelve means. results: entries, or a file's name."""
    truth = COCO()
    truth.dataset = {
        "images": [{"id": picture} for picture in case["pictures"]],
        "categories": [{"id": category, "name": str(category)} for category in case["categories"]],
        # Ids from 1 on: pycocotools takes a match with the annotation 0 for none.
        "annotations": [{"id": i + 1, "image_id": one[0], "category_id": one[1], "bbox": one[2:6], "area": one[6],
                         "iscrowd": one[7], "left_out": one[8]} for i, one in enumerate(case["truths"])]}
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        evaluation = Evaluation(truth, truth.loadRes(results), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation.eval["precision"], evaluation.eval["recall"], evaluation.stats


def compare(dump):
    sets = cases(24, 200)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for i, case in enumerate(sets):
            (folder / f"{i}.json").write_text(json.dumps(case))
            (folder / f"{i}.results.json").write_text(json.dumps(results_of(case)))
        subprocess.run([dump, folder, str(len(sets))], check=True)
        numbers = between = 0
        for i, case in enumerate(sets):
            written = str(folder / f"{i}.written.json")
            assert json.loads(pathlib.Path(written).read_text()) == results_of(case), i
            precision, recall, stats = pycocotools(case, written)
            theirs = np.concatenate([precision.ravel(), recall.ravel(), stats])
            ours = np.fromfile(folder / f"{i}.scores")
            assert ours.shape == theirs.shape, (i, ours.shape, theirs.shape)
            worst = np.abs(ours - theirs).max()
            assert worst <= 1e-12, (i, worst, stats, ours[-12:])
            numbers += len(ours)
            between += sum(0 < value < 1 for value in stats)
    assert between > 1000, between  # the sets are not trivial
    print(f"{len(sets)} sets and {numbers} numbers agree")


def runs(values):
    """[value, how many times, …] of numbers that repeat."""
    out = []
    for value in values:
        if out and out[-2] == value:
            out[-1] += 1
        else:
            out += [value, 1]
    return out


def record(path):
    """Precision for all areas and 100 detections as runs over recall, [T][K]; its mean over recall for the rest."""
    lines = []
    for case in cases(5, 10):
        precision, recall, stats = pycocotools(case, results_of(case))
        expected = {"stats": stats.tolist(), "recall": runs(recall.ravel().tolist()),
                    "mean_precision": runs(precision.mean(axis=1).ravel().tolist()),
                    "precision": [[runs(precision[t, :, k, 0, 2].tolist()) for k in range(precision.shape[2])]
                                  for t in range(precision.shape[0])]}
        lines.append(json.dumps({**case, "expected": expected}))
    pathlib.Path(path).write_text("[\n" + ",\n".join(lines) + "\n]\n")


if sys.argv[1] == "--record":
    record(sys.argv[2])
else:
    compare(pathlib.Path(sys.argv[1]).absolute())
