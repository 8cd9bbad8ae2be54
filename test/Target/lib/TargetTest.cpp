//===- TargetTest.cpp - Descriptions of machines --------------------------===//
//
// Checks what the passes rely on of every machine, and that LLVM knows each
// chip by the version of PTX that the description names.
//
//===----------------------------------------------------------------------===//

#include "pit/Target/Target.h"

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

#include <cstdio>

using namespace mlir;
using namespace mlir::pit;

static int failures = 0;

static void expect(bool holds, const std::string &what) {
  if (holds)
    return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

static void checkCpus() {
  expect(!findCpuTarget(384), "no CPU has vectors of 384 bits");
  for (int64_t bits : {128, 256, 512}) {
    std::optional<CpuTarget> cpu = findCpuTarget(bits);
    expect(cpu && cpu->vectorBits == bits && !cpu->amx,
           "a CPU has vectors of " + std::to_string(bits) + " bits");
    // A tile register's row is as wide as a vector of AVX-512.
    std::optional<CpuTarget> tiles = findCpuTarget(bits, /*amx=*/true);
    expect(tiles && tiles->amx == (bits == 512),
           "tile registers come with vectors of 512 bits only");
    expect(findCpuTarget(getCpuName(bits, /*amx=*/true)).has_value(),
           "it has a name");
  }
  expect(!findCpuTarget("bf16"), "an element type is no CPU");
}

static void checkGpus() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTargetMC();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const llvm::Target *nvptx =
      llvm::TargetRegistry::lookupTarget(triple, message);
  expect(nvptx, message);
  SmallVector<std::string> chips = getGpuChips();
  expect(getOldestGpuTarget().chip == chips.front(), "the first is the oldest");
  for (const std::string &chip : chips) {
    GpuTarget gpu = *findGpuTarget(chip);
    std::unique_ptr<llvm::MCSubtargetInfo> info(
        nvptx->createMCSubtargetInfo(triple, chip, gpu.ptx));
    expect(info->isCPUStringValid(chip), "LLVM knows " + chip);
    expect(gpu.chip == chip, chip + " has its own description");
    expect(gpu.wgmma == (chip == "sm_90a"), "wgmma on " + chip);
    expect(gpu.isExact == StringRef(chip).ends_with("a"), "newer than " + chip);
    expect(kPortableSharedBytes <= gpu.blockSharedBytes,
           chip + " has the portable shared memory");
    expect(gpu.mainloopSharedBytes <= gpu.blockSharedBytes,
           chip + " has the shared memory of a mainloop");
    expect(gpu.pairedSharedBytes <= gpu.mainloopSharedBytes,
           chip + " has that of one of two blocks");
  }
  for (StringRef unknown : {"", "sm_75", "sm_80a", "sm_90f", "sm_999", "80"})
    expect(!findGpuTarget(unknown), "'" + unknown.str() + "' is no chip");
}

int main() {
  checkCpus();
  checkGpus();
  if (!failures)
    std::printf("targets: ok\n");
  return failures != 0;
}
