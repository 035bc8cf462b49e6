"""Pictures as Python programs decode and resize them, for bench/picture_loading.sh.

Usage: python3 bench/peers/picture_loading.py FOLDER SECONDS [WORKERS…]      needs torch and Pillow
FOLDER holds JPEG or PNG. Prints a JSON line each for torch's DataLoader with several numbers of workers, in batches of 20
pictures of 320^2 as bytes: decoded each time, and kept in memory by each worker once they are decoded. Processor time
counts from when the workers run.
"""
import json
import os
import pathlib
import sys
import time

import numpy as np
import torch
from PIL import Image

SIZE, BATCH, REPEATS = 320, 20, 1 << 14


def processor_seconds(processes):
    ticks = 0
    for process in processes:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Views(torch.utils.data.Dataset):
    def __init__(self, paths, keep):
        self.paths, self.keep, self.kept = paths, keep, {}

    def __len__(self):
        return len(self.paths) * REPEATS

    def view(self, number):
        with Image.open(self.paths[number]) as picture:
            small = picture.convert("RGB").resize((SIZE, SIZE), Image.Resampling.BILINEAR)
        return torch.from_numpy(np.array(small))

    def __getitem__(self, index):
        number = index % len(self.paths)
        if not self.keep:
            return self.view(number)
        if number not in self.kept:
            self.kept[number] = self.view(number)
        return self.kept[number]


def measure(paths, seconds, workers, keep):
    # Places are drawn with replacement, so that no long order of them is made.
    data = Views(paths, keep)
    sampler = torch.utils.data.RandomSampler(data, replacement=True, num_samples=len(data))
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH, sampler=sampler, num_workers=workers, drop_last=True,
                                         persistent_workers=workers > 0)
    batches = iter(loader)
    # Until each worker has seen each picture, where they are kept.
    for _ in range(5 + workers + (10 * max(workers, 1) * len(paths) // BATCH if keep else 0)):
        next(batches)
    processes = ["self", *(worker.pid for worker in getattr(batches, "_workers", []))]
    begin, begin_processor, pictures = time.perf_counter(), processor_seconds(processes), 0
    while time.perf_counter() - begin < seconds:
        pictures += len(next(batches))
    passed, used = time.perf_counter() - begin, processor_seconds(processes) - begin_processor
    print(json.dumps({"kind": "kept" if keep else "decoded each time", "workers": workers,
                      "pictures_per_s": round(pictures / passed, 2), "pictures_per_core_s": round(pictures / used, 2),
                      "core_ms_per_picture": round(1e3 * used / pictures, 3)}), flush=True)


def main():
    folder, seconds = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    paths = sorted(path for path in folder.iterdir() if path.suffix in (".jpg", ".jpeg", ".png"))
    if not paths:
        raise SystemExit(f"error: there are no pictures in {folder}")
    torch.set_num_threads(1)
    for workers in [int(word) for word in sys.argv[3:]] or (0, 1, 2):
        measure(paths, seconds, workers, keep=False)
        measure(paths, seconds, workers, keep=True)


if __name__ == "__main__":
    main()
