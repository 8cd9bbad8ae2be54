"""Times convolutions in training on the CPU beside torch's: forwards and both gradients.

    OMP_NUM_THREADS=1 python3 benchmarks/python/training_conv.py [--only=vgg] [--parts]

Images have zeros anywhere, as a ReLU leaves them, and so has the gradient of the result, as
that of a layer with a ReLU behind it; `--grad=dense` is that of a layer with a normalization
behind it. Both take turns, with another pattern of zeros each time. Times are medians, in
milliseconds, or with `--pick=least` the least, and hold everything: counting zeros, transposing, indices. `--clock=cpu` counts what
the process computed, which a machine with other work on it changes less; with one thread only,
as waiting threads compute, too. The last column is the largest error of the three, against torch
in f64.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import torch
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402

# (images, channels, height and width, filters, filter, stride)
LAYERS = {
    "vgg1_2": (1, 64, 224, 64, 3, 1), "vgg2_1": (1, 64, 112, 128, 3, 1),
    "vgg2_2": (1, 128, 112, 128, 3, 1), "vgg3_2": (1, 256, 56, 256, 3, 1),
    "vgg4_2": (2, 512, 28, 512, 3, 1), "vgg5_2": (4, 512, 14, 512, 3, 1),
    "resnet2": (2, 64, 56, 64, 3, 1), "resnet3": (2, 128, 28, 128, 3, 1),
    "resnet4": (4, 256, 14, 256, 3, 1), "resnet5": (8, 512, 7, 512, 3, 1),
    "resnet2_down": (2, 256, 56, 64, 1, 1), "resnet2_up": (2, 64, 56, 256, 1, 1),
    "resnet3_up": (4, 128, 28, 512, 1, 1), "resnet4_down": (4, 1024, 14, 256, 1, 1),
    "resnet3_stride": (2, 128, 56, 128, 3, 2), "resnet4_stride": (2, 256, 28, 256, 3, 2),
    "resnet3_skip": (2, 256, 56, 512, 1, 2),
}
PATTERNS = 4


def with_zeros(shape, live, form):
    x = torch.where(torch.rand(shape) < live, torch.randn(shape), 0)
    return x.to(memory_format=form)


class Layer:
    """Both layers on one set of inputs; parts are "forward", "image", "filters" and "all"."""

    def __init__(self, shape, live, form, dense_gradient, clock):
        n, c, size, f, width, stride = shape
        self.clock = clock
        self.options = {"padding": width // 2, "stride": stride}
        weight = torch.randn(f, c, width, width) / (c * width * width) ** 0.5
        self.weight = weight.to(memory_format=form).requires_grad_()
        self.inputs = []
        for _ in range(PATTERNS):
            x = with_zeros((n, c, size, size), live, form).requires_grad_()
            rows = (size + 2 * (width // 2) - width) // stride + 1
            grad = with_zeros((n, f, rows, rows), 1 if dense_gradient else live, form)
            self.inputs.append((x, grad))

    def call(self, name, x, weight=None):
        weight = self.weight if weight is None else weight
        if name == "pit":
            return pit.conv2d(x, weight, **self.options)
        return functional.conv2d(x, weight, None, self.options["stride"], self.options["padding"])

    def once(self, name, x, grad):
        """Milliseconds of each part."""
        weight, spans = self.weight, []
        for wanted in ((x,), (weight,), (x, weight)):
            images, filters = (v if any(v is w for w in wanted) else v.detach()
                               for v in (x, weight))
            start = self.clock()
            y = self.call(name, images, filters)
            middle = self.clock()
            torch.autograd.grad(y, wanted, grad)
            spans.append((middle - start, self.clock() - middle))
        return [1e3 * v for v in (spans[2][0], spans[0][1], spans[1][1], sum(spans[2]))]

    def error(self):
        x, grad = self.inputs[0]
        exact = [v.detach().double().requires_grad_() for v in (x, self.weight)]
        y = self.call("torch", *exact)
        expected = [y, *torch.autograd.grad(y, exact, grad.double())]
        y = self.call("pit", x)
        found = [y, *torch.autograd.grad(y, (x, self.weight), grad)]
        return max(((a.double() - b).abs().max() / b.abs().max()).item()
                   for a, b in zip(found, expected))

    def times(self, seconds, pick):
        times = {"pit": [], "torch": []}
        for name in times:
            for values in self.inputs:
                self.once(name, *values)
        end = time.perf_counter() + seconds
        turns = [list(times), list(times)[::-1]]  # who is second finds the images in a cache
        while time.perf_counter() < end or len(times["pit"]) < 10:
            for order in turns:
                for values in self.inputs:
                    for name in order:
                        times[name].append(self.once(name, *values))
        return {name: [pick(part) for part in zip(*found)]
                for name, found in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", help="a part of layers' names")
    parser.add_argument("--live", type=float, nargs="+", default=[0.5, 0.3, 0.1],
                        help="parts of elements that are not zero")
    parser.add_argument("--layout", choices=("nchw", "channels_last"), nargs="+",
                        default=["nchw", "channels_last"])
    parser.add_argument("--grad", choices=("relu", "dense"), default="relu")
    parser.add_argument("--seconds", type=float, default=1, help="for each case")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--pick", choices=("median", "least"), default="median")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    clock = time.process_time if options.clock == "cpu" else time.perf_counter
    print(f"torch {torch.__version__}, pit {pit.__version__}, {torch.get_num_threads()} threads, "
          f"gradient {options.grad}, {options.clock} time, "
          f"{options.pick}; torch ms / pit ms = ratio")
    for name, shape in LAYERS.items():
        if options.only and options.only not in name:
            continue
        for layout in options.layout:
            form = torch.channels_last if layout == "channels_last" else torch.contiguous_format
            for live in options.live:
                layer = Layer(shape, live, form, options.grad == "dense", clock)
                error = layer.error()
                found = layer.times(options.seconds, statistics.median if options.pick == "median"
                                    else min)
                parts = "  ".join(
                    f"{part} {a:7.2f} /{b:7.2f} = {a / b:5.2f}" for part, a, b in
                    zip(("forward", "image", "filters", "all"), found["torch"], found["pit"]))
                print(f"{name:14s} {layout:13s} zeros {1 - live:4.0%}  {parts}  error {error:.0e}",
                      flush=True)


if __name__ == "__main__":
    main()
