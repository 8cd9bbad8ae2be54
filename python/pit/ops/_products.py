"""matmul, linear, masked_matmul and padded_linear: einsums with a name."""

from .._arrays import broadcast, viewed
from .._index import Index
from .._library import Error
from . import _einsum
from ._activations import check_activation
from ._einsum import (
    NOTHING, OF_LAYERS, Einsum, form_of, make_einsum, make_marks, masked_equation, parse,
    pick_selector, read_hints, read_type, selector_dims)
from ._op import Shortcut, make, run
from ._operand import constant_in_graphs, is_traced, makes_op, refuse_nested, write_by_copy

BATCH = "bcdefghijl"  # letters of dims before the last two
MATMUL, LINEAR, PADDED_LINEAR = Shortcut(6), Shortcut(6), Shortcut(4)


def matmul_equation(rank_a, rank_b):
    """numpy.matmul's: batch dims are counted from the last one."""
    if rank_a == 1 or rank_b == 1:
        a = "k" if rank_a == 1 else BATCH[: rank_a - 2] + "mk"
        b = "k" if rank_b == 1 else BATCH[: rank_b - 2] + "kn"
        output = (a if rank_a > 1 else b).replace("k", "")
        return f"{a},{b}->{output}"
    batch = BATCH[: max(rank_a, rank_b) - 2]
    batch_a, batch_b = (batch[len(batch) + 2 - rank:] for rank in (rank_a, rank_b))
    return f"{batch_a}mk,{batch_b}kn->{batch}mn"


@makes_op
def matmul_op(rank_a, rank_b, sparse, source, form, hints, dtype, dynamic, packed=False,
              sparse_grad=False):
    return make_einsum("matmul", matmul_equation(rank_a, rank_b), 2, sparse, source, form, hints,
                       dtype, dynamic, packed, sparse_grad=sparse_grad)


@constant_in_graphs
def masked_equation_of_matmul(rank_a, rank_b, sparse):
    return masked_equation("matmul", matmul_equation(rank_a, rank_b), 2, sparse)


def mask_of_rows(form, mask, lead):
    """The selection of a mask, of a form_of_mask, of a tensor of tokens, for its rows: the form
    and a mask that has dims `lead`, as tokens have, before the last; or one that all tokens
    share, with None for a form that has no rows."""
    if form is None or not any(form[:-1]):
        return form, mask, form is None
    return None if form[-1] else (True, False), broadcast(mask, (*lead, mask.shape[-1])), True


def rank_of(name, what, x):
    if getattr(x, "is_nested", False):
        refuse_nested(name, what)
    try:
        return len(x.shape)
    except AttributeError:
        raise Error(f"{name}: {what} must be an array, not {type(x).__name__} {x!r:.40}") from None


def as_matrix(x):
    """A tensor of tokens in dims as one of rows."""
    rows = 1  # no -1, which rows without elements do not tell
    for extent in x.shape[:-1]:
        rows *= extent
    return x.reshape(rows, x.shape[-1])


@constant_in_graphs
def dynamic_of_rows(name, dynamic, rank):
    """The dynamic= of rows, from that of a tensor of so many dims."""
    if not isinstance(dynamic, str):
        return dynamic
    _einsum.check_dynamic(name, dynamic, BATCH[: rank - 2] + "mkn")
    return "".join(sorted({"m" if x in BATCH else x for x in dynamic}))


def is_row_major(x):
    """Whether a reshaped array is the same memory."""
    x = viewed(x)
    if hasattr(x, "is_contiguous"):  # torch
        return x.is_contiguous()
    flags = getattr(x, "flags", None)
    return flags is None or flags.c_contiguous


