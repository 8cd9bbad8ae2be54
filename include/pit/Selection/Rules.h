//===- Rules.h - The rules that an op may have ------------------*- C++ -*-===//
//
// What passes of other projects ask before they plan or tile an op themselves:
//
//   std::string why;
//   FailureOr<LegalRule> legal = checkRule(op, rule, why);
//   if (failed(legal))
//     return op.emitRemark() << "stays dense: " << why;
//   planByRule(rewriter, op, *legal);   // pit/Dialect/Pit/Transforms/Rules.h
//   return tileByRule(rewriter, op);
//
//===----------------------------------------------------------------------===//

#ifndef PIT_SELECTION_RULES_H
#define PIT_SELECTION_RULES_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <memory>
#include <string>

namespace mlir::pit {

class Knowledge;

/// The mark on an operand of `op`: on what an input reads or, of an init, on
/// the result that it becomes, if all of that goes there. Null if there is
/// none. Marks before a reshape or a slice are not looked for: pit-sink-marks
/// moves them here.
SparseOp getMark(linalg::LinalgOp op, OpOperand &operand);

/// What is known of the zeros of a function's marks before it runs.
class KnownZeros {
public:
  /// Reads samples, "LABEL=FILE.npy" each, and the file of a profile, or "".
  /// `function` is the one around the marks: pit-label-marks gave these their
  /// labels, and no op of it is planned yet. Reports on it what is wrong.
  static FailureOr<KnownZeros> load(Operation *function,
                                    ArrayRef<std::string> samples,
                                    StringRef profile = "");
  KnownZeros(KnownZeros &&);
  KnownZeros &operator=(KnownZeros &&);
  ~KnownZeros();

  Knowledge &get() const { return *knowledge; }

private:
  KnownZeros(std::unique_ptr<Knowledge> knowledge);
  std::unique_ptr<Knowledge> knowledge;
};

/// What a rule takes for the zeros that are known.
struct ExpectedTime {
  double coverage; ///< live micro-tiles, of all
  double time;     ///< nanoseconds
  double dense;    ///< nanoseconds of the op that skips nothing
};

/// A rule that is legal for an op: a candidate.
struct LegalRule {
  RuleAttr rule;           ///< with all of its parts
  SparseOp mark;           ///< of the operand that the rule packs
  SparsityIndexType index; ///< of the index that it gathers by
  /// Of findRules: of rules without an expected time the least is best.
  double cost = 0;
  std::optional<ExpectedTime> expected = {}; ///< of findRules, with `zeros`
};

/// What rules to look for; pit-plan's options of these names.
struct RuleSearch {
  std::string target = "avx512";
  std::string tileTable; ///< a file; if empty, the target's built-in table
  bool tf32 = false;     ///< f32 may be multiplied as tf32
  bool strict = false;
  bool deterministic = false;
  Conflicts conflicts = Conflicts::Sequential;
  const KnownZeros *zeros = nullptr; ///< if given, more rules are compared
};

/// The legal rules for all marks of `op`, the best first, as pit-plan takes
/// them with choice=now: those of marks whose rule the user insists on; those
/// expected to be faster than skipping nothing, by how much; those of marks of
/// which nothing is known, by cost; the others. `refused` gets a line for each
/// that is not legal. Fails, with an error, if there is no such target, if the
/// table cannot be read, or if what is known does not fit a mark.
FailureOr<SmallVector<LegalRule>>
findRules(linalg::LinalgOp op, const RuleSearch &search = {},
          SmallVectorImpl<std::string> *refused = nullptr);

/// Can `op` be tiled by `rule`, which has an operand, an axis and a tile? If
/// not, `why` says in one line what is in the way. The op may be planned
/// already.
FailureOr<LegalRule> checkRule(linalg::LinalgOp op, RuleAttr rule,
                               std::string &why);

} // namespace mlir::pit

#endif // PIT_SELECTION_RULES_H
