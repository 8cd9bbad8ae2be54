"""The cases of regret.py: products of matrices, and where the zeros of the left one are."""

import math
from dataclasses import dataclass

import numpy as np


def anywhere(rng, m, k, live_fraction):
    return rng.random((m, k)) < live_fraction


def blocks(h, w):
    """Blocks of h x w are live together; 0: the whole dimension."""
    def pattern(rng, m, k, live_fraction):
        rows, columns = h or m, w or k
        live = rng.random((math.ceil(m / rows), math.ceil(k / columns))) < live_fraction
        return np.repeat(np.repeat(live, rows, axis=0), columns, axis=1)[:m, :k]
    return pattern


def band(rng, m, k, live_fraction):
    """A band along the diagonal, shifted at random."""
    at = np.arange(m)[:, None] * k / m + rng.random() * k
    distance = np.abs(np.arange(k)[None, :] - at) % k
    return np.minimum(distance, k - distance) < live_fraction * k / 2


def power_law(rng, m, k, live_fraction):
    """Few columns are nearly full, most nearly empty."""
    weight = (1 + rng.permutation(k)) ** -1.0
    return rng.random((m, k)) < np.minimum(1, weight * live_fraction * k / weight.sum())


def clusters(rng, m, k, live_fraction):
    """Smooth noise over a level: blobs of about eight rows and eight columns."""
    coarse = rng.standard_normal((m // 8 + 2, k // 8 + 2))
    y, x = np.arange(m) / 8, np.arange(k) / 8
    row, column = y.astype(int), x.astype(int)
    v, u = (y - row)[:, None], (x - column)[None, :]
    part = lambda dy, dx: coarse[np.ix_(row + dy, column + dx)]
    smooth = ((1 - v) * ((1 - u) * part(0, 0) + u * part(0, 1))
              + v * ((1 - u) * part(1, 0) + u * part(1, 1)))
    return smooth > np.quantile(smooth, 1 - live_fraction)


PATTERNS = {"anywhere": anywhere, "2x1": blocks(2, 1), "4x1": blocks(4, 1), "32x1": blocks(32, 1),
            "rows": blocks(1, 0), "32x32": blocks(32, 32), "heads": blocks(1, 64), "band": band,
            "power law": power_law, "clusters": clusters}
# The patterns of each shape of f32; other types and few rows have fewer.
MANY = [("anywhere", d) for d in (1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.01)] + [
    (kind, d) for kind in ("32x1", "rows") for d in (0.5, 0.1, 0.02)] + [
    ("2x1", 0.1), ("4x1", 0.1), ("32x32", 0.2), ("heads", 0.2), ("band", 0.1),
    ("power law", 0.1), ("power law", 0.02), ("clusters", 0.2)]
SOME = [("anywhere", d) for d in (0.5, 0.1, 0.02)] + [("4x1", 0.1), ("32x1", 0.3), ("rows", 0.1),
                                                     ("power law", 0.05), ("clusters", 0.1)]
FEW = [("anywhere", d) for d in (1.0, 0.5, 0.2, 0.05)]
# m, k, n that pit-tune does not measure
SHAPES = {
    "f32": [((599, 512, 256), MANY), ((512, 1024, 512), MANY), ((1024, 1024, 1024), MANY),
            ((333, 777, 129), MANY), ((599, 256, 10), SOME), ((64, 4096, 1024), SOME),
            ((2048, 128, 1000), SOME), ((1, 4096, 4096), FEW), ((2, 4096, 4096), FEW),
            ((4, 4096, 4096), FEW), ((8, 4096, 4096), FEW)],
    "f64": [((400, 600, 300), SOME), ((100, 1024, 1024), SOME)],
    "f16": [((400, 600, 300), SOME), ((100, 1024, 1024), SOME), ((1, 4096, 4096), FEW)],
    "bf16": [((400, 600, 300), SOME), ((100, 1024, 1024), SOME), ((4, 4096, 4096), FEW)],
    "i8": [((400, 600, 300), SOME), ((100, 1024, 1024), SOME), ((8, 4096, 4096), FEW)],
}


@dataclass(frozen=True)
class Case:
    """`layer` is the name of a network's layer in place of a pattern."""

    element: str
    shape: tuple
    kind: str
    live_fraction: float = 0
    layer: str = ""

    @property
    def name(self):
        what = self.layer or f"{self.kind} {self.live_fraction:g}"
        return f"{self.element} {'x'.join(map(str, self.shape))} {what}"


def synthetic_cases():
    return [Case(element, shape, kind, live_fraction) for element, shapes in SHAPES.items()
            for shape, kinds in shapes for kind, live_fraction in kinds]
