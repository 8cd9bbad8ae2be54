"""Sequences that lie one behind the other, (0, length of the first, .. of the first two, ...): which
places of the other side belong to a place's sequence. Programs compute it of the cumulative lengths,
so that the host does not read these."""

from .._library import Error

NONE = 2 ** 31 - 1  # the end of no sequence


def ranges(builder, own, other, places, end):
    """For each of so many places: where its sequence begins and ends on the other side, the place
    that it stands at there, and where the sequence begins on its own side; of i32. Places behind
    the last sequence have nothing."""

    def nearest(value, last):
        """Of the sequences that begin up to a place the last one's, or the first one's that end
        behind it."""
        nothing = 0 if last else NONE

        def function(body, at, x, old):
            place = body.emit("linalg.index 0 : index")
            limit = body.emit(f"arith.index_cast {at} : {own.type} to index")
            counts = body.emit(f"arith.cmpi {'sle' if last else 'sgt'}, {limit}, {place} : index")
            x = body.cast(x, value.type, "i32")
            x = body.emit(f"arith.select {counts}, {x}, {builder.constant(nothing, 'i32')} : i32")
            return body.emit(f"arith.{'maxsi' if last else 'minsi'} {old}, {x} : i32")

        return builder.generic(["c", "c", "r"], ["r", "c"], [own, value],
                               builder.fill([places], nothing, "i32"), function)

    def elements(ins, function):
        return builder.generic(["r"] * (len(ins) + 1), ["r"], ins, builder.empty([places], "i32"),
                               lambda body, *x: function(body, *x[:-1]))

    begin, limit, here = nearest(other, True), nearest(other, False), nearest(own, True)
    none = builder.constant(NONE, "i32")

    def ended(body, x):
        is_none = body.emit(f"arith.cmpi eq, {x}, {none} : i32")
        return body.emit(f"arith.select {is_none}, {builder.constant(0, 'i32')}, {x} : i32")

    def moved(body, here, there):
        place = body.emit("linalg.index 0 : index")
        place = body.emit(f"arith.index_cast {place} : index to i32")
        place = body.emit(f"arith.subi {place}, {here} : i32")
        return body.add("i32", place, there)

    from_ = (nearest(own, False), limit) if end else (here, begin)
    return begin, elements([limit], ended), elements(from_, moved), here


def of_argument(name, given, sizes):
    """The cumulative lengths of queries and of keys, of which there are `sizes`. Values are looked
    at in arrays of numpy alone, since others may lie on a device."""
    found = given if isinstance(given, (tuple, list)) else (given, given)
    if len(found) != 2:
        raise Error(f"{name}: cu_seqlens has {len(found)} arrays; it is one, or a pair: of queries and "
                    "of keys")
    for x, what, size in zip(found, ("queries", "keys"), sizes):
        if not hasattr(x, "shape"):
            raise Error(f"{name}: cu_seqlens of {what} is {type(x).__name__} {x}; it is an array")
        if len(x.shape) != 1 or x.shape[0] == 0:
            raise Error(f"{name}: cu_seqlens of {what} has shape {tuple(x.shape)}; it has rank 1 and "
                        "begins with 0: (sequences + 1)")
        if type(x).__module__ == "numpy" and x.dtype.kind in "iu" and (
                x[0] != 0 or x[-1] > size or (x[1:] < x[:-1]).any()):
            raise Error(f"{name}: cu_seqlens of {what} is {x.tolist()[:8]}; it begins with 0, does not "
                        f"decrease, and ends with {size} at most, as there are so many {what}")
    if found[0].shape != found[1].shape:
        raise Error(f"{name}: cu_seqlens has {found[0].shape[0] - 1} sequences of queries, "
                    f"{found[1].shape[0] - 1} of keys; they are as many")
    return tuple(found)
