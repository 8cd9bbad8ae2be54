"""Sums of products of tensors with more dimensions than those of a program may have:
letters that always stand together become one."""

from dataclasses import dataclass
from math import prod

from .._library import MAX_RANK, Error
from ._equation import parse, read_sparse
from ._operand import constant_in_graphs


@dataclass(frozen=True)
class Merged:
    """An equation with fewer letters, and its operands."""

    equation: str
    arrays: tuple
    mask: object
    dynamic: object
    shape: tuple  # of the result, with all dims


def has_many_dims(equation, operands, selector):
    """Whether an operand or the result has too many; what is no array has errors elsewhere."""
    arrays = operands if selector is None else (*operands, selector)
    if not isinstance(equation, str) or not all([hasattr(x, "reshape") for x in arrays]):
        return False
    if any([getattr(x, "is_nested", False) for x in arrays]):
        return False
    ranks = [len(x.shape) for x in operands]
    return max([*ranks, len(equation.replace(" ", "").partition("->")[2])],
               default=0) > MAX_RANK


@constant_in_graphs
def follow(inputs, output, alone, kinds):
    """(a letter, the one after it) of those that always stand together. Letters of `alone` do
    with none; `kinds` has pairs of letters and words, which have to be the same."""
    kinds = dict(kinds)
    pairs = {pair for each in (*inputs, output) for pair in zip(each, each[1:])}
    return tuple((x, y) for x, y in sorted(pairs) if not {x, y} & set(alone)
                 and kinds.get(x) == kinds.get(y) and all(
                     x + y in each or not {x, y} & set(each) for each in (*inputs, output)))


def sizes_of(inputs, operands):
    """The size of each letter, if all operands agree."""
    sizes, seen = {}, {}
    for i, (letters, array) in enumerate(zip(inputs, operands)):
        if len(array.shape) != len(letters):
            raise Error(f"einsum: operand {i} has rank {len(array.shape)}; the equation has "
                        f"'{letters}' for it")
        for dim, (x, size) in enumerate(zip(letters, array.shape)):
            if sizes.setdefault(x, size) != size:
                at, other = seen[x]
                raise Error(f"einsum: dimension {dim} of operand {i} is {size}, but dimension "
                            f"{other} of operand {at} is {sizes[x]}")
            seen.setdefault(x, (i, dim))
    return sizes


def letters_alone(inputs, output, sparse, source, selector, hinted):
    """The dims that stay as they are, since a selector or a hint is about these one by one."""
    alone = ""
    for operand in read_sparse("einsum", sparse, len(inputs)):
        letters = output if operand < 0 else inputs[operand]
        if source in ("routing", "index") or hinted:
            alone += letters
        elif source == "lengths":
            alone += letters[: len(selector.shape) + 1]
    return alone


def merge(equation, operands, sparse, source, selector, hinted, dynamic):
    """The Merged of a call. An Error if dims are left that are too many."""
    inputs, output = parse(equation, len(operands))
    sizes = sizes_of(inputs, operands)
    alone = letters_alone(inputs, output, sparse, source, selector, hinted)
    kinds, marked = (), ""
    if source == "mask":
        marked = "".join(output if i < 0 else inputs[i]
                         for i in read_sparse("einsum", sparse, len(operands)))
        shape = [sizes[x] for x in marked]
        given = (1,) * (len(shape) - len(selector.shape)) + tuple(selector.shape)
        if len(given) != len(shape) or not all(
                [size in (1, full) for size, full in zip(given, shape)]):
            raise Error(f"einsum: mask has shape {tuple(selector.shape)}; what it selects from "
                        f"has {tuple(shape)}")
        form = [size == full for size, full in zip(given, shape)]
        kinds = tuple(zip(marked, form))
    after = dict(follow(inputs, output, alone, kinds))
    first = {}  # the letter that stands for each one
    for x in sizes:
        if x not in after.values():
            at = x
            first[at] = x
            while at in after:
                at = after[at]
                first[at] = x
    size = {x: prod([sizes[y] for y in sizes if first[y] == x]) for x in first.values()}

    def fewer(letters):
        return "".join(x for x in letters if first[x] == x)

    kept = [fewer(each) for each in inputs]
    for name, letters in (*((f"operand {i}", each) for i, each in enumerate(kept)),
                          ("the result", fewer(output))):
        if len(letters) > MAX_RANK:
            raise Error(f"einsum: '{equation}': {name} has {len(letters)} dims that do not stand "
                        f"together in all operands and the result; at most {MAX_RANK} may")
    arrays = [array.reshape([size[x] for x in each]) for array, each in zip(operands, kept)]
    if source == "mask":
        has = dict(kinds)
        selector = selector.reshape([size[x] if has[x] else 1 for x in fewer(marked)])
    if isinstance(dynamic, str):
        dynamic = "".join(dict.fromkeys(first.get(x, x) for x in dynamic))
    return Merged(f"{','.join(kept)}->{fewer(output)}", tuple(arrays), selector, dynamic,
                  tuple(sizes[x] for x in output))
