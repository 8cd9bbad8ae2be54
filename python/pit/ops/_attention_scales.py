"""Scales of an attention's queries, keys and values of 8 bits."""

from math import nan

from ._text import wide_type

LEAST_SCALE = 2.0 ** -64


def scaled(builder, value, letters, type_, scale):
    """Keys or values times their scale, in a type of products. The compiler computes it in the loop."""
    ins, maps, summed = [value], [letters], wide_type(type_)
    type_ = type_ if builder.on_gpu else summed  # which tensor cores would not take
    if scale is not None:
        ins.append(builder.squeeze(scale[0], [x == 1 for x in scale[1]]))
        maps.append([x for x in scale[1] if x != 1])

    def function(body, x, *scales):
        x = body.cast(x, value.type, summed)
        if scale is not None:
            x = body.mul(summed, x, body.cast(scales[0], scale[0].type, summed))
        return body.cast(x, summed, type_)

    return builder.generic([*maps, letters], letters, ins, builder.empty(value.dims, type_),
                           lambda body, *x: function(body, *x[:-1]))


def times_scales(body, x, type_, scales):
    """Scores times scales, which are given with their dims. A product of scales that is known to be positive,
    and the same for all keys, becomes a factor of the exponent. 0 becomes so small a number that scores
    are as good as 0."""
    same = None
    for scale, of in scales:
        if "n" in of:
            x = body.mul(type_, x, scale)
        else:
            same = scale if same is None else body.mul(type_, same, scale)
    if same is None:
        return x
    is_scale = body.emit(f"arith.cmpf oge, {same}, {body.constant(0, type_)} : {type_}")
    same = body.emit(f"arith.select {is_scale}, {same}, {body.constant(nan, type_)} : {type_}")
    return body.mul(type_, x, body.emit(
        f"arith.maximumf {same}, {body.constant(LEAST_SCALE, type_)} : {type_}"))
