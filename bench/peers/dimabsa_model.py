"""The dimabsa recipe's network in PyTorch, a BERT-base with heads, and two ways to train it.

dimabsa: the six queries of a sentence are six forward and backward passes, in turn, as the original does.
dimabsa_rows: they are six rows of one batch, as a careful user would write it.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, LAYERS, HEADS, VOCABULARY, POSITIONS, CATEGORIES = 768, 12, 12, 30522, 512, 30
PASSES, TOKENS = 6, 128
SPAN_PASSES = 4  # then valence and arousal
WORKLOADS = {"dimabsa", "dimabsa_rows"}


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        self.segments, self.norm, self.dropout = nn.Embedding(2, WIDTH), nn.LayerNorm(WIDTH), nn.Dropout(0.1)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.1, "gelu", batch_first=True)
        # Where Lockstep's has none: of attention's probabilities, and between the products of the feed-forward part.
        layer.self_attn.dropout, layer.dropout.p = 0.0, 0.0
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.spans, self.values = nn.Linear(WIDTH, 4 * SPAN_PASSES), nn.Linear(WIDTH, 2)
        self.register_buffer("span_weights", torch.tensor([1.0, 3.0]), persistent=False)

    def hidden(self, tokens, segments):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.words(tokens) + self.positions(places) + self.segments(segments)
        return self.encoder(self.dropout(self.norm(x)))

    def span_loss(self, hidden, targets, number):
        """Half of start and of end, classes weighed 1 and 3, added up. hidden [B, T, W], targets i64 [B, T, 2]."""
        logits = self.spans(hidden).float().view(*hidden.shape[:2], SPAN_PASSES, 2, 2)[:, :, number]
        return F.cross_entropy(logits.flatten(0, 2), targets.flatten(), self.span_weights, reduction="sum") / 2

    def value_loss(self, hidden, gold, number):
        return 0.2 * F.mse_loss(self.values(hidden[:, 0]).float()[:, number], gold, reduction="sum")

    def one_pass(self, number, tokens, segments, targets, gold):
        hidden = self.hidden(tokens, segments)
        if number < SPAN_PASSES:
            return self.span_loss(hidden, targets, number) + 0 * self.values(hidden[:, 0]).float().sum()
        return self.value_loss(hidden, gold, number - SPAN_PASSES) + 0 * self.spans(hidden[:, 0]).float().sum()

    def forward(self, tokens, segments, targets, gold, number=None):
        """tokens, segments i64 [B, passes, T], targets i64 [B, passes, T, 2], gold f32 [B, 2]; B sentences."""
        if number is not None:
            return self.one_pass(number, tokens, segments, targets, gold)
        rows = self.hidden(tokens.flatten(0, 1), segments.flatten(0, 1)).view(*tokens.shape, WIDTH)
        loss = sum(self.span_loss(rows[:, i], targets[:, i], i) for i in range(SPAN_PASSES))
        return loss + sum(self.value_loss(rows[:, SPAN_PASSES + i], gold[:, i], i) for i in range(PASSES - SPAN_PASSES))


class Workload:
    """Random sentences whose six passes have 128 tokens each; a step is one batch of them."""

    unit = "sentences"

    def __init__(self, name, sentences=1):
        self.in_turn = name == "dimabsa"
        self.sentences = self.units = sentences
        self.accumulation = PASSES if self.in_turn else 1

    def model(self, device):
        return Network().to(device)

    def micro_batch(self, generator, number):
        passes = [] if self.in_turn else [PASSES]
        shape = (self.sentences, *passes, TOKENS)
        targets = torch.rand((*shape, 2), generator=generator) > 0.98
        gold_shape = (self.sentences,) if self.in_turn else (self.sentences, 2)
        fields = [torch.randint(0, VOCABULARY, shape, generator=generator), torch.randint(0, 2, shape, generator=generator),
                  targets.long(), 1 + 8 * torch.rand(gold_shape, generator=generator)]
        return [field.pin_memory() for field in fields] + ([number] if self.in_turn else [])

    def inputs(self, *fields):
        return fields
