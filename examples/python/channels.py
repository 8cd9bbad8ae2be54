"""A convolution of images some of whose channels are switched off, others in each image.

    channels.py [--device=cuda] [--picture=FILE]

A gate in front of the convolution keeps the channels that matter for an image, and sets the
others to zero (dynamic channel pruning). `pit.conv2d` is told the shape of the zeros: a
micro-tile of one image, one channel and all of its pixels.
"""

import sys

import pit
import torch
import torch.nn.functional as F

import shared


def gate(x, weight, kept):
    """The `kept` channels of each image with the highest score, from the channels' means."""
    scores = torch.sigmoid(x.mean(dim=(2, 3)) @ weight)
    chosen = torch.zeros_like(scores, dtype=torch.bool).scatter_(1, scores.topk(kept).indices, True)
    return x * (scores * chosen)[:, :, None, None], chosen


def main():
    arguments = shared.read_arguments(__doc__, images=8, channels=128, filters=128, size=28,
                                      kept=32)
    torch.manual_seed(arguments.seed)
    torch.set_default_device(arguments.device)
    n, c, f, size = arguments.images, arguments.channels, arguments.filters, arguments.size
    features = F.relu(torch.randn(n, c, size, size) + torch.randn(n, c, 1, 1))
    kept = min(arguments.kept, c)
    x, chosen = gate(features, torch.randn(c, c), kept)
    weight, bias = torch.randn(f, c, 3, 3) / (3 * c**0.5), torch.randn(f)
    print(f"{n} images of {c} channels, of which {kept} are on")

    # The micro-tile has one size for each dimension of x; 0 is a whole dimension. `axis` is
    # the dimension along which live ones are listed: channels.
    hints = dict(padding=1, activation="relu", micro_tile=(1, 1, 0, 0), axis=1)
    y = pit.conv2d(x, weight, bias, **hints)

    expected = F.relu(F.conv2d(x.double(), weight.double(), bias.double(), padding=1))
    right = shared.check("the convolution", y, expected, 1e-5)

    shared.compare({"torch": lambda: F.relu(F.conv2d(x, weight, bias, padding=1)),
                    "pit.conv2d": lambda: pit.conv2d(x, weight, bias, **hints)},
                   arguments.repeat, arguments.device)

    if arguments.picture:
        shared.draw_map(arguments.picture, chosen.cpu(), "Live channels", "channel", "image", 9, 3)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
