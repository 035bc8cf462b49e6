# DDP as it should be: a rank per GPU, enough work, nobody waits.
import os, sys, time, torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(8)]).cuda()
model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
batch = torch.randn(8192, 4096, device="cuda")
end = time.time() + float(sys.argv[1])
print("ready", flush=True)
while True:
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
    stop = torch.tensor([float(time.time() > end)], device="cuda")
    dist.all_reduce(stop)
    if stop.item() > 0:
        break
dist.destroy_process_group()
