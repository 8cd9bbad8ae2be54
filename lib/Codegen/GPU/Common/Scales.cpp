//===- Scales.cpp - What a step's products are multiplied by --------------===//

#include "Scales.h"

#include "Codegen/Common/TileInput.h"

#include "pit/Analysis/Refusal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Operands of a contraction before its scales: two tiles and the accumulator.
static constexpr unsigned kBeforeScales = 3;

/// The dimension of the accumulator's tile along which each dimension of a
/// scale's tile runs; -1: none.
static SmallVector<int> dimsOf(MainloopOp mainloop, unsigned scale) {
  AffineMap acc = mainloop.getMap(2);
  SmallVector<int> dims;
  for (AffineExpr expr : mainloop.getMap(kBeforeScales + scale).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    std::optional<unsigned> position;
    if (dim && mainloop.getTile()[dim.getPosition()] != 1)
      position = acc.getResultPosition(dim);
    dims.push_back(position ? static_cast<int>(*position) : -1);
  }
  return dims;
}

static bool runsAlong(ArrayRef<int> dims, int dim) {
  return dim >= 0 && llvm::is_contained(dims, dim);
}

SmallVector<ScaleView> cuda::scaleViews(MainloopOp mainloop,
                                        unsigned accumulator, int mDim,
                                        int nDim) {
  SmallVector<ScaleView> views;
  for (unsigned s = 0; s < mainloop.getNumScales(); ++s) {
    ScaleView scale;
    scale.view = mainloop.getViewOf(accumulator, kBeforeScales + s);
    scale.dims = dimsOf(mainloop, s);
    scale.alongM = runsAlong(scale.dims, mDim);
    scale.alongN = runsAlong(scale.dims, nDim);
    views.push_back(scale);
  }
  return views;
}

std::pair<Value, Value> cuda::placeAlongTile(Emitter &e, const ScaleView &scale,
                                             const TileAccess &tile,
                                             Value position) {
  Value offset = e.index(0), exist;
  for (auto [d, dim] : llvm::enumerate(tile.dims)) {
    if (scale.dims[d] < 0)
      continue;
    auto [at, exists] = locate(e, dim, e.toIndex(position));
    // Nothing is stored for a place that does not exist, so any scale will do.
    at = e.select(exists, at, e.index(0));
    offset = e.add(offset, e.mul(at, dim.stride));
    exist = exist ? e.logicalAnd(exist, exists) : exists;
  }
  return {offset, exist};
}

Value cuda::placeAlongSteps(Emitter &e, const ScaleView &scale,
                            const TileAccess &tile) {
  Value offset = e.index(0);
  for (auto [d, dim] : llvm::enumerate(tile.dims)) {
    if (scale.dims[d] >= 0)
      continue;
    auto [at, exists] = locate(e, dim, e.index(0));
    at = e.select(exists, at, e.index(0));
    offset = e.add(offset, e.mul(at, dim.stride));
  }
  return offset;
}

Value cuda::loadScale(Emitter &e, MainloopSteps &steps, const ScaleView &scale,
                      Value position) {
  TileAccess tile = steps.access(scale.view);
  Value offset = e.add(placeAlongTile(e, scale, tile, position).first,
                       placeAlongSteps(e, scale, tile));
  return e.load(tile.element, elementAddress(e, tile, offset),
                elementBytes(tile.element));
}

Scales::Scales(Emitter &e, ArrayRef<ScaleView> views, const Fragment &fragment,
               LoadScale load)
    : rows(fragment.rows.size()), cols(fragment.cols.size()) {
  for (const ScaleView &view : views) {
    Scale scale;
    scale.alongM = view.alongM;
    scale.alongN = view.alongN;
    SmallVector<Value> positions = {e.i32(0)};
    if (view.alongM || view.alongN)
      positions = view.alongM ? fragment.rows : fragment.cols;
    for (Value position : positions)
      scale.values.push_back(load(view, position));
    scales.push_back(scale);
  }
}

SmallVector<Value> Scales::at(size_t i, size_t j) const {
  return llvm::map_to_vector(scales, [&](const Scale &scale) {
    return scale.values[scale.alongM ? i : scale.alongN ? j : 0];
  });
}

static Value multiply(Emitter &e, Value x, Value y) {
  y = convertElements(e.b, e.loc, y, e.b.getF32Type());
  return x ? arith::MulFOp::create(e.b, e.loc, x, y) : y;
}

Value Scales::productOf(Emitter &e, size_t at, bool alongN) {
  SmallVector<Value> &known = alongN ? cols : rows;
  if (!known[at])
    for (const Scale &scale : scales)
      if (scale.alongN == alongN)
        known[at] = multiply(e, known[at],
                             scale.values[scale.alongM || alongN ? at : 0]);
  return known[at];
}

Value Scales::product(Emitter &e, size_t i, size_t j) {
  Value row = productOf(e, i, /*alongN=*/false);
  Value col = productOf(e, j, /*alongN=*/true);
  return row && col ? multiply(e, row, col) : row ? row : col;
}

Refused cuda::checkScales(MainloopOp mainloop, int mDim, int nDim) {
  for (auto [s, scale] :
       llvm::enumerate(scaleViews(mainloop, /*accumulator=*/0, mDim, nDim)))
    if (scale.alongM && scale.alongN)
      return refuse("scale ", s, " changes along m and along n");
  return {};
}
