//===- Refusal.h - Why something is not done --------------------*- C++ -*-===//
//
// A function that does a thing, or does not and says why, returns either:
//
//   OrRefusal<Plan> plan(Operation *op) {
//     if (Refused refused = checkOp(op))
//       return *refused;
//     if (!isContraction(op))
//       return refuse("it multiplies nothing");
//     ...
//
// and a pass that is to explain what it does prints the reason:
//
//   explainRefusal(op, "is not tiled", *refused);
//
//===----------------------------------------------------------------------===//

#ifndef PIT_ANALYSIS_REFUSAL_H
#define PIT_ANALYSIS_REFUSAL_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <variant>

namespace mlir::pit {

/// Why something is not done: a clause about the op.
struct Refusal {
  std::string why;
};

/// Makes one of what a stream prints, one after the other.
template <typename... Parts> Refusal refuse(const Parts &...parts) {
  Refusal refusal;
  llvm::raw_string_ostream os(refusal.why);
  (os << ... << parts);
  return refusal;
}

/// The result of a check: nothing if it passes.
using Refused = std::optional<Refusal>;

/// A value, or why there is none.
template <typename T> class [[nodiscard]] OrRefusal {
public:
  OrRefusal(T value) : either(std::move(value)) {}
  OrRefusal(Refusal refusal) : either(std::move(refusal)) {}

  explicit operator bool() const { return std::holds_alternative<T>(either); }
  T &operator*() { return std::get<T>(either); }
  const T &operator*() const { return std::get<T>(either); }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  const Refusal &refusal() const { return std::get<Refusal>(either); }

  /// For those who need no value.
  operator Refused() const { return *this ? Refused() : refusal(); }

  /// For those who need no reason.
  operator FailureOr<T>() const {
    return *this ? FailureOr<T>(**this) : FailureOr<T>(failure());
  }
  operator LogicalResult() const { return success(bool(*this)); }

private:
  std::variant<T, Refusal> either;
};

/// Says on `op`, as a remark, `what` is not done to it, and why.
inline void explainRefusal(Operation *op, const Twine &what,
                           const Refusal &refusal) {
  emitRemark(op->getLoc()) << op->getName() << " " << what << ": "
                           << refusal.why;
}

} // namespace mlir::pit

#endif // PIT_ANALYSIS_REFUSAL_H
