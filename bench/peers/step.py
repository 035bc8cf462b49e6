"""A training step of a model in PyTorch on GPUs, as a careful user would write it.

Usage: python3 bench/peers/step.py WORKLOAD MODE [--gpus N] [--steps S] [--warmup W] [--amp bf16|fp16|fp32] [--sentences N]
WORKLOAD is textgen, gpt124m, volume, dimabsa or dimabsa_rows. MODE is single, dp (DataParallel) or ddp (DistributedDataParallel);
after single and ddp also _compile (torch.compile as it comes), _max (max-autotune-no-cudagraphs) or _graphs
(reduce-overhead: with CUDA graphs). --sentences are those of a step per GPU, of dimabsa. Prints one JSON line: the median
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

import dimabsa_model
import volume_model
from text_model import WORKLOADS as TEXT_WORKLOADS, TextModel

COMPILE_MODES = {"compile": "default", "max": "max-autotune-no-cudagraphs", "graphs": "reduce-overhead"}


class TextWorkload:
    def __init__(self, name):
        self.sizes, self.micro, self.accumulation = TEXT_WORKLOADS[name]
        self.unit, self.units = "tokens", self.micro * self.accumulation * self.sizes[-1]

    def model(self, device):
        return TextModel(*self.sizes).to(device)

    def micro_batch(self, generator, number):
        """Of that number in its step: pinned tensors on the host."""
        vocab, context = self.sizes[0], self.sizes[-1]
        return [torch.randint(0, vocab, (self.micro, context + 1), generator=generator).pin_memory()]

    def inputs(self, tokens):
        return tokens[:, :-1], tokens[:, 1:]


class VolumeWorkload:
    def __init__(self, name):
        self.micro, self.accumulation, self.edge = volume_model.WORKLOADS[name]
        self.unit, self.units = "patches", self.micro * self.accumulation

    def model(self, device):
        return volume_model.VolumeModel().to(device, memory_format=torch.channels_last_3d)

    def micro_batch(self, generator, number):
        shape = (self.micro, 1, self.edge, self.edge, self.edge)
        labels = (torch.rand(shape, generator=generator) > 0.8).float()
        return [torch.rand(shape, generator=generator).pin_memory(), labels.pin_memory()]

    def inputs(self, images, labels):
        return images, labels


def find_workload(name, sentences=1):
    if name in dimabsa_model.WORKLOADS:
        return dimabsa_model.Workload(name, sentences)
    return VolumeWorkload(name) if name in volume_model.WORKLOADS else TextWorkload(name)


def random_steps(workload, count):
    """`count` steps: a list of micro-batches each."""
    generator = torch.Generator().manual_seed(1)
    return [[workload.micro_batch(generator, i) for i in range(workload.accumulation)] for _ in range(count)]


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


def make_step(net, workload, device, amp, graphs=False):
    steps = random_steps(workload, 4)
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(amp)
    parameters = list(net.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    scaler = torch.amp.GradScaler("cuda", enabled=amp == "fp16")

    def step(number):
        micro_batches = steps[number % len(steps)]
        for i, host in enumerate(micro_batches):
            fields = [field.to(device, non_blocking=True) if torch.is_tensor(field) else field for field in host]
            last = i == len(micro_batches) - 1
            hold = net.no_sync() if dist.is_initialized() and not last else torch.enable_grad()
            if graphs:
                torch.compiler.cudagraph_mark_step_begin()
            with hold, torch.autocast("cuda", dtype=dtype, enabled=dtype is not None):
                loss = net(*workload.inputs(*fields))
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
    torch.backends.cudnn.benchmark = arguments.mode != "dp"  # its threads are new in each step and know no plans
    workload = find_workload(arguments.workload, arguments.sentences)
    model = workload.model(device)
    step = make_step(wrap(model, arguments, rank), workload, device, arguments.amp, arguments.mode.endswith("_graphs"))
    step_s, free_s = time_steps(step, arguments.warmup, arguments.steps)
    if rank == 0:
        units = workload.units * world
        print(json.dumps({
            "workload": arguments.workload, "mode": arguments.mode, "gpus": arguments.gpus, "amp": arguments.amp,
            "step_ms": round(1e3 * step_s, 3), "free_ms": round(1e3 * free_s, 3), "unit": workload.unit,
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
    parser.add_argument("workload", choices=sorted({*TEXT_WORKLOADS, *volume_model.WORKLOADS, *dimabsa_model.WORKLOADS}))
    parser.add_argument("mode", choices=["single", "dp", "ddp"] + [f"{a}_{b}" for a in ("single", "ddp") for b in COMPILE_MODES])
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--warmup", type=int, default=8)
    parser.add_argument("--sentences", type=int, default=1)
    parser.add_argument("--amp", choices=["bf16", "fp16", "fp32"], default="bf16")
    arguments = parser.parse_args()
    if arguments.mode.startswith("ddp") and arguments.gpus > 1:
        mp.spawn(run, (arguments, free_port()), arguments.gpus)
    else:
        run(0, arguments, 0)


if __name__ == "__main__":
    main()
