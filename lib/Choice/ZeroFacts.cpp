//===- ZeroFacts.cpp - Facts about zeros before a program runs ------------===//

#include "ZeroFacts.h"

#include "Selection/Candidates.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;

MarkFacts::~MarkFacts() = default;
Profile::~Profile() = default;
ZeroFacts::~ZeroFacts() = default;

StringRef mlir::pit::getBaseLabel(StringRef label) {
  return label.take_front(label.find('['));
}

std::string mlir::pit::getSignature(SparseOp mark) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << stringifySource(mark.getSource()) << " of " << mark.getType();
  SmallVector<StringRef> users;
  for (Operation *user : mark->getUsers())
    users.push_back(user->getName().getStringRef());
  llvm::sort(users);
  if (!users.empty())
    os << " for " << llvm::join(users, ", ");
  return text;
}

std::optional<std::pair<StringRef, StringRef>>
mlir::pit::splitSample(StringRef sample) {
  auto [name, file] = sample.split('=');
  if (name.empty() || file.empty())
    return std::nullopt;
  return std::pair(name, file);
}

FailureOr<std::unique_ptr<ZeroFacts>>
ZeroFacts::load(Operation *function, ArrayRef<std::string> samples,
                StringRef profile) {
  std::unique_ptr<ZeroFacts> made(new ZeroFacts());
  function->walk(
      [&](SparseOp mark) { made->signatures[mark] = getSignature(mark); });
  for (StringRef sample : samples) {
    auto split = splitSample(sample);
    if (!split)
      return function->emitError()
             << "sample '" << sample
             << "' must be the label of a mark and a file, as f:0=a.npy";
    made->samples[split->first].push_back(split->second.str());
  }
  if (profile.empty())
    return made;
  std::string error;
  auto parsed = Profile::load(profile, error);
  if (failed(parsed))
    return function->emitError() << "profile '" << profile << "': " << error;
  made->profile = std::move(*parsed);
  return made;
}

MarkFacts *ZeroFacts::find(SparseOp mark) {
  StringRef label = mark.getLabel().value_or("");
  const std::string &signature = signatures[mark];
  std::unique_ptr<MarkFacts> &found = known[{label.str(), signature}];
  if (found)
    return found.get();
  auto files = samples.find(label);
  if (files != samples.end())
    found = makeSamples(files->second);
  else if (profile && !label.empty())
    found = profile->find(label, signature);
  if (!found && mark.getLiveFractionAttr())
    found = makeLiveFraction();
  return found.get();
}

StringRef ZeroFacts::getSilentProfile(SparseOp mark) const {
  std::optional<StringRef> label = mark.getLabel();
  return profile && label && !samples.contains(*label) &&
                 !llvm::is_contained(profile->getLabels(), *label)
             ? profile->getFile()
             : "";
}

//===----------------------------------------------------------------------===//
// The live fraction of a mark
//===----------------------------------------------------------------------===//

namespace {
/// Micro-tiles of the mark's live fraction are live independently of each
/// other.
class MarkLiveFraction : public MarkFacts {
public:
  std::string describe() const override { return "the mark's live fraction"; }

  FailureOr<SmallVector<Observation>> count(SparseOp mark,
                                            ArrayRef<SparsityIndexType> indices,
                                            std::string &) override {
    Observation seen;
    for (int64_t size : mark.getType().getShape())
      seen.shape.push_back(ShapedType::isDynamic(size)
                               ? static_cast<int64_t>(kAssumedExtent)
                               : size);
    double dead = 1 - mark.getLiveFractionAttr().getValueAsDouble();
    for (SparsityIndexType index : indices) {
      double all = 1, touched = 1;
      for (auto [d, extent] : llvm::enumerate(seen.shape)) {
        double size = 1;
        if (static_cast<int64_t>(d) == index.getAxis()) {
          all *= extent;
        } else if (index.isWhole(d)) {
          size = extent;
        } else {
          size = std::min(index.getMicroTile()[d], extent);
          all *= std::ceil(static_cast<double>(extent) / index.getStep()[d]);
        }
        // How many of those that are known a micro-tile touches.
        touched *= std::ceil(size / getKnownSize(mark, d, extent));
      }
      double live = 1 - std::pow(dead, touched);
      seen.counts.push_back(MicroTileCount{live * all, all});
    }
    return SmallVector<Observation>{std::move(seen)};
  }

private:
  static double getKnownSize(SparseOp mark, size_t d, int64_t extent) {
    DenseI64ArrayAttr tile = mark.getLiveFractionTileAttr();
    int64_t size = tile ? tile[d] : 1;
    return ShapedType::isDynamic(size) ? std::max<int64_t>(extent, 1) : size;
  }
};
} // namespace

std::unique_ptr<MarkFacts> mlir::pit::makeLiveFraction() {
  return std::make_unique<MarkLiveFraction>();
}
