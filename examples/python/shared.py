"""The parts that examples share: arguments, a check against float64, and times."""

import argparse
import secrets
import statistics
import time


def read_arguments(description, device=True, **defaults):
    """The arguments of an example; each of `defaults` is a number, as --NAME=N."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if device:
        parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--picture", metavar="FILE", help="draws one: a .png, .svg or .pdf")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 30),
                        help="of the random data; another one each time by default")
    parser.add_argument("--repeat", type=int, default=15, metavar="N", help="timed runs of each")
    for name, value in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value,
                            metavar="N", help=f"{value} by default")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    return arguments


def check(what, found, expected, tolerance):
    """Prints how far `found` is from an array of float64, relative to its largest element;
    False if that is more than `tolerance`."""
    if tuple(found.shape) != tuple(expected.shape):
        print(f"WRONG: {what} has shape {tuple(found.shape)}, expected {tuple(expected.shape)}")
        return False
    if not isinstance(expected, type(found)):
        raise TypeError(f"{what}: a {type(found).__name__} beside a {type(expected).__name__}")
    scale = float(abs(expected).max()) or 1.0
    error = float(abs(found - expected).max()) / scale  # found becomes float64
    right = error <= tolerance  # False for NaN
    print(f"{'right' if right else 'WRONG'}: {what}: error {error:.1e} beside float64, "
          f"{tolerance:.0e} allowed")
    return right


def compare(functions, repeat, device="cpu"):
    """Times functions in turns, prints the medians, and returns them: {name: ms}. Other
    work on the machine disturbs all of them alike."""
    times = {name: [] for name in functions}
    for round in range(repeat + 2):
        for name, function in functions.items():
            wait(device)
            start = time.perf_counter()
            function()
            wait(device)
            if round >= 2:  # the first ones warm up; pit compiles in its first
                times[name].append(1e3 * (time.perf_counter() - start))
    medians = {name: statistics.median(each) for name, each in times.items()}
    first = next(iter(medians))
    for name, ms in medians.items():
        beside = "" if name == first else f"   {medians[first] / ms:5.2f} times as fast as {first}"
        print(f"  {name:24} {ms:9.3f} ms{beside}")
    return medians


def wait(device):
    """For work that a GPU has not done yet."""
    if device == "cuda":
        import torch
        torch.cuda.synchronize()


def figure(width, height, columns=1):
    """matplotlib's figure and axes, to be saved to a file: no window is opened."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    return pyplot.subplots(1, columns, figsize=(width, height), layout="constrained")


def draw_map(path, there, title, x, y, width, height):
    """A picture of a matrix of bools, black where they are true; x and y say what its
    columns and rows are."""
    drawn, axes = figure(width, height)
    axes.imshow(there, cmap="Greys", aspect="auto", interpolation="nearest")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    save(drawn, path)


def save(drawn, path):
    drawn.savefig(path, dpi=150)
    print(f"picture: {path}")
