"""Equivalent rewritings of sums of products (PolyJuice, OOPSLA 2024): each turns a Sum into
another tree of the same value, or into None where it does not apply. In integers, and in
floats that are integers, the values are equal bit for bit."""

from program import Dim
from sums import Added, Moved, Sum, has, position, sums_in, replaced, transposed, unique


def commuted(rng, node):
    """The factors in another order."""
    parts = list(node.parts)
    rng.shuffle(parts)
    return Sum(parts, node.dims, node.dtype, node.init)


def associated(rng, node):
    """Some factors are multiplied, and summed up, before the others."""
    count = len(node.parts)
    if count < 2:
        return None
    chosen = rng.sample(range(count), rng.randint(1, count - 1))
    rest = [p for i, p in enumerate(node.parts) if i not in chosen]
    needed = [d for p in rest for d in p.dims] + node.dims
    own = unique(d for i in chosen for d in node.parts[i].dims)
    dims = [d for d in own if has(needed, d)]
    if len(chosen) == 1 and len(dims) == len(own):
        return None
    rng.shuffle(dims)
    rest.insert(rng.randint(0, len(rest)), Sum([node.parts[i] for i in chosen], dims, node.dtype))
    return Sum(rest, node.dims, node.dtype, node.init)


def flattened(rng, node):
    """A sum of sums is one sum."""
    inner = [p for p in node.parts if isinstance(p, Sum) and not p.init]
    if not inner:
        return None
    part = rng.choice(inner)
    at = node.parts.index(part)
    return Sum([*node.parts[:at], *part.parts, *node.parts[at + 1:]], node.dims, node.dtype, node.init)


def distributed(rng, node):
    """(x + y) z is x z + y z: added at the end, or one sum starts from the other."""
    additions = [p for p in node.parts if isinstance(p, Added)]
    if not additions:
        return None
    part = rng.choice(additions)
    at = node.parts.index(part)
    terms = [[*node.parts[:at], p, *node.parts[at + 1:]] for p in part.parts]
    return both(rng, node, *terms)


def both(rng, node, first, second):
    """What two lists of parts sum up to."""
    one = Sum(first, node.dims, node.dtype, node.init)
    if rng.random() < 0.5:
        return Sum(second, node.dims, node.dtype, one)
    other_dims = list(node.dims)
    rng.shuffle(other_dims)
    return Added([one, Sum(second, other_dims, node.dtype)], node.dims, node.dtype)


def static_dims(node, least):
    """Those of a size that is known."""
    return [d for d in node.all_dims() if d.static and d.size >= least]


def has_elements(node):
    """MLIR takes no slice, even of nothing, from where an extent is 0."""
    return all(d.size > 0 for d in node.all_dims() if d.static)


def sliced(part, dim, new, start):
    if not has(part.dims, dim):
        return part
    axis = position(part.dims, dim)
    dims = [new if d is dim else d for d in part.dims]
    return Moved([part], dims, ("slice", axis, start))


