"""Where a drawn tensor is live, and what values it holds."""

import numpy as np

PATTERNS = (
    "none", "all", "uniform", "uniform", "uniform", "skewed", "skewed",
    "clustered", "clustered", "band", "one",
)


def live(rng, shape, pattern):
    """A boolean array of the shape."""
    if pattern == "none":
        return np.zeros(shape, dtype=bool)
    if pattern == "all":
        return np.ones(shape, dtype=bool)
    live_fraction = float(rng.choice([0.01, 0.05, 0.1, 0.3, 0.6, 0.95]))
    uniform = rng.random(shape)
    if pattern == "uniform" or not shape:
        return uniform < live_fraction
    if pattern == "one":
        chosen = np.zeros(shape, dtype=bool)
        if chosen.size:
            chosen.flat[int(rng.integers(chosen.size))] = True
        return chosen
    axis = int(rng.integers(len(shape)))
    along = [1] * len(shape)
    along[axis] = shape[axis]
    if pattern == "skewed":
        # Some slices are much denser than others.
        live_fractions = live_fraction ** (4 * rng.random(shape[axis]))
        live_fractions[rng.random(shape[axis]) < 0.3] = 0
        return uniform < live_fractions.reshape(along)
    if pattern == "band":
        total = sum(np.indices(shape, sparse=True))
        return np.asarray(total % max(2, int(1 / live_fraction)) < 2)
    # Clusters: whole boxes are live.
    chosen = np.zeros(shape, dtype=bool)
    for _ in range(int(rng.integers(1, 6))):
        box = []
        for size in shape:
            start = int(rng.integers(size + 1))
            box.append(slice(start, start + int(rng.integers(1, max(2, size // 2 + 1)))))
        chosen[tuple(box)] = True
    return chosen


def values(rng, shape, dtype, integral):
    """Values of no particular sparsity; never 0 unless by chance."""
    if dtype.is_float and not integral:
        array = rng.normal(size=shape)
        array[rng.random(shape) < 0.02] = -0.0
        return dtype.load(dtype.store(array))
    largest = 3 if dtype.is_float else {8: 127, 16: 200, 32: 1000, 64: 1000}[dtype.bits]
    if integral == "small":
        largest = 2
    return rng.integers(-largest, largest + 1, size=shape).astype(np.float64)


def away_from(array, background, dtype):
    """Replaces what happens to equal the background."""
    return np.where(array == background, 1.0 if background != 1.0 else 2.0, array)


def garbage(rng, shape, dtype):
    """What stands in elements that are not selected: NaN and infinities too."""
    if not dtype.is_float:
        low, high = (-(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1)) if dtype.bits < 64 else (-9999, 9999)
        return rng.integers(low, high, size=shape).astype(np.float64)
    return rng.choice([np.nan, np.inf, -np.inf, 1.0, -3.0, 1e4], size=shape)
