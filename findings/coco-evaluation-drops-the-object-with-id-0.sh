#!/usr/bin/env bash
# pycocotools counts the annotation whose id is 0 as never found.
#
# Guess: the id of an annotation is a name; numbering annotations from 0 or from 1 gives the same average precision, as it does
# for images and categories.
# Seen with pycocotools 2.0.11 and numpy 2.3.5: detections equal to the truth have an AP of 1.0 where annotations count from
# 1, and of 0.25 where two annotations count from 0. The evaluation keeps the id of the matched object for each detection,
# and 0 stands there for "no match", so this detection is a false positive, and its object is missed. Images and categories
# may have the id 0. Nothing is printed. Many converters count from 0.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q pycocotools==2.0.11 numpy==2.3.5
cat >"$work/evaluate.py" <<'PYTHON'
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval


def precision(annotation, image, category):
    box = {"category_id": category, "bbox": [10, 10, 50, 50]}
    truth = COCO()
    truth.dataset = {
        "images": [{"id": image + i, "width": 100, "height": 100} for i in range(2)],
        "categories": [{"id": category, "name": "thing"}],
        "annotations": [{"id": annotation + i, "image_id": image + i, "area": 2500, "iscrowd": 0, **box} for i in range(2)],
    }
    truth.createIndex()
    found = truth.loadRes([{"image_id": image + i, "score": 0.9, **box} for i in range(2)])
    evaluation = COCOeval(truth, found, "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    return f"AP {evaluation.stats[0]:.2f}, AR {evaluation.stats[8]:.2f}"


print("SEEN all ids from 1:", precision(1, 1, 1))
print("SEEN images from 0:", precision(1, 0, 1))
print("SEEN categories from 0:", precision(1, 1, 0))
print("SEEN annotations from 0:", precision(0, 1, 1))
PYTHON
"$work/venv/bin/python" -W error "$work/evaluate.py" >"$work/printed" 2>&1 || { cat "$work/printed" && exit 1; }
if grep -i 'warn' "$work/printed"; then exit 1; fi
sed -n 's/^SEEN //p' "$work/printed" | tee "$work/said"
diff "$work/said" - <<'TEXT'
all ids from 1: AP 1.00, AR 1.00
images from 0: AP 1.00, AR 1.00
categories from 0: AP 1.00, AR 1.00
annotations from 0: AP 0.25, AR 0.50
TEXT
