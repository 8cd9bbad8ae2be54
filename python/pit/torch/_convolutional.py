"""torch.nn.Conv2d that skips zeros."""

from torch import nn

from .._library import Error
from ..ops._conv import conv2d


class Conv2d(nn.Conv2d):
    """torch.nn.Conv2d that skips zeros of its input, or of its filters (sparse="weight").

        layer = pit.torch.Conv2d(64, 64, 3, padding=1)

    Arguments and parameters are those of torch.nn.Conv2d, of padding_mode="zeros". Raises pit.Error if
    shapes or types do not fit.
    """

    dense = nn.Conv2d  # what densify makes of it

    def __init__(self, *args, sparse="x", **kwargs):
        super().__init__(*args, **kwargs)
        if self.padding_mode != "zeros":
            raise Error(f"Conv2d: padding_mode={self.padding_mode!r}; it must be 'zeros'")
        self.sparse = sparse

    def forward(self, x):
        if not isinstance(self, Conv2d):  # of densify, by a hook that has kept this method
            return type(self).forward(self, x)
        batch = x if x.dim() == 4 else x[None]
        y = conv2d(batch, self.weight, self.bias, stride=self.stride, padding=self.padding,
                   dilation=self.dilation, groups=self.groups, sparse=self.sparse)
        return y if x.dim() == 4 else y[0]

    def give_back(self):
        del self.sparse

    def extra_repr(self):
        return f"{super().extra_repr()}, sparse={self.sparse!r}"


def make_sparse(layer, sparse):
    layer.__class__ = Conv2d
    layer.sparse = sparse

