"""The equation of an einsum, and the operands that have zeros."""

import string

from .._library import Error
from ._operand import constant_in_graphs


# The names of the operands of layers.
OF_LAYERS = {"x": "a", "weight": "b"}


def read_sparse(name, sparse, count):
    """Numbers of operands, -1 for the result."""
    if sparse is None:
        return ()
    given = sparse if isinstance(sparse, (tuple, list)) else (sparse,)
    found = []
    for each in given:
        if each == "out":
            found.append(-1)
        elif isinstance(each, int) and not isinstance(each, bool) and 0 <= each < count:
            found.append(each)
        elif isinstance(each, str) and len(each) == 1 and 0 <= ord(each) - ord("a") < count:
            found.append(ord(each) - ord("a"))
        else:
            names = ", ".join(f'"{chr(ord("a") + i)}"' for i in range(count))
            raise Error(f'{name}: sparse={sparse!r}; it is {names} or "out", one or a tuple of '
                        "them")
    if len(set(found)) < len(found):
        raise Error(f"{name}: sparse={sparse!r} names an operand twice")
    return tuple(found)


def form_of_mask(mask, shape):
    """Which dims of a tensor a mask has that broadcasts to its shape: a bool for each of the
    mask's, of which the last is the tensor's last. None: it has the tensor's shape, or
    none that broadcasts."""
    first = len(shape) - len(mask.shape)
    if first < 0:
        return None
    form = ()
    for i, size in enumerate(mask.shape):
        # A branch makes a bool of what torch.compile knows by a symbol.
        form += (True,) if size != 1 or shape[first + i] == 1 else (False,)
    return None if first == 0 and all(form) else form


def parse(equation, count):
    """Inputs and output of an einsum's equation, without "..."."""
    if not isinstance(equation, str):
        raise Error(f"einsum: the equation must be a string as \"mk,kn->mn\", not {equation!r}")
    text = equation.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = tuple(left.split(","))
    letters = "".join(inputs)
    if not (letters + output).isalpha() and letters + output:
        raise Error(f"einsum: '{equation}': dims are letters, as in \"mk,kn->mn\", or \"...\"")
    if len(inputs) != count:
        raise Error(f"einsum: '{equation}' has {len(inputs)} operands, but {count} are given")
    if not arrow:
        output = "".join(sorted(x for x in set(letters) if letters.count(x) == 1))
    for each in inputs:
        if len(set(each)) < len(each):
            raise Error(f"einsum: '{equation}': a letter stands twice in '{each}', of which something "
                        "is selected; pass the diagonal, and what selects of it")
    if len(set(output)) < len(output):
        raise Error(f"einsum: '{equation}': a letter stands twice in the result '{output}'")
    for x in output:
        if x not in letters:
            raise Error(f"einsum: '{equation}': the result's '{x}' is in no operand")
    return inputs, output


@constant_in_graphs
def write_out(equation, ranks):
    """An equation with letters in the place of "...", for operands of such ranks."""
    left, arrow, output = equation.replace(" ", "").partition("->")
    inputs, spare = left.split(","), [x for x in string.ascii_letters if x not in equation]
    if len(inputs) != len(ranks):
        return equation.replace("...", "")  # as `parse` will say
    counts = [rank - len(each.replace("...", "", 1)) if "..." in each else 0
              for each, rank in zip(inputs, ranks)]
    if min(counts) < 0:
        at = counts.index(min(counts))
        raise Error(f"einsum: '{equation}': operand {at} has rank {ranks[at]}, but more letters "
                    "beside \"...\"")
    stands_for = "".join(spare[: max(counts)])
    inputs = [each.replace("...", stands_for[len(stands_for) - count:], 1)
              for each, count in zip(inputs, counts)]
    if not arrow:
        letters = "".join(inputs)
        output = "..." + "".join(sorted(
            x for x in set(letters) if letters.count(x) == 1 and x not in stands_for))
    elif "..." not in output and stands_for:
        raise Error(f"einsum: '{equation}': the result has no \"...\", which the operands have")
    return f"{','.join(inputs)}->{output.replace('...', stands_for, 1)}"


@constant_in_graphs
def has_diagonals(equation):
    return isinstance(equation, str) and any(
        each.count(x) > 1 for each in equation.partition("->")[0].split(",") for x in each.strip())


def take_diagonals(equation, operands):
    """The equation and the operands with the diagonal of an operand in which a letter stands
    twice."""
    left, arrow, output = equation.replace(" ", "").partition("->")
    inputs, found = left.split(","), list(operands)
    if not arrow:
        output = "".join(sorted(x for x in set(left) - {","} if left.count(x) == 1))
    for i, each in enumerate(inputs[: len(found)]):
        for x in each:
            while each.count(x) > 1 and len(getattr(found[i], "shape", ())) == len(each):
                first = each.index(x)
                second = each.index(x, first + 1)
                if found[i].shape[first] != found[i].shape[second]:
                    raise Error(f"einsum: dimensions {first} and {second} of operand {i} are "
                                f"{found[i].shape[first]} and {found[i].shape[second]}; both are "
                                f"'{x}'")
                found[i] = found[i].diagonal(0, first, second)
                each = each[:first] + each[first + 1: second] + each[second + 1:] + x
        inputs[i] = each
    return f"{','.join(inputs)}->{output}", found
