//===- NotTaken.h - Why something was not taken -----------------*- C++ -*-===//
//
// Matchers and planners that do not take an op say why:
//
//   if (!isContraction(op))
//     return notTaken(why, "it multiplies nothing");
//
// and the pass that asked them prints it, if it is to explain what it does:
//
//   explainNotTaken(op, "is not tiled", why);
//
//===----------------------------------------------------------------------===//

#ifndef PIT_DIALECT_PIT_IR_NOTTAKEN_H
#define PIT_DIALECT_PIT_IR_NOTTAKEN_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

#include <optional>
#include <string>

namespace mlir::pit {

/// The result of a function that takes nothing: failure or none.
struct NotTaken {
  operator LogicalResult() const { return failure(); }
  template <typename T> operator FailureOr<T>() const { return failure(); }
  template <typename T> operator std::optional<T>() const {
    return std::nullopt;
  }
};

/// Notes the reason, a clause about the op.
inline NotTaken notTaken(std::string &why, const Twine &reason) {
  why = reason.str();
  return {};
}

/// Says on `op`, as a remark, `what` is not done to it, and why.
inline void explainNotTaken(Operation *op, const Twine &what, StringRef why) {
  emitRemark(op->getLoc()) << op->getName() << " " << what << ": " << why;
}

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_IR_NOTTAKEN_H
