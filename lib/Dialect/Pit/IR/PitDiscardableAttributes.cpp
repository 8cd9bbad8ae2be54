//===- PitDiscardableAttributes.cpp - What passes tell each other ---------===//

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::pit;

/// TMA copies boxes of at most so many dimensions and elements along each.
static constexpr int64_t kMaxRank = 5, kMaxBox = 256;

namespace {

/// One attribute of one op.
class Verifier {
public:
  Verifier(Operation *op, NamedAttribute attr)
      : op(op), name(attr.getName()), value(attr.getValue()) {}

  bool isHopperSchedule() {
    auto ofBody = dyn_cast<AmpereScheduleAttr>(value);
    return isa<HopperScheduleAttr>(value) ||
           (ofBody && ofBody.getProducers() > 0);
  }

  LogicalResult run() {
    if (name == kScheduleAttrName)
      return checkSchedule();
    if (name == kHopperScheduleAttrName)
      return failure(failed(on<MainloopOp>("a pit.mainloop")) ||
                     failed(check(isHopperSchedule(),
                                  "a #pit.hopper_schedule, or of a tile body "
                                  "a #pit.ampere_schedule with producers")));
    if (name == kRuleAttrName)
      return check(isa<RuleAttr>(value), "a #pit.rule");
    if (name == kKernelsAttrName)
      return failure(failed(onModule()) || failed(isUnit()));
    if (name == kDeviceAttrName)
      return failure(
          failed(on<FunctionOpInterface>("a function")) ||
          failed(check(value == StringAttr::get(op->getContext(), "cuda"),
                       "\"cuda\"")));
    if (name == kFillsForNextAttrName)
      return failure(failed(on<LaunchOp>("a pit.launch")) || failed(isUnit()));
    if (name == kSplitAttrName || name == kPersistentAttrName ||
        name == kProgrammaticLaunchAttrName || name == kPredicatedAttrName)
      return failure(failed(onKernel()) || failed(isUnit()));
    if (name == kHopperAttrName)
      return failure(failed(onKernel()) ||
                     failed(check(isa<FlatSymbolRefAttr>(value),
                                  "the name of a kernel of the same module")));
    if (name == kTensorMapsAttrName)
      return checkTensorMaps();
    return checkNumber();
  }

private:
  InFlightDiagnostic fail() {
    return op->emitOpError() << "has " << name << " = " << value << "; ";
  }
  LogicalResult check(bool holds, const Twine &right) {
    if (holds)
      return success();
    return fail() << "it has to be " << right;
  }
  template <typename OpTy> LogicalResult on(StringRef right) {
    if (isa<OpTy>(op))
      return success();
    return op->emitOpError() << "has " << name << ", which is for " << right;
  }
  /// The dialect does not depend on that of gpu.module.
  LogicalResult onModule() {
    if (op->getName().getStringRef() == "gpu.module")
      return success();
    return on<ModuleOp>("a module");
  }
  LogicalResult onKernel() {
    return on<FunctionOpInterface>("a kernel, a function");
  }
  LogicalResult isUnit() {
    return check(isa<UnitAttr>(value), "without a value");
  }
  unsigned numArguments() {
    return cast<FunctionOpInterface>(op).getNumArguments();
  }

  /// An i64 from `least` to `most`, a multiple of `unit`.
  LogicalResult checkRange(int64_t least, int64_t most, int64_t unit,
                           const Twine &right) {
    auto number = dyn_cast<IntegerAttr>(value);
    return check(number && number.getType().isInteger(64) &&
                     number.getInt() >= least && number.getInt() <= most &&
                     number.getInt() % unit == 0,
                 right);
  }

  LogicalResult checkNumber() {
    constexpr int64_t any = std::numeric_limits<int64_t>::max();
    bool isThreads = name == kThreadsAttrName, isBytes = false;
    for (StringRef bytes :
         {kSharedBytesAttrName, kScratchBytesAttrName, kPartialBytesAttrName})
      isBytes |= name == bytes;
    if (!isThreads && !isBytes && name != kBlocksAttrName &&
        name != kPartsAttrName && name != kClusterAttrName &&
        name != kFillsAttrName && name != kFillsAtMostAttrName)
      return success(); // of the calling convention
    if (failed(onKernel()))
      return failure();
    if (isThreads)
      return checkRange(32, 1024, 32, "a multiple of 32 up to 1024, of i64");
    if (isBytes)
      return checkRange(0, any, 1, "0 or more bytes, of i64");
    if (name == kBlocksAttrName)
      return checkRange(1, any, 1, "1 block or more, of i64");
    if (name == kPartsAttrName)
      return checkRange(1, any, 1, "1 part or more, of i64");
    if (name == kClusterAttrName)
      return checkRange(1, 16, 1, "1 to 16 blocks, of i64");
    if (name == kFillsAtMostAttrName)
      return checkRange(1, any, 1, "1 element or more, of i64");
    return checkRange(0, int64_t(numArguments()) - 1, 1,
                      "the number of one of its " + Twine(numArguments()) +
                          " arguments, of i64");
  }

