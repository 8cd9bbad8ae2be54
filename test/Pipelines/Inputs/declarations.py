"""Runs all passes of pit, one after another, on declarations: declarations.py PIT-OPT"""

import re
import subprocess
import sys

PROGRAM = """
func.func private @on_tensors(tensor<4xf32>) -> tensor<4xf32>
func.func private @on_memrefs(memref<4xf32>)
func.func private @by_index(!pit.index<micro_tile = [1, *], axis = 0>)
module @pit_kernels attributes {pit.kernels} {
  func.func private @kernel(memref<8xindex>)
}
"""
# Pipelines, some of which leave no func.func, and what does nothing without options.
OTHERS = re.compile(r"pit-(to|functions-to|kernels-to|tiles-to|list|run-where)\b")

opt = sys.argv[1]
text = subprocess.run([opt, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
passes = [name for name in re.findall(r"^ +--(pit-[a-z0-9-]+)", text, re.MULTILINE)
          if not OTHERS.match(name)]
done = subprocess.run([opt, "-", *(f"--{name}" for name in passes)], input=PROGRAM, text=True)
print(len(passes), "passes")
sys.exit(done.returncode != 0)
