//===- FragmentLowering.cpp - Elements that threads have ------------------===//

#include "PipelineLowering.h"

#include "Codegen/GPU/Common/Fragments.h"
#include "Codegen/GPU/Common/LinalgLowering.h"
#include "Codegen/GPU/Common/PlaceCompares.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::elementsOf;
using cuda::Emitter;
using cuda::valuesOf;

Value pitgpu::rowOf(Emitter &e, FragmentType type, const ThreadInRole &self,
                    int64_t part, int64_t half) {
  int64_t warpRows = type.getWarpRows(), perWarp = warpRows / 16;
  Value row = e.div(self.lane, 4);
  if (type.getRows() != warpRows)
    row = e.add(e.mul(e.rem(self.warp, 4), warpRows), row);
  return e.add(row, 4 * warpRows * (part / perWarp) + 16 * (part % perWarp) +
                        8 * half);
}

void pitgpu::addFragmentType(TypeConverter &converter) {
  converter.addConversion([](FragmentType type, SmallVectorImpl<Type> &types) {
    llvm::append_range(types, cuda::valueTypes(type));
    return success();
  });
}

static Lowered lowerSplat(Emitter &e, SplatOp op, Operands<SplatOp>) {
  FragmentType type = op.getType();
  SmallVector<Value> elements(type.getElements(), op.getValue());
  return {valuesOf(e, type, elements)};
}

namespace {

/// The places of a thread's elements: rows (i32), and columns, which are so
/// many behind the first one.
struct ElementPlaces {
  ElementPlaces(Emitter &e, MapOp op, const ThreadInRole &self)
      : type(op.getType()) {
    firstCol = !type.hasCols()    ? e.i32(0)
               : type.getSpread() ? e.mul(self.lane, 2)
                                  : e.mul(e.rem(self.lane, 4), 2);
    for (int64_t i = 0; i < type.getThreadRows(); ++i) {
      Value row =
          type.hasRows() ? rowOf(e, type, self, i / 2, i % 2) : e.i32(0);
      rows.push_back(op.getFirstRow() ? e.add(row, op.getFirstRow()) : row);
    }
  }
  int64_t colBehind(int64_t j) const {
    return j / 2 * (type.getSpread() ? FragmentType::kSpread : 8) + j % 2;
  }

  FragmentType type;
  SmallVector<Value> rows;
  Value firstCol;
};

/// Comparisons of places in a map's region. What is left of the limit for each
/// of the thread's rows, from its first column on, is compared with numbers
/// that are known: each of them in a register would be too many.
class RegionCompares {
public:
  RegionCompares(Emitter &e, MapOp op, const ElementPlaces &places) {
    Block &body = op.getBody().front();
    auto placeOf = [&](Value value) -> std::optional<cuda::Place> {
      auto cast = value.getDefiningOp<arith::IndexCastOp>();
      if (cast && cast.getIn() == body.getArgument(0))
        return cuda::Place(1, 0);
      if (cast && cast.getIn() == body.getArgument(1))
        return cuda::Place(0, 1);
      return std::nullopt;
    };
    auto same = [](Value value) { return value; };
    for (auto compare : body.getOps<arith::CmpIOp>()) {
      auto found = cuda::findPlaceCompare(compare, placeOf);
      if (!found || (!found->rows && !found->cols))
        continue;
      Value limit = found->limit(e, same);
      Value col = e.mul(places.firstCol, found->cols);
      Compare &made = compares[compare];
      made.cols = found->cols;
      for (Value row : places.rows)
        made.left.push_back(e.sub(limit, e.add(e.mul(row, found->rows), col)));
    }
  }

  bool contains(Operation *op) const { return compares.count(op); }
  /// Has them give what they give for row i and a column.
  void map(Emitter &e, IRMapping &values, int64_t i, int64_t colBehind) const {
    for (const auto &[op, compare] : compares)
      values.map(op->getResult(0),
                 e.compare(cast<arith::CmpIOp>(op).getPredicate(),
                           e.i32(compare.cols * colBehind), compare.left[i]));
  }

private:
  struct Compare {
    int64_t cols = 0;
    SmallVector<Value> left; ///< by row
  };
  llvm::MapVector<Operation *, Compare> compares;
};

/// An input of a map.
struct MapInput {
  FragmentType type;
  SmallVector<Value> elements;
  SmallVector<Value> gathered; ///< columns of other lanes
};

} // namespace

