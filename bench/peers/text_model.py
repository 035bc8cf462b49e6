"""The text models of the presets bench-textgen, bench-gpt124m, small and shakespeare in PyTorch, for comparisons."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, heads, gelu):
        super().__init__()
        self.heads, self.gelu = heads, gelu
        self.ln1 = nn.LayerNorm(width, bias=False)
        self.ln2 = nn.LayerNorm(width, bias=False)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.ln1(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate=self.gelu))


class TextModel(nn.Module):
    """Parameters have the names of Lockstep's checkpoints; the output matrix is the token embedding."""

    def __init__(self, vocab, layers, width, heads, context, gelu="none"):
        super().__init__()
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads, gelu) for _ in range(layers))
        self.ln = nn.LayerNorm(width, bias=False)

    def logits(self, tokens):
        hidden = self.tok(tokens) + self.pos(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            hidden = block(hidden)
        return F.linear(self.ln(hidden), self.tok.weight)

    def forward(self, tokens, targets):
        logits = self.logits(tokens)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))


# Name: vocabulary, layers, width, heads, context; samples of a micro-batch, micro-batches of a step.
WORKLOADS = {
    "textgen": ((256, 6, 384, 6, 512), 16, 4),
    "gpt124m": ((50304, 12, 768, 12, 1024), 32, 1),
}
