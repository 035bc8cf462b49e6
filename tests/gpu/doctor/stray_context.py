# DDP whose ranks load a checkpoint to where it was saved from: each of them to device 0, and it stays there.
import os, sys, time, torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(8)]).cuda()
if rank == 0:
    torch.save(model.state_dict(), "weights.pt")
dist.barrier()
weights = torch.load("weights.pt")  # without map_location
model.load_state_dict(weights)
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
