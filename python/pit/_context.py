"""Contexts: the device, threads, scratch memory and messages of calls."""

import ctypes
import weakref
from ctypes import byref, c_int64, c_void_p

from . import _library, _locks
from ._library import CPU, CUDA, Error, integer

STATS = {"off": 0, "on": 1, "waste": 2}


def device_of(device):
    """(DLPack's device type, number) of "cpu", "cuda", "cuda:1" or such a
    pair."""
    if isinstance(device, tuple) and len(device) == 2:
        return tuple(integer(number, "a device's number", 32) for number in device)
    kind, _, number = str(device).partition(":")
    if kind not in ("cpu", "cuda") or not (number or "0").isdecimal():
        raise Error(f"no device '{device}'; there are cpu, cuda and cuda:N")
    return (CPU if kind == "cpu" else CUDA), integer(int(number or "0"), "a device's number", 32)


class Context(_library.Handle):
    """Calls on a device share a context: its scratch memory, the modules that
    were loaded, what is kept of constants, the number of threads. Any number of
    threads may use one. `kept_bytes` bounds what is kept; 0: no bound. With
    `deterministic`, programs that choose between variants look at their data in
    each call."""

    def __init__(self, device="cpu", threads=0, kept_bytes=0, deterministic=False):
        library = _library.runtime()
        self.device_type, self.device_id = device_of(device)
        handle = c_void_p()
        message = ctypes.create_string_buffer(512)
        options = _library.ContextOptions(
            integer(threads, "threads", 32), self.device_type, self.device_id,
            message=ctypes.cast(message, ctypes.c_char_p), message_size=len(message),
            kept_bytes=integer(kept_bytes, "kept_bytes"), deterministic=bool(deterministic))
        status = library.pit_context_create(byref(options), byref(handle))
        if status:
            raise _library.status_error(status, message=message.value.decode(errors="replace"))
        self.handle = handle.value
        # Not at the interpreter's end: programs may still run on threads.
        weakref.finalize(self, library.pit_context_destroy, self.handle).atexit = False

    def __repr__(self):
        kind = "cpu" if self.device_type == CPU else f"cuda:{self.device_id}"
        return f"<pit.Context of {kind}, {self.threads} threads>"

    def check(self, status):
        """Raises the error that a runtime function's status is."""
        if status:
            raise _library.status_error(status, self.handle)

    @property
    def threads(self):
        return _library.runtime().pit_context_threads(self.handle)

    def kept(self):
        """The store of constants (pit.constant): the numbers of constants and
        of pieces, their bytes, how many were made so far, used again, refused."""
        stats = _library.KeptStats()
        _library.runtime().pit_context_kept(self.handle, byref(stats))
        return stats

    def record(self, mode="on"):
        """The record of the indices that calls build, from now on: "off",
        "on" (counts and times) or "waste" (which reads the source again)."""
        if mode not in STATS:
            raise Error(f"nothing called '{mode}' to record; there are: {', '.join(STATS)}")
        self.check(_library.runtime().pit_context_set_stats(self.handle, STATS[mode]))

    def recorded(self):
        """The latest index builds since record()."""
        stats, copied = (_library.BuildStats * 1024)(), c_int64()
        _library.runtime().pit_context_stats(self.handle, stats, len(stats), byref(copied))
        return list(stats[: copied.value])

    def write_profile(self, path):
        """Writes what calls of programs compiled with pipeline="record=true" have
        recorded of the zeros of their marks, for pit.compile(profile=path)."""
        self.check(_library.runtime().pit_context_write_profile(
            self.handle, _library.c_path(path, "path")))


def expect_context(context):
    if not isinstance(context, Context):
        raise Error(f"context must be a pit.Context, not a {type(context).__name__}")
    return context


defaults = {}  # by device word
defaults_lock = _locks.lock()


def device_word(device_type, device_id):
    """A device as the eight bytes that a DLTensor has at DEVICE_OFFSET."""
    return device_type | device_id << 32


DEVICE_OFFSET = _library.Tensor.device_type.offset


def default_by_word(word):
    context = defaults.get(word)
    if context is None:
        with defaults_lock:
            if word not in defaults:
                # Managed and pinned CUDA memory belong to contexts of their own
                # kind of device.
                device_type = {3: CPU, 13: CUDA}.get(word & 0xFFFFFFFF, word & 0xFFFFFFFF)
                key = device_word(device_type, word >> 32 if device_type == CUDA else 0)
                if key not in defaults:
                    defaults[key] = Context((device_type, key >> 32))
                defaults[word] = defaults[key]
            context = defaults[word]
    return context


def default_context(device="cpu"):
    """The context of a device that calls use if none is given."""
    return default_by_word(device_word(*device_of(device)))
