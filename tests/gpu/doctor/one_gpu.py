# A model on device 0 of several: no parallel wrapper.
import time, sys, torch

model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(8)]).cuda()
batch = torch.randn(4096, 4096, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
end = time.time() + float(sys.argv[1])
print("ready", flush=True)
while time.time() < end:
    for _ in range(10):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    torch.cuda.synchronize()
