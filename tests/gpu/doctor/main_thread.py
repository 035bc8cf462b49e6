# A program that decodes each sample on its own main thread: no loader processes, and the GPU waits.
import random, sys, time, torch, zlib

model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(4)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
torch.set_num_threads(1)
packed = zlib.compress(random.randbytes(1 << 22), 9)


def decode():
    values = torch.frombuffer(bytearray(zlib.decompress(packed)), dtype=torch.uint8)
    return values[: 2048 * 2048].view(2048, 2048).float().sub_(128).div_(128)


end = time.time() + float(sys.argv[1])
print("ready", flush=True)
while time.time() < end:
    batch = torch.stack([decode() for _ in range(4)]).mean(0).cuda()
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
