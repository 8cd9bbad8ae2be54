"""A layer norm of some rows, as a tile program in Python: `pit.jit`.

    tile_layer_norm.py [--device=cuda] [--picture=FILE]

A mask says which rows of x are wanted, such as the tokens that are no padding. torch has to
gather them, normalize, and scatter the result: three passes over memory. The program below
reads wanted rows where they are, and writes each once.
"""

import sys

import pit
import torch
import torch.nn.functional as F
from pit import tile

import shared


@pit.jit
def layer_norm(x: tile.f32["T", "W"], keep: tile.i1["T"], scale: tile.f32["W"],
               shift: tile.f32["W"], *, W, chunk=8, eps=1e-5):
    # W is a constant, taken from the arrays: a tile has a size that is known when the program
    # is compiled. T is not: one program serves all numbers of rows.
    T = x.shape[0]
    rows = tile.build_index(keep, micro_tile=[1], axis=0, source="mask")  # wanted ones
    y = tile.zeros((T, W), tile.f32)
    for ids in tile.forall(tile.ids(rows, chunk=chunk)):  # 8 at once, on all threads
        t = tile.sread(x[ids, :])  # gathers rows into a tile of 8 x W
        t = t - tile.sum(t, axis=1, keepdims=True) / W
        deviation = tile.rsqrt(tile.sum(t * t, axis=1, keepdims=True) / W + eps)
        tile.swrite(y[ids, :], t * deviation * tile.sread(scale[:]) + tile.sread(shift[:]))
    return y


def main():
    arguments = shared.read_arguments(__doc__, rows=4096, width=384, kept=0.3)
    torch.manual_seed(arguments.seed)
    torch.set_default_device(arguments.device)
    x = torch.randn(arguments.rows, arguments.width)
    scale, shift = torch.randn(arguments.width), torch.randn(arguments.width)
    keep = torch.rand(arguments.rows) < arguments.kept
    print(f"{keep.sum().item()} of {arguments.rows} rows are wanted")

    y = layer_norm(x, keep, scale, shift)

    expected = F.layer_norm(x.double(), x.shape[1:], scale.double(), shift.double())
    right = shared.check("the layer norm", y, expected * keep[:, None], 1e-5)

    def gathered():
        chosen = keep.nonzero().flatten()
        result = torch.zeros_like(x)
        result[chosen] = F.layer_norm(x[chosen], x.shape[1:], scale, shift)
        return result

    def everywhere():
        return F.layer_norm(x, x.shape[1:], scale, shift) * keep[:, None]

    shared.compare({"torch, gathered": gathered, "torch, all rows": everywhere,
                    "pit.jit": lambda: layer_norm(x, keep, scale, shift)},
                   arguments.repeat, arguments.device)

    if arguments.picture:
        drawn, axes = shared.figure(7, 5)
        axes.imshow(y[:64].cpu(), cmap="RdBu", aspect="auto", vmin=-4, vmax=4,
                    interpolation="nearest")
        axes.set_xlabel("element")
        axes.set_ylabel("row")
        axes.set_title("The result of the first rows; unwanted ones are 0")
        shared.save(drawn, arguments.picture)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
