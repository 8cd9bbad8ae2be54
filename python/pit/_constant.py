"""Constants: arrays of which calls keep what they make. Constant.h says what."""

import weakref
from ctypes import byref, c_int64, c_void_p

from . import _arrays, _call, _library
from ._context import DEVICE_OFFSET, default_by_word, expect_context
from ._library import Error


def end(held, library, handle):
    """Ends a promise, then lets the memory go."""
    library.pit_constant_destroy(handle)
    held.clear()


class Constant(_library.Handle):
    """The promise that an array's memory does not change, which holds it alive.
    It ends with this object, or with close(), or with a `with` statement."""

    def __init__(self, array, context=None):
        library = _library.runtime()
        try:
            read = _call.read(array)
        except Error as error:
            raise Error(f"constant: {error}") from None
        if context is None:
            context = default_by_word(c_int64.from_address(read.address + DEVICE_OFFSET).value)
        handle = c_void_p()
        expect_context(context).check(
            library.pit_constant_create(context.handle, read.address, byref(handle)))
        self.context = context
        self._handle = handle.value
        # A finalizer keeps its arguments until the promise has ended.
        held = [context, _arrays.adapter_of(type(array)).share(array), read]
        self._end = weakref.finalize(self, end, held, library, self._handle)
        self._end.atexit = False

    def changed(self):
        """Says that the memory has changed after all, and will not from now on."""
        if not self._end.alive:
            raise Error("the constant has been closed")
        _library.runtime().pit_constant_changed(self._handle)

    def close(self):
        """Ends the promise; the memory may change."""
        self._end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def constant(array, context=None):
    """Promises that an array's memory does not change as long as the Constant that
    this returns exists: calls keep what they make of it, packed operands and
    indices. `context` is by default the one that calls with such arrays use."""
    return Constant(array, context)
