"""Mixtures of experts whose experts lie on several ranks of torch.distributed.

    y = pit.torch.distributed.moe(x, weights, experts, w_gate, w_up, w_down, group=group)

docs/Distributed.md says what works."""

from ._exchange import Capacity
from ._moe import moe
from ._parallelize import parallelize
from ._plan import Machine, Plan, explain

__all__ = ["Capacity", "Machine", "Plan", "explain", "moe", "parallelize"]
