"""Photograph-like pictures with boxes as COCO json, for bench/fewshot.sh.

Usage: python3 bench/fewshot_set.py FOLDER [--pictures N]      needs a python3 with torch and Pillow or torchvision
Writes FOLDER/train.json, FOLDER/train/*.jpg and the same of valid, a quarter as many: pictures of 512 x 343 with noise and
5 to 16 ellipses of twelve colours, a class each.
"""
import argparse
import json
import pathlib
import random

import torch

WIDTH, HEIGHT, CLASSES, MOST = 512, 343, 12, 16


def write_jpeg(pixels, path):
    """pixels u8 [3, H, W]."""
    try:
        from PIL import Image
        Image.fromarray(pixels.permute(1, 2, 0).numpy()).save(path, quality=90)
    except ImportError:
        from torchvision.io import write_jpeg as write
        write(pixels, str(path), quality=90)


def colour(number):
    return torch.tensor([60 + 180 * (number >> axis & 1) - 6 * (number >> 3) * axis for axis in range(3)], dtype=torch.float32)


def picture(draw, generator):
    """Pixels and boxes with their classes."""
    coarse = 255 * torch.rand(1, 3, 12, 16, generator=generator)
    pixels = torch.nn.functional.interpolate(coarse, (HEIGHT, WIDTH), mode="bicubic")[0] * 0.5 + 64
    rows, columns = torch.arange(HEIGHT)[:, None], torch.arange(WIDTH)[None]
    boxes = []
    for _ in range(draw.randint(5, MOST)):
        category, w, h = draw.randrange(CLASSES), draw.randint(24, 90), draw.randint(24, 90)
        x, y = draw.randint(0, WIDTH - w), draw.randint(0, HEIGHT - h)
        inside = ((columns - x - w / 2) / (w / 2)) ** 2 + ((rows - y - h / 2) / (h / 2)) ** 2 <= 1
        pixels = torch.where(inside, colour(category)[:, None, None], pixels)
        boxes.append((category + 1, [x, y, w, h]))
    pixels = pixels + 12 * torch.randn(pixels.shape, generator=generator)
    return pixels.clamp(0, 255).byte(), boxes


def write_set(folder, name, count, seed):
    (folder / name).mkdir(parents=True)
    draw, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    images, annotations = [], []
    for number in range(1, count + 1):
        pixels, boxes = picture(draw, generator)
        images.append({"id": number, "file_name": f"{name}_{number:04}.jpg", "width": WIDTH, "height": HEIGHT})
        write_jpeg(pixels, folder / name / images[-1]["file_name"])
        for category, box in boxes:
            annotations.append({"id": len(annotations) + 1, "image_id": number, "category_id": category, "bbox": box,
                                "area": box[2] * box[3], "iscrowd": 0})
    categories = [{"id": number + 1, "name": f"class-{number + 1}"} for number in range(CLASSES)]
    (folder / f"{name}.json").write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pictures", type=int, default=240)
    arguments = parser.parse_args()
    write_set(arguments.folder, "train", arguments.pictures, 1)
    write_set(arguments.folder, "valid", arguments.pictures // 4, 2)


if __name__ == "__main__":
    main()