def run_on_rows(name, op, arrays, positions, out, width):
    """Runs an op on matrices for arrays, those at `positions`, whose dims but the last
    are rows; the result has as many dims."""
    lead = tuple(arrays[positions[0]].shape[:-1])
    given = list(arrays)
    for i in positions:
        if tuple(given[i].shape[:-1]) != lead:
            raise Error(f"{name}: shapes {tuple(given[i].shape)} and {(*lead, width)} differ "
                        "before their last dims")
        given[i] = as_matrix(given[i])
    if out is None:
        return run(op, given).reshape(*lead, width)
    if tuple(out.shape) != (*lead, width):
        raise Error(f"{name}: out has shape {tuple(out.shape)}; the result has "
                    f"{(*lead, width)}")
    if not is_row_major(out):
        return write_by_copy(f"{name}: out", out, lambda made: run_on_rows(
            name, op, arrays, positions, made, width))
    run(op, given, as_matrix(out))
    return out


def run_new(shortcut, given, name, op, arrays, positions, out, width):
    """Runs an op that a shortcut remembers for what was given. `positions`: of arrays whose dims but the
    last are rows; None if there are none."""
    if positions is None:
        shortcut.add(given, op)
        return run(op, arrays, out)
    shortcut.add(given, op, positions)
    return run_on_rows(name, op, arrays, positions, out, width)


def broadcast_batches(a, b):
    """The operands with batch dims of size 1 as the other one has them. Dims in front are left
    out, which copies nothing."""
    leads, found = [tuple(x.shape[:-2]) for x in (a, b)], []
    for x, own, other in ((a, *leads), (b, *reversed(leads))):
        first = max(len(own) - len(other), 0)
        theirs = other[len(other) - len(own) + first:]
        wanted = own[:first] + tuple(n if mine == 1 else mine
                                     for mine, n in zip(own[first:], theirs))
        if wanted != own:
            while first == 0 and own and own[0] == 1:
                own, wanted = own[1:], wanted[1:]
            matrix = tuple(x.shape[-2:])
            x = broadcast(x.reshape(*own, *matrix), (*wanted, *matrix))
        found.append(x)
    return found


def matmul(a, b, *, sparse="a", mask=None, lengths=None, routing=None, index=None, assume=False,
           micro_tile=None, axis=None, live_fraction=None, dtype=None, dynamic=None, packed=False,
           sparse_grad=False, out=None):
    """The matrix product a @ b, skipping what is zero in an operand.

        y = pit.matmul(x, w)                          # x has zeros, anywhere
        y = pit.matmul(x, w, sparse="b", mask=kept)   # w was pruned
        s = pit.matmul(q, k, sparse="out", mask=wanted)

    a         (..., m, k), or (k)
    b         (..., k, n), or (k). Where both have batch dims, those of the one with fewer are
              the last ones of the other's; one of size 1 is repeated, as numpy does
    Result    (..., m, n)

    Everything else is as in pit.einsum: element types, which operand is sparse and
    what says so, hints, sparse_grad, dynamic (batch dims are b, c, d, ...), out. Rows of a of every
    batch are packed together where b is one matrix.
    """
    given = (out, a, b, mask, lengths, routing, index, sparse, assume, micro_tile, axis, live_fraction,
             dtype, dynamic, packed, sparse_grad)
    if not is_traced():
        found = MATMUL.run(given)
        if found is not NotImplemented:
            return found
    rank_a, rank_b = rank_of("matmul", "a", a), rank_of("matmul", "b", b)
    if packed and isinstance(index, Index):
        rank_a, rank_b = ranks_with_packed(index, sparse, rank_a, rank_b)
    if (rank_a > 2 and rank_b > 2 and lengths is None and routing is None and index is None
            and micro_tile is None and axis is None):
        wide_a, wide_b = broadcast_batches(a, b)
        if wide_a is not a or wide_b is not b:
            marked = {"a": wide_a, 0: wide_a, "b": wide_b, 1: wide_b}.get(
                sparse if isinstance(sparse, (str, int)) else None)
            if mask is not None and marked is not None and rank_of("matmul", "mask", mask) > len(
                    marked.shape):
                mask = mask.reshape(mask.shape[-len(marked.shape):])
            return matmul(wide_a, wide_b, sparse=sparse, mask=mask, assume=assume, live_fraction=live_fraction,
                          dtype=dtype, dynamic=dynamic, sparse_grad=sparse_grad, out=out)
    if mask is None and lengths is None and routing is None and index is None:
        source, form, arrays = "values", None, (a, b)
    else:
        source, selector = pick_selector("matmul", mask, lengths, routing, index)
        arrays = (a, b, selector)
        form = form_of(source, selector, mask is not None and masked_equation_of_matmul(
            rank_a, rank_b, tuple(sparse) if type(sparse) is list else sparse), arrays)
    hints = (NOTHING if not assume and micro_tile is None and axis is None and live_fraction is None
             else read_hints(assume, micro_tile, axis, live_fraction))
    if dtype is not None:
        dtype = read_type("matmul", dtype)
    if type(sparse) is list:
        sparse = tuple(sparse)
    of_b = sparse in ("b", 1)
    # Hints about b, a matrix, do not depend on a's dims.
    rows = rank_a > 2 and rank_b == 2 and (
        of_b and not packed or source in ("values", "mask") and micro_tile is None and axis is None)
    positions = [0]
    if rows:
        dynamic = dynamic_of_rows("matmul", dynamic, rank_a)
        if source == "mask" and not of_b:
            form, selector, has_rows = mask_of_rows(form, selector, a.shape[:-1])
            arrays, positions = (a, b, selector), [0, 2] if has_rows else [0]
    op = matmul_op(2 if rows else rank_a, rank_b, sparse, source, form, hints, dtype, dynamic,
                   packed, sparse_grad)
    return run_new(MATMUL, given, "matmul", op, arrays, positions if rows else None, out, b.shape[-1])


