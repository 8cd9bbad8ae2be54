"""Compiled programs, kept in memory and on disk.

The same text with the same options is compiled once. A program on disk is a
shared library in the folder `programs` of the cache (`$PIT_CACHE_DIR`, or
`$XDG_CACHE_HOME/pit`, or `~/.cache/pit`; an empty `PIT_CACHE_DIR` keeps
nothing). The name of its file is a hash of everything that it depends on: the
text, the options, this machine's kind of CPU, the compiler's library. Any
number of processes may share a folder: a file appears whole, under its name, or
not at all.
"""

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from . import _compiler, _library, _locks
from ._library import Error
from ._program import open_program

VERSION = 1  # of what is in the folder
DEFAULT_BYTES = 1 << 30  # that the folder may have
PATIENCE = 2.0  # seconds of compiling before the first sign of life

DIGEST_SIZE = hashlib.sha256().digest_size

programs = {}  # by key
unwritable = set()  # folders in which nothing could be kept
locks = {}  # of keys that are being compiled
lock = _locks.lock()  # of `locks`


if hasattr(os, "register_at_fork"):
    # Threads that compiled are not there in the child of a fork.
    os.register_at_fork(after_in_child=locks.clear)


def folder():
    """The folder that programs are kept in; None: there is none."""
    given = os.environ.get("PIT_CACHE_DIR")
    if given == "":
        return None
    if given is None:
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        given = Path(caches) / "pit"
    return Path(given) / "programs"


@functools.lru_cache(maxsize=None)
def machine():
    """The facts that code for `cpu="native"` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        import platform
        return repr(platform.uname())
    first = dict(line.split(":", 1) for line in lines[: lines.index("")] if ":" in line)
    return "".join(first.get(name, "") for name in first
                   if name.strip() in ("vendor_id", "cpu family", "model", "flags"))


@functools.lru_cache(maxsize=None)
def build():
    """Which compiler it is, and where programs will look for the runtime."""
    runtime = _library.runtime_path().resolve()
    compiler = runtime.with_name("libPITCompiler.so")
    try:
        found = compiler.stat()
        return f"{runtime} {found.st_size} {found.st_mtime_ns}"
    except OSError:
        return str(runtime)


def key_of(text, options):
    options = {"opt_level": _compiler.default_level(), **options}
    parts = [str(VERSION), build(), repr(sorted(options.items())), text]
    if options.get("cpu", "native") == "native":
        parts.append(machine())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def program(text, what="a program", **options):
    """The program of a text, compiled unless it is kept; `what` is its name for
    people. `options` are those of pit.compile. With samples or a profile it is
    compiled anew, and not kept."""
    if options.get("samples") or options.get("profile"):
        with progress(what):
            return _compiler.compile(text, **options)
    key = key_of(text, options)
    found = programs.get(key)
    if found is not None:
        return found
    with lock:
        mine = locks.setdefault(key, threading.Lock())
    try:
        with mine:  # another thread may be compiling it
            found = programs.get(key)
            if found is None:
                found = programs[key] = read_or_compile(key, text, what, options)
    finally:
        with lock:
            locks.pop(key, None)
    return found


def read_or_compile(key, text, what, options):
    kept = folder()
    if kept is None:
        with progress(what):
            return _compiler.compile(text, **options)
    path = kept / f"{key}.so"
    if is_whole(path):
        with contextlib.suppress(Error):  # what cannot be loaded is made again
            found = open_program(path, (text, options))
            with contextlib.suppress(OSError):
                os.utime(path)  # the oldest ones go first
            return found
    with progress(what):
        problem = None if kept in unwritable else keep(kept, path, text, options)
        if problem is None and kept not in unwritable:
            try:
                return open_program(path, (text, options))
            except Error as error:
                # The folder may be gone again, or be one from which no code is loaded.
                problem = OSError(str(error)) if path.exists() else None
        # A text that is wrong is an error here, too. A folder that cannot be written,
        # and a machine without a linker, cost only the keeping.
        found = _compiler.compile(text, **options)
    if problem is not None and kept not in unwritable:
        unwritable.add(kept)  # or each program would be compiled twice
        remedy = ("Set PIT_CACHE_DIR to a folder that can be written, and may have code"
                  if isinstance(problem, OSError) else "Put a linker, cc or clang, into PATH")
        print(f"pit: compiled programs are not kept in {kept}, so each process compiles them "
              f"anew: {problem}. {remedy}, or set PIT_CACHE_DIR to nothing to keep none.",
              file=sys.stderr)
    return found


def keep(kept, path, text, options):
    """Compiles a program into the folder; returns what is wrong, or None."""
    try:
        write(kept, path, text, options)
    except (OSError, Error) as error:
        return error
    return None


def write(kept, path, text, options):
    kept.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=kept, suffix=".part")
    os.close(handle)  # programs can be kept here
    try:
        # In memory, since somebody may delete the folder meanwhile.
        code = _compiler.compiler().artifact(text, "so", **options)
        kept.mkdir(parents=True, exist_ok=True)
        with open(name, "wb") as file:
            file.write(code)
            file.write(hashlib.sha256(code).digest())  # ELF does not mind what follows
        os.replace(name, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
    make_room(kept, path)


def is_whole(path):
    """Whether a file is there and ends in the hash of what comes before."""
    try:
        data = path.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(data[:-DIGEST_SIZE]).digest() == data[-DIGEST_SIZE:]


def make_room(kept, newest):
    """Deletes the programs that were not used for longest."""
    limit = int(os.environ.get("PIT_CACHE_BYTES") or DEFAULT_BYTES)
    files = []
    for path in kept.iterdir() if kept.exists() else ():
        with contextlib.suppress(OSError):  # another process deleted it
            found = path.stat()
            # The files that a killed process was writing.
            if path.suffix == ".part" and time.time() - found.st_mtime < 3600:
                continue
            files.append((found.st_mtime, found.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files, key=lambda file: file[0]):
        if total <= limit:
            return
        if path != newest:
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size


@contextlib.contextmanager
def progress(what):
    """Says on stderr that a compilation goes on, if it takes long and somebody
    looks at a terminal, or PIT_PROGRESS is 1."""
    wanted = os.environ.get("PIT_PROGRESS")
    if wanted == "0" or wanted != "1" and not sys.stderr.isatty():
        yield
        return
    start = time.monotonic()
    done = threading.Event()

    def tell():
        wait = PATIENCE
        while not done.wait(wait):
            print(f"pit: compiling {what}, {time.monotonic() - start:.0f} s so far",
                  file=sys.stderr, flush=True)
            wait = 5.0

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
