# torchrun ranks that never call set_device: all of them on device 0.
import sys, time, torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(4)]).cuda()
model = torch.nn.parallel.DistributedDataParallel(model)
batch = torch.randn(8192, 2048, device="cuda")
end = time.time() + float(sys.argv[1])
print("ready", flush=True)
while time.time() < end:
    model(batch).square().mean().backward()
    model.zero_grad()
