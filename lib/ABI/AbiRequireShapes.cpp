//===- AbiRequireShapes.cpp - What arguments' shapes have to fulfil -------===//

#include "pit-runtime/Abi.h"
#include "pit/ABI/Manifest.h"
#include "pit/ABI/Passes.h"
#include "pit/ABI/ShapeExpr.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITABIREQUIRESHAPES
#include "pit/ABI/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {
/// The requirements of one function.
class Requirements {
public:
  explicit Requirements(func::FuncOp func) : shapes(func) {}

  void addOp(Operation *op);
  /// The trip counts of a loop over tiles, and of those in it. Fails, with an
  /// error, if static sizes clash.
  LogicalResult addTiles(Operation *loop);
  ArrayRef<Manifest::Requirement> get() const { return list; }

private:
  void addLinalg(linalg::LinalgOp op);
  void addSparse(SparseOp op);
  void addSlice(OffsetSizeAndStrideOpInterface op, Value whole);
  void addPoint(Value tensor, ValueRange indices);
  AffineExpr ofShape(IndexOp index, int64_t dim);
  void equal(AffineExpr lhs, AffineExpr rhs);
  void atLeast(AffineExpr lhs, AffineExpr rhs);
  void add(int64_t relation, AffineExpr lhs, AffineExpr rhs);
  /// Two tensors agree in their first `rank` dimensions.
  void equalDims(Value a, Value b, int64_t rank) {
    for (int64_t dim = 0; dim < rank; ++dim)
      equal(shapes.ofDim(a, dim), shapes.ofDim(b, dim));
  }

  ShapeExprs shapes;
  SmallVector<Manifest::Requirement> list;
  /// Sizes required to be equal: a chain of ops repeats itself.
  llvm::EquivalenceClasses<const void *> classes;
  llvm::SetVector<std::pair<AffineExpr, AffineExpr>> bounds;
};
} // namespace

static int64_t getRank(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

void Requirements::add(int64_t relation, AffineExpr lhs, AffineExpr rhs) {
  ShapeProgram left = shapes.toProgram(lhs), right = shapes.toProgram(rhs);
  for (const ShapeProgram &side : {left, right})
    if (side.front().op == PIT_SHAPE_UNKNOWN)
      return;
  list.push_back({relation, left, right});
}

void Requirements::equal(AffineExpr lhs, AffineExpr rhs) {
  if (!lhs || !rhs ||
      (isa<AffineConstantExpr>(lhs) && isa<AffineConstantExpr>(rhs)))
    return;
  const void *a = lhs.getAsOpaquePointer(), *b = rhs.getAsOpaquePointer();
  if (shapes.simplify(lhs - rhs) == 0 || classes.isEquivalent(a, b))
    return;
  classes.unionSets(a, b);
  if (isa<AffineConstantExpr>(lhs))
    std::swap(lhs, rhs);
  add(PIT_REQUIRE_EQUAL, lhs, rhs);
}

void Requirements::atLeast(AffineExpr lhs, AffineExpr rhs) {
  if (!lhs || !rhs)
    return;
  auto difference = dyn_cast<AffineConstantExpr>(shapes.simplify(lhs - rhs));
  if (difference && difference.getValue() >= 0)
    return;
  if (bounds.insert({lhs, rhs}))
    add(PIT_REQUIRE_AT_LEAST, lhs, shapes.simplify(rhs));
}

/// Each loop has one extent, and what a compound subscript such as i + j
/// reaches is inside of its operand.
void Requirements::addLinalg(linalg::LinalgOp op) {
  SmallVector<AffineExpr> extents(op.getNumLoops());
  struct Subscript {
    AffineExpr expr, size;
  };
  SmallVector<Subscript> compound;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      AffineExpr size = shapes.ofDim(operand.get(), dim);
      if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
        AffineExpr &extent = extents[loop.getPosition()];
        if (extent)
          equal(size, extent);
        else
          extent = size;
      } else if (size && isMonotone(expr)) {
        compound.push_back({expr, size});
      }
    }
  }
  for (auto [expr, size] : compound) {
    bool known = true;
    SmallVector<AffineExpr> last;
    for (auto [loop, extent] : llvm::enumerate(extents)) {
      known &= extent || !expr.isFunctionOfDim(loop);
      last.push_back(extent ? extent - 1 : expr);
    }
    if (known)
      atLeast(size, expr.replaceDims(last) + 1);
  }
}

