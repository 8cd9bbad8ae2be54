"""A padded batch of texts through a transformer block: the padding is not computed.

    padded_batch.py [--device=cuda] [--picture=FILE]

Texts of one batch are filled up to the longest. Most are short, so most of the batch is
padding. `pit.padded_linear` and `pit.padded_mlp` take the lengths and compute the rows that
are there. Attention stays torch's, with a mask.
"""

import sys

import pit
import torch
import torch.nn.functional as F

import shared


class Block(torch.nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.fc1 = torch.nn.Linear(width, 4 * width)
        self.fc2 = torch.nn.Linear(4 * width, width)

    def forward(self, x, there):
        """By torch. `there` is (batch, positions): what is no padding."""
        x = x + self.out(self.attention(self.qkv(self.norm1(x)), there))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))

    def without_padding(self, x, lengths, there):
        """The same by pit. Rows of the padding are not computed, and 0 in each product."""
        qkv = pit.padded_linear(self.norm1(x), lengths, self.qkv.weight, self.qkv.bias)
        x = x + pit.padded_linear(self.attention(qkv, there), lengths, self.out.weight,
                                  self.out.bias)
        return x + pit.padded_mlp(self.norm2(x), lengths, self.fc1.weight, self.fc1.bias,
                                  self.fc2.weight, self.fc2.bias, activation="gelu")

    def attention(self, qkv, there):
        batch, positions, width = qkv.shape
        q, k, v = qkv.view(batch, positions, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=there[:, None, None, :])
        return y.transpose(1, 2).reshape(batch, positions, width // 3)


def main():
    arguments = shared.read_arguments(__doc__, batch=16, positions=160, width=256, heads=4)
    torch.manual_seed(arguments.seed)
    torch.set_default_device(arguments.device)
    block = Block(arguments.width, arguments.heads).requires_grad_(False)

    # Many short texts, a few long ones, and one that fills the batch.
    lengths = 1 + (torch.rand(arguments.batch) ** 3 * arguments.positions).long()
    lengths[0] = arguments.positions
    there = torch.arange(arguments.positions) < lengths[:, None]
    x = torch.randn(arguments.batch, arguments.positions, arguments.width)
    print(f"{arguments.batch} texts of up to {arguments.positions} positions: "
          f"{1 - there.float().mean().item():.0%} is padding")

    found = block.without_padding(x, lengths, there)

    # Each text by itself, in float64: there is no padding that could matter.
    wide = Block(arguments.width, arguments.heads).requires_grad_(False).double()
    wide.load_state_dict(block.state_dict())
    right = True
    alone = []
    for text, length in zip(x.double(), lengths.tolist()):
        alone.append(wide(text[None, :length], torch.ones(1, length, dtype=torch.bool))[0])
    right = shared.check("what is no padding", found[there], torch.cat(alone), 1e-5)

    shared.compare({"torch": lambda: block(x, there),
                    "pit": lambda: block.without_padding(x, lengths, there)},
                   arguments.repeat, arguments.device)
    print("the feed-forward part alone:")
    shared.compare({"torch": lambda: block.fc2(F.gelu(block.fc1(x))),
                    "pit.padded_mlp": lambda: pit.padded_mlp(
                        x, lengths, block.fc1.weight, block.fc1.bias, block.fc2.weight,
                        block.fc2.bias, activation="gelu")},
                   arguments.repeat, arguments.device)

    if arguments.picture:
        shared.draw_map(arguments.picture, there.cpu(), "What is computed of the batch",
                        "position", "text", 7, 4)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
