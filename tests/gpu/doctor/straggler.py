# DDP in which rank 1 computes on the CPU between steps: the others wait for it.
import os, sys, time, torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(4)]).cuda()
model = torch.nn.parallel.DistributedDataParallel(model)
batch = torch.randn(2048, 2048, device="cuda")
end = time.time() + float(sys.argv[1])
print("ready", flush=True)
while True:
    model(batch).square().mean().backward()
    model.zero_grad()
    if rank == 1:
        pause = time.time() + 0.1
        while time.time() < pause:
            pass
    stop = torch.tensor([float(time.time() > end)], device="cuda")
    dist.all_reduce(stop)
    if stop.item() > 0:
        break
dist.destroy_process_group()