  LogicalResult checkSchedule() {
    if (failed(on<MainloopOp>("a pit.mainloop")))
      return failure();
    if (auto schedule = dyn_cast<CpuScheduleAttr>(value))
      return checkCpuSchedule(schedule);
    return check(isa<AmpereScheduleAttr>(value),
                 "a #pit.cpu_schedule or a #pit.ampere_schedule");
  }

  /// Each dimension of the tile has one part in the schedule.
  LogicalResult checkCpuSchedule(CpuScheduleAttr schedule) {
    ContractOp contraction;
    cast<MainloopOp>(op).getCompute().walk(
        [&](ContractOp inside) { contraction = inside; });
    if (!contraction)
      return success(); // which the mainloop itself is not
    SmallVector<int64_t> dims = schedule.getDims();
    llvm::sort(dims);
    int64_t count = contraction.getTile().size();
    if (!llvm::equal(dims, llvm::seq<int64_t>(0, count)))
      return fail() << "m, n, batch and k have to be the tile's " << count
                    << " dimensions, each once";
    unsigned b = 1 - schedule.getA();
    int64_t rank =
        cast<VectorType>(contraction->getOperand(b).getType()).getRank();
    if (schedule.getLane() >= rank)
      return fail() << "lane has to be one of the " << rank
                    << " dimensions of operand " << b;
    return success();
  }

  LogicalResult checkTensorMaps() {
    if (failed(onKernel()))
      return failure();
    auto entries = dyn_cast<ArrayAttr>(value);
    if (!entries)
      return check(false, "a list of tensor maps");
    for (unsigned i = 0; i < entries.size(); ++i) {
      Attribute entry = entries[i];
      auto fields = dyn_cast<DictionaryAttr>(entry);
      auto argument = fields ? fields.getAs<IntegerAttr>("argument") : nullptr;
      auto box = fields ? fields.getAs<DenseI64ArrayAttr>("box") : nullptr;
      auto swizzle = fields ? fields.getAs<IntegerAttr>("swizzle") : nullptr;
      auto failEntry = [&]() {
        return op->emitOpError() << "has tensor map " << i << " = " << entry
                                 << " in " << name << "; ";
      };
      if (!argument || !box || !swizzle)
        return failEntry() << "{argument = 0 : i64, box = array<i64: 64, 64>, "
                              "swizzle = 128 : i64} is right";
      if (argument.getInt() < 0 || argument.getInt() >= numArguments())
        return failEntry() << "argument has to be one of its "
                           << numArguments();
      if (box.empty() || box.size() > kMaxRank ||
          !llvm::all_of(box.asArrayRef(), [](int64_t extent) {
            return extent >= 1 && extent <= kMaxBox;
          }))
        return failEntry() << "box has to have 1 to " << kMaxRank
                           << " extents of 1 to " << kMaxBox;
      if (!llvm::is_contained({0, 32, 64, 128}, swizzle.getInt()))
        return failEntry() << "swizzle has to be 0, 32, 64 or 128 bytes";
      int64_t rank = box.size();
      if (fields.contains("along_k")) {
        auto alongK = fields.getAs<IntegerAttr>("along_k");
        if (!alongK || alongK.getInt() < 0 || alongK.getInt() >= rank)
          return failEntry()
                 << "along_k has to be one of the " << rank << " dimensions";
      }
      if (fields.contains("order")) {
        auto order = fields.getAs<DenseI64ArrayAttr>("order");
        if (!order || order.size() != rank || !fields.contains("along_k") ||
            !mlir::isPermutationVector(order.asArrayRef()))
          return failEntry() << "order has to list each of the " << rank
                             << " dimensions, beside along_k";
      }
    }
    return success();
  }

  Operation *op;
  StringRef name;
  Attribute value;
};

} // namespace

LogicalResult PitDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  return Verifier(op, attr).run();
}
