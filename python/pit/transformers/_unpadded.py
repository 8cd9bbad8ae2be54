"""Models of transformers that compute a padded batch packed, from the embeddings to the last layer."""

import functools
import inspect
import math

import torch
from torch import nn

from .._library import Error
from ..torch import _choice
from ..torch._padding import INTEGERS, Padding, pack, unpack
from . import _attention

TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 5e-2}
MIXING = nn.Conv1d, nn.Conv2d, nn.RNNBase  # whose results depend on positions beside each other
LAYERS = {"full_attention", "sliding_attention"}
# Arguments that say what packed batches do not have.
REFUSED = ("cache", "past_key_values", "encoder_hidden_states", "encoder_attention_mask", "head_mask",
           "cache_position")


class Unpadded:
    """The body of a model (BertModel, LlamaModel). If a call has an `attention_mask` with padding,
    its layers see one row of all positions that are there; results are 0 elsewhere."""

    def take(self):
        implementation = self.config._attn_implementation
        if implementation not in _attention.NAMES:
            raise Error(f"attn_implementation={implementation!r}; padding is skipped with 'sdpa', "
                        "'eager' and 'pit'")
        if getattr(self.config, "is_encoder_decoder", False):
            raise Error("an encoder with a decoder, which sees padding by a mask of its own")
        self.before, self.right_alone, self.measured = implementation, False, False
        self.config._attn_implementation = _attention.NAMES[implementation]

    def give_back(self):
        self.config._attn_implementation = self.before
        del self.before, self.right_alone, self.measured

    def __reduce_ex__(self, protocol):
        return restore, (type(self).dense,), self.__dict__

    def forward(self, *args, **kwargs):
        if not isinstance(self, Unpadded):  # of what was taken back, by a hook that has kept this method
            return type(self).forward(self, *args, **kwargs)
        given = padding = None
        if not torch.compiler.is_compiling() and not torch.jit.is_tracing():
            given = arguments_of(type(self).dense, self, args, kwargs)
        if given is not None:
            padding = padding_of(self, given)
        if padding is None:
            return super().forward(*args, **kwargs)
        if not self.measured:
            return self.run_packed(given, padding)
        dense = super().forward
        rows = len(padding.index)
        kind = (id(self), padding.shape[0].bit_length(), padding.shape[1].bit_length(), rows.bit_length(),
                8 * rows // max(1, math.prod(padding.shape)), padding.index.device,
                next(self.parameters()).dtype, torch.is_grad_enabled() and self.training)
        wait = torch.cuda.synchronize if padding.index.is_cuda else _choice.nothing
        return _choice.run(kind, lambda: self.run_packed(given, padding),
                           lambda: dense(*args, **kwargs), wait=wait)

    def run_packed(self, given, padding):
        packed = {name: packed_argument(x, padding) for name, x in given.items()}
        packed["attention_mask"] = torch.ones_like(padding.index)[None]
        packed["position_ids"] = pack_rows(positions_of(self, given, padding), padding)
        token = _attention.is_packed.set(True)
        padding.calls = 0
        try:
            found = type(self).dense.forward(self, **packed, **{_attention.PADDING: padding})
        finally:
            _attention.is_packed.reset(token)
        if not padding.calls:
            raise Error(f"{type(self).dense.__name__}: it does not pass `{_attention.PADDING}` on to its "
                        "attention, or has one of its own")
        return self.unpacked(found, padding)

    def unpacked(self, found, padding):
        for name, value in list(found.items()):
            if name != "pooler_output":
                found[name] = unpacked_result(value, padding)
        if found.get("pooler_output") is not None:  # which reads the first position of each sequence
            found["pooler_output"] = self.pooler(found["last_hidden_state"])
        return found


@functools.lru_cache(maxsize=None)
def signature_of(cls):
    return inspect.signature(inspect.unwrap(cls.forward))


def arguments_of(cls, module, args, kwargs):
    """Arguments by their names, or None where they do not fit."""
    try:
        bound = signature_of(cls).bind(module, *args, **kwargs)
    except TypeError:
        return None
    found = {}
    for name, value in list(bound.arguments.items())[1:]:
        if signature_of(cls).parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            found |= value
        elif value is not None:
            found[name] = value
    return found


def padding_of(module, given):
    """The Padding of a call whose layers may see it packed; or None."""
    mask = given.get("attention_mask")
    if (not isinstance(mask, torch.Tensor) or mask.dim() != 2 or mask.dtype not in INTEGERS
            or mask.is_meta):
        return None
    inputs = given.get("input_ids", given.get("inputs_embeds"))
    if inputs is None or tuple(inputs.shape[:2]) != tuple(mask.shape):
        return None
    if any(given.get(name) is not None for name in REFUSED) or given.get("output_attentions"):
        return None
    if given.get("return_dict") is False or keeps_cache(module, given):
        return None
    if module.training and any(getattr(m, "gradient_checkpointing", False) for m in module.modules()):
        return None  # layers run again when nobody says that they are packed
    is_right = True
    if module.right_alone:  # Padding waits for the device, and so for this
        is_right = (mask[:, :-1].ne(0) >= mask[:, 1:].ne(0)).all().to("cpu", non_blocking=True)
    padding = Padding(mask)
    return padding if is_right and not padding.is_full else None


def keeps_cache(module, given):
    """Whether a call returns keys and values, which generation reads padded."""
    if "use_cache" not in signature_of(type(module).dense).parameters and not any(
            name in signature_of(type(module).dense).parameters for name in ("cache", "past_key_values")):
        return False
    wanted = given.get("use_cache")
    if wanted is None:
        wanted = getattr(module.config, "use_cache", False)
    is_decoder = getattr(module.config, "is_decoder", False) or not hasattr(module, "encoder")
    return bool(wanted) and is_decoder


