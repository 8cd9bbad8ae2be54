"""`pit.jit`: a function of Python as a tile program, compiled when it is called."""

import ast
import functools
import inspect
import re
import sys
import types
from dataclasses import dataclass

from .. import _arrays, _cache, _compiler, _index, _listing
from .._library import Error
from ..ops import _operand
from ._builder import Builder
from ._errors import Mistake, SourceError, point_at_source, with_sources
from ._expressions import Source
from ._frontend import FrontEnd
from ._reads import FIXED, fixed, key_of
from ._types import ELEMENTS, IndexType, TensorType, Type, index_
from ._values import Index, Number, Tensor, describe
from ._writer import mlir_string

RESERVED = ("out", "context", "stream")  # of a call


def jit(function):
    """Makes a tile program of a function of Python.

        @pit.jit
        def double(x: tile.f32["N"], *, size=1024):
            N, = x.shape
            y = tile.empty((N,), tile.f32)
            for i in tile.forall((0, N, size)):
                tile.swrite(y[i], 2.0 * tile.sread(x[i]))
            return y

        y = double(x)             # makes the result beside the first array
        double(x, out=y)          # or writes it into one of the caller's
        double(x, size=4096)      # another program: 4096 elements a tile

    Positional parameters are arguments of the program, with their types: `tile.f32["M", "K"]`,
    `tile.tensor["M", "K"]` of any element type, `tile.f32` for a number, `tile.index(...)` for a
    `pit.Index`. A size is a number, or a name: the same name is the same size, which calls check.
    Parameters behind `*` are constants: the program is compiled for each of their values. One
    that is also the name of a size, and is not given, takes it from the arrays.

    The body of the function is in the language of `pit.tile`. docs/TileLanguage.md has it.
    Wrong programs raise `tile.SourceError`, which points at their line.
    """
    if not isinstance(function, types.FunctionType):
        raise Error(f"pit.jit takes a function, not {describe(function)}")
    return Function(function)


@dataclass(frozen=True)
class Parameter:
    name: str
    type: object  # a Type, TensorType or IndexType
    at: tuple


