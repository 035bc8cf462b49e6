"""Where the GPU time of PyTorch's step goes, by kernel: beside bench/kernel_table.py of ours.

Usage: python3 bench/peers/kernels.py WORKLOAD [bf16|fp16]       WORKLOAD is textgen or gpt124m
"""
import collections
import sys

import torch
from torch.profiler import ProfilerActivity, profile

from step import make_step, random_steps
from text_model import WORKLOADS, TextModel


def main():
    sizes, micro, accumulation = WORKLOADS[sys.argv[1]]
    amp = sys.argv[2] if len(sys.argv) > 2 else "bf16"
    device = torch.device("cuda")
    torch.backends.cuda.matmul.allow_tf32 = True
    step = make_step(TextModel(*sizes).to(device), random_steps(sizes, micro, accumulation, 1), device, amp)
    for i in range(5):
        step(i)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as trace:
        step(5)
        torch.cuda.synchronize()
    times, counts = collections.Counter(), collections.Counter()
    for event in trace.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            times[event.name] += event.device_time
            counts[event.name] += 1
    total = sum(times.values())
    print(f"{total / 1e3:.3f} ms in {sum(counts.values())} kernels")
    for name, microseconds in times.most_common(16):
        print(f"{microseconds / 1e3:8.3f} ms {100 * microseconds / total:5.1f} % x{counts[name]:5d}  {name[:90]}")


if __name__ == "__main__":
    main()
