"""Scores the same files by Lockstep and by pycocotools in turn, for bench/fewshot_scores.sh. Prints TOML.

    fewshot_scores.py LOCKSTEP WORK ROUNDS
    fewshot_scores.py --peer TRUTH RESULTS    pycocotools on them: its scores and times as JSON
Lockstep's time is of the whole program, pycocotools' of loading and evaluating alone, without the start of Python.
"""
import importlib.metadata
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

PICTURES, CLASSES, BOXES, DETECTIONS = 5000, 80, 36000, 100000
NAMES = ["ap", "ap50", "ap75", "ap_small", "ap_medium", "ap_large", "ar_1", "ar_10", "ar_100", "ar_small", "ar_medium",
         "ar_large"]


def write_set(work):
    draw = random.Random(3)
    images = [{"id": i, "file_name": f"{i:012d}.jpg", "width": 640, "height": 480} for i in range(1, PICTURES + 1)]
    truths = []
    for i in range(BOXES):
        box = [round(draw.uniform(-5, 560), 2), round(draw.uniform(-5, 400), 2), round(draw.uniform(5, 200), 2),
               round(draw.uniform(5, 200), 2)]
        truths.append({"id": i + 1, "image_id": draw.randint(1, PICTURES), "category_id": draw.randint(1, CLASSES),
                       "bbox": box, "area": box[2] * box[3] * draw.uniform(0.4, 1), "iscrowd": int(draw.random() < 0.01)})
    results = []
    for i in range(DETECTIONS):
        truth = truths[i] if i < BOXES else draw.choice(truths)
        x, y, width, height = truth["bbox"]
        near = 0.15 if i < BOXES else 0.8
        results.append({"image_id": truth["image_id"],
                        "category_id": truth["category_id"] if draw.random() < 0.9 else draw.randint(1, CLASSES),
                        "bbox": [round(x + draw.uniform(-near, near) * width, 3),
                                 round(y + draw.uniform(-near, near) * height, 3), width, height],
                        "score": round(draw.random(), 4)})
    categories = [{"id": k, "name": f"class {k}"} for k in range(1, CLASSES + 1)]
    (work / "truth.json").write_text(json.dumps({"images": images, "categories": categories, "annotations": truths}))
    (work / "results.json").write_text(json.dumps(results))


def peer(truth, results):
    import contextlib
    import io
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval
    started, processor = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        known = COCO(truth)
        evaluation = COCOeval(known, known.loadRes(results), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    print(json.dumps({"processor_s": time.process_time() - processor, "seconds": time.perf_counter() - started,
                      "scores": evaluation.stats.tolist()}))


def ours(tool, work):
    before, started = os.times(), time.perf_counter()
    printed = subprocess.run([tool, "score", "fewshot", f"truth={work}/truth.json", f"predictions={work}/results.json",
                              "--json"], check=True, capture_output=True, text=True).stdout
    seconds, after = time.perf_counter() - started, os.times()
    metrics = json.loads(printed)["metrics"]
    return {"processor_s": after.children_user - before.children_user + after.children_system - before.children_system,
            "seconds": seconds, "scores": [metrics[name] for name in NAMES]}


def main():
    tool, work, rounds = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    write_set(work)
    pairs = []
    for _ in range(rounds):
        one = ours(tool, work)
        asked = [sys.executable, __file__, "--peer", str(work / "truth.json"), str(work / "results.json")]
        other = json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)
        pairs.append((one, other))
    differences = [abs(a - b) for one, other in pairs for a, b in zip(one["scores"], other["scores"])]
    if max(differences) > 1e-12:
        sys.exit(f"the scores differ by {max(differences)}")
    ratios = [one["processor_s"] / other["processor_s"] for one, other in pairs]
    print(f"pictures = {PICTURES}\nclasses = {CLASSES}\nboxes = {BOXES}\ndetections = {DETECTIONS}")
    print(f'pycocotools = "{importlib.metadata.version("pycocotools")}"\nap = {pairs[0][0]["scores"][0]:.6f}')
    print(f"largest_difference_of_a_score = {max(differences):.1e}")
    print("# Processor time of the whole program over that of loading and evaluating in pycocotools:")
    print(f"over_pycocotools = {statistics.median(ratios):.4f}  # {min(ratios):.4f} to {max(ratios):.4f} in {rounds} rounds")
    for pair in pairs:
        for name, run in zip(("lockstep", "pycocotools_run"), pair):
            print(f"\n[[{name}]]\nprocessor_s = {run['processor_s']:.3f}\nseconds = {run['seconds']:.3f}")


if sys.argv[1] == "--peer":
    peer(*sys.argv[2:])
else:
    main()
