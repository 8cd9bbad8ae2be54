"""A transformer with ReLU, as OPT is: trained, and then made to skip zeros.

    relu_transformer.py [--device=cuda] [--picture=FILE]

A small model learns the letters of a Python module. What its ReLUs give is mostly zero.
`pit.torch.sparsify` looks at the layers on a few samples, measures, and replaces those that
are faster if they skip zeros. It prints what it found, and takes nothing that loses. The
same lines do for a model that is there: docs/YourModel.md.
"""

import argparse
import copy
import inspect
import sys

import pit
import torch
import torch.nn.functional as F

import shared


class Layer(torch.nn.Module):
    """As OPT's: attention, then fc1, ReLU and fc2."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.fc1 = torch.nn.Linear(width, 4 * width)
        self.fc2 = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, positions, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, positions, 3, self.heads, -1).permute(
            2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, positions, width))
        self.hidden = F.relu(self.fc1(self.norm2(x)))
        return x + self.fc2(self.hidden)


class Model(torch.nn.Module):
    def __init__(self, width, depth, positions, heads=4):
        super().__init__()
        self.letters = torch.nn.Embedding(128, width)
        self.places = torch.nn.Embedding(positions, width)
        self.layers = torch.nn.ModuleList(Layer(width, heads) for _ in range(depth))
        self.norm = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, 128)

    def forward(self, text):
        x = self.letters(text) + self.places.weight[: text.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def fit(model, batches, steps):
    """Learns the next letter. As for the digits, a term of the loss keeps hidden values
    few: the sum of their magnitudes."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(steps):
        text = batches()
        loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
        penalty = sum(layer.hidden.mean() for layer in model.layers)
        optimizer.zero_grad()
        (loss + 0.3 * penalty).backward()
        optimizer.step()
        if step % (steps // 4 or 1) == 0 or step + 1 == steps:
            zeros = sum((layer.hidden == 0).float().mean().item() for layer in model.layers)
            print(f"  step {step}: loss {loss.item():.2f}, "
                  f"{zeros / len(model.layers):.0%} of the hidden values are zero")


def main():
    arguments = shared.read_arguments(__doc__, width=128, depth=2, positions=64, batch=8,
                                      steps=80)
    torch.manual_seed(arguments.seed)
    torch.set_default_device(arguments.device)
    source = inspect.getsource(argparse).encode("ascii", "replace")
    text = torch.tensor(list(source), dtype=torch.long)
    window = torch.arange(arguments.positions + 1)

    def batches(count=arguments.batch):
        return text[torch.randint(len(text) - len(window), (count, 1)) + window]

    model = Model(arguments.width, arguments.depth, arguments.positions)
    fit(model, batches, arguments.steps)
    model.eval().requires_grad_(False)
    sample = batches()[:, :-1]
    model(sample)  # leaves hidden values without gradients, which can be copied
    before = copy.deepcopy(model)
    pit.torch.sparsify(model, [batches()[:, :-1] for _ in range(3)])

    expected = copy.deepcopy(before).double()(sample)
    right = shared.check("the logits before sparsify", before(sample), expected, 1e-4)
    right &= shared.check("the logits after it", model(sample), expected, 1e-4)
    shared.compare({"torch": lambda: before(sample), "after sparsify": lambda: model(sample)},
                   arguments.repeat, arguments.device)

    if arguments.picture:
        drawn, axes = shared.figure(8, 4)
        axes.imshow(model.layers[-1].hidden[0].cpu() != 0, cmap="Greys", aspect="auto",
                    interpolation="nearest")
        axes.set_xlabel("hidden value")
        axes.set_ylabel("position")
        axes.set_title("Live hidden values of the last layer, for one text")
        shared.save(drawn, arguments.picture)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