/// A column of what is spread: the same place in the four lanes that have its
/// eight columns.
static Value gatherColumn(Emitter &e, MapInput &input, int64_t j) {
  constexpr int64_t quads = FragmentType::kSpread / 8, inQuad = 3 << 8 | 31;
  Value &known = input.gathered[j];
  if (known)
    return known;
  int64_t eight = j / 2;
  Value from = input.elements[eight / quads * 2 + j % 2];
  Type type = from.getType(), i32 = e.b.getI32Type();
  Type bits = e.b.getIntegerType(type.getIntOrFloatBitWidth());
  if (type != bits)
    from = e.bitcast(bits, from);
  if (bits != i32)
    from = arith::ExtUIOp::create(e.b, e.loc, i32, from);
  Value found = NVVM::ShflOp::create(e.b, e.loc, i32, e.i32(-1), from,
                                     e.i32(eight % quads * 4), e.i32(inQuad),
                                     NVVM::ShflKind::idx, UnitAttr());
  if (bits != i32)
    found = arith::TruncIOp::create(e.b, e.loc, bits, found);
  return known = type == bits ? found : e.bitcast(type, found);
}

/// Row by row; columns of other lanes are for all rows, one after another.
static Lowered lowerMap(Emitter &e, MapOp op, Operands<MapOp> in) {
  FragmentType type = op.getType();
  ElementPlaces places(e, op, in.self(op));
  RegionCompares compares(e, op, places);
  bool byColumns = false;
  SmallVector<MapInput> inputs;
  for (auto [value, values] : llvm::zip(op.getInputs(), in.getInputs())) {
    auto input = cast<FragmentType>(value.getType());
    inputs.push_back({input, elementsOf(e, input, values),
                      SmallVector<Value>(type.getThreadCols())});
    byColumns |= input.getSpread() && !type.getSpread();
  }
  Block &body = op.getBody().front();
  int64_t rows = type.getThreadRows(), cols = type.getThreadCols();
  SmallVector<Value> result(type.getElements());
  for (int64_t n = 0; n < rows * cols; ++n) {
    int64_t i = byColumns ? n % rows : n / cols;
    int64_t j = byColumns ? n / rows : n % cols;
    int64_t behind = places.colBehind(j);
    SmallVector<Value> arguments = {places.rows[i],
                                    e.add(places.firstCol, behind)};
    for (MapInput &input : inputs)
      arguments.push_back(input.type.getSpread() && !type.getSpread()
                              ? gatherColumn(e, input, j)
                              : input.elements[input.type.getNumberOf(i, j)]);
    IRMapping values;
    values.map(body.getArguments(), arguments);
    compares.map(e, values, i, behind);
    for (Operation &scalar : body.without_terminator())
      if (!compares.contains(&scalar))
        e.b.clone(scalar, values);
    result[type.getNumberOf(i, j)] =
        values.lookupOrDefault(body.getTerminator()->getOperand(0));
  }
  return {valuesOf(e, type, result)};
}

/// Each thread combines what it has of a row, in two chains: one waits for its
/// last op less often than that takes. Then the four lanes of the row exchange
/// that.
static Lowered lowerReduceRows(Emitter &e, ReduceRowsOp op,
                               Operands<ReduceRowsOp> in) {
  FragmentType type = op.getInput().getType();
  if (!type.hasCols())
    return {llvm::to_vector(in.getInput())};
  SmallVector<Value> elements = elementsOf(e, type, in.getInput());
  auto combine = [&](Value x, Value y) {
    return e.clone(op.getBody().front(), {x, y}).front();
  };
  SmallVector<Value> result;
  for (int64_t i = 0; i < type.getThreadRows(); ++i) {
    Value chains[2];
    for (int64_t j = 0; j < type.getThreadCols(); ++j) {
      Value &chain = chains[j % 2], next = elements[type.getNumberOf(i, j)];
      chain = chain ? combine(chain, next) : next;
    }
    Value all = combine(chains[0], chains[1]);
    for (int64_t apart : {1, 2})
      all = combine(all, cuda::shuffleLanes(e.b, e.loc, all, apart));
    result.push_back(all);
  }
  return {valuesOf(e, op.getType(), result)};
}

/// The place of a column (a constant) of a row in a tile, from that of column 0
/// or of a few further ones on: `at`. Within a line it is exclusive-ored.
static Value placeOfCol(Emitter &e, TileType tile, Value at, int64_t col) {
  int64_t line = tile.getLineElements();
  at = e.add(at, col / line * tile.getPitch());
  return e.bitXor(at, e.i32(col % line * tile.getElementBytes()));
}

static NVVM::LdStMatrixShapeAttr shapeOfMatrix(Emitter &e) {
  return NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8);
}

/// A lane's words of four matrices.
static SmallVector<Value> loadMatrices(Emitter &e, Value row, bool transposed) {
  auto type = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), SmallVector<Type>(4, e.b.getI32Type()));
  Value four = NVVM::LdMatrixOp::create(
      e.b, e.loc, type, e.sharedPointer(row), /*num=*/4,
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      shapeOfMatrix(e), NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> words;
  for (int64_t i = 0; i < 4; ++i)
    words.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, four, i));
  return words;
}