class Function:
    """A function of `pit.jit`: calls compile it, where that is needed, and run it."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._pit_function = function
        try:
            self.source = Source(function)
        except (OSError, TypeError):
            raise Error(f"{function.__name__}: pit.jit reads the source of a function, and this "
                        "one has none; put it into a file or a cell of a notebook") from None
        except SyntaxError:  # a lambda in the middle of something
            self.source = None
        if self.source is None or not isinstance(self.source.tree, ast.FunctionDef):
            raise Error("pit.jit takes a function that def makes")
        self.parameters, self.returns = read_signature(function, self.source)
        self.constants = {
            name: p.default if p.default is p.empty else checked_constant(self, name, p.default)
            for name, p in signature_of(function).parameters.items() if p.kind is p.KEYWORD_ONLY}
        self._specialized = {}
        self._inspected = self._inspected_by_calls()

    def _inspected_by_calls(self):
        """The facts about its arguments that a call looks at: (number, whether at the element type, the
        dimensions whose sizes it takes)."""
        looks = []
        for number, parameter in enumerate(self.parameters):
            if isinstance(parameter.type, Type):
                continue
            if isinstance(parameter.type, IndexType):
                looks.append((number, False, []))
                continue
            dims = [d for d, s in enumerate(parameter.type.sizes) if s in self.constants]
            looks.append((number, parameter.type.element is None, dims))
        return looks

    def __repr__(self):
        listed = ", ".join(f"{p.name}: {p.type!r}" for p in self.parameters)
        return f"<pit.jit {self.__name__}({listed})>"

    def __call__(self, *arguments, out=None, context=None, stream=None, **constants):
        if len(arguments) != len(self.parameters):
            names = ", ".join(p.name for p in self.parameters)
            raise Error(f"{self.__name__} takes {len(self.parameters)} arguments ({names}), not "
                        f"{len(arguments)}; constants are given by name")
        key = self._key(arguments, constants)
        found = self._specialized.get(key)
        if found is None or not found.is_current():
            found = self._specialize(key, arguments, constants)
        try:
            if out is None and context is None and stream is None:
                return found.entry(*arguments)
            return found.entry(*arguments, out=out, context=context, stream=stream)
        except Error as error:
            traced = find_traced(self, arguments, constants)
            if traced is not None and traced is not found:
                return traced.entry(*arguments, out=out, context=context, stream=stream)
            raise Error(self._named(error.message), error.status) from None

    def _named(self, message):
        """A message in which arguments have their names beside their numbers."""
        def name(found):
            number = int(found[1])
            known = number < len(self.parameters)
            return f"{found[0]} ({self.parameters[number].name})" if known else found[0]

        return re.sub(r"\bargument (\d+)", name, message)

    def _key(self, arguments, constants):
        """The key that programs are kept by. Sizes that are not constants are no part of it."""
        parts = []
        for number, look, dims in self._inspected:
            array = arguments[number]
            if not parts:
                parts.append(device_key(array))
            if look:
                parts.append(array.type if isinstance(array, _arrays.View)
                             else getattr(array, "dtype", None))
            if dims:
                shape = getattr(array, "shape", ())
                parts.append(tuple(shape[d] if d < len(shape) else None for d in dims))
        for name, value in constants.items():
            parts += (name, key_of(value))
        return tuple(parts)

    def _specialize(self, key, arguments, constants):
        traced = find_traced(self, arguments, constants)
        if traced is not None:
            return traced
        found = self.specialize(*arguments, **constants)
        array = next((a for a, p in zip(arguments, self.parameters)
                      if isinstance(p.type, (TensorType, IndexType))), None)
        device = None
        if array is not None:
            device = _operand.info(self.__name__, array).device
        found.entry = found.kept({} if device is None else _operand.compile_options(device))
        self._specialized[key] = found
        return found

    def specialize(self, *arguments, **constants):
        """The program for constants and arguments: arrays, or types as `tile.f16["M", 64]`. Arguments
        whose types the parameters say may be left out."""
        if len(arguments) > len(self.parameters):
            raise Error(f"{self.__name__} takes {len(self.parameters)} arguments, not "
                        f"{len(arguments)}")
        values = dict(self.constants)
        for name, value in constants.items():
            if any(p.name == name for p in self.parameters):
                raise Error(f"{self.__name__}: argument '{name}' is given by its position")
            if name not in values:
                listed = ", ".join(values) or "none"
                raise Error(f"{self.__name__} has no constant '{name}'; it has: {listed}")
            values[name] = checked_constant(self, name, value)
        given = [*arguments, *[None] * (len(self.parameters) - len(arguments))]
        sizes = {}  # that types say
        bound = [bind(self, p, a, values, sizes) for p, a in zip(self.parameters, given)]
        for name, value in values.items():
            if value is inspect.Parameter.empty:
                raise Error(f"{self.__name__}: constant '{name}' is not given, and no array says "
                            f"it; write {self.__name__}(..., {name}=...)")
        types_ = [static(type_, {**sizes, **values}) for type_ in bound]
        return Specialized(self, types_, values)

    def mlir(self, *arguments, locations=False, **constants):
        """The text of the program at level 3, for arguments as `specialize` takes them; with
        `locations` each op has its place in the Python source."""
        return self.specialize(*arguments, **constants).mlir(locations)

    def show(self, *arguments, level=3, target="cpu", chip=None, **constants):
        """The program's text as the compiler has it, coloured in a notebook: level 1 as the front
        end has written it, 3 with its loops simplified, or "mlir-llvm", "llvm", "ptx"."""
        return self.specialize(*arguments, **constants).show(level, target=target, chip=chip)

    def __reduce__(self):
        return self.__qualname__  # pickled and copied by its name, as functions are

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        raise Error(f"{self.__name__}: a method is no tile program; use a function")


FIXED.add(Function)
# The effect of torch.compiler.disable, without importing torch: graphs end before a call.
Function.__call__._torchdynamo_disable = True
Function.__call__._torchdynamo_disable_msg = (
    "a function of pit.jit runs between graphs; with fullgraph=True call it in an op of "
    "torch.library.custom_op")


class Specialized:
    """The program of a function for given types and constants."""

    def __init__(self, function, types_, constants):
        self.function, self.types, self.constants = function, types_, constants
        self.entry = None
        self._text, reads = lower(function, types_, constants)
        reads.prepare()
        # Whether what it reads of Python is still the same.
        self.is_current = reads.is_current

    def mlir(self, locations=False):
        """The text that the front end has written: level 3."""
        return _listing.Listing(self._text(locations))

    def compile(self, **options):
        """A `pit.Program`, by the options of `pit.compile`; it is not kept."""
        return self._pointing(lambda: _compiler.compile(self.mlir(True), **options))

    def artifact(self, emit, **options):
        """The function as `pit.Compiler.artifact` emits it: "so", "ptx", ..."""
        return self._pointing(
            lambda: _compiler.compiler().artifact(self.mlir(True), emit, **options))

    def explain(self, **options):
        """The compiler's remarks on its choices, with their lines: which products run on tensor
        cores, and why others do not. Options as of `compile`."""
        compiler = _compiler.compiler()
        self._pointing(lambda: compiler.artifact(
            self.mlir(True), "mlir-llvm", explain=True, **options))
        return with_sources(compiler.diagnostics)

    def show(self, level=3, **options):
        """The text of a level, as of `Function.show`."""
        options = {name: value for name, value in options.items() if value is not None}
        return self._pointing(lambda: _listing.show((self.mlir(True), options), level))

    def kept(self, options):
        """The entry point, from the cache."""
        name = self.function.__name__
        try:
            # Without places: what moves in its file is the same program.
            return _cache.program(self.mlir(), name, **options)[name]
        except Error:
            return self.compile(**options)[name]

    @staticmethod
    def _pointing(compile_):
        try:
            return compile_()
        except Error as error:
            raise point_at_source(error) from None


def find_traced(function, arguments, constants):
    """The object with an `entry` for arguments that are more than memory, as tracers of JAX; None:
    there are no such arguments."""
    if "jax" not in sys.modules:
        return None
    from ..jax import _programs
    return _programs.find(function, arguments, constants)


def attribute_device(array):
    device = getattr(array, "device", None)
    return device.id if hasattr(device, "id") else device


def find_device(type_):
    """The function that gives a value which is the same for arrays on one device."""
    if type_ is _arrays.View:
        return lambda view: device_key(view.array)
    if type_ is _index.Index:
        return lambda index: (index.context.device_type, index.context.device_id)
    return (lambda array: None) if _arrays.framework_of(type_) == "numpy" else attribute_device


devices = {}  # these functions, by type


def device_key(array):
    type_ = type(array)
    found = devices.get(type_)
    if found is None:
        found = devices[type_] = find_device(type_)
    return type_, found(array)


def signature_of(function):
    """The signature of its own def, not that of a function that it wraps."""
    return inspect.signature(function, follow_wrapped=False)


def read_signature(function, source):
    """The positional parameters, which have types, and the types of the results, if they are
    said."""
    try:
        annotations = inspect.get_annotations(function, eval_str=True)
    except Error as error:
        raise SourceError(str(error), source.at) from None
    except Exception as error:
        raise SourceError(f"the annotations cannot be read: {error}", source.at) from None
    nodes = {a.arg: a for a in [*source.tree.args.posonlyargs, *source.tree.args.args]}
    found = []
    for name, parameter in signature_of(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            if name in RESERVED:
                raise SourceError(f"a constant cannot be called '{name}', which calls have",
                                  source.at)
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise SourceError("a tile program has no * or ** parameters", source.at)
        at = source.place(nodes[name])
        type_ = annotations.get(name)
        if not isinstance(type_, (Type, TensorType, IndexType)) or type_ is index_:
            raise SourceError(
                f"parameter '{name}' needs a type, as {name}: tile.f32[\"M\", \"K\"]; constants "
                "stand behind a *", at)
        if parameter.default is not parameter.empty:
            raise SourceError(f"'{name}' is an argument and has no default; constants stand behind "
                              "a *", at)
        found.append(Parameter(name, type_, at))
    if re.fullmatch(r"[A-Za-z_]\w*", function.__name__, re.ASCII) is None or re.match(
            "pit_rt_|omp_", function.__name__):
        raise SourceError("the name of a tile program is an identifier of C, and does not begin "
                          "with pit_rt_ or omp_", source.at)
    returns = annotations.get("return")
    listed = returns if isinstance(returns, tuple) else (returns,)
    return found, listed if all(isinstance(r, TensorType) for r in listed) else None


def checked_constant(function, name, value):
    try:
        hash(value)
    except TypeError:
        raise Error(f"{function.__name__}: constant '{name}' is {describe(value)}; a constant can "
                    "be a number, a text, a type, a function or a tuple of these") from None
    try:
        return fixed(value)
    except Mistake as mistake:
        raise Error(f"{function.__name__}: constant '{name}': {mistake.reason}") from None


def bind(function, parameter, given, constants, sizes):
    """The type of an argument. Sizes that are constants and not given follow from it; those
    that a type says are added to `sizes`."""
    where, wanted = f"{function.__name__}: {parameter.name}", parameter.type
    if not isinstance(wanted, TensorType):
        return wanted
    if given is None:
        if wanted.element is None:
            raise Error(f"{where} may have any element type; give an array or a type, as "
                        "tile.f32[...]")
        return wanted
    if isinstance(given, TensorType):
        element = given.element
        known = [s if isinstance(s, int) else None for s in given.sizes]
    elif isinstance(given, (Type, IndexType)):
        raise Error(f"{where} must be {wanted!r}, not {given!r}")
    else:
        info = _operand.info(where, given)
        if info.is_index:
            raise Error(f"{where} must be an array, {wanted!r}, not a pit.Index")
        element, known = ELEMENTS.get(info.type), list(info.shape)
        if element is None:
            raise Error(f"{where} has elements of {info.type}; tile programs compute with "
                        f"{', '.join(ELEMENTS)}")
    if len(known) != len(wanted.sizes):
        raise Error(f"{where} must be {wanted!r}, not of rank {len(known)}")
    if wanted.element is not None and element is not None and element is not wanted.element:
        raise Error(f"{where} must be {wanted!r}, not of {element.name}")
    for name, size in zip(wanted.sizes, known):
        if size is None:
            continue
        fixed = constants if name in constants else sizes
        if isinstance(name, int):
            same = name
        elif name not in constants and not isinstance(given, TensorType):
            continue  # any array may come
        elif fixed.get(name, inspect.Parameter.empty) is inspect.Parameter.empty:
            same = fixed[name] = size
        else:
            same = fixed[name]
        if same != size:
            raise Error(f"{where}: size '{name}' is {same}, and here {size}")
    return TensorType(wanted.element or element, wanted.sizes)


def static(type_, constants):
    """A type with the sizes that constants give."""
    if not isinstance(type_, TensorType):
        return type_
    sizes = []
    for size in type_.sizes:
        value = constants.get(size, size)
        if value is not size and (isinstance(value, bool) or not isinstance(value, int)
                                  or value < 0):
            raise Error(f"size '{size}' must be a whole number, not {describe(value)}")
        sizes.append(value)
    return TensorType(type_.element, tuple(sizes))


def lower(function, types_, constants):
    """Writes a function: (its text, with or without locations; what it read of Python)."""
    layouts = {}
    while True:
        b, result = lower_once(function, types_, constants, layouts)
        # The place of a written tile tells how the loop before should have carried it.
        more = {key: layout for key, layout in b.wanted.items() if key not in layouts}
        if not more:
            return result
        layouts = {**layouts, **more}


def lower_once(function, types_, constants, layouts):
    source = function.source
    b = Builder(function.__name__, source.at, layouts)
    names, listed, symbols = {}, [], {}
    for parameter, type_ in zip(function.parameters, types_):
        b.at = parameter.at
        value = argument(b, parameter.name, type_, symbols)
        names[parameter.name] = value
        text = value.mlir if isinstance(value, Tensor) else (
            type_.mlir if isinstance(type_, IndexType) else type_.name)
        listed.append(f"{value.name}: {text}")
    front = FrontEnd(b, function._pit_function, {**names, **constants}, source)
    result, at = front.run()
    b.at = at
    try:
        results = check_results(result)
        if function.returns is not None:
            check_returns(results, function.returns, symbols, constants)
    except Mistake as mistake:
        raise SourceError(mistake.reason, at) from None
    drop_unused_sizes(b)
    made = ", ".join(r.mlir for r in results)
    signature = f"({', '.join(listed)}) -> {made if len(results) == 1 else f'({made})'}"
    returned = f"return {', '.join(r.name for r in results)} : {made}"
    text = functools.partial(b.text, (signature, source.at), (returned, at))
    return b, (text, front.reads)


def argument(b, name, type_, symbols):
    """The value of an argument. The sizes of equal names are equal: calls check it."""
    if isinstance(type_, Type):
        return Number(b.fresh(name), type_)
    if isinstance(type_, IndexType):
        return Index(b.fresh(name), type_)
    tensor = Tensor(b.fresh(name), type_.element, type_.sizes, name)
    tensor.sizes = tuple(s if isinstance(s, int) else Number("", index_) for s in type_.sizes)
    sizes = []
    for dim, size in enumerate(type_.sizes):
        if isinstance(size, int):
            sizes.append(size)
            continue
        found = b.op(size, f"tensor.dim {tensor.name}, {b.constant(dim, index_)} : {tensor.mlir}")
        if size in symbols:
            first, (other, at) = symbols[size]
            same = b.op("same", f"arith.cmpi eq, {first.name}, {found} : index")
            message = (f"{b.name}: dimension {dim} of {name} and dimension {at} of {other} are "
                       f"both '{size}' and must have the same size")
            b.write(f"cf.assert {same}, {mlir_string(message)}")
        else:
            symbols[size] = Number(found, index_, low=0), (name, dim)
        sizes.append(symbols[size][0])
    tensor.sizes = tuple(sizes)
    return tensor


def check_results(result):
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    if result is None:
        raise Mistake("a tile program returns the tensors that it makes")
    for number, value in enumerate(results):
        if not isinstance(value, Tensor):
            raise Mistake(f"a tile program returns tensors, not {describe(value)}")
        if value.argument:
            raise Mistake(f"{value.argument} is an argument; return tile.copy({value.argument})")
        if value in results[:number]:
            raise Mistake("a tensor is returned twice")
    return results


def check_returns(results, wanted, symbols, constants):
    """Whether results are what the function says."""
    if len(results) != len(wanted):
        raise Mistake(f"{len(results)} results, and the function says {len(wanted)}")
    known = {number: name for name, (number, _) in symbols.items()}
    for number, (result, type_) in enumerate(zip(results, wanted)):
        sizes = [known.get(s, "?") if isinstance(s, Number) else s for s in result.sizes]
        right = len(sizes) == len(type_.sizes) and type_.element in (None, result.type)
        for size, said in zip(sizes, type_.sizes):
            said = constants.get(said, said)
            # A name that no argument has may be any size.
            right = right and (size == said or isinstance(said, str) and said not in symbols)
        if not right:
            shape = ", ".join(str(s) for s in sizes)
            raise Mistake(f"result {number} is a tensor of {result.type.name} of shape [{shape}], "
                          f"and the function says {type_!r}")


def drop_unused_sizes(b):
    """Sizes that nothing reads are not written."""
    used = " ".join(text for text, _ in b.lines)
    b.lines = [(text, at) for text, at in b.lines
               if " = tensor.dim " not in text
               or len(re.findall(rf"{re.escape(text.split()[0])}\b", used)) > 1]
