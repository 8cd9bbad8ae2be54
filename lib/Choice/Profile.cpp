//===- Profile.cpp - The live fraction that a run recorded ----------------===//
//
// A profile is a JSON object. pit_context_write_profile writes:
//
//   {"pit_profile": 1, "marks": [
//     {"label": "f:0", "signature": "values of tensor<?x8xf32> for ...",
//      "location": "f.mlir:2:8", "shape": [16, 8], "calls": 3,
//      "candidates": [{"axis": 1, "micro_tile": [4, 1], "micro_tiles": 32,
//                      "live": {"min": 3, "mean": 4.5, "max": 6}}, ...]}]}
//
// A mark has one entry for each shape that its value had. In a micro-tile 0 is
// the whole dimension.
//
//===----------------------------------------------------------------------===//

#include "ZeroFacts.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>

using namespace mlir;
using namespace mlir::pit;
namespace json = llvm::json;

namespace {
/// The axis, and the sizes of a micro-tile: 0 where it has all there is.
using Key = std::vector<int64_t>;

struct Entry {
  std::string label, signature;
  SmallVector<int64_t> shape;
  double calls = 0;
  std::map<Key, MicroTileCount> counts;
};

Key makeKey(int64_t axis, ArrayRef<int64_t> microTile,
            ArrayRef<int64_t> shape) {
  Key key = {axis};
  for (auto [d, size] : llvm::enumerate(microTile)) {
    bool isAll = ShapedType::isDynamic(size) || size >= shape[d];
    key.push_back(static_cast<int64_t>(d) == axis || isAll ? 0 : size);
  }
  return key;
}

class Recorded : public MarkFacts {
public:
  Recorded(StringRef file, StringRef signature)
      : file(file), signature(signature) {}
  void add(const Entry &entry) { entries.push_back(entry); }
  bool isEmpty() const { return entries.empty(); }

  std::string describe() const override {
    double calls = 0;
    for (const Entry &entry : entries)
      calls += entry.calls;
    return llvm::formatv("profile '{0}' ({1:F0} call{2})", file, calls,
                         calls == 1 ? "" : "s");
  }

  FailureOr<SmallVector<Observation>> count(SparseOp mark,
                                            ArrayRef<SparsityIndexType> indices,
                                            std::string &error) override {
    SmallVector<Observation> seen;
    for (const Entry &entry : entries) {
      if (entry.signature != signature)
        continue;
      Observation one = {entry.shape, entry.calls, {}};
      for (SparsityIndexType index : indices) {
        auto found =
            index.hasWindows()
                ? entry.counts.end()
                : entry.counts.find(makeKey(index.getAxis(),
                                            index.getMicroTile(), entry.shape));
        one.counts.push_back(found == entry.counts.end()
                                 ? std::nullopt
                                 : std::optional(found->second));
      }
      seen.push_back(std::move(one));
    }
    if (!seen.empty())
      return seen;
    error = "profile '" + file + "' is of another program: its mark '" +
            entries.front().label + "' is " + entries.front().signature +
            ", and here it is " + signature + "; record it anew";
    return failure();
  }

private:
  std::string file, signature;
  SmallVector<Entry> entries; ///< of the label
};

class ParsedProfile : public Profile {
public:
  ParsedProfile(StringRef file) : file(file) {}

  LogicalResult parse(StringRef text, std::string &error) {
    auto fail = [&](const Twine &what) {
      error = what.str();
      return failure();
    };
    llvm::Expected<json::Value> parsed = json::parse(text);
    if (!parsed)
      return fail("not JSON: " + llvm::toString(parsed.takeError()));
    const json::Object *root = parsed->getAsObject();
    std::optional<int64_t> version =
        root ? root->getInteger("pit_profile") : std::nullopt;
    const json::Array *marks = root ? root->getArray("marks") : nullptr;
    if (!version || !marks)
      return fail("it is no profile: an object with pit_profile and marks, as "
                  "pit-run --profile-out writes it");
    if (*version != 1)
      return fail("it is of version " + Twine(*version) +
                  "; this compiler reads version 1");
    for (auto [i, value] : llvm::enumerate(*marks)) {
      Entry entry;
      if (failed(parseEntry(value.getAsObject(), entry, error)))
        return fail("mark " + Twine(i) +
                    (entry.label.empty() ? "" : " ('" + entry.label + "')") +
                    ": " + error);
      entries.push_back(std::move(entry));
    }
    return success();
  }

