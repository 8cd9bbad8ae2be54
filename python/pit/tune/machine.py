"""The machine at hand: its kind of CPU and its caches."""

from pathlib import Path

from .. import _library

# kind: (bits of vectors, features as /proc/cpuinfo names them, how programs are compiled)
KINDS = {
    "generic": (128, [], {"cpu": "x86-64-v2"}),
    "avx2": (256, ["avx2", "fma", "bmi2"], {"cpu": "x86-64-v3"}),
    "avx512": (512, ["avx512f", "avx512bw", "avx512vl"],
               {"cpu": "native", "features": "-amx-bf16,-amx-int8"}),
    "amx": (512, ["amx_bf16", "amx_int8"], {"cpu": "native"}),
}
DEFAULT_CACHES = (1 << 20, 32 << 20)
# The cores of a package have a part each of a larger one.
MOST_LAST = 32 << 20


def read_cpuinfo():
    """(the name of the CPU, its features)."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown", set()
    found = dict(reversed([line.split(":", 1) for line in lines if ":" in line]))
    found = {key.strip(): value.strip() for key, value in found.items()}
    return found.get("model name", "unknown"), set(found.get("flags", "").split())


def kinds_here():
    """The kinds of CPU whose programs run here, the widest last."""
    _, features = read_cpuinfo()
    return [kind for kind, (_, needed, _) in KINDS.items() if features.issuperset(needed)]


def parse_size(text):
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


def read_caches():
    """Bytes of the second and of the last cache of a core."""
    sizes = {}
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            if (folder / "type").read_text().strip() != "Instruction":
                sizes[int((folder / "level").read_text())] = parse_size(
                    (folder / "size").read_text().strip())
        except (OSError, ValueError, IndexError):
            continue
    if 2 not in sizes:
        return DEFAULT_CACHES
    second, last = sizes[2], sizes[max(sizes)]
    return second, max(min(last, MOST_LAST), 4 * second)


def describe():
    name, _ = read_cpuinfo()
    return {"cpu": name, "caches": list(read_caches()), "pit": _library.runtime().pit_version().decode()}
