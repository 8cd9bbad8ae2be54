#!/usr/bin/env python3
"""Products of operands that TMA or wgmma cannot take as they lie in memory: rows of odd
lengths, and tf32 and 8-bit floats with B stored [k, n]. And of few rows, or one column.
Beside cuBLAS, by torch, pit's portable kernel, pit where nothing has to be copied, and, of few
rows, pit's program for any number of them. Microseconds of a call, the median of rounds in turns,
by CUDA graphs over operand sets that rotate, and the error of 64 rows against float64.

    operands.py [--only REGEX] [--rounds 7]
    operands.py --write FOLDER [--only REGEX]    # compiles where no GPU is
    operands.py --programs FOLDER [...]          # and takes these where no compiler is
"""

import argparse
import concurrent.futures
import re
import statistics
from pathlib import Path

import pit

MLIR = {"f16": ("f16", "f16"), "f32": ("f32", "f32"), "tf32": ("f32", "f32"),
        "e4m3": ("f8E4M3FN", "bf16")}
TORCH = {"f16": "float16", "f32": "float32", "tf32": "float32", "e4m3": "float8_e4m3fn"}
# Type, how B is stored, extents.
CASES = [("f16", "kn", (4095, 4095, 4095)), ("f16", "nk", (4095, 4095, 4095)),
         ("f16", "kn", (8191, 8191, 8191)), ("tf32", "kn", (4096, 4096, 4096)),
         ("tf32", "kn", (8192, 8192, 8192)), ("tf32", "kn", (4095, 4095, 4095)),
         ("e4m3", "kn", (4096, 4096, 4096)), ("e4m3", "kn", (8192, 8192, 8192))]
CASES += [(type_, "kn", (rows, size, size)) for type_, size in (("f16", 4095), ("tf32", 4096))
          for rows in (4, 16, 64, 256)] + [("e4m3", "kn", (rows, 4096, 4096)) for rows in (4, 64)]
CASES += [("f16", order, (rows, n, k)) for n, k in ((4096, 4096), (14336, 4096), (4096, 14336))
          for order in ("kn", "nk") for rows in (1, 2, 16, 64, 128, 256, 512)]
CASES += [("f16", order, (4096, 1, 4096)) for order in ("kn", "nk")]
CASES += [("f32", order, (rows, n, 4096)) for n in (4096, 11008) for order in ("kn", "nk")
          for rows in (1, 4, 16, 64, 256)]
CASES += [("tf32", order, (rows, 4096, 4096)) for order in ("kn", "nk")
          for rows in (1, 16, 64, 128, 256, 512)]
CASES = list(dict.fromkeys(CASES))
CALLS = 12  # of a graph
FEW = 1024  # rows

PRODUCT = """
func.func @f(%a: tensor<{m}x{k}x{t}>, %b: tensor<{b}x{t}>) -> tensor<{m}x{n}x{r}> {{
  %zero = arith.constant 0.0 : {s}
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<{m}x{k}x{t}>
  %e = tensor.empty({dim}) : tensor<{m}x{n}x{s}>
  %c = linalg.fill ins(%zero : {s}) outs(%e : tensor<{m}x{n}x{s}>) -> tensor<{m}x{n}x{s}>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> {map}>,
                                      affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %b : tensor<{m}x{k}x{t}>, tensor<{b}x{t}>) outs(%c : tensor<{m}x{n}x{s}>) -> tensor<{m}x{n}x{s}>
{end}
}}
"""
NARROWED = """  %q = arith.truncf %p : tensor<{m}x{n}xf32> to tensor<{m}x{n}x{r}>
  return %q : tensor<{m}x{n}x{r}>"""


def text(type_, order, extents):
    """The product; rows that are not known are `?`."""
    element, result = MLIR[type_]
    sizes = dict(zip("mnk", extents))
    fields = {**sizes, "dim": "%m" if extents[0] == "?" else "",
              "t": element, "r": result, "s": "f32" if type_ == "e4m3" else result,
              "b": "x".join(str(sizes[d]) for d in order), "map": f"({order[0]}, {order[1]})"}
    end = NARROWED if type_ == "e4m3" else "  return %p : tensor<{m}x{n}x{r}>"
    return PRODUCT.format(**fields, end=end.format(**fields))


def for_any_rows(case):
    type_, order, (_, n, k) = case
    return type_, order, ("?", n, k)


def jobs_of(case):
    """The programs to compile: cases with the chip that they are for."""
    jobs = [(case, "sm_90a"), (case, "sm_90"), (aligned(case), "sm_90a")]
    return jobs + [(for_any_rows(case), "sm_90a")] if case[2][0] <= FEW else jobs


