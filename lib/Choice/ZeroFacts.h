//===- ZeroFacts.h - Facts about zeros before a program runs ----*- C++ -*-===//
//
// Three sources: arrays as the marked value will be (samples), the live
// fraction that an earlier run recorded (a profile), or what the mark says
// itself (its live fraction). Each tells how many micro-tiles of any kind are
// live.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CHOICE_ZEROFACTS_H
#define PIT_LIB_CHOICE_ZEROFACTS_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>

namespace mlir::pit {

/// How many micro-tiles of an index are live, of all.
struct MicroTileCount {
  double live, all;
};

/// One value that a mark had.
struct Observation {
  SmallVector<int64_t> shape;
  double weight = 1; ///< how often it came
  /// For each index that was asked for; nothing where the source does not tell.
  SmallVector<std::optional<MicroTileCount>> counts;
};

/// The facts about a mark.
class MarkFacts {
public:
  virtual ~MarkFacts();
  /// The source, as "sample 'a.npy'".
  virtual std::string describe() const = 0;
  /// Counts the micro-tiles of indices of the mark. On failure `error` says
  /// why what is known does not fit the mark.
  virtual FailureOr<SmallVector<Observation>>
  count(SparseOp mark, ArrayRef<SparsityIndexType> indices,
        std::string &error) = 0;
};

/// The label of a mark without what it was moved through: "f:0" of "f:0[1-0]".
StringRef getBaseLabel(StringRef label);

/// The identity of a mark in its program, beside its label: its source, its
/// type and the ops that use it. A profile of another program differs in it.
std::string getSignature(SparseOp mark);

/// NAME and FILE of "NAME=FILE"; nothing if there is no such pair.
std::optional<std::pair<StringRef, StringRef>> splitSample(StringRef sample);

class Profile;

/// All that was given to a compilation.
class ZeroFacts {
public:
  ~ZeroFacts();
  /// From samples, "NAME=FILE.npy" each, and the file of a profile, or "". The
  /// marks are those of `function`, which planning has not changed yet. Reports
  /// what is wrong on it.
  static FailureOr<std::unique_ptr<ZeroFacts>>
  load(Operation *function, ArrayRef<std::string> samples, StringRef profile);

  /// The facts about a mark; null if there are none. Samples come before a
  /// profile, and this before what the mark says.
  MarkFacts *find(SparseOp mark);
  /// The file of the profile if it does not have this mark; else "".
  StringRef getSilentProfile(SparseOp mark) const;

private:
  ZeroFacts() = default;
  /// Files of samples, by label.
  llvm::StringMap<SmallVector<std::string>> samples;
  std::unique_ptr<Profile> profile;
  DenseMap<Operation *, std::string> signatures;
  /// By label and signature.
  std::map<std::pair<std::string, std::string>, std::unique_ptr<MarkFacts>>
      known;
};

/// The facts in arrays of .npy files.
std::unique_ptr<MarkFacts> makeSamples(ArrayRef<std::string> files);
/// The facts that the mark itself states.
std::unique_ptr<MarkFacts> makeLiveFraction();

/// A profile, as pit-run --profile-out writes it.
class Profile {
public:
  virtual ~Profile();
  static FailureOr<std::unique_ptr<Profile>> load(StringRef file,
                                                  std::string &error);
  /// The facts about the mark with this label and signature; null if there are
  /// none of such a label.
  virtual std::unique_ptr<MarkFacts> find(StringRef label,
                                          StringRef signature) const = 0;
  virtual StringRef getFile() const = 0;
  /// The labels, once each.
  virtual SmallVector<std::string> getLabels() const = 0;
};

} // namespace mlir::pit

#endif // PIT_LIB_CHOICE_ZEROFACTS_H
