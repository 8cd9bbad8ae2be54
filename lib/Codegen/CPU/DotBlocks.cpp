//===- DotBlocks.cpp - Blocks of sums of dot instructions -----------------===//
//
//   for parts of k that fit a cache
//     for panels of n
//       interleave the rows of B, if the panels are not packed so
//       for blocks of m: sums += A[m, k] * B[k, n]
//
// A part's panel of B stays in the first cache while the blocks of m pass by.
// The sums of a block are in registers, of tiles or vectors, along a part; they
// come from a tile on the stack and go back to it.
//
//===----------------------------------------------------------------------===//

#include "DotOperands.h"
#include "MainloopEmitter.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

/// Elements along k of a part: its panel fills the first cache.
static int64_t getPart(const MainloopPlan &plan) {
  int64_t bytes = plan.dots->element.getIntOrFloatBitWidth() / CHAR_BIT;
  return llvm::alignTo(CpuTarget::l1Bytes / (plan.panel() * bytes),
                       plan.dots->step);
}

MemRefType MainloopEmitter::getPackedColumnsType() {
  const DotPlan &dots = *plan.dots;
  int64_t k = llvm::alignTo(mainloop.getTile()[plan.k.back()], dots.step);
  return MemRefType::get(
      {std::min(getPart(plan), k) / dots.group, plan.panel() * dots.group},
      dots.element);
}

/// The places of a block's operands and sums.
struct MainloopEmitter::DotBlock {
  SmallVector<Value> rows;  ///< of A: [others][m / rows][k / block][m][k]
  Value columns;            ///< panels of B
  SmallVector<Value> panel; ///< in it: [others][panel][k / group]
  SmallVector<Value> sums;  ///< in the tile of sums
  unsigned m;               ///< rows in it
};

void MainloopEmitter::forDims(Accumulator &own, ArrayRef<unsigned> dims,
                              SmallVector<Value> &at,
                              function_ref<void()> body) {
  if (dims.empty())
    return body();
  unsigned dim = dims.front();
  forRange(limits[dim] ? limits[dim] : limitOf(own, dim), 1, [&](Value i) {
    at[dim] = i;
    forDims(own, dims.drop_front(), at, body);
  });
}