def file_of(job):
    (type_, order, extents), chip = job
    return f"{type_}-{order}-{'x'.join(map(str, extents))}-{chip}.so".replace("?", "any")


def options_of(job):
    (type_, _, _), chip = job
    return {"target": "cuda", "chip": chip} | (
        {"pipeline": "tf32=true"} if type_ == "tf32" else {})


def write(job, folder):
    pit.Compiler().write(text(*job[0]), "so", folder / file_of(job), cpu="x86-64-v3",
                         **options_of(job))


def load(job, folder):
    if folder:
        return pit.load(str(folder / file_of(job)))
    return pit.Compiler().compile(text(*job[0]), **options_of(job))


def draw(shape, type_):
    import torch
    return torch.randn(*shape, device="cuda").to(getattr(torch, TORCH[type_]))


def graph_of(call, sets):
    import torch
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for operands in sets:
            call(*operands)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(CALLS):
            call(*sets[i % len(sets)])
    return graph


def microseconds(graph):
    import torch
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / CALLS


def aligned(case):
    """The same product where nothing has to be copied."""
    type_, order, (m, n, k) = case
    up = lambda extent: -(-extent // 16) * 16
    return type_, order if type_ in ("f16", "f32") else "nk", (m, up(n), up(k))


def contestants(case, programs):
    import torch
    type_, order, (m, n, k) = case

    def of_pit(case, chip, compiled=None):
        type_, order, extents = case
        m, n, _ = extents
        shape = [dict(zip("mnk", extents))[d] for d in order]
        dtype = torch.bfloat16 if type_ == "e4m3" else getattr(torch, TORCH[type_])
        out = torch.empty(m, n, device="cuda", dtype=dtype)
        program = programs[compiled or case, chip]
        sets = [(draw((m, extents[2]), type_), draw(shape, type_)) for _ in range(3)]
        return lambda a, b: program.f(a, b, out=out), sets

    call, sets = of_pit(case, "sm_90a")
    calls = {"pit": (call, sets), "pit, portable kernel": (of_pit(case, "sm_90")[0], sets)}
    if m <= FEW:
        calls["pit, any rows"] = (of_pit(case, "sm_90a", for_any_rows(case))[0], sets)
    if aligned(case) != case:
        calls["pit, nothing copied"] = of_pit(aligned(case), "sm_90a")
    if type_ == "e4m3":
        one = torch.ones((), device="cuda")
        product = lambda a, b: torch._scaled_mm(a, b, scale_a=one, scale_b=one,
                                                out_dtype=torch.bfloat16)
        calls["_scaled_mm, B [n, k]"] = (lambda a, b: product(a, b.t()),
                                         [(a, b.t().contiguous()) for a, b in sets])
        calls["B.t().contiguous(), _scaled_mm"] = (
            lambda a, b: product(a, b.t().contiguous().t()), sets)
    else:
        calls["cuBLAS"] = (lambda a, b: torch.matmul(a, b if order == "kn" else b.t()), sets)
    return calls


def error(result, a, b):
    import torch
    rows = torch.randperm(a.shape[0], device="cuda")[:64]
    wanted = a[rows].double() @ b.double()
    return ((result[rows].double() - wanted).norm() / wanted.norm()).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", type=re.compile)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--programs", type=Path)
    arguments = parser.parse_args()
    name_of = lambda case: f"{case[0]} {'x'.join(map(str, case[2]))}, B [{', '.join(case[1])}]"
    cases = [case for case in CASES if arguments.only.search(name_of(case))]
    jobs = list(dict.fromkeys(job for case in cases for job in jobs_of(case)))
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        if arguments.write:
            arguments.write.mkdir(parents=True, exist_ok=True)
            list(pool.map(lambda job: write(job, arguments.write), jobs))
            print(f"{len(jobs)} programs in {arguments.write}")
            return
        programs = dict(zip(jobs, pool.map(lambda job: load(job, arguments.programs), jobs)))
    import torch
    torch.manual_seed(0)
    print(torch.cuda.get_device_name(), torch.__version__)
    for case in cases:
        torch.backends.cuda.matmul.allow_tf32 = case[0] == "tf32"
        calls = contestants(case, programs)
        (call, sets), order = calls["pit"], case[1]
        off = error(call(*sets[0]), sets[0][0], sets[0][1] if order == "kn" else sets[0][1].t())
        graphs = {name: graph_of(*of) for name, of in calls.items()}
        times = {name: [] for name in graphs}
        for _ in range(arguments.rounds):
            for name, graph in graphs.items():
                times[name].append(microseconds(graph))
        told = "; ".join(f"{name} {statistics.median(found):.1f}" for name, found in times.items())
        print(f"{name_of(case):32} {told}; off by {off:.2g}", flush=True)
        del graphs, calls, call, sets
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
