"""Samples of packed text as Python programs make them, for bench/loader.sh.

Usage: python3 bench/peers/loader.py TOKENS CONTEXT MICRO_BATCH SECONDS
Prints a JSON line each for a reader of random blocks of a memory map (one thread, as small training
scripts do it) and for torch's DataLoader with several numbers of workers, shuffled, on the same file.
"""
import json
import resource
import sys
import time

import numpy as np
import torch

HEADER = 24  # bytes before the tokens


def processor_seconds():
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        use = resource.getrusage(who)
        total += use.ru_utime + use.ru_stime
    return total


class Blocks(torch.utils.data.Dataset):
    def __init__(self, path, context):
        self.path, self.context = path, context
        self.tokens = np.memmap(path, dtype=np.uint16, mode="r", offset=HEADER)

    def __len__(self):
        return (len(self.tokens) - 1) // self.context

    def __getitem__(self, index):
        begin = index * self.context
        part = torch.from_numpy(self.tokens[begin : begin + self.context + 1].astype(np.int64))
        return part[:-1], part[1:]


def mapped_reader(path, context, micro):
    while True:
        tokens = np.memmap(path, dtype=np.uint16, mode="r", offset=HEADER)
        places = torch.randint(len(tokens) - context, (micro,))
        x = torch.stack([torch.from_numpy(tokens[i : i + context].astype(np.int64)) for i in places])
        y = torch.stack([torch.from_numpy(tokens[i + 1 : i + 1 + context].astype(np.int64)) for i in places])
        yield x, y


def data_loader(path, context, micro, workers):
    loader = torch.utils.data.DataLoader(Blocks(path, context), batch_size=micro, shuffle=True, drop_last=True,
                                         num_workers=workers, persistent_workers=workers > 0)
    while True:
        yield from loader


def measure(name, batches, seconds, workers):
    begin_all = processor_seconds()
    for _ in range(20):
        next(batches)
    begin, samples = time.perf_counter(), 0
    begin_processor = processor_seconds()
    while time.perf_counter() - begin < seconds:
        samples += len(next(batches)[0])
    passed = time.perf_counter() - begin
    batches.close()
    # Workers count once they have ended, with their start, which a long run would not notice.
    used = processor_seconds() - (begin_processor if workers == 0 else begin_all)
    print(json.dumps({"reader": name, "workers": workers, "samples_per_s": round(samples / passed, 1),
                      "samples_per_core_s": round(samples / used, 1),
                      "samples_per_s_and_process": round(samples / passed / max(workers, 1), 1)}), flush=True)


def main():
    path, context, micro, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    torch.set_num_threads(1)
    measure("memory map", mapped_reader(path, context, micro), seconds, 0)
    for workers in (0, 1, 2, 4, 8):
        measure("DataLoader", data_loader(path, context, micro, workers), seconds, workers)


if __name__ == "__main__":
    main()
