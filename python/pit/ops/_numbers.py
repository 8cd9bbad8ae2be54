"""Options that are numbers: a program has them as constants."""

import numbers
import operator

from .._library import Error


def whole(op, name, value, least=1, what=""):
    """An option as an int, of this or more; None stays None."""
    if value is None:
        return None
    try:
        value = operator.index(value)
    except TypeError:
        raise Error(f"{op}: {name} is {value!r:.40}; it is a whole number") from None
    if value < least:
        raise Error(f"{op}: {name} is {value}; it {what or f'is {least} or more'}")
    return value


def real(op, name, value, positive=False):
    """An option as a float; None stays None. An array would be read from its device, and is refused."""
    if value is None:
        return None
    if not isinstance(value, (int, float)) and not isinstance(value, numbers.Real):
        raise Error(f"{op}: {name} is {type(value).__name__} {value!r:.40}; it is a number of the program, "
                    f"as float({name})")
    value = float(value)
    if positive and not value > 0:
        raise Error(f"{op}: {name} is {value}; it is larger than 0")
    return value