/// The place of a lane's row in the four 8 x 8 matrices of 16 rows and columns:
/// rows of the first eight columns, then of the others.
static Value matrixRow(Emitter &e, TileType tile, Value place,
                       const ThreadInRole &self, int64_t part) {
  Value row = e.add(e.mul(e.rem(self.warp, 4), 16), e.rem(self.lane, 16));
  row = e.add(row, 64 * part);
  return e.add(place, offsetOf(e, tile, row, e.mul(e.div(self.lane, 16), 8)));
}

/// The same, of the transposed: rows of the tile are columns of the fragment.
static Value matrixCol(Emitter &e, TileType tile, Value place,
                       const ThreadInRole &self, int64_t part) {
  Value matrix = e.div(self.lane, 8);
  Value row = e.add(e.mul(e.div(matrix, 2), 8), e.rem(self.lane, 8));
  Value col = e.add(e.mul(e.rem(self.warp, 4), 16), e.mul(e.rem(matrix, 2), 8));
  return e.add(place, offsetOf(e, tile, row, e.add(col, 64 * part)));
}

static void storeMatrices(Emitter &e, LocalStoreOp op, const ThreadInRole &self,
                          Value place, ValueRange values, int64_t part) {
  TileType tile = op.getTile().getType();
  bool transposed = op.getTransposed();
  Value first = transposed ? matrixCol(e, tile, place, self, part)
                           : matrixRow(e, tile, place, self, part);
  for (int64_t i = 0, n = values.size(); i < n; i += 4) {
    SmallVector<Value> words;
    for (Value pair : values.slice(i, std::min<int64_t>(4, n - i)))
      words.push_back(e.bitcast(e.b.getI32Type(), pair));
    int64_t col = static_cast<int64_t>(op.getCols()) + 4 * i;
    Value to = transposed ? e.add(first, col * tile.getSwizzle())
                          : placeOfCol(e, tile, first, col);
    NVVM::StMatrixOp::create(e.b, e.loc, e.sharedPointer(to), words,
                             transposed ? NVVM::MMALayout::col
                                        : NVVM::MMALayout::row,
                             shapeOfMatrix(e), NVVM::LdStMatrixEltType::B16);
  }
}

/// A thread has two neighbours of every eight columns, of each of two rows.
static void storePairs(Emitter &e, LocalStoreOp op, const ThreadInRole &self,
                       Value place, ValueRange values, int64_t part) {
  TileType tile = op.getTile().getType();
  FragmentType type = op.getFragment().getType();
  Value own = e.mul(e.rem(self.lane, 4), 2);
  for (int64_t half = 0; half < 2; ++half) {
    Value row = rowOf(e, type, self, part, half);
    Value first = e.add(place, offsetOf(e, tile, row, own));
    for (size_t i = 2 * half; i < values.size(); i += 4) {
      Value to =
          placeOfCol(e, tile, first,
                     static_cast<int64_t>(op.getCols() + 2 * (i - 2 * half)));
      e.store(e.pair(values[i], values[i + 1]), e.sharedPointer(to),
              2 * tile.getElementBytes());
    }
  }
}

/// Words of a thread's values, of two elements of 16 bits each.
static Lowered lowerLocalStore(Emitter &e, LocalStoreOp op,
                               Operands<LocalStoreOp> in) {
  FragmentType type = op.getFragment().getType();
  for (int64_t part = 0; part < type.getParts(); ++part) {
    size_t count = in.getFragment().size() / type.getParts();
    ValueRange values = in.getFragment().slice(part * count, count);
    if (type.getElementType().getIntOrFloatBitWidth() == 16)
      storeMatrices(e, op, in.self(op), in.getTile().front(), values, part);
    else
      storePairs(e, op, in.self(op), in.getTile().front(), values, part);
  }
  return {};
}

static Lowered lowerLoadMatrices(Emitter &e, LoadMatricesOp op,
                                 Operands<LoadMatricesOp> in) {
  SmallVector<SmallVector<Value>> words;
  for (Value word : loadMatrices(e, in.getRow().front(), op.getTransposed()))
    words.push_back({word});
  return words;
}

static Lowered lowerLocalLoad(Emitter &e, LocalLoadOp op,
                              Operands<LocalLoadOp> in) {
  TileType tile = op.getTile().getType();
  FragmentType type = op.getType();
  SmallVector<Value> values;
  for (int64_t part = 0; part < type.getParts(); ++part) {
    Value first = matrixRow(e, tile, in.getTile().front(), in.self(op), part);
    for (int64_t col = 0; col < type.getCols(); col += 16)
      for (Value word : loadMatrices(e, placeOfCol(e, tile, first, col),
                                     /*transposed=*/false))
        values.push_back(
            e.bitcast(VectorType::get(2, type.getElementType()), word));
  }
  return {values};
}

void pitgpu::populateFragmentPatterns(PipelinePatterns &patterns) {
  patterns.add(lowerSplat, lowerMap, lowerReduceRows, lowerLocalStore,
               lowerLocalLoad, lowerLoadMatrices);
}
