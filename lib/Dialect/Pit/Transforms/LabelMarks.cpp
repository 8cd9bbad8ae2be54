//===- LabelMarks.cpp - Names by which marks are known --------------------===//

#include "Choice/ZeroFacts.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITLABELMARKS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {
struct LabelMarksPass : pit::impl::PitLabelMarksBase<LabelMarksPass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::SetVector<StringRef> labels;
    getOperation().walk([&](FunctionOpInterface function) {
      int64_t number = 0;
      function->walk([&](SparseOp mark) {
        if (!mark.getLabel())
          mark.setLabel((function.getName() + ":" + Twine(number)).str());
        labels.insert(getBaseLabel(*mark.getLabel()));
        ++number;
      });
    });
    std::string known =
        labels.empty() ? "there are no marks"
                       : "there are: " + llvm::join(labels.getArrayRef(), ", ");
    for (StringRef sample : samples) {
      auto split = splitSample(sample);
      if (split && !labels.contains(getBaseLabel(split->first))) {
        getOperation().emitError()
            << "sample '" << sample << "' is of no mark: " << known;
        return signalPassFailure();
      }
    }
    if (failed(checkProfile(labels.getArrayRef(), known)))
      signalPassFailure();
  }

private:
  /// Does the program have all marks that the profile has?
  LogicalResult checkProfile(ArrayRef<StringRef> labels, StringRef known) {
    if (profile.empty())
      return success();
    std::string error;
    auto parsed = Profile::load(profile, error);
    if (failed(parsed))
      return getOperation().emitError()
             << "profile '" << profile << "': " << error;
    for (StringRef label : (*parsed)->getLabels())
      if (!llvm::is_contained(labels, getBaseLabel(label)))
        return getOperation().emitError()
               << "profile '" << profile << "' is of another program: it has a "
               << "mark '" << label << "', but " << known << "; record it anew";
    return success();
  }
};
} // namespace
