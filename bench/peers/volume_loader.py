"""Patches of volumes as Python programs make them, for bench/volume_loader.sh.

Usage: python3 bench/peers/volume_loader.py DATA SECONDS      needs torch and tifffile
DATA holds train_images and train_labels. Prints a JSON line each for torch's DataLoader
  - that reads both TIFF files again for each patch;
  - whose workers keep all volumes in memory;
  - the same, with brightness and contrast left to the device, and batches of bytes,
with several numbers of workers. Patches of 64^3: 60 % around a voxel of foreground, flips along all axes, quarter turns
in the plane, brightness +-20 %, contrast +-30 %. Processor time counts from when the workers have read their volumes.
"""
import json
import os
import pathlib
import random
import sys
import time

import numpy as np
import tifffile
import torch

PATCH, BATCH, PER_VOLUME = 64, 16, 1 << 14


def processor_seconds(processes):
    ticks = 0
    for process in processes:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Patches(torch.utils.data.Dataset):
    def __init__(self, data, resident, values):
        self.images = sorted((data / "train_images").glob("*.tif"))
        self.labels = sorted((data / "train_labels").glob("*.tif"))
        self.resident, self.values, self.kept = resident, values, None

    def __len__(self):
        return len(self.images) * PER_VOLUME

    def read(self, i):
        image, labels = tifffile.imread(self.images[i]), tifffile.imread(self.labels[i])
        # Foreground is looked for once a volume where it is kept.
        return image, labels, np.flatnonzero(labels == 1) if self.resident else None

    def volume(self, i):
        if not self.resident:
            return self.read(i)
        if self.kept is None:
            self.kept = [self.read(j) for j in range(len(self.images))]
        return self.kept[i]

    def corner(self, labels, foreground):
        if random.random() >= 0.6:
            return [random.randint(0, extent - PATCH) for extent in labels.shape]
        if foreground is None:
            foreground = np.flatnonzero(labels == 1)
        middle = np.unravel_index(foreground[random.randrange(len(foreground))], labels.shape)
        return [min(max(int(m) - PATCH // 2, 0), extent - PATCH) for m, extent in zip(middle, labels.shape)]

    def __getitem__(self, index):
        image, labels, foreground = self.volume(index // PER_VOLUME)
        box = tuple(slice(begin, begin + PATCH) for begin in self.corner(labels, foreground))
        image, labels = image[box], labels[box]
        axes = [axis for axis in range(3) if random.random() < 0.5]
        turns = random.randrange(4)
        image, labels = (np.rot90(np.flip(part, axes), turns, (1, 2)) for part in (image, labels))
        image, labels = (torch.from_numpy(np.ascontiguousarray(part)) for part in (image, labels))
        if self.values:
            image = image.float().div_(255).mul_(random.uniform(0.8, 1.2))
            mean = image.mean()
            image.sub_(mean).mul_(random.uniform(0.7, 1.3)).add_(mean)
        return image[None], labels


def measure(name, data, seconds, workers, resident, values):
    loader = torch.utils.data.DataLoader(Patches(data, resident, values), batch_size=BATCH, shuffle=True,
                                         drop_last=True, num_workers=workers, persistent_workers=workers > 0)
    batches = iter(loader)
    for _ in range(5 if resident else 1 + workers):
        next(batches)
    processes = [os.getpid(), *(worker.pid for worker in getattr(batches, "_workers", []))]
    begin, begin_processor, patches = time.perf_counter(), processor_seconds(processes), 0
    while time.perf_counter() - begin < seconds:
        patches += len(next(batches)[1])
    passed, used = time.perf_counter() - begin, processor_seconds(processes) - begin_processor
    print(json.dumps({"reader": name, "workers": workers, "patches_per_s": round(patches / passed, 2),
                      "patches_per_core_s": round(patches / used, 2),
                      "core_ms_per_patch": round(1e3 * used / patches, 3)}), flush=True)


def main():
    data, seconds = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    torch.set_num_threads(1)
    for workers in (0, 1, 2):
        measure("TIFF read for each patch", data, seconds, workers, False, True)
        measure("volumes in memory", data, seconds, workers, True, True)
        measure("volumes in memory, values on the device", data, seconds, workers, True, False)


if __name__ == "__main__":
    main()
