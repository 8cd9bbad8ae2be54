//===- FindRules.h - The rules of an op, the best first ---------*- C++ -*-===//
//
// Passes of other projects ask this to have a rule chosen: by the zeros that
// are known before the program runs, or else by the table's live fraction.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_CHOICE_FINDRULES_H
#define PIT_CHOICE_FINDRULES_H

#include "pit/Selection/Rules.h"

#include <memory>

namespace mlir::pit {

class ZeroFacts;

/// The zeros of a function's marks, as far as they are known before it runs.
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

  ZeroFacts &get() const { return *facts; }

private:
  KnownZeros(std::unique_ptr<ZeroFacts> facts);
  std::unique_ptr<ZeroFacts> facts;
};

/// The rules to look for; pit-plan's options of these names.
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

} // namespace mlir::pit

#endif // PIT_CHOICE_FINDRULES_H
