"""pit in torch: gradients, torch.compile, torch.export, autocast, and models whose
layers skip zeros.

    import pit, torch
    y = pit.linear(x, w, b)                # tensors with gradients, as they are
    step = torch.compile(model, fullgraph=True)
    table = pit.torch.sparsify(model, samples)

The functions of `pit` take tensors of torch anywhere; this module is imported when
they see the first one. docs/Torch.md and docs/TorchModels.md say what works.
"""

import importlib
from typing import TYPE_CHECKING

from ._observed import route
from ._run import run_in_graph

if TYPE_CHECKING:
    from ._compressed import CompressedLinear, compress_linears
    from ._convolutional import Conv2d
    from ._fan_in import FixedFanInLinear
    from ._masked import MaskedLinear
    from ._modules import Linear
    from ._packed_layers import CsrLinear
    from ._padding import Padding, pack, unpack
    from ._predicted import PredictedMlp
    from ._skipping import skip_tokens
    from ._sparsify import densify, sparsify
    from ._table import Row, Table

__all__ = ["CompressedLinear", "Conv2d", "CsrLinear", "FixedFanInLinear", "Linear", "MaskedLinear", "Padding",
           "PredictedMlp", "Row", "Table", "compress_linears", "densify", "distributed", "pack", "skip_tokens",
           "sparsify", "unpack"]
# Imported when they are asked for: a first call needs none of these.
HOMES = {"CompressedLinear": "_compressed", "Conv2d": "_convolutional", "CsrLinear": "_packed_layers",
         "FixedFanInLinear": "_fan_in", "Linear": "_modules", "MaskedLinear": "_masked",
         "Padding": "_padding", "PredictedMlp": "_predicted", "Row": "_table", "Table": "_table",
         "compress_linears": "_compressed", "densify": "_sparsify",
         "pack": "_padding", "skip_tokens": "_skipping", "sparsify": "_sparsify", "unpack": "_padding"}


def __getattr__(name):
    if name == "distributed":
        return importlib.import_module(".distributed", __name__)
    home = HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'pit.torch' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{home}", __name__), name)


def __dir__():
    return sorted({*globals(), *__all__})
