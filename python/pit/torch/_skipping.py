"""Layers that some tokens skip: those that are kept are gathered once, go through the layer, and are put
back between the others."""

import functools

import torch

from .._library import Error
from ._padding import Padding, pack


class Skipping:
    """A layer of (batch, positions, hidden). `where` is called with its input: which tokens are kept, and
    perhaps how much of its change each gets."""

    others = None  # how many results a tuple has behind the first; -1: it is no tuple; None: no call has told

    def take(self, where):
        if "where" in self._modules:  # which is replaced by a module alone
            del self.where
        self.where = where

    def give_back(self):
        del self.where
        self.__dict__.pop("others", None)

    def __reduce_ex__(self, protocol):
        return restore, (type(self).dense, type(self).kind), self.__dict__

    def forward(self, x, *args, **kwargs):
        if not isinstance(self, Skipping):  # of what was taken back, by a hook that has kept this method
            return type(self).forward(self, x, *args, **kwargs)
        name = type(self).dense.__name__
        if x.dim() != 3:
            raise Error(f"{name}: its input is {tuple(x.shape)}; tokens skip a layer of (batch, positions, "
                        "hidden)")
        kept = self.where(x)
        kept, scales = kept if isinstance(kept, tuple) else (kept, None)
        if not isinstance(kept, torch.Tensor):
            raise Error(f"{name}: `where` gives {type(kept).__name__} {kept!r:.40}; it gives a tensor of "
                        "(batch, positions)")
        kept = kept if kept.dtype == torch.bool else kept != 0
        if tuple(kept.shape) != tuple(x.shape[:2]):
            raise Error(f"{name}: `where` gives {tuple(kept.shape)} for {tuple(x.shape)}; it says of each of "
                        "(batch, positions) whether it is kept")
        padding = Padding(self.there(kept, args, kwargs))
        if not len(padding.index):
            return self.passed(x, args, kwargs)
        rows = pack(x, padding)
        y, rest = self.run_packed(rows, *self.packed(padding, args, kwargs))
        if scales is not None:
            change = y - rows
            y = rows + change * pack(scales, padding).reshape(-1, 1).to(change.dtype)
        y = x.flatten(0, 1).index_copy(0, padding.index, y).unflatten(0, x.shape[:2])
        return y if self.others < 0 else (y, *rest)

    def run_packed(self, rows, args, kwargs):
        """The layer's result for rows that are packed, and what it returns behind that."""
        made = super().forward(rows[None], *args, **kwargs)
        y, *rest = made if isinstance(made, tuple) else (made,)
        if y.shape != (1, *rows.shape):
            raise Error(f"{type(self).dense.__name__}: its result is {tuple(y.shape)} for "
                        f"{(1, *rows.shape)}; tokens skip layers whose result is as their input")
        self.others = len(rest) if isinstance(made, tuple) else -1
        return y[0], rest

    def passed(self, x, args, kwargs):
        """The result of a call that all tokens skip; the layer's code need not take an empty input."""
        if self.others is None and x.shape[0] * x.shape[1]:
            first = torch.zeros(x.shape[:2], dtype=torch.bool, device=x.device)
            first[0, 0] = True
            first = Padding(first)
            with torch.no_grad():
                self.run_packed(pack(x, first), *self.packed(first, args, kwargs))
        return x if self.others in (None, -1) else (x, *[None] * self.others)

    def there(self, kept, args, kwargs):
        """The tokens that are kept, without those that a mask among the arguments says are none."""
        return kept

    def packed(self, padding, args, kwargs):
        """The other arguments for rows that are packed."""
        return [packed(a, padding) for a in args], {k: packed(a, padding) for k, a in kwargs.items()}


def packed(x, padding):
    """An argument that has something for each position, packed."""
    if isinstance(x, (tuple, list)):
        return type(x)(packed(each, padding) for each in x)
    if isinstance(x, torch.Tensor) and x.dim() >= 2 and x.shape[1] == padding.shape[1]:
        if x.shape[0] == padding.shape[0]:
            return pack(x, padding)[None]
        if x.shape[0] == 1:
            return x.index_select(1, padding.columns.to(x.device))
    return x


@functools.lru_cache(maxsize=None)
def skipping_class(base, kind):
    return type(f"Skipping{base.__name__}", (kind, base), {"dense": base, "kind": kind})


def restore(base, kind):
    """An object of the class that pickle does not find by its name; its state follows."""
    cls = skipping_class(base, kind)
    return cls.__new__(cls)


def skip_tokens(layer, where, kind=Skipping):
    """Has tokens skip a layer that sees each token alone, as a feed-forward block with its residual:

        pit.torch.skip_tokens(block, lambda x: router(x).squeeze(-1) > 0)

    layer  a module whose first argument and result are (batch, positions, hidden). It is changed in
           place; its parameters keep their names. pit.torch.densify takes it back
    where  a function, or a module, of the layer's input: (batch, positions), not 0 where a token is
           kept; or that and (batch, positions) of floats, by which a kept token's change is multiplied, as
           mixtures of depths do for the router's gradient
    Result the layer. Tokens that skip it pass unchanged; arguments that have something for each position
           are packed, too. Layers with attention of transformers: pit.transformers.skip_tokens.
    """
    if not callable(where):
        raise Error(f"skip_tokens: where is {type(where).__name__}; it is a function, or a module, of the "
                    "layer's input")
    if isinstance(layer, Skipping):
        layer.take(where)
        return layer
    cls = skipping_class(type(layer), kind)
    layer.__class__ = cls
    layer.take(where)
    return layer
