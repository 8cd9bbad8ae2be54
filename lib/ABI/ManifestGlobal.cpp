//===- ManifestGlobal.cpp - The constant that a manifest becomes ----------===//
//
// The constant is one struct: the pit_manifest, and behind it the lists that
// it points to. So it has one symbol.
//
//===----------------------------------------------------------------------===//

#include "ManifestGlobal.h"
#include "pit-runtime/Abi.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::pit;

// The literal structs below are these. Padding is a field of its own: addresses
// within the constant are computed before the target tells alignments.
static_assert(offsetof(pit_arg_info, dtype) == 4 &&
              offsetof(pit_arg_info, rank) == 8 &&
              offsetof(pit_arg_info, dims) == 16 &&
              offsetof(pit_arg_info, axis) == 80 &&
              offsetof(pit_arg_info, micro_tile) == 88 &&
              offsetof(pit_arg_info, step) == 152 &&
              sizeof(pit_arg_info) == 216 && PIT_MAX_RANK == 8);
static_assert(offsetof(pit_shape_op, value) == 8 &&
              sizeof(pit_shape_op) == 16 && sizeof(pit_shape_program) == 16 &&
              offsetof(pit_requirement, sides) == 8 &&
              sizeof(pit_requirement) == 40);
static_assert(offsetof(pit_manifest, num_args) == 8 &&
              offsetof(pit_manifest, workspace) == 24 &&
              offsetof(pit_manifest, values) == 32 &&
              sizeof(pit_manifest) == 56);

namespace {
/// The fields of the constant.
enum { kHead, kValues, kRequirements, kSizes, kOps };

/// Builds the value of the constant in its initializer.
class Initializer {
public:
  Initializer(OpBuilder &builder, Location loc, const Manifest &manifest)
      : b(builder), loc(loc), manifest(manifest),
        pointer(LLVM::LLVMPointerType::get(b.getContext())) {}

  /// The type of the constant.
  LLVM::LLVMStructType layOut();
  /// The value of `global`, which is of that type.
  Value build(LLVM::GlobalOp global);

private:
  Type integer(unsigned bits) { return b.getIntegerType(bits); }
  Value constant(unsigned bits, int64_t value) {
    return LLVM::ConstantOp::create(b, loc, integer(bits), value);
  }
  Value words(ArrayRef<int64_t> values) {
    auto type = LLVM::LLVMArrayType::get(integer(64), values.size());
    if (values.empty())
      return aggregate(type, {});
    return LLVM::ConstantOp::create(b, loc, type, b.getI64TensorAttr(values));
  }
  /// One number for each dimension that a value may have.
  Value numbers(ArrayRef<int64_t> values) {
    SmallVector<int64_t> padded(values);
    padded.resize(PIT_MAX_RANK);
    return words(padded);
  }
  Value aggregate(Type type, ArrayRef<Value> parts) {
    Value value = LLVM::PoisonOp::create(b, loc, type);
    for (auto [i, part] : llvm::enumerate(parts))
      value = LLVM::InsertValueOp::create(b, loc, value, part, int64_t(i));
    return value;
  }
  LLVM::LLVMStructType structOf(ArrayRef<Type> types) {
    return LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  }

  Value argument(const Manifest::Arg &arg);
  Value result(const Manifest::Result &result);
  Value info(int64_t kind, int64_t dtype, ArrayRef<int64_t> dims, int64_t rank,
             int64_t axis, ArrayRef<int64_t> microTile, ArrayRef<int64_t> step);
  Value program(const ShapeProgram &program);
  Value operation(pit_shape_op op);
  /// The address of element `i` of a list in the constant; null of an empty
  /// one.
  Value addressIn(unsigned field, int64_t i);

  OpBuilder &b;
  Location loc;
  const Manifest &manifest;
  Type pointer, infoType, opType, programType, requirementType, headType;
  SmallVector<const ShapeProgram *> sizes; ///< of dims that calls differ in
  SmallVector<pit_shape_op> allOps;        ///< of all programs
  int64_t used = 0;                        ///< of these operations
  LLVM::GlobalOp global;
};
} // namespace

LLVM::LLVMStructType Initializer::layOut() {
  Type i8 = integer(8), i16 = integer(16), i32 = integer(32), i64 = integer(64);
  Type numbers = LLVM::LLVMArrayType::get(i64, PIT_MAX_RANK);
  infoType = structOf({i32, structOf({i8, i8, i16}), i32, i32, numbers, i32,
                       i32, numbers, numbers});
  opType = structOf({i32, i32, i64});
  programType = structOf({pointer, i64});
  requirementType = structOf({i64, LLVM::LLVMArrayType::get(programType, 2)});
  headType =
      structOf({i64, i32, i32, i32, i32, i64, pointer, pointer, pointer});
  for (const Manifest::Requirement &requirement : manifest.requirements)
    for (const ShapeProgram *side : {&requirement.lhs, &requirement.rhs})
      allOps.append(*side);
  for (const Manifest::Result &result : manifest.results)
    for (const ShapeProgram &program : result.dims)
      if (getStaticSize(program) < 0) {
        sizes.push_back(&program);
        allOps.append(program);
      }
  return structOf(
      {headType,
       LLVM::LLVMArrayType::get(infoType,
                                manifest.args.size() + manifest.results.size()),
       LLVM::LLVMArrayType::get(requirementType, manifest.requirements.size()),
       LLVM::LLVMArrayType::get(programType, sizes.size()),
       LLVM::LLVMArrayType::get(opType, allOps.size())});
}

