//===- Manifest.cpp - What an entry point takes and gives -----------------===//

#include "pit/ABI/Manifest.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::pit;

std::optional<int64_t> pit::getDtypeWord(Type type) {
  if (type.isIndex())
    return PIT_DTYPE_WORD(PIT_DTYPE_INT, 64);
  if (type.isBF16())
    return PIT_DTYPE_WORD(PIT_DTYPE_BFLOAT, 16);
  if (isa<Float8E4M3FNType>(type))
    return PIT_DTYPE_WORD(PIT_DTYPE_FLOAT8_E4M3FN, 8);
  if (isa<Float8E5M2Type>(type))
    return PIT_DTYPE_WORD(PIT_DTYPE_FLOAT8_E5M2, 8);
  if (type.isF16() || type.isF32() || type.isF64())
    return PIT_DTYPE_WORD(PIT_DTYPE_FLOAT, type.getIntOrFloatBitWidth());
  if (type.isInteger(1))
    return PIT_DTYPE_WORD(PIT_DTYPE_BOOL, 8);
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !llvm::is_contained({8, 16, 32, 64}, integer.getWidth()))
    return std::nullopt;
  int64_t code = integer.isUnsigned() ? PIT_DTYPE_UINT : PIT_DTYPE_INT;
  return PIT_DTYPE_WORD(code, integer.getWidth());
}

int64_t pit::getStaticSize(const ShapeProgram &program) {
  pit_shape_op op = program.front();
  return program.size() == 1 && op.op == PIT_SHAPE_CONST && op.value >= 0
             ? op.value
             : -1;
}

static bool hasArg(int64_t op) {
  return op == PIT_SHAPE_DIM || op == PIT_SHAPE_SCALAR;
}
static bool hasValue(int64_t op) {
  return op == PIT_SHAPE_CONST || op == PIT_SHAPE_DIM;
}

static void append(const ShapeProgram &program, SmallVector<int64_t> &words) {
  SmallVector<int64_t> own;
  for (pit_shape_op op : program) {
    own.push_back(op.op);
    if (hasArg(op.op))
      own.push_back(op.arg);
    if (hasValue(op.op))
      own.push_back(op.value);
  }
  words.push_back(own.size());
  words.append(own);
}

SmallVector<int64_t>
pit::encodeRequirements(ArrayRef<Manifest::Requirement> requirements) {
  SmallVector<int64_t> words = {int64_t(requirements.size())};
  for (const Manifest::Requirement &requirement : requirements) {
    words.push_back(requirement.relation);
    for (const ShapeProgram *side : {&requirement.lhs, &requirement.rhs})
      append(*side, words);
  }
  return words;
}

SmallVector<int64_t> Manifest::encode() const {
  SmallVector<int64_t> words = {PIT_MANIFEST_WORD0, int64_t(args.size()),
                                int64_t(results.size()), workspace, device};
  for (const Arg &arg : args) {
    words.push_back(arg.kind);
    if (arg.kind == PIT_KIND_INDEX) {
      words.append({int64_t(arg.microTile.size()), arg.axis});
      words.append(arg.microTile);
      words.append(arg.step);
      continue;
    }
    words.push_back(arg.dtype);
    if (arg.kind == PIT_KIND_TENSOR) {
      words.push_back(arg.dims.size());
      words.append(arg.dims);
    }
  }
  words.append(encodeRequirements(requirements));
  for (const Result &result : results) {
    words.append({result.dtype, int64_t(result.dims.size())});
    for (const ShapeProgram &program : result.dims)
      append(program, words);
  }
  return words;
}

namespace {
/// Takes words off the front of a manifest; after the end, `ok` is false.
struct Reader {
  int64_t take() {
    if (words.empty()) {
      ok = false;
      return 0;
    }
    int64_t word = words.front();
    words = words.drop_front();
    return word;
  }
  /// Takes `count` words, at most `max`.
  SmallVector<int64_t> take(int64_t count, int64_t max) {
    if (count < 0 || count > max || size_t(count) > words.size()) {
      ok = false;
      return {};
    }
    SmallVector<int64_t> taken(words.take_front(count));
    words = words.drop_front(count);
    return taken;
  }
  ShapeProgram takeProgram() {
    SmallVector<int64_t> taken = take(take(), 3 * PIT_SHAPE_MAX_OPS);
    Reader own{taken};
    ShapeProgram program;
    while (own.ok && !own.words.empty()) {
      pit_shape_op op = {};
      op.op = static_cast<int32_t>(own.take());
      own.ok &= op.op >= PIT_SHAPE_CONST && op.op <= PIT_SHAPE_SCALAR;
      if (hasArg(op.op))
        op.arg = static_cast<int32_t>(own.take());
      if (hasValue(op.op))
        op.value = own.take();
      program.push_back(op);
    }
    ok &= own.ok && !program.empty();
    return program;
  }
  ArrayRef<int64_t> words;
  bool ok = true;
};
} // namespace

static SmallVector<Manifest::Requirement> readRequirements(Reader &in) {
  int64_t count = in.take();
  in.ok &= count >= 0;
  SmallVector<Manifest::Requirement> requirements;
  for (int64_t i = 0; in.ok && i < count; ++i) {
    Manifest::Requirement &requirement = requirements.emplace_back();
    requirement.relation = in.take();
    in.ok &= requirement.relation == PIT_REQUIRE_EQUAL ||
             requirement.relation == PIT_REQUIRE_AT_LEAST;
    requirement.lhs = in.takeProgram();
    requirement.rhs = in.takeProgram();
  }
  return requirements;
}

std::optional<SmallVector<Manifest::Requirement>>
pit::decodeRequirements(ArrayRef<int64_t> words) {
  Reader in{words};
  SmallVector<Manifest::Requirement> requirements = readRequirements(in);
  if (!in.ok || !in.words.empty())
    return std::nullopt;
  return requirements;
}

std::optional<Manifest> Manifest::decode(ArrayRef<int64_t> words) {
  Reader in{words};
  if (in.take() != PIT_MANIFEST_WORD0)
    return std::nullopt;
  Manifest manifest;
  int64_t numArgs = in.take(), numResults = in.take();
  manifest.workspace = in.take();
  manifest.device = in.take();
  in.ok &= manifest.device == kDLCPU || manifest.device == kDLCUDA;
  for (int64_t i = 0; in.ok && i < numArgs; ++i) {
    Arg &arg = manifest.args.emplace_back();
    arg.kind = in.take();
    if (arg.kind == PIT_KIND_INDEX) {
      int64_t rank = in.take();
      arg.axis = in.take();
      arg.microTile = in.take(rank, PIT_MAX_RANK);
      arg.step = in.take(rank, PIT_MAX_RANK);
      continue;
    }
    in.ok &= arg.kind == PIT_KIND_TENSOR || arg.kind == PIT_KIND_SCALAR;
    arg.dtype = in.take();
    if (arg.kind == PIT_KIND_TENSOR)
      arg.dims = in.take(in.take(), PIT_MAX_RANK);
  }
  manifest.requirements = readRequirements(in);
  for (int64_t i = 0; in.ok && i < numResults; ++i) {
    Result &result = manifest.results.emplace_back();
    result.dtype = in.take();
    int64_t rank = in.take();
    in.ok &= rank >= 0 && rank <= PIT_MAX_RANK;
    for (int64_t d = 0; in.ok && d < rank; ++d)
      result.dims.push_back(in.takeProgram());
  }
  if (!in.ok || numArgs < 0 || numResults < 0 || !in.words.empty())
    return std::nullopt;
  return manifest;
}