def pack_rows(x, padding):
    return pack(x, padding)[None]


def packed_argument(x, padding):
    is_padded = isinstance(x, torch.Tensor) and tuple(x.shape[:2]) == padding.shape
    return pack_rows(x, padding) if is_padded else x


def positions_of(module, given, padding):
    """The positions that a model gives to a padded batch, (batch, positions)."""
    found = given.get("position_ids")
    if found is not None:
        return found.expand(padding.shape)
    ids, embeddings = given.get("input_ids"), getattr(module, "embeddings", None)
    if ids is not None and hasattr(embeddings, "create_position_ids_from_input_ids"):
        return embeddings.create_position_ids_from_input_ids(ids, embeddings.padding_idx)
    columns = torch.arange(padding.shape[1], device=padding.index.device)
    return columns.expand(padding.shape)


def unpacked_result(value, padding):
    if isinstance(value, (tuple, list)):
        return type(value)(unpacked_result(x, padding) for x in value)
    if isinstance(value, torch.Tensor) and tuple(value.shape[:2]) == (1, len(padding.index)):
        return unpack(value[0], padding)
    return value


@functools.lru_cache(maxsize=None)
def unpadded_class(base):
    return type(f"Unpadded{base.__name__}", (Unpadded, base), {"dense": base})


def restore(base):
    """An object of the class that pickle does not find by its name; its state follows."""
    cls = unpadded_class(base)
    return cls.__new__(cls)


def why_not(module):
    """Why a module is no body of a model that can be packed, or ""."""
    parameters = signature_of(type(module)).parameters
    if "attention_mask" not in parameters or "position_ids" not in parameters:
        return "its forward takes no `attention_mask` and `position_ids`"
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return "its forward passes no arguments on to its attention"
    if any(isinstance(m, MIXING) for m in module.modules()):
        return "it has convolutions or recurrent layers, which read the positions beside one"
    others = set(getattr(module.config, "layer_types", None) or ()) - LAYERS
    return f"it has layers of {', '.join(sorted(others))}" if others else ""


def unpad(model, measured=True):
    """Has a model of transformers compute padded batches packed, where it is called with an
    `attention_mask` of (batch, positions) that has zeros, on either side or between others.

        pit.transformers.unpad(model)
        model(**tokenizer(texts, padding=True, return_tensors="pt"))
        pit.transformers.pad(model)                  # takes it back

    Only the positions that are there are computed, from the embeddings to the last layer; what
    follows that, as a head, then sees results that are 0 elsewhere. A call runs as before that has no
    padding, keeps keys and values for generation (`use_cache`), returns attentions, recomputes
    layers in `backward`, or is traced. With `measured`, the first calls of each kind (how many positions
    there are, and which part of them) take turns, and the faster way computes the later ones: for
    short texts on a GPU the host's time counts. `attn_implementation` is "sdpa", "eager" or "pit". A small batch
    is run both ways first: where results agree only if padding is on the right, as those of a
    pooler do, other padding is computed as before. Returns the model. Raises pit.Error if pit
    does not know such a model, or results differ.
    """
    make_unpadded(model.base_model, measured)
    return model


def make_unpadded(body, measured=False):
    if isinstance(body, Unpadded):
        return
    name, why = type(body).__name__, why_not(body)
    if why:
        raise Error(f"unpad: {name}: {why}")
    cls = unpadded_class(type(body))
    cls.take(body)
    body.__class__ = cls
    try:
        why = verify(body)
    except Exception as error:
        why = str(error)
    if why:
        pad(body)
        raise Error(f"unpad: {name}: {why}")
    body.measured = measured


def verify(body):
    """Runs a small batch both ways; why that cannot be, or "". Finds out which padding there may be."""
    weight = body.get_input_embeddings().weight
    special = getattr(body.config, "pad_token_id", None)
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(0, weight.shape[0], (3, 12), generator=generator)
    if special is not None:
        ids = torch.where(ids == special, (special + 1) % weight.shape[0], ids)
    right, other = torch.ones(3, 12, dtype=torch.long), torch.ones(3, 12, dtype=torch.long)
    right[0, 5:] = right[2, 9:] = 0
    other[0, 5:] = other[1, :4] = other[2, 3] = 0
    training = body.training
    body.eval()
    try:
        worst = [difference(body, ids.to(weight.device), mask.to(weight.device), special)
                 for mask in (right, other)]
    finally:
        body.train(training)
    allowed = TOLERANCE.get(weight.dtype, 0)
    if not worst[0] <= allowed:
        return f"packed, its results differ by {worst[0]:.1e}; {allowed:.0e} is allowed"
    body.right_alone = not worst[1] <= allowed
    return ""


@torch.no_grad()
def difference(body, ids, mask, special):
    if special is not None:
        ids = torch.where(mask != 0, ids, special)
    given = dict(input_ids=ids, attention_mask=mask)
    if keeps_cache(body, given):
        given["use_cache"] = False
    packed = body(**given)
    dense = type(body).dense.forward(body, **given)
    there, worst = mask != 0, 0.0
    for name in ("last_hidden_state", "pooler_output"):
        one, other = packed.get(name), dense.get(name)
        if (one is None) != (other is None):
            return float("inf")
        if one is not None:
            if one.shape[:2] == mask.shape:
                one, other = one[there], other[there]
            worst = max(worst, ((one - other).abs().max() / other.abs().max()).item())
    return worst


def pad(model):
    """Takes back what `unpad` did to a model, and returns it."""
    for module in model.modules():
        if isinstance(module, Unpadded):
            module.give_back()
            module.__class__ = type(module).dense
    return model
