"""The mark of functions that are part of the language. Such a function has a meaning inside of
`pit.jit` only: called there, its `_build` writes it, with the builder before the
arguments."""

import functools
import inspect

from .._library import Error
from ._errors import Mistake
from ._types import Type
from ._values import Tile, describe


def language(build):
    """A function of the language, from what writes it."""

    @functools.wraps(build)
    def outside(*arguments, **named):
        raise Error(f"tile.{build.__name__} has a meaning inside of a function of pit.jit only")

    signature = inspect.signature(build)
    outside.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])
    outside._build = build
    return outside


def expect(value, kind, what):
    if not isinstance(value, kind):
        raise Mistake(f"{what}, not {describe(value)}")
    return value


def as_tile(value, what):
    return expect(value, Tile, f"{what} takes a tile")


def as_type(dtype, what):
    return expect(dtype, Type, f"{what} takes a type, as tile.f32")