void MainloopEmitter::forRange(Value to, int64_t step,
                               function_ref<void(Value)> body) {
  forLoop(index(0), to, step, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void MainloopEmitter::multiplyDots(Accumulator &own) {
  const DotPlan &dots = *plan.dots;
  unsigned m = *plan.m, n = plan.n, k = plan.k.back();
  AffineMap mapA = mainloop.getMap(plan.a), mapB = mainloop.getMap(plan.b);
  SmallVector<Value> at(mainloop.getTile().size());
  // The dims of B go outside: its panels serve all dims that it lacks.
  SmallVector<unsigned> outer, inner;
  for (unsigned dim : plan.batchDims)
    (findDim(mapB, dim) ? outer : inner).push_back(dim);
  llvm::append_range(outer, ArrayRef(plan.k).drop_back());

  auto multiplyBlock = [&](Value length, Value steps) {
    DotBlock block;
    for (AffineExpr result : mapA.getResults()) {
      unsigned dim = cast<AffineDimExpr>(result).getPosition();
      if (dim != m && dim != k)
        block.rows.push_back(at[dim]);
    }
    Value zero = index(0);
    if (dots.amx)
      block.rows.append(
          {div(at[m], plan.dotRows()), div(at[k], dots.step), zero, zero});
    else
      block.rows.append({zero, zero, at[m], at[k]});
    block.columns = own.packedColumns;
    Value firstLine = index(0);
    if (own.before.panels.grouped) {
      block.columns = own.before.panels.memref;
      block.panel = columnAt(own, SumBlock(), at, 0);
      block.panel.pop_back();
      firstLine = div(block.panel.pop_back_val(), dots.group);
    }
    block.panel.push_back(firstLine);
    AffineMap sums = getSumsMap(mainloop, plan);
    block.sums = positionOf(sums, at);
    block.m = *findDim(sums, m);
    if (dots.amx)
      multiplyTiles(own, block, steps);
    else
      multiplyPairs(own, block, length);
  };

  forDims(own, outer, at, [&] {
    Value end = limitOf(own, k);
    int64_t part = getPart(plan);
    forRange(end, part, [&](Value first) {
      at[k] = first;
      Value length = min(sub(end, first), index(part));
      Value steps = ceilDiv(length, index(dots.step));
      forRange(limits[n], plan.panel(), [&](Value column) {
        at[n] = column;
        if (!own.before.panels.grouped)
          packColumns(own, at, length, steps);
        forDims(own, inner, at, [&] {
          forRange(limits[m], plan.dotRows(), [&](Value row) {
            at[m] = row;
            multiplyBlock(length, steps);
          });
        });
      });
    });
  });
}

/// Interleaves `length` rows of B from `at` on, and zeros up to the end of so
/// many steps.
void MainloopEmitter::packColumns(Accumulator &own, ArrayRef<Value> at,
                                  Value length, Value steps) {
  const DotPlan &dots = *plan.dots;
  ColumnsPart part;
  part.type = VectorType::get(
      plan.panel(), getElementTypeOrSelf(own.operands[plan.b].memref));
  part.width = sub(limits[plan.n], at[plan.n]);
  part.length = length;
  part.padded = mul(steps, dots.step);
  packGroups(
      b, loc, dots, part,
      [&](Value row, Value mask) {
        SmallVector<Value> point(at);
        point[plan.k.back()] = add(at[plan.k.back()], row);
        return loadColumns(own, part.type, SumBlock(), point, 0, mask);
      },
      [&](Value number, Value elements) {
        vector::StoreOp::create(b, loc, elements, own.packedColumns,
                                ValueRange{number, index(0)});
      });
}

/// A block of two by two tile registers, over so many steps along k.
void MainloopEmitter::multiplyTiles(Accumulator &own, const DotBlock &block,
                                    Value steps) {
  const DotPlan &dots = *plan.dots;
  auto sumsType = cast<MemRefType>(own.sumsTile.getType());
  int64_t lines = dots.step / dots.group, width = plan.lanes * dots.group;
  auto tileA = amx::TileType::get({dots.tileRows, dots.step}, dots.element),
       tileB = amx::TileType::get({lines, width}, dots.element),
       tileC = amx::TileType::get({dots.tileRows, plan.lanes},
                                  sumsType.getElementType());
  int64_t sumsStride = 1;
  for (int64_t extent : sumsType.getShape().drop_front(block.m + 1))
    sumsStride *= extent;
  auto sumsAt = [&](int64_t i, int64_t j) {
    SmallVector<Value> position(block.sums);
    position[block.m] = add(position[block.m], i * dots.tileRows);
    position.back() = add(position.back(), j * plan.lanes);
    return position;
  };

  SmallVector<Value> sums;
  for (int64_t i = 0; i < dots.tiles; ++i)
    for (int64_t j = 0; j < plan.vectors; ++j)
      sums.push_back(amx::TileLoadOp::create(b, loc, tileC, own.sumsTile,
                                             sumsAt(i, j), index(sumsStride)));
  sums =
      forLoop(index(0), steps, 1, sums, [&](Value number, ValueRange carried) {
        SmallVector<Value> result(carried), columns;
        SmallVector<Value> panel(block.panel), rows(block.rows);
        panel.back() = add(panel.back(), mul(number, lines));
        for (int64_t j = 0; j < plan.vectors; ++j) {
          SmallVector<Value> position(panel);
          position.push_back(index(j * width));
          columns.push_back(
              amx::TileLoadOp::create(b, loc, tileB, block.columns, position,
                                      index(plan.vectors * width)));
        }
        Value &inBlocks = rows.end()[-3], &row = rows.end()[-2], first = row;
        inBlocks = add(inBlocks, number);
        for (int64_t i = 0; i < dots.tiles; ++i) {
          row = add(first, i * dots.tileRows);
          Value tile = amx::TileLoadOp::create(b, loc, tileA, own.packed, rows,
                                               index(dots.step));
          for (int64_t j = 0; j < plan.vectors; ++j) {
            Value &sum = result[i * plan.vectors + j];
            if (isa<FloatType>(dots.element))
              sum =
                  amx::TileMulFOp::create(b, loc, tileC, tile, columns[j], sum);
            else
              sum = amx::TileMulIOp::create(b, loc, tileC, tile, columns[j],
                                            sum, dots.zextA, dots.zextB);
          }
        }
        return result;
      });
  for (int64_t i = 0; i < dots.tiles; ++i)
    for (int64_t j = 0; j < plan.vectors; ++j)
      amx::TileStoreOp::create(b, loc, own.sumsTile, sumsAt(i, j),
                               sums[i * plan.vectors + j], index(sumsStride));
}

/// A block of vectors, over `length` elements along k. LLVM takes the products
/// of pairs and their sums for what they are: vpmaddwd or vpdpwssd.
void MainloopEmitter::multiplyPairs(Accumulator &own, const DotBlock &block,
                                    Value length) {
  const DotPlan &dots = *plan.dots;
  Type sum = mainloop.getAccumulatorType();
  auto pair = VectorType::get(dots.group, dots.element),
       elements = VectorType::get(dots.group * plan.lanes, dots.element),
       products = VectorType::get(dots.group * plan.lanes, sum);
  auto sumsAt = [&](int64_t row, int64_t v) {
    SmallVector<Value> position(block.sums);
    position[block.m] = add(position[block.m], row);
    position.back() = add(position.back(), v * plan.lanes);
    return position;
  };

  SmallVector<Value> sums;
  for (int64_t row = 0; row < plan.rows; ++row)
    for (int64_t v = 0; v < plan.vectors; ++v)
      sums.push_back(vector::LoadOp::create(b, loc, vectorOf(sum), own.sumsTile,
                                            sumsAt(row, v)));
  Value groups = ceilDiv(length, index(dots.group));
  sums =
      forLoop(index(0), groups, 1, sums, [&](Value number, ValueRange carried) {
        SmallVector<Value> result(carried), columns;
        SmallVector<Value> panel(block.panel), rows(block.rows);
        panel.back() = add(panel.back(), number);
        for (int64_t v = 0; v < plan.vectors; ++v) {
          SmallVector<Value> position(panel);
          position.push_back(index(v * elements.getNumElements()));
          Value column =
              vector::LoadOp::create(b, loc, elements, block.columns, position);
          columns.push_back(arith::ExtSIOp::create(b, loc, products, column));
        }
        Value &row = rows.end()[-2], first = row;
        rows.back() = add(rows.back(), mul(number, dots.group));
        for (int64_t i = 0; i < plan.rows; ++i) {
          row = add(first, i);
          Value a = vector::LoadOp::create(b, loc, pair, own.packed, rows);
          a = vector::BitCastOp::create(b, loc, VectorType::get(1, sum), a);
          a = vector::BroadcastOp::create(b, loc, vectorOf(sum), a);
          a = vector::BitCastOp::create(b, loc, elements, a);
          a = arith::ExtSIOp::create(b, loc, products, a);
          for (int64_t v = 0; v < plan.vectors; ++v) {
            Value product = mul(a, columns[v]);
            auto halves = vector::DeinterleaveOp::create(b, loc, product);
            Value both = add(halves.getRes1(), halves.getRes2());
            Value &to = result[i * plan.vectors + v];
            to = add(to, both);
          }
        }
        return result;
      });
  for (int64_t row = 0; row < plan.rows; ++row)
    for (int64_t v = 0; v < plan.vectors; ++v)
      vector::StoreOp::create(b, loc, sums[row * plan.vectors + v],
                              own.sumsTile, sumsAt(row, v));
}
