"""A training step of a text model in PyTorch on GPUs, as a careful user would write it.

Usage: python3 bench/peers/step.py WORKLOAD MODE [--gpus N] [--steps S] [--warmup W] [--amp bf16|fp16|fp32]
WORKLOAD is textgen or gpt124m. MODE is single, dp (DataParallel) or ddp (DistributedDataParallel); after single and
ddp also _compile (torch.compile as it comes) or _max (max-autotune-no-cudagraphs). Prints one JSON line: the median
time of a step with a synchronisation after each, the mean without, units a second over all GPUs, peak memory. A step
is one update, with its accumulation.
"""
import argparse
import json
import os
import socket
import statistics
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn

from text_model import WORKLOADS, TextModel

COMPILE_MODES = {"compile": "default", "max": "max-autotune-no-cudagraphs"}


def random_steps(sizes, micro, accumulation, count):
    """Pinned tokens of `count` steps: a list of micro-batches each."""
    vocab, context = sizes[0], sizes[-1]
    generator = torch.Generator().manual_seed(1)
    return [[torch.randint(0, vocab, (micro, context + 1), generator=generator).pin_memory()
             for _ in range(accumulation)] for _ in range(count)]


def wrap(model, arguments, rank):
    net = model
    kind = COMPILE_MODES.get(arguments.mode.partition("_")[2])
    if kind:
        net = torch.compile(net, mode=kind)
    if arguments.mode == "dp":
        net = nn.DataParallel(net, device_ids=list(range(arguments.gpus)))
    if dist.is_initialized():
        net = nn.parallel.DistributedDataParallel(net, device_ids=[rank], gradient_as_bucket_view=True)
    return net


def make_step(net, steps, device, amp):
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(amp)
    parameters = list(net.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    scaler = torch.amp.GradScaler("cuda", enabled=amp == "fp16")

    def step(number):
        micro_batches = steps[number % len(steps)]
        for i, host in enumerate(micro_batches):
            tokens = host.to(device, non_blocking=True)
            last = i == len(micro_batches) - 1
            hold = net.no_sync() if dist.is_initialized() and not last else torch.enable_grad()
            with hold, torch.autocast("cuda", dtype=dtype, enabled=dtype is not None):
                loss = net(tokens[:, :-1], tokens[:, 1:])
                loss = loss.mean() if loss.dim() else loss  # DataParallel gives one per GPU
            scaler.scale(loss / len(micro_batches)).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(parameters, 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

    return step


def time_steps(step, warmup, count):
    """Median seconds with a synchronisation after each step; mean seconds of steps that run freely."""
    for i in range(warmup):
        step(i)
    torch.cuda.synchronize()
    single = []
    for i in range(count):
        begin = time.perf_counter()
        step(i)
        torch.cuda.synchronize()
        single.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    for i in range(count):
        step(i)
    torch.cuda.synchronize()
    return statistics.median(single), (time.perf_counter() - begin) / count


def run(rank, arguments, port):
    world = arguments.gpus if arguments.mode.startswith("ddp") else 1
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    if world > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        dist.init_process_group("nccl", rank=rank, world_size=world, device_id=device)
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    sizes, micro, accumulation = WORKLOADS[arguments.workload]
    model = TextModel(*sizes).to(device)
    step = make_step(wrap(model, arguments, rank), random_steps(sizes, micro, accumulation, 4), device, arguments.amp)
    step_s, free_s = time_steps(step, arguments.warmup, arguments.steps)
    if rank == 0:
        units = micro * accumulation * sizes[-1] * world
        print(json.dumps({
            "workload": arguments.workload, "mode": arguments.mode, "gpus": arguments.gpus, "amp": arguments.amp,
            "step_ms": round(1e3 * step_s, 3), "free_ms": round(1e3 * free_s, 3), "unit": "tokens",
            "per_s": round(units / free_s, 2), "mem_gb": round(torch.cuda.max_memory_allocated() / 1e9, 2),
            "params": sum(p.numel() for p in model.parameters())}), flush=True)
    if world > 1:
        dist.barrier()
        dist.destroy_process_group()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", choices=sorted(WORKLOADS))
    parser.add_argument("mode", choices=["single", "dp", "ddp"] + [f"{a}_{b}" for a in ("single", "ddp") for b in COMPILE_MODES])
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--warmup", type=int, default=8)
    parser.add_argument("--amp", choices=["bf16", "fp16", "fp32"], default="bf16")
    arguments = parser.parse_args()
    if arguments.mode.startswith("ddp") and arguments.gpus > 1:
        mp.spawn(run, (arguments, free_port()), arguments.gpus)
    else:
        run(0, arguments, 0)


if __name__ == "__main__":
    main()
