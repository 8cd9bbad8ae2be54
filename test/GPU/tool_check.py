"""What check_gpu.py asks of pit-run: programs that were compiled ahead of time, on
arguments of the host, compared with their dense form on the CPU."""

# By function of test/Python/Inputs/functions.mlir.
ARGUMENTS = {
    "matmul": ("random(300x200,f32,sparsity=0.7,micro=1x*,seed=1)", "random(200x150,f32,seed=2)",
               "random(300x150,f32,seed=3)"),
    "indexed": ("random(300x70,f32,sparsity=0.6,micro=1x*,seed=1)", "random(70x4,f32,seed=2)",
                "random(300x70,f32,sparsity=0.6,micro=1x*,seed=1)", "zeros(300x4,f32)"),
    "scaled": ("random(1000,f32,seed=1)", "-3", "2.5", "0.5", "-1.5", "12345678901"),
    "rows": ("70", "random(4,f32)"),
    "masked": ("random(2000,f32,low=0,seed=1)", "random(2000,bool,sparsity=0.9,seed=2)"),
    **{f"double_{dtype}": (f"random(333,{dtype},low=-60,high=60)",)
       for dtype in ("f64", "f32", "f16", "bf16", "i8", "i16", "i32", "i64")},
}


def cases(artifacts, device):
    """(name, command, what it has to end with and to print) of each run."""
    tool = artifacts / "bin" / "pit-run"
    target = "cuda" if device == "cuda" else "cpu"
    for entry, arguments in ARGUMENTS.items():
        command = [tool, artifacts / "functions.so", f"--target={target}", f"--entry={entry}",
                   *(f"--arg={a}" for a in arguments), "--repeat=5", "--stats",
                   f"--check={artifacts / 'functions-dense.so'}"]
        yield entry, command, 0, "check: result 0: "
    if device == "cuda":
        yield ("no such device", [tool, artifacts / "functions.so", "--entry=rows", "--device=99"],
               1, "pit-run: error: cuda: device_id is 99; this machine has ")