def ranks_with_packed(index, sparse, rank_a, rank_b):
    """The ranks of two operands, of which the one that is passed packed has its index's."""
    if sparse in ("a", 0):
        return len(index.shape), rank_b
    return rank_a, len(index.shape) if sparse in ("b", 1) else rank_b


def masked_matmul(a, b, mask, *, dtype=None, dynamic=None, out=None):
    """The elements of a @ b that a mask names; all others are 0 and not computed.

        scores = pit.masked_matmul(q, k.transpose(0, 2, 1), allowed)

    a (..., m, k), b (k, n) or (..., k, n), mask (..., m, n) of bools or int8, or of a
    shape that broadcasts to that.
    """
    return matmul(a, b, sparse="out", mask=mask, dtype=dtype, dynamic=dynamic, out=out)


@makes_op
def linear_op(name, rank, sparse, source, form, hints, bias, activation, dtype, dynamic,
              packed=False, sparse_grad=False):
    operand = OF_LAYERS.get(sparse, sparse)
    marks = make_marks(name, operand, 2, source, hints, packed, sparse_grad)
    inputs, output = parse(linear_equation(rank), 2)
    _einsum.check_dynamic(name, dynamic, set().union(*inputs))
    dims = None
    for mark in marks:
        marked = output if mark.operand < 0 else inputs[mark.operand]
        _einsum.check_hints(name, mark, len(marked))
        dims = selector_dims(name, marked, source, form)
    check_activation(name, activation)
    return make(Einsum, name, inputs, output, marks, dtype, dims, bias, activation, dynamic)


def linear_equation(rank):
    lead = "".join(BATCH[: max(rank - 2, 0)]) + ("m" if rank > 1 else "")
    return f"{lead}k,nk->{lead}n"


@constant_in_graphs
def masked_equation_of_linear(rank, sparse):
    return masked_equation("linear", linear_equation(rank), 2, OF_LAYERS.get(sparse, sparse))


