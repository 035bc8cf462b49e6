# Batch 1 through a deep stack of tiny layers: the CPU launches, the GPU waits. A rank per GPU, each for itself.
import os, sys, time, torch

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
model = torch.nn.Sequential(*[torch.nn.Linear(32, 32) for _ in range(64)]).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-6, foreach=False)
batch = torch.randn(1, 32, device="cuda")
end = time.time() + float(sys.argv[1])
print("ready", flush=True)
while time.time() < end:
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
