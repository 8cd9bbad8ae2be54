"""Layers that torch.nn.utils.prune has pruned."""

from torch import nn

from .._library import Error
from ._masked import MaskedLinear

PRUNED = "weight_mask"  # torch's name of the buffer


def has_mask(layer):
    """Whether torch.nn.utils.prune has given a layer a mask of its weight."""
    mask = layer._buffers.get(PRUNED)
    return mask is not None and mask.shape == layer.weight.shape


class PrunedLinear(MaskedLinear):
    """torch.nn.Linear that torch.nn.utils.prune keeps the mask of. Its hook makes the weight before each
    call; the mask says what of it is skipped, until it is another one."""

    dense = nn.Linear

    @property
    def mask(self):
        mask = self._buffers.get(PRUNED)
        if mask is None:
            raise Error("PrunedLinear: its mask was removed (torch.nn.utils.prune.remove); "
                        "pit.torch.densify(model), and sparsify it again")
        return mask

    def set_mask(self, mask):
        raise Error("PrunedLinear: torch.nn.utils.prune has its mask; call its functions")

    def take(self):
        self._scanned = None

    def give_back(self):
        del self._scanned

    def rule(self):
        return f"{self.skips} of its mask" if self.skips != "nothing" else "dense"
