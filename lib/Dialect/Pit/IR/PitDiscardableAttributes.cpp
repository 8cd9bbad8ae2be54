//===- PitDiscardableAttributes.cpp - What passes tell each other ---------===//
//
// A name that begins with "pit." is one of those below: what is misspelt, or
// was moved elsewhere, would be ignored otherwise.
//
//===----------------------------------------------------------------------===//

#include "pit/Dialect/Pit/IR/LaunchInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::pit;

namespace {

/// One attribute of one op, or of an argument or a result of a function.
class Verifier {
public:
  Verifier(Operation *op, NamedAttribute attr)
      : op(op), name(attr.getName()), value(attr.getValue()) {}

  LogicalResult ofOp() {
    if (name == kRuleAttrName)
      return check(isa<RuleAttr>(value), "a #pit.rule");
    if (name == kKernelsAttrName)
      return failure(failed(onModule()) || failed(isUnit()));
    if (name == kDeviceAttrName)
      return failure(
          failed(onFunction("a function")) ||
          failed(check(value == StringAttr::get(op->getContext(), "cuda"),
                       "\"cuda\"")));
    if (name == kManifestAttr || name == kRequireAttr)
      return failure(
          failed(onFunction("a function")) ||
          failed(check(isa<DenseI64ArrayAttr>(value), "an array of i64")));
    if (name == kLaunchInfoAttrName)
      return checkLaunchInfo();
    if (name == kFrameAttr || name == kStreamAttrName)
      return misplaced("an argument of a function");
    if (name == kElementAttrName)
      return misplaced("an argument or a result of a function");
    return unknown();
  }

  LogicalResult ofArgument() {
    if (name == kFrameAttr || name == kStreamAttrName)
      return isUnit();
    if (name == kElementAttrName)
      return isType();
    return unknown();
  }

  LogicalResult ofResult() {
    return name == kElementAttrName ? isType() : unknown();
  }

private:
  LogicalResult misplaced(StringRef right) {
    return op->emitOpError() << "has " << name << ", which is for " << right;
  }
  LogicalResult unknown() {
    return op->emitOpError() << "has " << name
                             << ", which pit does not know there; the table in "
                                "Dialect.md has its attributes";
  }
  LogicalResult check(bool holds, const Twine &right) {
    if (holds)
      return success();
    return op->emitOpError()
           << "has " << name << " = " << value << "; it has to be " << right;
  }
  /// The dialect does not depend on that of gpu.module.
  LogicalResult onModule() {
    if (op->getName().getStringRef() == "gpu.module" || isa<ModuleOp>(op))
      return success();
    return misplaced("a module");
  }
  LogicalResult onFunction(StringRef right) {
    return isa<FunctionOpInterface>(op) ? success() : misplaced(right);
  }
  LogicalResult isUnit() {
    return check(isa<UnitAttr>(value), "without a value");
  }
  LogicalResult isType() { return check(isa<TypeAttr>(value), "a type"); }

  /// Numbers are those of the kernel's arguments before they are lowered to the
  /// llvm dialect, where there are more of them.
  LogicalResult checkLaunchInfo() {
    if (failed(onFunction("a kernel, a function")) ||
        failed(check(isa<LaunchInfoAttr>(value), "a #pit.launch_info")))
      return failure();
    LaunchInfo info = *LaunchInfo::of(op);
    auto kernel = cast<FunctionOpInterface>(op);
    int64_t count = kernel.getNumArguments();
    if (info.fills && *info.fills >= count)
      return op->emitOpError()
             << "fills argument " << *info.fills << " of " << count;
    for (auto [i, map] : llvm::enumerate(info.tensorMaps)) {
      int64_t number = map.getArgument();
      if (number >= count)
        return op->emitOpError()
               << "has tensor map " << i << " = " << map << " of argument "
               << number << " of " << count;
      auto memref = dyn_cast<MemRefType>(kernel.getArgumentTypes()[number]);
      int64_t rank = map.getBox().size();
      if (memref && memref.getRank() != rank)
        return op->emitOpError()
               << "has tensor map " << i << " = " << map
               << " with a box of rank " << rank << "; argument " << number
               << " is " << memref << " of rank " << memref.getRank();
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
  return Verifier(op, attr).ofOp();
}

LogicalResult PitDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned,
                                                   NamedAttribute attr) {
  return Verifier(op, attr).ofArgument();
}

LogicalResult PitDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                      unsigned,
                                                      NamedAttribute attr) {
  return Verifier(op, attr).ofResult();
}
