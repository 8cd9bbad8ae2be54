//===- Torch.h - PyTorch as a peer ----------------------------------------===//

#ifndef PIT_TOOLS_BENCH_TORCH_H
#define PIT_TOOLS_BENCH_TORCH_H

#include "Gemm.h"

/// Loads PyTorch, of which `path` is libtorch_cpu.so, for the rest of the
/// process. Prints an error and returns false if it cannot.
bool torch_open(const char *path);
bool torch_is_open(void);

/// Products, on the threads that OpenMP gives; after `torch_open`.
const gemm_library *torch_gemm(void);

#endif // PIT_TOOLS_BENCH_TORCH_H
