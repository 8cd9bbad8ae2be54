//===- Target.cpp - The machines that programs are compiled for -----------===//

#include "pit/Target/Target.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// CPUs
//===----------------------------------------------------------------------===//

static constexpr CpuTarget kCpus[] = {
    {"generic", /*vectorBits=*/128, /*vectorRegisters=*/16}, // SSE, NEON
    {"avx2", /*vectorBits=*/256, /*vectorRegisters=*/16},
    {"avx512", /*vectorBits=*/512, /*vectorRegisters=*/32},
    {"amx", /*vectorBits=*/512, /*vectorRegisters=*/32, /*amx=*/true},
};

static std::string listCpus() {
  return llvm::join(llvm::map_range(kCpus,
                                    [](const CpuTarget &cpu) {
                                      return (cpu.name + " (vectors of " +
                                              Twine(cpu.vectorBits) + " bits)")
                                          .str();
                                    }),
                    ", ");
}

std::optional<CpuTarget> pit::findCpuTarget(int64_t vectorBits, bool amx) {
  std::optional<CpuTarget> found;
  for (const CpuTarget &cpu : kCpus)
    if (cpu.vectorBits == vectorBits && (amx || !cpu.amx))
      found = cpu;
  return found;
}

std::optional<CpuTarget> pit::findCpuTarget(StringRef name) {
  for (const CpuTarget &cpu : kCpus)
    if (cpu.name == name)
      return cpu;
  return std::nullopt;
}

std::string pit::listCpuNames() {
  return llvm::join(
      llvm::map_range(kCpus, [](const CpuTarget &cpu) { return cpu.name; }),
      ", ");
}

std::string pit::getCpuName(int64_t vectorBits, bool amx) {
  std::optional<CpuTarget> cpu = findCpuTarget(vectorBits, amx);
  return cpu ? cpu->name.str()
             : "vectors of " + std::to_string(vectorBits) + " bits";
}

FailureOr<CpuTarget> pit::getCpuTarget(Location loc, int64_t vectorBits,
                                       bool amx) {
  if (std::optional<CpuTarget> cpu = findCpuTarget(vectorBits, amx))
    return *cpu;
  return emitError(loc) << "no CPU is known with vectors of " << vectorBits
                        << " bits; known are " << listCpus();
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

namespace {
/// Chips of one compute capability.
struct Capability {
  int64_t number;
  /// Letters of further chips: `a` for code that runs on no other one, `f` for
  /// code of a family.
  StringLiteral suffixes;
  int64_t multiprocessors; ///< of the largest one
  int64_t sharedKB;        ///< that a block may have
  int64_t l2MB;            ///< of the largest one's cache
  StringLiteral ptx;
};
} // namespace

static constexpr Capability kCapabilities[] = {
    {80, "", 108, 163, 40, "+ptx81"},    {86, "", 84, 99, 6, "+ptx81"},
    {87, "", 16, 163, 4, "+ptx81"},      {89, "", 142, 99, 96, "+ptx81"},
    {90, "a", 132, 227, 50, "+ptx81"},   {100, "af", 148, 227, 126, "+ptx87"},
    {101, "af", 20, 227, 32, "+ptx87"},  {103, "af", 160, 227, 126, "+ptx88"},
    {120, "af", 188, 99, 128, "+ptx88"}, {121, "af", 48, 99, 24, "+ptx88"},
};

static std::string nameOf(const Capability &capability, StringRef suffix) {
  return "sm_" + std::to_string(capability.number) + suffix.str();
}

static GpuTarget makeGpuTarget(const Capability &capability, StringRef suffix) {
  GpuTarget gpu;
  gpu.chip = nameOf(capability, suffix);
  gpu.capability = capability.number;
  gpu.isExact = suffix == "a";
  gpu.ptx = capability.ptx.str();
  if (suffix == "f")
    gpu.ptx = "+ptx88"; // the first that has families
  // wgmma is in sm_90a alone; sm_90 lacks it, and so do newer chips.
  gpu.wgmma = capability.number == 90 && suffix == "a";
  if (gpu.wgmma)
    gpu.ptx = "+ptx86"; // relaxed arrivals in other blocks of a cluster
  gpu.vectorAtomics = gpu.tf32Nearest = gpu.capability >= 90;
  gpu.multiprocessors = capability.multiprocessors;
  gpu.multiprocessorRegisters = 64 * 1024;
  gpu.blockSharedBytes = capability.sharedKB * 1024;
  gpu.l2Bytes = capability.l2MB << 20;
  bool hasMore = gpu.capability >= 90 && capability.sharedKB > 200;
  gpu.mainloopSharedBytes = (hasMore ? 200 : 96) * 1024;
  gpu.pairedSharedBytes = (hasMore ? 100 : 96) * 1024;
  return gpu;
}

SmallVector<std::string> pit::getGpuChips() {
  SmallVector<std::string> chips;
  for (const Capability &capability : kCapabilities) {
    chips.push_back(nameOf(capability, ""));
    for (char suffix : capability.suffixes)
      chips.push_back(nameOf(capability, StringRef(&suffix, 1)));
  }
  return chips;
}

static std::string listChips() { return llvm::join(getGpuChips(), ", "); }

std::optional<GpuTarget> pit::findGpuTarget(StringRef chip) {
  for (const Capability &capability : kCapabilities) {
    StringRef suffix = chip;
    if (suffix.consume_front(nameOf(capability, "")) &&
        (suffix.empty() ||
         (suffix.size() == 1 && capability.suffixes.contains(suffix))))
      return makeGpuTarget(capability, suffix);
  }
  return std::nullopt;
}

GpuTarget pit::getOldestGpuTarget() {
  return makeGpuTarget(kCapabilities[0], "");
}

std::string pit::describeUnknownChip(StringRef chip) {
  return ("chip '" + chip + "' is not known; known are " + listChips()).str();
}

FailureOr<GpuTarget> pit::getGpuTarget(Location loc, StringRef chip) {
  if (std::optional<GpuTarget> gpu = findGpuTarget(chip))
    return *gpu;
  return emitError(loc) << describeUnknownChip(chip);
}

FailureOr<Target> pit::getTarget(Location loc, StringRef name) {
  for (const CpuTarget &cpu : kCpus)
    if (cpu.name == name)
      return Target{cpu, std::nullopt};
  if (std::optional<GpuTarget> gpu = findGpuTarget(name))
    return Target{std::nullopt, *gpu};
  return emitError(loc) << "target '" << name
                        << "' is not known; known are the CPUs " << listCpus()
                        << " and the GPUs " << listChips();
}
