"""The step of a small text model in eager PyTorch on the CPU, for bench/cpu_step.sh.

Usage: python3 bench/peers/cpu_step.py TEXT LAYERS WIDTH HEADS CONTEXT BATCH STEPS
Prints a JSON line for each number of threads and kind of AdamW: the median milliseconds of an
optimizer step (forward, backward, clipping, update) after a fifth of the steps as warm-up.
"""
import json
import os
import statistics
import sys
import time

import torch
import torch.nn as nn

from text_model import TextModel


def median_ms(text, sizes, batch, steps, threads, fused):
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    model = TextModel(256, *sizes, gelu="tanh")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=fused)
    context = sizes[-1]
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        starts = torch.randint(len(text) - context - 1, (batch,)).tolist()
        tokens = torch.stack([text[i : i + context] for i in starts]).long()
        targets = torch.stack([text[i + 1 : i + 1 + context] for i in starts]).long()
        loss = model(tokens, targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times[steps // 5 :])


def main():
    with open(sys.argv[1], "rb") as file:
        text = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
    layers, width, heads, context, batch, steps = map(int, sys.argv[2:])
    cores = len(os.sched_getaffinity(0))
    for threads in sorted({1, max(1, cores // 2), cores}):
        for fused in (False, True):
            step_ms = median_ms(text, (layers, width, heads, context), batch, steps, threads, fused)
            result = {"threads": threads, "fused_adamw": fused, "step_ms": round(step_ms, 2)}
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
