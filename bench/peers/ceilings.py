"""What a machine with GPUs can do at most: bf16 matrix products, copies on a GPU, all-reduces over NCCL.

Usage: python3 bench/peers/ceilings.py [GPUS]       GPUS is 1
Prints a JSON line for one GPU, and one for each size of an all-reduce over several.
"""
import json
import os
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def seconds(call, count, warmup):
    for _ in range(warmup):
        call()
    torch.cuda.synchronize()
    if dist.is_initialized():
        dist.barrier()
        torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count


def print_one_gpu():
    size = 8192
    a = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
    b = torch.randn_like(a)
    product_s = seconds(lambda: a @ b, 20, 3)
    source = torch.empty(1 << 30, dtype=torch.float32, device="cuda").normal_()
    target = torch.empty_like(source)
    copy_s = seconds(lambda: target.copy_(source), 10, 1)
    print(json.dumps({"bf16_tflops": round(2 * size**3 / product_s / 1e12, 1),
                      "copy_tb_s": round(2 * source.numel() * 4 / copy_s / 1e12, 2)}), flush=True)


def print_all_reduces(rank, gpus):
    for mib in (1, 4, 16, 40, 64, 256, 512):
        data = torch.randn(mib << 18, device="cuda")
        reduce_s = seconds(lambda: dist.all_reduce(data), 20, 5)
        if rank == 0:
            bus = data.numel() * 4 / reduce_s * 2 * (gpus - 1) / gpus
            print(json.dumps({"all_reduce_mib": mib, "us": round(reduce_s * 1e6, 1), "bus_gb_s": round(bus / 1e9, 1)}),
                  flush=True)


def run(rank, gpus, port):
    torch.cuda.set_device(rank)
    if rank == 0:
        print_one_gpu()
    if gpus == 1:
        return
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("nccl", rank=rank, world_size=gpus, device_id=torch.device("cuda", rank))
    print_all_reduces(rank, gpus)
    dist.destroy_process_group()


def main():
    gpus = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    mp.spawn(run, (gpus, port), gpus)


if __name__ == "__main__":
    main()