def linear(x, weight, bias=None, *, sparse="x", activation=None, mask=None, lengths=None,
           index=None, assume=False, micro_tile=None, axis=None, live_fraction=None, dtype=None,
           dynamic=None, packed=False, sparse_grad=False, out=None):
    """activation(x @ weight.T + bias), skipping what is zero.

        h = pit.linear(x, w1, b1, activation="relu", sparse=None)
        y = pit.linear(h, w2, b2, sparse_grad=True)   # h has zeros, anywhere

    x           (..., k)
    weight      (n, k), as torch.nn.Linear has it; with packed=True a vector of what index=
                lists of it
    bias        (n), or None
    sparse      "x", "weight", "out" or None
    activation  "relu", "gelu" (with erf), "silu", "sigmoid", "tanh", or None
    Result      (..., n)

    Everything else is as in pit.einsum. Bias and activation are computed in f32 for
    f16 and bf16, before the result is rounded.
    """
    given = (out, x, weight, bias, mask, lengths, index, sparse, activation, assume, micro_tile,
             axis, live_fraction, dtype, dynamic, packed, sparse_grad)
    if not is_traced():
        found = LINEAR.run(given)
        if found is not NotImplemented:
            return found
    rank = rank_of("linear", "x", x)
    if packed and sparse in ("x", "a", 0) and isinstance(index, Index):
        rank = len(index.shape)
    if mask is None and lengths is None and index is None:
        source, form, selectors = "values", None, ()
    else:
        source, selector = pick_selector("linear", mask, lengths, None, index)
        selectors = (selector,)
        form = form_of(source, selector,
                       mask is not None and masked_equation_of_linear(rank, sparse), (x, weight))
    hints = (NOTHING if not assume and micro_tile is None and axis is None and live_fraction is None
             else read_hints(assume, micro_tile, axis, live_fraction))
    if dtype is not None:
        dtype = read_type("linear", dtype)
    arrays = (x, weight, *selectors) if bias is None else (x, weight, bias, *selectors)
    of_weight = sparse in ("weight", "b", 1)
    # Hints about the weight do not depend on x's dims.
    rows = rank > 2 and (of_weight and not packed or source in ("values", "mask") and micro_tile is None
                         and axis is None)
    positions = [0]
    if rows:
        dynamic = dynamic_of_rows("linear", dynamic, rank)
        if source == "mask" and not of_weight:
            form, selector, has_rows = mask_of_rows(form, selector, x.shape[:-1])
            arrays = (*arrays[:-1], selector)
            positions = [0, len(arrays) - 1] if has_rows else [0]
    op = linear_op("linear", 2 if rows else rank, sparse, source, form, hints, bias is not None,
                   activation, dtype, dynamic, packed, sparse_grad)
    return run_new(LINEAR, given, "linear", op, arrays, positions if rows else None, out, weight.shape[0])


def padded_linear(x, lengths, weight, bias=None, *, activation=None, dtype=None, out=None):
    """activation(x @ weight.T + bias) of the rows that are there; the result is 0 in
    the padding, and what x holds there goes nowhere.

        y = pit.padded_linear(x, lengths, w, b)

    x (batch, positions, k), lengths (batch) of i32 or i64, weight (n, k), bias (n). There
    may be more dims than one before the positions: lengths has all of these.
    """
    given = (out, x, weight, bias, lengths, activation, dtype)
    if not is_traced():
        found = PADDED_LINEAR.run(given)
        if found is not NotImplemented:
            return found
    rank = rank_of("padded_linear", "x", x)
    if rank < 3:
        raise Error(f"padded_linear: x has shape {tuple(x.shape)}; it must be (batch, positions, "
                    "k)")
    # One length for each list of positions: what else a tensor's lengths could count would be
    # a mask taken for lengths.
    op = linear_op("padded_linear", rank, "out", "lengths", rank - 2, NOTHING, bias is not None,
                   activation, None if dtype is None else read_type("padded_linear", dtype), None)
    arrays = (x, weight, lengths) if bias is None else (x, weight, bias, lengths)
    PADDED_LINEAR.add(given, op)
    return run(op, arrays, out)


