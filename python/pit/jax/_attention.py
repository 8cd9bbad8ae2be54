"""pit.attention in functions that JAX compiles: the logarithms of sums that it returns as well are
what both programs of its gradients (ops/_attention_gradients.py) compute probabilities of."""

import functools
from dataclasses import fields

import jax
import jax.numpy as jnp
import numpy
from jax.custom_derivatives import SymbolicZero

from .._library import Error
from ..ops import _op
from ..ops._attention import Attention
from ..ops._attention_gradients import BiasGradient, KeyGradient, QueryGradient, SlopeGradient
from . import _avals, _training


def changed(kind, op, **values):
    return _op.make(kind, *(values.get(f.name, getattr(op, f.name)) for f in fields(op)))


def run_all(op, arrays):
    return tuple(_training.primitive.bind(*_avals.alike(arrays), op=op, layer=None))


@functools.lru_cache(maxsize=None)
def differentiable(op):
    """The result and the logarithms, with gradients."""
    forward = changed(Attention, op, with_lse=True)
    queries, keys, bias, slopes = (
        changed(kind, op, with_lse=False)
        for kind in (QueryGradient, KeyGradient, BiasGradient, SlopeGradient))
    names = [argument.name for argument in op.arguments()]
    stored = op.stored_names()

    @jax.custom_vjp
    def attend(*arrays):
        return run_all(forward, arrays)

    def keep(*primals):
        for name, x in zip(names, primals):
            if name in stored and x.perturbed:
                raise Error(f"attention: {name} is of a cache or of 8 bits, and has no gradient; "
                            f"pass jax.lax.stop_gradient({name})")
        arrays = tuple(x.value for x in primals)
        found = run_all(forward, arrays)
        # The structure of a pytree says what is wanted, without arrays.
        wanted = tuple(() if x.perturbed else None for x in primals)
        return found, (arrays, found, wanted)

    def gradients(kept, grads):
        arrays, (result, logs), wanted = kept
        grad, of_logs = (jnp.zeros(x.shape, x.dtype) if isinstance(x, SymbolicZero) else x
                         for x in grads)
        delta = (grad.astype(logs.dtype) * result.astype(logs.dtype)).sum(-1) - of_logs
        given = [*arrays, grad, jnp.where(logs == -jnp.inf, 0, logs), delta]
        found = list(run_all(queries, given))
        if not stored:
            found += run_all(keys, given)
        at = len(found)
        for name, x, is_wanted in zip(names[at:], arrays[at:], wanted[at:]):
            if name in ("bias", "alibi") and is_wanted is not None:
                made, = run_all(bias if name == "bias" else slopes, given)
                made = made if made.size == x.size else made.sum()
                found.append(made.reshape(x.shape).astype(x.dtype))
            elif name == "sink_logits":
                part = jnp.exp(x.astype(logs.dtype)[:, None] - logs) * -delta
                found.append(part.sum((0, 2)).astype(x.dtype))
            elif jnp.issubdtype(x.dtype, jnp.floating):
                found.append(jnp.zeros_like(x))  # nobody asks for it
            else:
                found.append(numpy.zeros(x.shape, jax.dtypes.float0))
        return tuple(found)

    attend.defvjp(keep, gradients, symbolic_zeros=True)
    return attend


def run(op, arrays):
    if op.select == "index":
        raise Error("attention: an index= is no part of a function that JAX compiles; pass mask= or "
                    "blocks=")
    found = differentiable(op)(*arrays)
    return found if op.with_lse else found[0]


def run_paged(op, arrays):
    found = run_all(op, arrays)
    return found if op.with_lse else found[0]
