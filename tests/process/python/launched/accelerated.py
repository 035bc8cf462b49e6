"""Hugging Face Accelerate."""
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

from data import dataset, model, report

accelerator = Accelerator(cpu=True)
net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
net, optimizer, loader = accelerator.prepare(net, optimizer, DataLoader(dataset(), batch_size=8))
for x, y in loader:
    loss = ((net(x) - y) ** 2).mean()
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
report(accelerator.process_index, accelerator.num_processes, loss.detach())
accelerator.end_training()
