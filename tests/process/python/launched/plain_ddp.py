"""DistributedDataParallel by hand."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from data import dataset, model, report

dist.init_process_group("gloo")
net = DistributedDataParallel(model())
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data = dataset()
for epoch in range(2):
    sampler = DistributedSampler(data, shuffle=False)
    for x, y in DataLoader(data, batch_size=8, sampler=sampler):
        loss = ((net(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
report(dist.get_rank(), dist.get_world_size(), loss.detach())
dist.destroy_process_group()
