"""The volume recipe's network in PyTorch: what its speed is compared with, and a judge of its results.

Names of parameters are Lockstep's, so that an exported file loads with load_state_dict.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, dropout):
        super().__init__()
        self.conv1 = nn.Conv3d(inputs, outputs, 3, padding=1, bias=False)
        self.conv2 = nn.Conv3d(outputs, outputs, 3, padding=1, bias=False)
        self.skip = nn.Conv3d(inputs, outputs, 1, bias=False) if inputs != outputs else None
        self.dropout = nn.Dropout3d(dropout)

    def forward(self, x):
        y = self.dropout(F.relu(F.instance_norm(self.conv1(x))))
        return F.relu(F.instance_norm(self.conv2(y)) + (x if self.skip is None else self.skip(x)))


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        narrow = max(1, width // 16)
        self.squeeze = nn.Linear(width, narrow, bias=False)
        self.excite = nn.Linear(narrow, width, bias=False)
        self.place = nn.Conv3d(2, 1, 7, padding=3, bias=False)

    def weigh(self, pooled):
        return self.excite(F.relu(self.squeeze(pooled)))

    def forward(self, x):
        gate = (self.weigh(x.mean((2, 3, 4))) + self.weigh(x.amax((2, 3, 4)))).sigmoid()
        x = x * gate[:, :, None, None, None]
        return x * self.place(torch.cat([x.mean(1, keepdim=True), x.amax(1, keepdim=True)], 1)).sigmoid()


class VolumeModel(nn.Module):
    """x [B, C, D, H, W] to logits; with labels y [B, 1, D, H, W] in 0 and 1 to the loss."""

    def __init__(self, channels=1, outputs=1, width=32, depth=4, dropout=0.2, decoder_dropout=0.15):
        super().__init__()
        widths = [width << level for level in range(depth + 1)]
        self.encoder = nn.ModuleList(
            ResidualBlock(channels if level == 0 else widths[level - 1], widths[level], dropout * level / depth)
            for level in range(depth + 1))
        self.up = nn.ModuleList(nn.ConvTranspose3d(2 * w, w, 2, stride=2) for w in widths[:-1])
        self.decoder = nn.ModuleList(
            ResidualBlock(2 * w, w, decoder_dropout * level / max(1, depth - 1)) for level, w in enumerate(widths[:-1]))
        self.attention = nn.ModuleList(Attention(w) for w in widths[:-1])
        self.heads = nn.ModuleList([nn.Conv3d(width, outputs, 1)])

    def logits(self, x):
        levels = []
        for level, block in enumerate(self.encoder):
            x = block(x if level == 0 else F.max_pool3d(x, 2))
            levels.append(x)
        for level in reversed(range(len(self.decoder))):
            x = self.decoder[level](torch.cat([levels[level], self.up[level](x)], 1))
            x = self.attention[level](x)
        return self.heads[0](x)

    def forward(self, x, y=None):
        logits = self.logits(x)
        if y is None:
            return logits
        logits, axes = logits.float(), (1, 2, 3, 4)
        p = logits.sigmoid()
        dice = 1 - (2 * (p * y).sum(axes) + 1) / (p.sum(axes) + y.sum(axes) + 1)
        bce = F.binary_cross_entropy_with_logits(logits, y, reduction="none")
        focal = (0.25 * y + 0.75 * (1 - y)) * (1 - (-bce).exp()) ** 2 * bce
        return 0.6 * dice.mean() + 0.2 * focal.mean() + 0.2 * bce.mean()


# Micro-batch, accumulation and edge of the patches of preset bench-volume.
WORKLOADS = {"volume": (16, 2, 64)}