void Requirements::addSparse(SparseOp op) {
  Value selector = op.getSelector();
  if (!selector)
    return;
  // A routing has the tokens in common with what it selects from, lengths
  // the dimensions before the ragged one, a mask or an index all of them.
  int64_t rank = getRank(op.getInput());
  if (op.getSource() == Source::Routing)
    rank = 1;
  else if (op.getSource() == Source::Lengths)
    rank = getRank(selector);
  equalDims(selector, op.getInput(), rank);
}

void Requirements::addSlice(OffsetSizeAndStrideOpInterface op, Value whole) {
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  SmallVector<OpFoldResult> strides = op.getMixedStrides();
  for (size_t dim = 0; dim < offsets.size(); ++dim) {
    AffineExpr offset = shapes.of(offsets[dim]), size = shapes.of(sizes[dim]);
    if (!offset || !size || getConstantIntValue(strides[dim]) != 1)
      continue;
    atLeast(shapes.ofDim(whole, dim), offset + size);
    AffineExpr zero = getAffineConstantExpr(0, op->getContext());
    for (AffineExpr expr : {offset, size})
      if (!shapes.isNonNegative(expr))
        atLeast(expr, zero);
  }
}

void Requirements::addPoint(Value tensor, ValueRange indices) {
  for (auto [dim, index] : llvm::enumerate(indices))
    if (AffineExpr at = shapes.of(index)) {
      atLeast(shapes.ofDim(tensor, dim), at + 1);
      if (!shapes.isNonNegative(at))
        atLeast(at, getAffineConstantExpr(0, at.getContext()));
    }
}

void Requirements::addOp(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case([&](linalg::LinalgOp op) { addLinalg(op); })
      .Case([&](linalg::SoftmaxOp op) {
        equalDims(op.getInput(), op.getOutput(), getRank(op.getInput()));
      })
      .Case([&](SparseOp op) { addSparse(op); })
      .Case([&](tensor::CastOp op) {
        // A size that the new type tells is a claim.
        auto type = dyn_cast<RankedTensorType>(op.getType());
        if (!type || !isa<RankedTensorType>(op.getSource().getType()))
          return;
        for (auto [dim, size] : llvm::enumerate(type.getShape()))
          if (!ShapedType::isDynamic(size))
            equal(shapes.ofDim(op.getSource(), dim),
                  getAffineConstantExpr(size, op.getContext()));
      })
      .Case([&](tensor::ExpandShapeOp op) {
        for (auto [dim, group] :
             llvm::enumerate(op.getReassociationIndices())) {
          AffineExpr product = getAffineConstantExpr(1, op.getContext());
          for (int64_t part : group) {
            AffineExpr size = shapes.ofDim(op.getResult(), part);
            product = product && size ? product * size : AffineExpr();
          }
          equal(shapes.ofDim(op.getSrc(), dim), product);
        }
      })
      .Case([&](tensor::ConcatOp op) {
        for (Value input : op.getInputs().drop_front())
          for (int64_t dim = 0; dim < getRank(input); ++dim)
            if (dim != int64_t(op.getDim()))
              equal(shapes.ofDim(input, dim),
                    shapes.ofDim(op.getInputs().front(), dim));
      })
      .Case([&](tensor::ExtractSliceOp op) { addSlice(op, op.getSource()); })
      .Case([&](tensor::InsertSliceOp op) { addSlice(op, op.getDest()); })
      .Case([&](tensor::ExtractOp op) {
        addPoint(op.getTensor(), op.getIndices());
      })
      .Case(
          [&](tensor::InsertOp op) { addPoint(op.getDest(), op.getIndices()); })
      .Default([&](Operation *op) {
        if (!OpTrait::hasElementwiseMappableTraits(op))
          return;
        Value first;
        for (Value operand : op->getOperands()) {
          if (!isa<RankedTensorType>(operand.getType()))
            continue;
          if (first)
            equalDims(operand, first, getRank(first));
          else
            first = operand;
        }
      });
}

//===----------------------------------------------------------------------===//
// Tile programs
//===----------------------------------------------------------------------===//

namespace {
/// Collects the sizes that `op` needs if it takes dimension `dim` of a tensor,
/// or of an indexed tensor, apart.
struct Cut {
  Operation *op;
  Value tensor;
  int64_t dim;
};

/// The cuts of each variable of a loop over tiles: a dense range's, or ids.
class Cuts {
public:
  explicit Cuts(Operation *root) {
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto loop = dyn_cast<ForallOp>(op))
        addLoop(loop);
      else if (auto loop = dyn_cast<ForOp>(op))
        addLoop(loop);
      else if (auto read = dyn_cast<SReadOp>(op))
        addTile(op, read.getSrc(), read.getSubscripts());
      else if (auto write = dyn_cast<SWriteOp>(op))
        addTile(op, write.getDest(), write.getSubscripts());
    });
  }

  const llvm::MapVector<Value, SmallVector<Cut>> &get() const { return cuts; }

