"""A training step of the fewshot recipe in PyTorch on GPUs, as a careful user would write it.

Usage: python3 bench/peers/fewshot.py MODE [--model episode|trunk] [--queries N] [--gpus N] [--amp bf16|fp16|fp32] [--frozen] …
MODE: eager; compile (torch.compile as it comes); ro (reduce-overhead: CUDA graphs of what compiles); graph (the whole step with
its update as one CUDA graph, captured by hand); compile_graph (likewise, compiled); ddp, ddp_compile, ddp_ro and ddp_graph on
--gpus. Each rank draws its own episodes; each keeps its own running statistics.
--roi and --suppression: torchvision, or plain PyTorch (fewshot_ops.py); by default torchvision where it is installed, but plain
suppression where graphs want shapes that never change. --device cpu only shows that the program runs.
Prints one JSON line: the median time of a step with a synchronisation after each, the mean without, peak memory, parameters,
and the first loss, which tells whether two modes compute the same (on CPUs torch 2.11 compiles an argmax wrongly).
"""
import argparse
import json
import os
import statistics
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn

import fewshot_model
import fewshot_ops
from step import free_port

COMPILE_MODES = {"compile": "default", "ro": "reduce-overhead", "compile_graph": "default"}
KINDS = ("eager", "compile", "ro", "graph", "compile_graph")
DDP_KINDS = {"ddp": "eager", "ddp_compile": "compile", "ddp_ro": "ro", "ddp_graph": "graph"}
DDP_WARMUP = 11  # steps before a graph may hold DistributedDataParallel


def choose_operators(arguments):
    there = fewshot_ops.vision is not None
    arguments.kind = DDP_KINDS.get(arguments.mode, arguments.mode)
    arguments.roi = arguments.roi or ("torchvision" if there else "plain")
    fixed = arguments.kind != "eager" or not there
    arguments.suppression = arguments.suppression or ("plain" if fixed else "torchvision")


