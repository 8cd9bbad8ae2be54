# Configuration of pit's lit tests. Run them with the target check-pit, or a
# part of them with `lit -v build/test --filter=Analysis`.
import importlib.util
import os
import platform
import sys

import lit.formats

config.name = "pit"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# Inputs holds data of the tests beside it, lib the sources of test tools.
config.excludes = ["Inputs", "lib"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.pit_obj_root

# FileCheck, not and mlir-opt are LLVM's; the project's own tools win.
config.environment["PATH"] = os.pathsep.join(
    [config.pit_tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
config.environment["FILECHECK_OPTS"] = "--dump-input=fail --enable-var-scope"
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(
    ("%pit_lib_dir", os.path.join(os.path.dirname(config.pit_obj_root), "lib")))
config.substitutions.append(
    ("%pit_plugin", os.path.join(config.pit_lib_dir, "PITPlugin.so")))
config.substitutions.append(
    ("%mlir_lib_dir", os.path.join(os.path.dirname(config.llvm_tools_dir), "lib")))
config.substitutions.append(
    ("%pit_run", os.path.join(config.pit_tools_dir, "pit-run")))
config.substitutions.append(
    ("%pit_tune", f"{sys.executable} {os.path.join(config.pit_tools_dir, 'pit-tune')}"))
config.substitutions.append(("%pit_src_root", os.path.dirname(config.test_source_root)))

# The driver without a device; what it was given is not for real ones.
fake_cuda = os.path.join(config.pit_obj_root, "Runtime", "pit_fake_cuda.so")
config.substitutions.append(("%pit_fake_cuda", fake_cuda))
if os.path.exists(fake_cuda):
    config.available_features.add("pit-fake-cuda")
config.substitutions.append(("%runtime_tests", os.path.join(config.pit_obj_root, "Runtime")))
emulator = os.path.join(config.pit_obj_root, "Emulator", "lib")
config.substitutions.append(("%pit_emulator", emulator))
if os.path.exists(os.path.join(emulator, "libcuda.so.1")):
    config.available_features.add("pit-emulator")
config.environment["PIT_CACHE_DIR"] = ""
# Threads that wait for work would keep a core from the tests beside them.
config.environment["OMP_WAIT_POLICY"] = "passive"

# `%one-of:N` has a script take every N-th of its cases, from a random one on. `lit -Dlong`
# has it take all; so does `tools/check.sh long`.
is_long = "long" in lit_config.params
for number in range(2, 10):
    config.substitutions.append((f"%one-of:{number}", f"--one-of={1 if is_long else number}"))

# `%unoptimized` is for a run of a program whose optimized code another run of the same test has.
config.substitutions.append(("%unoptimized", "" if is_long else "--opt-level=0"))

for chip in ["sm_80", "sm_90"]:
    config.substitutions.append(
        (f"%pit_index_{chip}", os.path.join(config.pit_index_dir, f"Index-{chip}.ptx")))

if platform.machine() in ("x86_64", "AMD64"):
    config.available_features.add("x86")

# A test that needs a Python package says `REQUIRES: numpy`.
for package in ["jax", "matplotlib", "ml_dtypes", "mypy", "numpy", "torch", "transformers", "triton"]:
    if importlib.util.find_spec(package):
        config.available_features.add(package)

# A test that needs a tool says `REQUIRES: pit-run`.
for tool in ["pit-opt", "pit-run", "pit-compile", "pit-bench", "pit-test-analysis"]:
    if os.path.exists(os.path.join(config.pit_tools_dir, tool)):
        config.available_features.add(tool)

# What pit-bench was configured with; a variable of what is not there ends in
# -NOTFOUND.
for peer, found in [("onednn", config.pit_onednn), ("csr", config.pit_mlir_opt)]:
    if os.path.exists(found):
        config.available_features.add("pit-bench-" + peer)
# Its other peer is loaded at run time.
torch = importlib.util.find_spec("torch")
for folder in torch.submodule_search_locations if torch else []:
    library = os.path.join(folder, "lib", "libtorch_cpu.so")
    if os.path.exists(library):
        config.available_features.add("pit-bench-torch")
        config.substitutions.append(("%libtorch", library))

# The sanitizer that programs of sanitize=address need of their process.
if os.path.exists(config.pit_asan):
    config.available_features.add("asan")
    config.substitutions.append(("%asan", config.pit_asan))

# Without the assembler its variable ends in -NOTFOUND.
if os.path.exists(config.pit_ptxas):
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", config.pit_ptxas))
    config.environment["PIT_PTXAS"] = config.pit_ptxas

# So does that of its library of device functions.
if os.path.exists(config.pit_libdevice):
    config.available_features.add("libdevice")
    config.environment["PIT_LIBDEVICE"] = config.pit_libdevice