Value Initializer::addressIn(unsigned field, int64_t i) {
  auto type = cast<LLVM::LLVMStructType>(global.getGlobalType());
  if (cast<LLVM::LLVMArrayType>(type.getBody()[field]).getNumElements() == 0)
    return LLVM::ZeroOp::create(b, loc, pointer);
  Value base = LLVM::AddressOfOp::create(b, loc, global);
  return LLVM::GEPOp::create(
      b, loc, pointer, type, base,
      ArrayRef<LLVM::GEPArg>{0, int32_t(field), int32_t(i)});
}

Value Initializer::info(int64_t kind, int64_t dtype, ArrayRef<int64_t> dims,
                        int64_t rank, int64_t axis, ArrayRef<int64_t> microTile,
                        ArrayRef<int64_t> step) {
  auto type = cast<LLVM::LLVMStructType>(infoType);
  Value element = aggregate(type.getBody()[1],
                            {constant(8, dtype & 0xFF), constant(8, dtype >> 8),
                             constant(16, kind == PIT_KIND_INDEX ? 0 : 1)});
  Value none = constant(32, 0);
  return aggregate(type, {constant(32, kind), element, constant(32, rank), none,
                          numbers(dims), constant(32, axis), none,
                          numbers(microTile), numbers(step)});
}

Value Initializer::argument(const Manifest::Arg &arg) {
  int64_t rank =
      arg.kind == PIT_KIND_INDEX ? arg.microTile.size() : arg.dims.size();
  return info(arg.kind, arg.dtype, arg.dims, rank, arg.axis, arg.microTile,
              arg.step);
}

Value Initializer::result(const Manifest::Result &result) {
  SmallVector<int64_t> dims = llvm::map_to_vector(result.dims, getStaticSize);
  return info(PIT_KIND_TENSOR, result.dtype, dims, dims.size(), 0, {}, {});
}

Value Initializer::program(const ShapeProgram &program) {
  Value first = addressIn(kOps, used);
  used += program.size();
  return aggregate(programType, {first, constant(64, program.size())});
}

Value Initializer::operation(pit_shape_op op) {
  return aggregate(opType, {constant(32, op.op), constant(32, op.arg),
                            constant(64, op.value)});
}

Value Initializer::build(LLVM::GlobalOp of) {
  global = of;
  auto type = cast<LLVM::LLVMStructType>(global.getGlobalType());
  SmallVector<Value> values, requirements, programs;
  for (const Manifest::Arg &arg : manifest.args)
    values.push_back(argument(arg));
  for (const Manifest::Result &each : manifest.results)
    values.push_back(result(each));
  for (const Manifest::Requirement &requirement : manifest.requirements) {
    Value lhs = program(requirement.lhs), rhs = program(requirement.rhs);
    Value sides =
        aggregate(LLVM::LLVMArrayType::get(programType, 2), {lhs, rhs});
    requirements.push_back(aggregate(
        requirementType, {constant(64, requirement.relation), sides}));
  }
  for (const ShapeProgram *size : sizes)
    programs.push_back(program(*size));
  Value head = aggregate(
      headType,
      {constant(64, PIT_MANIFEST_WORD0), constant(32, manifest.args.size()),
       constant(32, manifest.results.size()),
       constant(32, manifest.requirements.size()),
       constant(32, manifest.device), constant(64, manifest.workspace),
       addressIn(kValues, 0), addressIn(kRequirements, 0),
       addressIn(kSizes, 0)});
  ArrayRef<Type> fields = type.getBody();
  SmallVector<Value> operations = llvm::map_to_vector(
      allOps, [&](pit_shape_op op) { return operation(op); });
  return aggregate(type, {head, aggregate(fields[kValues], values),
                          aggregate(fields[kRequirements], requirements),
                          aggregate(fields[kSizes], programs),
                          aggregate(fields[kOps], operations)});
}

LLVM::GlobalOp mlir::pit::emitManifest(OpBuilder &builder, Location loc,
                                       StringRef name,
                                       const Manifest &manifest) {
  Initializer initializer(builder, loc, manifest);
  auto global = LLVM::GlobalOp::create(
      builder, loc, initializer.layOut(), /*isConstant=*/true,
      LLVM::Linkage::External, name, Attribute());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(builder, loc, initializer.build(global));
  return global;
}
