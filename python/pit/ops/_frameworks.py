"""Ops by one name each for numpy, CuPy, JAX and torch, whose own names for them differ."""

from .._arrays import framework_of


class Numpy:
    """Ops by the names that numpy, CuPy and JAX have for them."""

    def __init__(self, xp, like):
        self.xp, self.like = xp, like

    def places(self, count):
        return self.xp.arange(count)

    def wide(self, x):
        return x if x.dtype == "float64" else x.astype("float32")

    def sums(self, x, axis):
        """In f32, or in f64 as it is."""
        return x.sum(axis, dtype="float64" if x.dtype == "float64" else "float32")

    def most(self, x):
        return x.max(-1, keepdims=True)

    def joined(self, parts, axis=-1):
        return self.xp.concatenate(parts, axis)

    def zeros(self, shape, dtype=bool):
        return self.xp.zeros(shape, dtype)

    def clipped(self, x, low, high):
        return x.clip(low, high)

    def reversed_rows(self, x):
        return x[..., ::-1, :]

    def order_of_largest(self, x, count):
        return self.xp.argsort(-x, -1)[..., :count]

    def sorted(self, x):
        """The largest first, and where they stand."""
        order = self.xp.argsort(-x, -1)
        return self.xp.take_along_axis(x, order, -1), order

    def taken(self, x, order):
        return self.xp.take_along_axis(x, order, -1)

    def cast(self, x, like):
        return x.astype(like.dtype)

    def given(self, x):
        return self.xp.asarray(x)

    def of_host(self, x):
        """An array of numpy, where `like` lies."""
        return self.xp.asarray(x)

    def rows(self, x, order):
        """The rows of x in an order, of dims that may be 1."""
        return self.xp.take_along_axis(x, order[..., None], 2)

    def put(self, order, values, size):
        """An array of bool that has values[..., i] at place order[..., i] of its last dim."""
        found = self.zeros((*order.shape[:-1], size))
        self.xp.put_along_axis(found, order, values, -1)
        return found


class Jax(Numpy):
    def order_of_largest(self, x, count):
        import jax
        return jax.lax.top_k(x, count)[1]

    def put(self, order, values, size):
        found = self.zeros((*order.shape[:-1], size))
        return self.xp.put_along_axis(found, order, values, -1, inplace=False)


class Torch(Numpy):
    def places(self, count):
        return self.xp.arange(count, device=self.like.device)

    def wide(self, x):
        return x if x.dtype == self.xp.float64 else x.float()

    def sums(self, x, axis):
        wide = self.xp.float64 if x.dtype == self.xp.float64 else self.xp.float32
        return x.sum(axis, dtype=wide)

    def most(self, x):
        return x.amax(-1, keepdim=True)

    def joined(self, parts, axis=-1):
        return self.xp.cat(parts, axis)

    def zeros(self, shape, dtype=None):
        return self.xp.zeros(shape, dtype=dtype or self.xp.bool, device=self.like.device)

    def clipped(self, x, low, high):
        return x.clamp(low, high)

    def reversed_rows(self, x):
        return x.flip(-2)

    def order_of_largest(self, x, count):
        return x.topk(count, -1, sorted=False).indices

    def sorted(self, x):
        return x.sort(-1, descending=True)

    def taken(self, x, order):
        return x.gather(-1, order)

    def cast(self, x, like):
        return x.to(like.dtype)

    def given(self, x):
        return x

    def of_host(self, x):
        return self.xp.from_numpy(x).to(self.like.device)

    def rows(self, x, order):
        return self.xp.take_along_dim(x, order.long()[..., None], 2)

    def put(self, order, values, size):
        return self.zeros((*order.shape[:-1], size)).scatter(-1, order, values)


def arrays_of(x):
    if hasattr(x, "new_empty"):
        import torch
        return Torch(torch, x)
    framework = framework_of(type(x))
    if framework == "jax":
        import jax.numpy
        return Jax(jax.numpy, x)
    if framework == "cupy":
        import cupy
        return Numpy(cupy, x)
    import numpy
    return Numpy(numpy, x)
