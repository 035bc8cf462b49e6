"""fully_shard, as it replaces FullyShardedDataParallel."""
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler

from data import dataset, model, report

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
net = model()
for layer in net:
    if isinstance(layer, torch.nn.Linear):
        fully_shard(layer, mesh=mesh)
fully_shard(net, mesh=mesh)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
data = dataset()
for x, y in DataLoader(data, batch_size=8, sampler=DistributedSampler(data, shuffle=False)):
    loss = ((net(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
report(dist.get_rank(), dist.get_world_size(), loss.detach())
dist.destroy_process_group()