def in_ranges(rng, node):
    """The range of a dim in two pieces, whose sums are added, or lie side by side."""
    found = static_dims(node, 2)
    if not found or not has_elements(node):
        return None
    dim = rng.choice(found)
    at = rng.choice([rng.randint(1, dim.size - 1), max(1, dim.size // 2)])
    low, high = Dim(True, at), Dim(True, dim.size - at)
    pieces = [[sliced(p, dim, new, start) for p in node.parts]
              for new, start in ((low, 0), (high, at))]
    if not has(node.dims, dim):
        return both(rng, node, *pieces)
    results = [Sum(parts, [new if d is dim else d for d in node.dims], node.dtype,
                   node.init and sliced(node.init, dim, new, start))
               for parts, new, start in zip(pieces, (low, high), (0, at))]
    return Moved(results, node.dims, ("concat", position(node.dims, dim)))


def regrouped(part, olds, news, kind):
    """The part with `olds`, which follow each other, in the place of `news`: one of the
    two is one dim, `kind` says which way."""
    if not has(part.dims, olds[0]):
        return part
    at = position(part.dims, olds[0])
    dims = [*part.dims[:at], *news, *part.dims[at + len(olds):]]
    finer = dims if kind == "expand" else part.dims
    pair = (olds, news)[kind == "expand"]
    groups, number = [], 0
    for d in part.dims if kind == "expand" else dims:
        count = len(pair) if d is olds[0] or d is news[0] else 1
        groups.append(list(range(number, number + count)))
        number += count
    assert number == len(finer)
    return Moved([part], dims, (kind, groups))


def split(rng, node):
    """A dim becomes two."""
    found = static_dims(node, 1)
    if not found:
        return None
    dim = rng.choice(found)
    factors = [f for f in range(1, dim.size + 1) if dim.size % f == 0]
    inner = rng.choice(factors[1:-1] or factors)
    two = [Dim(True, dim.size // inner), Dim(True, inner)]
    parts = [regrouped(p, [dim], two, "expand") for p in node.parts]
    init = node.init and regrouped(node.init, [dim], two, "expand")
    dims = [n for d in node.dims for n in (two if d is dim else [d])]
    return regrouped(Sum(parts, dims, node.dtype, init), two, [dim], "collapse")


def together(rng, dims, two):
    """The dims in an order in which the two follow each other."""
    rest = [d for d in dims if not has(two, d)]
    at = rng.randint(0, len(rest))
    return [*rest[:at], *two, *rest[at:]]


def merged(rng, node):
    """Two dims that the same parts have become one."""
    found = static_dims(node, 1)
    pairs = [(a, b) for a in found for b in found if a is not b
             and all(has(p.dims, a) == has(p.dims, b) for p in [*node.parts, node])]
    if not pairs:
        return None
    two = list(rng.choice(pairs))
    one = Dim(True, two[0].size * two[1].size)

    def merge(part):
        if not has(part.dims, two[0]):
            return part
        return regrouped(transposed(part, together(rng, part.dims, two)), two, [one], "collapse")

    dims = together(rng, node.dims, two) if has(node.dims, two[0]) else node.dims
    init = node.init and regrouped(transposed(node.init, dims), two, [one], "collapse")
    result = Sum([merge(p) for p in node.parts],
                 [one if d is two[0] else d for d in dims if d is not two[1]], node.dtype, init)
    return transposed(regrouped(result, [one], two, "expand"), node.dims)


def turned(rng, node):
    """A part, or the result, lies with its dims in another order."""
    at = rng.randint(0, len(node.parts))
    if at == len(node.parts):
        dims = list(node.dims)
        rng.shuffle(dims)
        init = node.init and transposed(node.init, dims)
        return transposed(Sum(node.parts, dims, node.dtype, init), node.dims)
    parts = list(node.parts)
    dims = list(parts[at].dims)
    rng.shuffle(dims)
    parts[at] = transposed(parts[at], dims)
    return Sum(parts, node.dims, node.dtype, node.init)


def padded(rng, node):
    """A dim grows by zeros, which add nothing; of the result they are cut off."""
    found = static_dims(node, 1)
    if not found or not has_elements(node):
        return None
    dim = rng.choice(found)
    new = Dim(True, dim.size + rng.choice([1, 3, 16]))

    def pad(part):
        if not has(part.dims, dim):
            return part
        dims = [new if d is dim else d for d in part.dims]
        return Moved([part], dims, ("pad", position(part.dims, dim)))

    init = node.init and pad(node.init)
    grown = [new if d is dim else d for d in node.dims]
    return sliced(Sum([pad(p) for p in node.parts], grown, node.dtype, init), new, dim, 0)


def initialised(rng, node):
    """What a sum starts from is added at the end."""
    if not node.init:
        return None
    return Added([Sum(node.parts, node.dims, node.dtype), node.init], node.dims, node.dtype)


REWRITINGS = (commuted, associated, associated, flattened, distributed, distributed, in_ranges,
              split, merged, turned, padded, initialised)


def rewritten(rng, tree, steps):
    """The tree after so many rewritings, each of one of its sums, and their names."""
    names = []
    while len(names) < steps:
        node = rng.choice(sums_in(tree))
        rewriting = rng.choice(REWRITINGS)
        new = rewriting(rng, node)
        if new is not None:
            tree = replaced(tree, node, new)
            names.append(rewriting.__name__)
    return tree, names