  std::unique_ptr<MarkFacts> find(StringRef label,
                                  StringRef signature) const override {
    auto found = std::make_unique<Recorded>(file, signature);
    for (const Entry &entry : entries)
      if (entry.label == label)
        found->add(entry);
    if (found->isEmpty())
      return nullptr;
    return found;
  }

  StringRef getFile() const override { return file; }

  SmallVector<std::string> getLabels() const override {
    SmallVector<std::string> labels;
    for (const Entry &entry : entries)
      if (!llvm::is_contained(labels, entry.label))
        labels.push_back(entry.label);
    return labels;
  }

private:
  static bool parseSizes(const json::Array *array,
                         SmallVectorImpl<int64_t> &sizes) {
    if (!array)
      return false;
    for (const json::Value &value : *array) {
      std::optional<int64_t> size = value.getAsInteger();
      if (!size || *size < 0)
        return false;
      sizes.push_back(*size);
    }
    return true;
  }

  static LogicalResult parseEntry(const json::Object *object, Entry &entry,
                                  std::string &error) {
    auto fail = [&](const Twine &what) {
      error = what.str();
      return failure();
    };
    std::optional<StringRef> label =
        object ? object->getString("label") : std::nullopt;
    if (!label)
      return fail("it has no label");
    entry.label = label->str();
    std::optional<StringRef> signature = object->getString("signature");
    std::optional<double> calls = object->getNumber("calls");
    const json::Array *candidates = object->getArray("candidates");
    if (!signature || !calls || !(*calls > 0) || !candidates ||
        !parseSizes(object->getArray("shape"), entry.shape))
      return fail("it needs a signature, a shape, a positive number of calls "
                  "and candidates");
    entry.signature = signature->str();
    entry.calls = *calls;
    int64_t rank = entry.shape.size();
    for (auto [i, value] : llvm::enumerate(*candidates)) {
      const json::Object *candidate = value.getAsObject();
      const json::Object *live =
          candidate ? candidate->getObject("live") : nullptr;
      std::optional<int64_t> axis =
          candidate ? candidate->getInteger("axis") : std::nullopt;
      std::optional<double> all =
          candidate ? candidate->getNumber("micro_tiles") : std::nullopt;
      std::optional<double> mean =
          live ? live->getNumber("mean") : std::nullopt;
      SmallVector<int64_t> sizes;
      if (!axis || *axis < 0 || *axis >= rank || !all || !mean ||
          !parseSizes(candidate->getArray("micro_tile"), sizes) ||
          static_cast<int64_t>(sizes.size()) != rank)
        return fail("candidate " + Twine(i) +
                    " needs an axis and a micro_tile of its shape's rank, "
                    "micro_tiles, and a mean of those that were live");
      if (!(*mean >= 0 && *mean <= *all))
        return fail(
            llvm::formatv("candidate {0} has {1} of {2} micro-tiles live", i,
                          *mean, *all)
                .str());
      for (int64_t &size : sizes)
        if (size == 0)
          size = ShapedType::kDynamic;
      entry.counts[makeKey(*axis, sizes, entry.shape)] = {*mean, *all};
    }
    return success();
  }

  std::string file;
  std::vector<Entry> entries;
};
} // namespace

FailureOr<std::unique_ptr<Profile>> Profile::load(StringRef file,
                                                  std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer) {
    error = buffer.getError().message();
    return failure();
  }
  auto made = std::make_unique<ParsedProfile>(file);
  if (failed(made->parse((*buffer)->getBuffer(), error)))
    return failure();
  return std::unique_ptr<Profile>(std::move(made));
}
