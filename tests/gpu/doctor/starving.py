# DDP whose loaders cannot keep up: each sample takes a CPU core for some milliseconds.
import os, sys, time, torch
import torch.distributed as dist


class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        value = 0
        for i in range(300_000):
            value += i % 7
        return torch.full((4096,), float(value % 5))


rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(16)]).cuda()
model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
loader = torch.utils.data.DataLoader(Slow(), batch_size=64, num_workers=2)
end = time.time() + float(sys.argv[1])
print("ready", flush=True)
for batch in loader:
    batch = batch.cuda()
    for _ in range(2):
        optimizer.zero_grad()
        model(batch.repeat(8, 1)).square().mean().backward()
        optimizer.step()
    stop = torch.tensor([float(time.time() > end)], device="cuda")
    dist.all_reduce(stop)
    if stop.item() > 0:
        break
os._exit(0)  # without waiting for the loaders
