#!/usr/bin/env python3
"""The scores of 300 random files of ground truth and results are pycocotools', and it reads what is written.

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


def at_a_threshold(draw, box):
    """A box whose IoU with it is one of the thresholds, if nothing were rounded."""
    x, y, width, height = box
    share = draw.randint(10, 19) / 20
    return [x, y, width, height * share] if draw.random() < 0.5 else [x, y, width * share, height]


def random_case(draw, large):
    """A file of ground truth and results. Scores are coarse, so many are equal."""
    pictures = draw.sample(range(-3, 60), draw.randint(1, 6))
    categories = draw.sample(range(1, 40), draw.randint(1, 4))
    # Of boxes up to 700 x 600: many reach out of their pictures, or lie beside them. Sizes may be exchanged or wrong.
    images = [{"id": picture, "file_name": f"{picture}.jpg", "width": 420, "height": 310} for picture in pictures]
    if draw.random() < 0.3:
        images = [{**image, "width": image["height"], "height": image["width"]} for image in images]
    annotations, results = [], []
    empty = draw.choice(categories + [None])
    for picture in pictures:
        for category in categories:
            for _ in range(0 if category == empty else draw.choice([0, 0, 1, 2, 3, 6])):
                box = random_box(draw)
                if draw.random() < 0.05:
                    box[draw.choice([2, 3])] = 0
                elif draw.random() < 0.1:  # what a float does not hold
                    box = [round(value + draw.randint(1, 9) / 10, 1) for value in box]
                if annotations and draw.random() < 0.05:
                    box = list(annotations[-1]["bbox"])  # of equal overlaps
                area = box[2] * box[3] if draw.random() < 0.7 else draw.choice([0, 500, 1024, 1024.5, 9216, 20000])
                one = {"id": len(annotations) + 1, "image_id": picture, "category_id": category, "bbox": box,
                       "area": area, "iscrowd": int(draw.random() < 0.12)}
                if draw.random() < 0.1:
                    one["ignore"] = 1
                annotations.append(one)
    for one in annotations:
        for _ in range(draw.choice([0, 1, 1, 1, 2, 3])):
            category = one["category_id"] if draw.random() < 0.9 else draw.choice(categories)
            near = moved if draw.random() < 0.7 else at_a_threshold
            results.append((one["image_id"], category, near(draw, one["bbox"]),
                            round(draw.random(), draw.choice([1, 2, 15]))))
    for _ in range(draw.randint(1, 12)):
        results.append((draw.choice(pictures), draw.choice(categories), random_box(draw), round(draw.random(), 1)))
    if large:
        for _ in range(130):
            results.append((pictures[0], categories[0], random_box(draw), round(draw.random(), 2)))
    if draw.random() < 0.3:  # of lists that were cut down
        results.append((pictures[0], 77, random_box(draw), 0.5))
        annotations.append({"id": 9001, "image_id": 1000, "category_id": categories[0], "bbox": [1, 1, 9, 9],
                            "area": 81, "iscrowd": 0})
        annotations.append({"id": 9002, "image_id": pictures[0], "category_id": 77, "bbox": [1, 1, 9, 9],
                            "area": 81, "iscrowd": 0})
    draw.shuffle(results)
    truth = {"images": images, "categories": [{"id": category, "name": str(category)} for category in categories],
             "annotations": annotations}
    return {"truth": truth, "results": [{"image_id": picture, "category_id": category, "bbox": box, "score": score}
                                        for picture, category, box, score in results]}


def cases(seed, count):
    draw = random.Random(seed)
    return [random_case(draw, i % 10 == 9) for i in range(count)]


def pycocotools(truth, results):
    """precision [T, R, K, A, M], recall [T, K, A, M] and the twelve means, of two files."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(truth))
        evaluation = COCOeval(truth, truth.loadRes(str(results)), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation.eval["precision"], evaluation.eval["recall"], evaluation.stats


def write_case(case, folder, name):
    truth, results = folder / f"{name}.json", folder / f"{name}.results.json"
    truth.write_text(json.dumps(case["truth"]))
    results.write_text(json.dumps(case["results"]))
    return truth, results


def compare(dump):
    sets = cases(24, 300)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = [write_case(case, folder, i) for i, case in enumerate(sets)]
        subprocess.run([dump, folder, str(len(sets))], check=True)
        numbers = between = 0
        for i, (case, (truth, results)) in enumerate(zip(sets, files)):
            written = folder / f"{i}.written.json"
            known = {category["id"] for category in case["truth"]["categories"]}
            assert json.loads(written.read_text()) == [one for one in case["results"] if one["category_id"] in known], i
            precision, recall, stats = pycocotools(truth, results)
            theirs = np.concatenate([precision.ravel(), recall.ravel(), stats])
            ours = np.fromfile(folder / f"{i}.scores")
            assert ours.shape == theirs.shape, (i, ours.shape, theirs.shape)
            assert (ours[:-12] == theirs[:-12]).all(), (i, np.abs(ours - theirs).max(), stats, ours[-12:])
            assert np.abs(ours - theirs).max() <= 1e-12, (i, stats, ours[-12:])  # numpy adds up in pairs
            assert (pycocotools(truth, written)[2] == stats).all(), i
            numbers += len(ours)
            between += sum(0 < value < 1 for value in stats)
    assert between > 1500, between  # the sets are not trivial
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
        with tempfile.TemporaryDirectory() as name:
            precision, recall, stats = pycocotools(*write_case(case, pathlib.Path(name), "case"))
        expected = {"stats": stats.tolist(), "recall": runs(recall.ravel().tolist()),
                    "mean_precision": runs(precision.mean(axis=1).ravel().tolist()),
                    "precision": [[runs(precision[t, :, k, 0, 2].tolist()) for k in range(precision.shape[2])]
                                  for t in range(precision.shape[0])]}
        # As `lockstep score` skips them.
        known = {category["id"] for category in case["truth"]["categories"]}
        case["results"] = [one for one in case["results"] if one["category_id"] in known]
        lines.append(json.dumps({**case, "expected": expected}))
    pathlib.Path(path).write_text("[\n" + ",\n".join(lines) + "\n]\n")


if sys.argv[1] == "--record":
    record(sys.argv[2])
else:
    compare(pathlib.Path(sys.argv[1]).absolute())
