# RUN: %cc -shared -fPIC %S/../CAPI/Inputs/other_llvm.c -o %t.so
# RUN: env PIT_TEST_OTHER_LLVM=%t.so %python %s
# REQUIRES: pit-compile
"""The package in a process with other libraries that contain an LLVM or an OpenMP
library. Each order of loading has a process of its own."""

import importlib.util
import os
import subprocess
import sys
import unittest
from pathlib import Path

COMMON = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2] / 'python')!r})" + """
import ctypes, os
import numpy as np

def use_pit():
    import pit
    program = pit.compile('''
        func.func @f(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
          %s = pit.sparse %x : tensor<64x64xf32>
          %z = arith.constant dense<0.0> : tensor<64x64xf32>
          %r = linalg.matmul ins(%s, %x : tensor<64x64xf32>, tensor<64x64xf32>)
                 outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
          return %r : tensor<64x64xf32>
        }''', opt_level=use_pit.level)
    use_pit.level = 0  # all of LLVM has run once
    x = 2 * np.eye(64, dtype=np.float32)
    for threads in (1, 2):
        assert np.array_equal(program.f(x, context=pit.Context(threads=threads)), 2 * x)

use_pit.level = 3

def use_llvm(mode=ctypes.RTLD_LOCAL):
    other = ctypes.CDLL(os.environ["PIT_TEST_OTHER_LLVM"], mode=mode)
    # Its functions are called by itself, and by nobody else.
    use_llvm.times += 1
    assert other.other_llvm_use() == 101 * use_llvm.times

use_llvm.times = 0

def use_torch():
    import torch
    x = torch.ones(300, 300)
    assert torch.equal(x @ x, 300 * x)
    assert torch.equal(torch.compile(lambda a: a + 1, backend="eager")(x), 2 * x)

def use_triton(mode=os.RTLD_LOCAL):
    before = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_NOW | mode)
    import triton._C.libtriton as library
    sys.setdlopenflags(before)
    library.ir.load_dialects(library.ir.context())

def use_jax():
    import jax
    x = jax.numpy.ones((30, 30))
    assert (jax.jit(lambda a: a @ a)(x) == 30).all()
"""


def has(module):
    return unittest.skipUnless(importlib.util.find_spec(module), f"{module} is not installed")


class Processes(unittest.TestCase):
    def run_process(self, text, **environment):
        return subprocess.run([sys.executable, "-c", COMMON + text], capture_output=True,
                              text=True, env={**os.environ, **environment})

    def check(self, text):
        with self.subTest(text=text):
            made = self.run_process(text)
            self.assertEqual(made.returncode, 0, made.stderr)

    def check_orders(self, *others):
        for other in others:
            self.check(f"use_pit(); {other}; use_pit(); {other}")
            self.check(f"{other}; use_pit(); {other}; use_pit()")

    def test_another_llvm(self):
        self.check_orders("use_llvm()", "use_llvm(ctypes.RTLD_GLOBAL)")

    def test_nothing_is_made_visible(self):
        self.check("""
use_pit()
for name in ("pit_rt_enter", "pit_compile_program", "__kmpc_fork_call", "omp_get_thread_num",
             "GOMP_parallel", "LLVMContextCreate"):
    assert not hasattr(ctypes.CDLL(None), name), name
""")

    def test_another_openmp(self):
        # What Intel's library in MKL leaves behind, as libomp does: a word that is in
        # memory as long as the library is.
        text = """
word = ctypes.c_uint32(0xCAFE0000)
shared = f"/dev/shm/__KMP_REGISTERED_LIB_{os.getpid()}_{os.getuid()}"
with open(shared, "w") as file:
    file.write(f"{ctypes.addressof(word):#x}-{word.value:x}-libother.so")
try:
    use_pit()
finally:
    os.unlink(shared)
"""
        self.check(text)
        refused = self.run_process(text, KMP_DUPLICATE_LIB_OK="FALSE")
        self.assertIn("libother.so already initialized", refused.stderr)

    @has("torch")
    def test_torch(self):
        self.check_orders("use_torch()")

    @has("triton")
    def test_triton(self):
        self.check_orders("use_triton()", "use_triton(os.RTLD_GLOBAL)")

    @has("jax")
    def test_jax(self):
        self.check_orders("use_jax()")


if __name__ == "__main__":
    unittest.main()