def make_model(arguments, device):
    if arguments.model == "trunk":
        model = fewshot_model.Similarity(arguments.classes, arguments.frozen, arguments.width)
    else:
        model = fewshot_model.Detector(arguments.classes, arguments.frozen, arguments.roi, arguments.suppression, arguments.width)
        model.anchors(-(-arguments.size // fewshot_model.STRIDE), device)
    return model.to(device, memory_format=torch.channels_last).train()


def make_episodes(arguments, rank, count=4):
    make = fewshot_model.trunk_episode if arguments.model == "trunk" else fewshot_model.episode
    generator = torch.Generator().manual_seed(1 + rank)
    sizes = (arguments.classes, arguments.shots, arguments.queries, arguments.boxes, arguments.size)
    episodes = [make(generator, *sizes) for _ in range(count)]
    return [[field.pin_memory() for field in fields] for fields in episodes] if arguments.device == "cuda" else episodes


def wrap(model, arguments, device):
    net = model
    if arguments.kind in COMPILE_MODES:
        net = torch.compile(net, mode=COMPILE_MODES[arguments.kind])
    if dist.is_initialized():
        device_ids = [device] if device.type == "cuda" else None
        net = nn.parallel.DistributedDataParallel(net, device_ids=device_ids, gradient_as_bucket_view=True, broadcast_buffers=False)
    return net


class Trainer:
    def __init__(self, arguments, rank, device):
        self.arguments, self.device, self.first_loss = arguments, device, None
        self.model = make_model(arguments, device)
        self.parameters = list(self.model.parameters())
        self.episodes = make_episodes(arguments, rank)
        self.dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(arguments.amp)
        self.scaler = torch.amp.GradScaler(device.type, enabled=arguments.amp == "fp16")
        by_hand = arguments.kind.endswith("graph") and device.type == "cuda"
        self.optimizer = torch.optim.AdamW(self.parameters, lr=1e-4, fused=True, capturable=by_hand)
        self.stream = torch.cuda.Stream() if by_hand else None
        with torch.cuda.stream(self.stream):  # None: the present one
            self.net = wrap(self.model, arguments, device)
        self.step = self.captured() if by_hand else self.plain_step

    def backward(self, fields):
        with torch.autocast(self.device.type, dtype=self.dtype, enabled=self.dtype is not None):
            loss = self.net(*fields)
        self.scaler.scale(loss).backward()
        if self.first_loss is None:
            self.first_loss = loss.item()

    def update(self):
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.parameters, 10.0, foreach=True)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def plain_step(self, number):
        fields = [field.to(self.device, non_blocking=True) for field in self.episodes[number % len(self.episodes)]]
        if self.arguments.kind == "ro":
            torch.compiler.cudagraph_mark_step_begin()
        self.backward(fields)
        self.update()
        self.optimizer.zero_grad(set_to_none=True)

    def captured(self):
        """The step with everything that is computed in a graph; in fp16 the update, which may be left out, stays beside it."""
        fields = [torch.empty_like(field, device=self.device) for field in self.episodes[0]]

        def fill(number):
            for to, field in zip(fields, self.episodes[number % len(self.episodes)]):
                to.copy_(field, non_blocking=True)

        def work():
            self.optimizer.zero_grad(set_to_none=True)
            self.backward(fields)
            if not self.scaler.is_enabled():
                self.update()

        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            for number in range(DDP_WARMUP):
                fill(number)
                work()
                if self.scaler.is_enabled():
                    self.update()
        torch.cuda.current_stream().wait_stream(self.stream)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
            work()

        def step(number):
            fill(number)
            graph.replay()
            if self.scaler.is_enabled():
                self.update()

        return step


def time_steps(step, arguments):
    """Median seconds with a synchronisation after each step; mean seconds of steps that run freely."""
    synchronize = torch.cuda.synchronize if arguments.device == "cuda" else lambda: None
    for number in range(arguments.warmup):
        step(number)
    synchronize()
    single = []
    for number in range(arguments.steps):
        begin = time.perf_counter()
        step(number)
        synchronize()
        single.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    for number in range(arguments.steps):
        step(number)
    synchronize()
    return statistics.median(single), (time.perf_counter() - begin) / arguments.steps


def run(rank, arguments, port):
    world = arguments.gpus if arguments.mode in DDP_KINDS else 1
    choose_operators(arguments)
    on_gpu = arguments.device == "cuda"
    device = torch.device("cuda", rank) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    if arguments.mode in DDP_KINDS:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        if arguments.kind == "graph":
            os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "0"  # its watchdog asks for events, which capturing forbids
        dist.init_process_group("nccl" if on_gpu else "gloo", rank=rank, world_size=world, device_id=device if on_gpu else None)
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    trainer = Trainer(arguments, rank, device)
    step_s, free_s = time_steps(trainer.step, arguments)
    if rank == 0:
        print(json.dumps({
            "model": arguments.model, "mode": arguments.mode, "gpus": world, "amp": arguments.amp,
            "queries": arguments.queries, "norm": "frozen" if arguments.frozen else "batch",
            "roi": arguments.roi, "suppression": arguments.suppression, "step_ms": round(1e3 * step_s, 3),
            "free_ms": round(1e3 * free_s, 3), "per_s": round(world / free_s, 2),
            "mem_gb": round(torch.cuda.max_memory_allocated() / 1e9, 2) if on_gpu else 0,
            "params": sum(p.numel() for p in trainer.parameters), "first_loss": round(trainer.first_loss, 4)}), flush=True)
    if dist.is_initialized():
        dist.barrier()
        dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", choices=[*KINDS, *DDP_KINDS])
    parser.add_argument("--model", choices=["episode", "trunk"], default="episode")
    for name, value in (("classes", 5), ("shots", 3), ("queries", 5), ("boxes", 16), ("size", 320), ("width", 64), ("gpus", 1),
                        ("steps", 50), ("warmup", 15)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--amp", choices=["bf16", "fp16", "fp32"], default="bf16")
    parser.add_argument("--frozen", action="store_true", help="batch norm by running statistics")
    parser.add_argument("--roi", choices=["torchvision", "plain"])
    parser.add_argument("--suppression", choices=["torchvision", "plain"])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    arguments = parser.parse_args()
    if arguments.mode in DDP_KINDS:
        mp.spawn(run, (arguments, free_port()), arguments.gpus)
    else:
        run(0, arguments, 0)


if __name__ == "__main__":
    main()