private:
  void add(Value variable, Cut cut) {
    auto arg = dyn_cast<BlockArgument>(variable);
    if (arg && isa<ForallOp, ForOp>(arg.getOwner()->getParentOp()))
      cuts[variable].push_back(cut);
  }
  void addTile(Operation *op, Value tensor, ValueRange subscripts) {
    for (auto [dim, subscript] : llvm::enumerate(subscripts))
      if (!isa<SparsityIndexType>(subscript.getType()))
        add(subscript, {op, tensor, int64_t(dim)});
  }
  /// Ids count along the axis of the indexed tensor; what names their group are
  /// coordinates of it.
  template <typename LoopT> void addLoop(LoopT loop) {
    Value index = loop.getIndex();
    if (!index)
      return;
    auto type = cast<SparsityIndexType>(index.getType());
    add(loop.getIds(), {loop, index, type.getAxis()});
    for (auto [dim, group] : llvm::zip(type.getGroupDims(), loop.getGroup()))
      add(group, {loop, index, dim});
  }

  llvm::MapVector<Value, SmallVector<Cut>> cuts;
};
} // namespace

/// The dimension of a cut, if its size is known: of an index that is built
/// here, a dimension of its source or a number.
static std::optional<std::pair<Value, int64_t>> sourceOf(const Cut &cut) {
  if (auto packed = cut.tensor.getDefiningOp<PackedIndexOp>())
    return std::make_pair(packed.getInput(), cut.dim);
  auto index = cut.tensor.getDefiningOp<IndexOp>();
  if (!index)
    return std::make_pair(cut.tensor, cut.dim);
  if (!index.getShape().empty())
    return std::nullopt;
  return std::make_pair(index.getInput(), cut.dim);
}

/// Dimension `dim` of what the index is of; null where two are one.
AffineExpr Requirements::ofShape(IndexOp index, int64_t dim) {
  bool hasRows = index.hasRowsOfBatch();
  if (hasRows && dim == index.getType().getAxis())
    return {};
  return shapes.of(index.getShape()[dim + hasRows]);
}

LogicalResult Requirements::addTiles(Operation *root) {
  Cuts all(root);
  for (auto &[variable, cuts] : all.get()) {
    AffineExpr first;
    Operation *firstOp = nullptr;
    for (const Cut &cut : cuts) {
      AffineExpr size;
      if (auto source = sourceOf(cut))
        size = shapes.ofDim(source->first, source->second);
      else
        size = ofShape(cut.tensor.getDefiningOp<IndexOp>(), cut.dim);
      // The program knows how computed sizes relate to the others: it may write
      // one element less than it reads.
      if (!size ||
          !isa<AffineDimExpr, AffineSymbolExpr, AffineConstantExpr>(size))
        continue;
      if (!first) {
        first = size;
        firstOp = cut.op;
        continue;
      }
      auto one = dyn_cast<AffineConstantExpr>(first);
      auto other = dyn_cast<AffineConstantExpr>(size);
      if (one && other && one != other) {
        InFlightDiagnostic diag =
            cut.op->emitOpError()
            << "takes tiles along dimension " << cut.dim << ", of size "
            << other.getValue()
            << ", by a variable that counts along a dimension of size "
            << one.getValue() << " elsewhere; both have to be the same";
        diag.attachNote(firstOp->getLoc()) << "which is here";
        return diag;
      }
      equal(size, first);
    }
  }
  return success();
}

namespace {
struct AbiRequireShapes : pit::impl::PitAbiRequireShapesBase<AbiRequireShapes> {
  using Base::Base;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    SmallVector<int64_t> words;
    {
      Requirements requirements(func);
      SmallVector<Operation *> ops;
      // Ops that are nested or in another block may not be run at all.
      for (Operation &op : func.getBody().front())
        ops.push_back(&op);
      for (Operation *op : ops) {
        requirements.addOp(op);
        if (isa<ForallOp, ForOp>(op) && failed(requirements.addTiles(op)))
          return signalPassFailure();
      }
      if (requirements.get().empty())
        return;
      words = encodeRequirements(requirements.get());
    }
    func->setAttr(kRequireAttr, DenseI64ArrayAttr::get(&getContext(), words));
  }
};
} // namespace
