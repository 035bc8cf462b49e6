# DataParallel: one process copies the model to every GPU in each step.
import sys, time, torch

model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(24)]).cuda()
model = torch.nn.DataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
batch = torch.randn(64, 4096, device="cuda")
end = time.time() + float(sys.argv[1])
print("ready", flush=True)
while time.time() < end:
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
