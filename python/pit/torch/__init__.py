"""pit in torch: gradients, torch.compile, torch.export, autocast, and models whose
layers skip zeros.

    import pit, torch
    y = pit.linear(x, w, b)                # tensors with gradients, as they are
    step = torch.compile(model, fullgraph=True)
    table = pit.torch.sparsify(model, samples)

The functions of `pit` take tensors of torch anywhere; this module is imported when
they see the first one. docs/Torch.md says what works.
"""

from ._modules import Linear
from ._run import route, run_in_graph
from ._sparsify import densify, sparsify
from ._table import Row, Table

__all__ = ["Linear", "Row", "Table", "densify", "sparsify"]
