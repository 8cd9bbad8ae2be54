//===- RegisterAll.h - All of pit, for a tool of one's own ------*- C++ -*-===//
//
// The registrations of pit-opt, the compiler library and the plugin, in three
// calls:
//
//   mlir::DialectRegistry registry;
//   mlir::pit::registerAllDialects(registry);
//   mlir::pit::registerAllExtensions(registry);
//   mlir::pit::registerAllPasses();
//
// Nothing is registered before: the libraries have no static constructors and
// no command line options. Pit's pipelines run passes of MLIR, too, whose
// interfaces are extensions of MLIR's dialects: a tool that runs a pipeline
// registers mlir::registerAllDialects and mlir::registerAllExtensions as well.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_PIPELINES_REGISTERALL_H
#define PIT_PIPELINES_REGISTERALL_H

namespace mlir {
class DialectRegistry;

namespace pit {

/// The pit dialect.
void registerAllDialects(DialectRegistry &registry);

/// The models by which passes of MLIR know pit's ops: of its bufferization and
/// tiling interfaces.
void registerAllExtensions(DialectRegistry &registry);

/// All passes (docs/Passes.md) and pipelines, by their names in textual pass
/// pipelines. Once per process.
void registerAllPasses();

/// Prints each pipeline with one line and its options to stdout, once
/// registerAllPasses was called.
void printAllPipelines();

} // namespace pit
} // namespace mlir

#endif // PIT_PIPELINES_REGISTERALL_H
