"""Parses the examples of docs/Dialect.md and docs/DialectGPU.md, for Examples.test.

    examples.py PAGE           prints each op without an example, each example that
                               does not parse, and how many do

An example shows a few ops. Values that it uses but does not define are defined
behind it, which the region of a module allows; their types are those that the
parser says it met before.
"""

import re
import subprocess
import sys

USED = re.compile(r"%([A-Za-z_]\w*)")
WANTED = re.compile(r"definition of SSA value '%(\w+)#0' has type .*?"
                    r"previously used here with type '(.*?)'\n", re.S)


#: Types that examples of the pipeline level call by a name.
ALIASES = {
    "!a": "!pit_gpu.tile<64x64xbf16, swizzle = 128>",
    "!b": "!pit_gpu.tile<64x256xbf16, swizzle = 128>",
    "!ring": "!pit_gpu.ring<4, [!pit_gpu.tile<128x64xbf16, swizzle = 128>, !b]>",
    "!stage": "!pit_gpu.stage<[!pit_gpu.tile<128x64xbf16, swizzle = 128>, !b]>",
    "!ring_of_block": "!pit_gpu.ring<3, [!pit_gpu.row_tile<128x32xf16>], block>",
    "!stage_of_block": "!pit_gpu.stage<[!pit_gpu.row_tile<128x32xf16>], block>",
    "!stage_of_sums": "!pit_gpu.stage<[!pit_gpu.accumulator<128x256xf32, tensor_memory>]>",
    "!map": "!pit_gpu.tensor_map<128x64xbf16, swizzle = 128>",
    "!sums": "!pit_gpu.accumulator<64x256xf32>",
}
#: Errors of an op that stands alone: it has no role, no space, and no argument of a kernel.
ALONE = re.compile(r"\[(roles 4|protocol \d|tensor_map 1|warpgroup 1|hand_over 1|sync 1|"
                   r"load_rows 3|thread 1|warp 1|count_tiles 1|tile_of 1|list_tiles 3|"
                   r"await_splits 1)\]")
UNVERIFIED = ["--mlir-very-unsafe-disable-verifier-on-parsing", "--verify-each=false"]


def examples(text):
    """Yields the title and the text of each example."""
    title = ""
    pattern = (r"^### ([^\n]*)$|^```mlir\n(.*?)^```$|"
               r"^Example: `([^\n]*)`$")
    for match in re.finditer(pattern, text, re.M | re.S):
        if match[1]:
            title = match[1]
        else:
            yield title, match[2] or match[3]


def module(example, types):
    """The example as a module, with values of these types."""
    if example.startswith("#"):
        lines = example.splitlines()
        body = "\n".join(f'"doc.op"() {{a = {a}}} : () -> ()' for a in lines)
    elif example.startswith("!"):
        body = "\n".join(f'%doc{i} = "doc.op"() : () -> {type}'
                         for i, type in enumerate(re.sub(r"\n +", " ", example).splitlines()))
    elif re.match(r"pit(_gpu)?\.yield", example):
        # It ends a loop; what the loop does is not its matter.
        body = f'"doc.op"() ({{\n{example}\n}}) : () -> ()'
    else:
        body = example
    values = [f'%{name} = "doc.op"() : () -> {type}'
              for name, type in types.items()]
    used = {name for name in ALIASES if re.search(name + r"\b", example)}
    used |= {"!b"} if used & {"!ring", "!stage"} else set()
    aliases = [f"{name} = {type}" for name, type in ALIASES.items() if name in used]
    return "\n".join(aliases + [body] + values) + "\n"


def parse(text, options):
    command = ["pit-opt", "--allow-unregistered-dialect", "-o", "/dev/null"]
    return subprocess.run(command + options, input=text, text=True,
                          capture_output=True).stderr


def check(example):
    """Returns why the example does not parse, or an empty string."""
    defined = {m for results in re.findall(r"^ *(%[%\w:, ]+) = ", example, re.M)
               for m in USED.findall(results)}
    bound = {m for m in re.findall(r"%(\w+) at %", example)}
    bound |= {m for m in re.findall(r" at %(\w+)", example)}
    bound |= {m for m in re.findall(r"[(,] ?%(\w+) = ", example)}
    bound |= {m for group in re.findall(r"forall \(([^)]*)\) =", example)
              for m in USED.findall(group)}
    bound |= {m for group in re.findall(r"tiles \(([^)]*)\) to", example)
              for m in USED.findall(group)}
    bound |= {m for m in re.findall(r"[(,] ?%(\w+): ", example)}
    free = [n for n in dict.fromkeys(USED.findall(example))
            if n not in defined | bound]
    types = {name: "!doc.unknown" for name in free}
    # A loop's terminator and a kernel's name mean nothing by themselves.
    alone = re.match(r"pit(_gpu)?\.yield", example) or "pit.launch" in example
    options = UNVERIFIED if alone else []
    for _ in range(len(types) + 1):
        errors = parse(module(example, types), options)
        if ALONE.search(errors):
            options = UNVERIFIED
            errors = parse(module(example, types), options)
        wanted = WANTED.search(errors)
        if not wanted or types.get(wanted[1]) != "!doc.unknown":
            return errors
        types[wanted[1]] = wanted[2]
    return errors


text = open(sys.argv[1], encoding="utf-8").read()
count = 0
shown = set()
for title, example in examples(text):
    errors = check(example)
    count += not errors
    shown.add(title)
    if errors:
        print(f"{title}: this example does not parse:\n{example}\n{errors}")
for title in re.findall(r"^### (`pit(?:_gpu)?\.[^\n]*)$", text, re.M):
    if title not in shown:
        print(f"{title}: there is no example")
print(f"{count} examples parse")
