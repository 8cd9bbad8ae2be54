//===- Passes.h - Passes that prepare programs of others --------*- C++ -*-===//

#ifndef PIT_FRONTEND_PASSES_H
#define PIT_FRONTEND_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::pit {

#define GEN_PASS_DECL
#include "pit/Frontend/Passes.h.inc"

/// pit-run-where with a pipeline that is not text.
std::unique_ptr<Pass> createPitRunWhere(StringRef attribute,
                                        const OpPassManager &pipeline);
/// The same on ops in which there is an op of `dialect`.
std::unique_ptr<Pass> createPitRunWhereUsed(StringRef dialect,
                                            const OpPassManager &pipeline);

#define GEN_PASS_REGISTRATION
#include "pit/Frontend/Passes.h.inc"

} // namespace mlir::pit

#endif // PIT_FRONTEND_PASSES_H
