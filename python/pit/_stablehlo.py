"""StableHLO to linalg, by the passes that jaxlib brings along."""

import re

from ._library import Error

PASSES = ("builtin.module(func.func(stablehlo-legalize-composite-to-call),inline,"
          "func.func(chlo-legalize-to-stablehlo),stablehlo-legalize-to-linalg)")
MARK = "pit.sparse"  # the target of a custom call that marks its operand
# Ops of the dialects that exporters write, in text; functions of JAX may have some of chlo's
# alone. In bytecode the names of dialects stand by themselves.
IN_TEXT = re.compile(r"(?<![\w.])(stablehlo|chlo|vhlo)\.\w")
IN_BYTECODE = re.compile(rb"stablehlo|chlo|vhlo", re.IGNORECASE)


def is_stablehlo(program):
    """Whether a program is StableHLO: text of it, or bytecode."""
    if isinstance(program, str):
        return IN_TEXT.search(program) is not None
    return (isinstance(program, (bytes, bytearray))
            and IN_BYTECODE.search(program) is not None)


def is_portable(program):
    """Whether it is an artifact of StableHLO with a version."""
    return not isinstance(program, str) and b"StableHLO_v" in bytes(program[:64])


def to_linalg(text, sparse=()):
    """The text of a program in linalg. `sparse` has the numbers of the public
    function's arguments that are marked; a `stablehlo.custom_call @pit.sparse(%x)`, or
    with a mask `(%x, %mask)`, marks a value anywhere."""
    try:
        from jaxlib.mlir import _mlir_libs, ir, passmanager
        from jaxlib.mlir.dialects import chlo, func, stablehlo
    except ImportError as error:
        raise Error("the program is StableHLO, which jaxlib takes to linalg; it is not "
                    f"installed ({error})") from None
    stablehlo.register_stablehlo_passes()
    registry = ir.DialectRegistry()
    _mlir_libs._jax_mlir_ext.register_dialects(registry)  # upstream's
    with ir.Context() as context, ir.Location.unknown():
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        stablehlo.register_dialect(context)
        chlo.register_dialect(context)
        context.allow_unregistered_dialects = True
        try:
            if is_portable(text):
                module = stablehlo.deserialize_portable_artifact(context, bytes(text))
            else:
                module = ir.Module.parse(text)
            mark_arguments(ir, func, module, sparse)
            replace_calls(ir, module.operation)
            passmanager.PassManager.parse(PASSES).run(module.operation)
        except ir.MLIRError as error:
            raise Error(f"StableHLO: {error}") from None
        left = sorted({op.name for op in walk(module.operation)
                       if op.name.startswith(("stablehlo.", "chlo."))} - {"stablehlo.return"})
        if left:
            raise Error(f"StableHLO: no pass of jaxlib takes {', '.join(left)} to linalg")
        for name in list(module.operation.attributes):
            del module.operation.attributes[name]  # of dialects that pit does not know
        return module.operation.get_asm(print_generic_op_form=True)


def walk(op):
    for region in op.regions:
        for block in region:
            for each in block:
                yield each.operation
                yield from walk(each.operation)


def make_mark(ir, value, mask=None):
    """The marked value. A mark takes integers without a sign in their type; the casts are
    those of the pass to linalg."""
    signless, signed = without_sign(ir, value.type), value.type
    operands = [cast(ir, value, signless)]
    if mask is not None:
        operands.append(cast(ir, mask, without_sign(ir, mask.type)))
    source = "values" if mask is None else "mask"
    marked = ir.Operation.create(
        MARK, results=[signless], operands=operands,
        attributes={"source": ir.Attribute.parse(f"#pit<source {source}>")}).results[0]
    return cast(ir, marked, signed)


def without_sign(ir, type_):
    type_ = ir.RankedTensorType(type_)
    element = type_.element_type
    if not isinstance(element, ir.IntegerType) or element.is_signless:
        return type_
    return ir.RankedTensorType.get(
        type_.shape, ir.IntegerType.get_signless(element.width), type_.encoding)


def cast(ir, value, type_):
    if value.type == type_:
        return value
    return ir.Operation.create("builtin.unrealized_conversion_cast", results=[type_],
                               operands=[value]).results[0]


def mark_arguments(ir, func, module, sparse):
    entry = next((op for op in module.body if isinstance(op, func.FuncOp)
                  and "private" not in str(op.attributes.get("sym_visibility"))), None)
    if not sparse:
        return
    arguments = list(entry.arguments) if entry is not None else []
    for number in sparse:
        if not isinstance(number, int) or not 0 <= number < len(arguments):
            raise Error(f"sparse={tuple(sparse)!r}: the program has {len(arguments)} arguments, "
                        "from 0 on")
        given, first = arguments[number], next(iter(entry.entry_block)).operation
        with ir.InsertionPoint(first):
            marked = make_mark(ir, given)
        # The first op that was made for the mark reads the argument itself.
        made = next(iter(entry.entry_block)).operation
        given.replace_all_uses_except(marked, made)


def replace_calls(ir, module):
    for op in list(walk(module)):
        if op.name != "stablehlo.custom_call":
            continue
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        if target != MARK:
            raise Error(f"StableHLO: a custom call of '{target}'; pit knows '{MARK}' only")
        if len(op.operands) not in (1, 2) or op.results[0].type != op.operands[0].type:
            raise Error(f"StableHLO: {MARK} takes a tensor, and maybe a mask of it, and returns "
                        f"the tensor; the program has {op.get_asm()[:200]}")
        with ir.InsertionPoint(op):
            marked = make_mark(ir, *op.operands)
        op.results[0].replace_all_uses_with(marked)
        op.erase()
