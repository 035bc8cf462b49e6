"""Whether fewshot_model.py computes the loss that Lockstep does, of the same weights and pictures.

Usage: python3 bench/peers/fewshot_same.py LOCKSTEP FOLDER      FOLDER is made; needs torch, safetensors and torchvision
All pictures of a class are copies of one, and a support's crop is the whole picture, so that every episode shows the same.
Lockstep takes one step of learning rate 0 and exports its weights; the two losses may differ by rounding.
"""
import json
import pathlib
import subprocess
import sys

import torch
from safetensors.torch import load_file
from torchvision.io import write_png

import fewshot_model

CLASSES, SHOTS, QUERIES, SIZE, CONTEXT, WIDTH = 5, 3, 5, 96, 8, 8
BOX = [CONTEXT, CONTEXT, SIZE - 2 * CONTEXT, SIZE - 2 * CONTEXT]  # x, y, width, height
STAGES = {"conv1.": "0.", "bn1.": "1.", "layer1.": "4.", "layer2.": "5.", "layer3.": "6."}


def write_set(folder):
    """Returns a picture of each class."""
    torch.manual_seed(1)
    (folder / "train").mkdir(parents=True)
    coarse = 255 * torch.rand(CLASSES, 3, 8, 8)
    pictures = torch.nn.functional.interpolate(coarse, (SIZE, SIZE), mode="bilinear").byte()
    images, annotations = [], []
    for number in range(CLASSES * (SHOTS + 2)):
        name, category = f"{number}.png", number % CLASSES
        write_png(pictures[category], str(folder / "train" / name))
        images.append({"id": number, "file_name": name, "width": SIZE, "height": SIZE})
        annotations.append({"id": number, "image_id": number, "category_id": category, "bbox": BOX, "iscrowd": 0})
    categories = [{"id": category, "name": f"class-{category}"} for category in range(CLASSES)]
    text = json.dumps({"images": images, "annotations": annotations, "categories": categories})
    (folder / "train.json").write_text(text)
    return pictures


def first_loss(lockstep, folder):
    words = [f"data.path={folder}/train.json", "data.novel_share=0", "data.valid_share=0.05", "preset=resnet50", "precision=fp32",
             f"model.width={WIDTH}", f"episode.n_way={CLASSES}", f"episode.k_shot={SHOTS}", f"episode.queries={QUERIES}",
             f"episode.size={SIZE}", f"episode.context={CONTEXT}", "augment.flip=false", "augment.brightness=0", "augment.contrast=0",
             "optimizer.lr=0", "batch.global=1", "stop.episodes=1", "evaluate.episodes=1", f"run.root={folder}", "--name", "run"]
    subprocess.run([lockstep, "train", "fewshot", *words, "--devices", "cpu:1"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([lockstep, "export", folder / "run", "--out", folder / "run.safetensors"], check=True)
    events = [json.loads(line) for line in (folder / "run/events.jsonl").read_text().splitlines()]
    return next(event["loss"] for event in events if event["kind"] == "step")


def name_of(name):
    if name.startswith("proposal_deltas."):
        return name.removeprefix("proposal_")
    for ours, theirs in STAGES.items():
        if name.startswith(f"trunk.{ours}"):
            return f"trunk.{theirs}{name.removeprefix(f'trunk.{ours}')}"
    return name


def main():
    lockstep, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    pictures = write_set(folder)
    ours = first_loss(lockstep, folder)
    weights = {name_of(name): value for name, value in load_file(folder / "run.safetensors").items()}
    for roi, suppression in (("torchvision", "torchvision"), ("plain", "plain")):
        net = fewshot_model.Detector(CLASSES, False, roi, suppression, WIDTH)
        missing, unexpected = net.load_state_dict(weights, strict=False)
        if unexpected or any(not name.endswith("num_batches_tracked") for name in missing):
            raise SystemExit(f"error: the weights differ in name: missing {missing}, unexpected {unexpected}")
        net.anchors(-(-SIZE // fewshot_model.STRIDE), "cpu")
        corners = torch.tensor([CONTEXT, CONTEXT, SIZE - CONTEXT, SIZE - CONTEXT]).float()
        supports = pictures.repeat_interleave(SHOTS, 0)
        boxes, labels = torch.zeros(QUERIES, 8, 4), torch.full((QUERIES, 8), -1)
        boxes[:, 0], labels[:, 0] = corners, torch.arange(CLASSES)
        numbers = torch.full((len(supports) + QUERIES, 3), 0.5)  # as they are
        theirs = net(supports, corners.repeat(len(supports), 1), pictures, boxes, labels, numbers).item()
        print(f"lockstep {ours:.6f}, PyTorch with {roi} operators {theirs:.6f}")
        if abs(ours - theirs) > 1e-4 * abs(ours):
            raise SystemExit("error: the losses differ")


if __name__ == "__main__":
    main()
