"""pit in models of transformers: `import pit.transformers` adds "pit" to the implementations of experts,
and of attention, that models take.

    import pit.transformers
    model = AutoModelForCausalLM.from_pretrained(name, experts_implementation="pit",
                                                 attn_implementation="pit")

or `model.set_experts_implementation("pit")` and `model.set_attn_implementation("pit")` for one that is there. `pit.transformers.unpad(model)` has
one compute padded batches packed. docs/TorchModels.md says more.
"""

import importlib.metadata

import torch

from ..torch import _choice, _experts

NEEDED = "5.0"  # the first version that has a registry of experts
try:
    from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS
except ImportError as error:
    try:
        found = f"version {importlib.metadata.version('transformers')} is"
    except importlib.metadata.PackageNotFoundError:
        found = "none is"
    raise ImportError(f"pit.transformers needs transformers {NEEDED} or later; {found} installed: "
                      "pip install -U transformers") from error

from ._skipping import skip_tokens  # noqa: E402
from ._unpadded import pad, unpad  # noqa: E402

__all__ = ["experts_forward", "pad", "skip_tokens", "unpad"]
NAME = "pit"
HALF = {torch.float16, torch.bfloat16}
FLOATS = {torch.float64, torch.float32, *HALF}


def experts_forward(self, hidden_states, top_k_index, top_k_weights):
    """The forward of a module of experts: the result for hidden_states (tokens, k), where
    top_k_index and top_k_weights (tokens, top) say which experts a token has and by how much. The
    forward of "grouped_mm" runs where pit does not take a call, or is slower."""
    given = hidden_states, top_k_index, top_k_weights
    trained = _experts.is_trained(self, given)

    def grouped():
        return ALL_EXPERTS_FUNCTIONS["grouped_mm"](self, *given)

    def own():
        return _experts.run(self, type(self), *given)

    if why_not(self, hidden_states, top_k_index, trained):
        return grouped()
    if hidden_states.is_cpu and self.down_proj.dtype != torch.float64:  # which torch does not have
        if not trained and _experts.is_made_at_once(hidden_states):
            rows = top_k_index.numel().bit_length()
            kind = (_experts.ops_of(self, type(self)), self.down_proj.shape, self.down_proj.dtype, rows,
                    torch.get_num_threads())
            return _choice.run(kind, own, grouped)
        if self.down_proj.dtype in HALF:
            return grouped()
    return own()


def why_not(module, x, choices, trained):
    """Why "grouped_mm" computes a call, or ""."""
    weight = module.down_proj
    if not isinstance(weight, torch.Tensor) or weight.dtype not in FLOATS:
        return "weights of another type"
    if x.device.type not in ("cpu", "cuda", "meta") or x.dim() != 2 or choices.dim() != 2:
        return "another device or shape"
    if _experts.cannot_hold_calls() or _experts.is_distributed(weight):
        return "what runs cannot hold a call of pit"
    if (trained and weight.dtype != torch.float64
            and _experts.ops_of(module, type(module)) is None):
        return "gradients of a chain of ops are slower"
    return ""


ALL_EXPERTS_FUNCTIONS.register(NAME, experts_forward)
