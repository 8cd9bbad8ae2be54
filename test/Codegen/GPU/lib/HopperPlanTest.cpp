//===- HopperPlanTest.cpp - Plans of Hopper's schedule, by value ----------===//
//
// Plans every mainloop of a file for sm_90a and prints what a plan decides.
// What follows from it is checked against the PTX manual: where TMA writes the
// elements of its boxes, where wgmma reads those of its matrices, given their
// descriptors, and what a multiprocessor has of shared memory and registers.
//
//===----------------------------------------------------------------------===//

#include "Codegen/GPU/Plan/HopperNest.h"

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <cstdio>
#include <set>

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static int failures = 0;

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition) && ++failures <= 20)                                      \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
  } while (false)

/// Boxes make up the rows of a tile, whose blocks start where the swizzle does.
static void checkBoxes(const HopperOperand &operand, int64_t boxRows) {
  CHECK(boxRows >= 1 && boxRows <= 256 && operand.rows % boxRows == 0);
  CHECK(boxRows == 1 || boxRows % 8 == 0);
  CHECK(operand.lineElements() * operand.elementBytes == operand.lineBytes);
  CHECK(operand.blockBytes() % (8 * operand.lineBytes) == 0);
  CHECK(operand.tileBytes() % 1024 == 0 &&
        operand.tileBytes() >= operand.blocks * operand.blockBytes());
}

/// Ids of the steps, and elements that they select, which come ahead.
static void checkRings(const HopperPlan &plan) {
  int64_t ahead = plan.stepsAhead(), behind = plan.stepsBehind();
  // When step s begins, all threads have done what step s - stages takes: so
  // ids that are written two times as far ahead may take the places of that
  // step's.
  CHECK(plan.idSlots() >= 2 * ahead + plan.stages);
  CHECK((plan.idSlots() & (plan.idSlots() - 1)) == 0);
  CHECK(plan.firstIdSlots() >= 2 * ahead);
  // Those that are on their way, and of steps whose elements are not stored.
  CHECK(plan.elementSlots() >= ahead + behind + 1);
  // When a stage is waited for, the consumers hand it back if the next one is
  // full: that one's elements have been stored.
  CHECK(behind <= plan.stages - 2);
  CHECK(plan.idBytes() ==
        (plan.idSlots() + 2 * plan.firstIdSlots()) * plan.depth * 4);
  // A word for each element, and rows that do not exist.
  if (plan.b.isGatheredByElement())
    CHECK(plan.elementSlotBytes() >= plan.n * plan.depth * 4);
}

/// Scales of all stages lie one after another, and before what fills rows.
static void checkScales(const HopperPlan &plan) {
  int64_t end = 0;
  for (const HopperScales &scales : plan.scales) {
    CHECK(scales.offset % 16 == 0 && scales.offset >= end);
    CHECK(scales.count == 1 || scales.count == plan.m ||
          scales.count == plan.n);
    end = scales.offset + 4 * scales.count;
  }
  CHECK(plan.scalesBytes() >= end && plan.scalesBytes() % 16 == 0);
  CHECK(plan.allScalesBytes() == plan.stages * plan.scalesBytes());
}

static void checkPlan(const HopperPlan &plan) {
  for (const HopperOperand *operand : {&plan.a, &plan.b})
    checkBoxes(*operand, operand->boxRows());
  // Each block of a cluster loads a part of b.
  CHECK(plan.cluster == 1 || plan.b.loader == Loader::TmaTile);
  if (plan.cluster > 1 && plan.b.kIsCol) {
    CHECK(plan.b.rows % plan.cluster == 0);
    checkBoxes(plan.b, std::min(plan.b.boxRows(), plan.b.rows / plan.cluster));
  } else {
    CHECK(plan.b.blocks % plan.cluster == 0);
  }

  // The consumers' parts are the tile; wgmma takes n up to 256 in steps of 8.
  CHECK((plan.splitN() ? 1 : 2) * plan.perM() == plan.m);
  CHECK((plan.splitN() ? 2 : 1) * plan.perN() == plan.n);
  CHECK(plan.perM() == 64 * plan.wgmmas());
  CHECK(plan.perN() % 8 == 0 && plan.perN() <= 256);

  // Shared memory: 227 KB, and no stage that is less than there could be.
  // The results of 16 rows and up to 64 columns, of each warp.
  int64_t columns =
      plan.isTransposed() ? std::min<int64_t>(plan.perN(), 64) : 64;
  int64_t others = 16 * plan.stages + 2 * 4 * 16 * 2 * columns;
  CHECK(plan.stageBytes() % 1024 == 0);
  CHECK(plan.stages >= 2 && plan.stages <= 8);
  CHECK(plan.barrierBytes() >= 16 * plan.stages);
  CHECK(plan.sharedBytes() >= plan.stages * plan.stageBytes() + others);
  CHECK(plan.sharedBytes() <= 232448);
  HopperPlan more = plan;
  ++more.stages;
  CHECK(plan.stages == 8 || more.sharedBytes() > 232448 - 128);
  if (plan.streamsIds())
    checkRings(plan);
  // An mbarrier counts to 2^20 - 1, bytes and arrivals.
  CHECK(plan.stageBytes() < 1 << 20);

  // Registers: setmaxnreg gives out what the kernel was started with, 168 for
  // each of 384 threads.
  int64_t producer = plan.producerRegisters();
  int64_t consumer = plan.workerRegisters();
  CHECK(producer % 8 == 0 && producer >= 24 && producer <= 168);
  CHECK(consumer % 8 == 0 && consumer >= 168 && consumer <= 256);
  CHECK(producer + 2 * consumer <= 3 * 168);
  CHECK(plan.wgmmas() * plan.accumulators() <= 128);

  // Who arrives: all threads that copy chunks, and those that say how many
  // bytes boxes will bring, of rows one of each warp.
  auto loads = [&](Loader loader) {
    return plan.a.loader == loader || plan.b.loader == loader;
  };
  bool lanes = loads(Loader::CpAsync) || !plan.scales.empty();
  int64_t arrivals = lanes ? 128 : 0;
  arrivals += plan.b.isGatheredByElement() ? 128 : 0;
  arrivals += loads(Loader::TmaRowGather) ? 4 : loads(Loader::TmaTile);
  CHECK(plan.fullCount() == arrivals);
  // A thread of each consumer hands a stage back to each block of a cluster, or
  // one of each warp, which reads scales by itself.
  CHECK(plan.emptyCount() == 2 * plan.cluster * (plan.scales.empty() ? 1 : 4));
  checkScales(plan);
}

/// A bit for each row, and then as many bytes to copy as there is room for.
static void checkFill(const HopperPlan &plan) {
  CHECK(plan.barrierBytes() >= 16 * plan.stages + 8);
  CHECK(8 * plan.rowBytes() >= plan.rows);
  CHECK(plan.fillBytes >= 1024 && plan.fillBytes <= 8192);
  CHECK(plan.fillBytes == 8192 ||
        plan.sharedBytes() + plan.fillBytes > 232448 - 128);
}

/// What is read from a plan's attribute is the plan.
static void checkAttribute(const HopperPlan &plan, const MainloopNest &nest,
                           const GpuTarget &target) {
  GpuScheduleAttr schedule =
      plan.toAttribute(MainloopNest(nest).mainloop.getContext());
  OrRefusal<HopperPlan> read = HopperPlan::from(schedule, nest, target);
  CHECK(read && read->toAttribute(schedule.getContext()) == schedule);
  CHECK(read && read->sharedBytes() == plan.sharedBytes());
  CHECK(read && read->fullCount() == plan.fullCount());
  CHECK(read && read->producerRegisters() == plan.producerRegisters());
}

/// Operands of every order and width, apart from any mainloop.
static void checkOperands() {
  for (int64_t bytes : {1, 2, 4})
    for (bool kIsCol : {true, false})
      for (int64_t outer : {64, 128, 192, 256, 320, 512, 528})
        for (int64_t depth : {128 / bytes, 256 / bytes}) {
          // wgmma reads elements that are not of 16 bits along k only.
          if (!kIsCol && bytes != 2)
            continue;
          HopperOperand operand;
          operand.kIsCol = kIsCol;
          operand.elementBytes = bytes;
          operand.outer = outer;
          operand.rows = kIsCol ? outer : depth;
          operand.blocks = (kIsCol ? depth : outer) / (128 / bytes);
          checkBoxes(operand, operand.boxRows());
        }
  // Short lines, of few rows.
  for (bool kIsCol : {true, false})
    for (int64_t outer : {8, 16, 24, 32, 40, 48, 64, 96})
      for (int64_t line : {32, 64, 128}) {
        if (!kIsCol && outer * 2 % line)
          continue;
        HopperOperand operand;
        operand.kIsCol = kIsCol;
        operand.elementBytes = 2;
        operand.outer = outer;
        operand.lineBytes = line;
        int64_t depth = kIsCol ? line / 2 : 64;
        operand.rows = kIsCol ? outer : depth;
        operand.blocks = kIsCol ? 1 : outer * 2 / line;
        checkBoxes(operand, operand.boxRows());
      }
}

static const char *nameOf(const HopperOperand &operand) {
  switch (operand.loader) {
  case Loader::TmaTile:
    return "boxes";
  case Loader::TmaRowGather:
    return "boxes of rows";
  case Loader::CpAsync:
    return operand.isGatheredByElement() ? "elements" : "chunks";
  }
  return "?";
}

static void print(const char *name, const HopperOperand &operand) {
  std::printf("  %s: operand %u, %lld rows x %lld blocks by %s, k along %s\n",
              name, operand.number, static_cast<long long>(operand.rows),
              static_cast<long long>(operand.blocks), nameOf(operand),
              operand.kIsCol ? "lines" : "rows");
  if (operand.lineBytes != 128)
    std::printf("     in lines of %lld bytes\n",
                static_cast<long long>(operand.lineBytes));
}

static void print(const HopperPlan &plan) {
  std::printf("  tile %lld x %lld, %lld stages of %lld x %lld, cluster %lld\n",
              static_cast<long long>(plan.m), static_cast<long long>(plan.n),
              static_cast<long long>(plan.stages),
              static_cast<long long>(plan.subSteps()),
              static_cast<long long>(plan.depth),
              static_cast<long long>(plan.cluster));
  print("a", plan.a);
  print("b", plan.b);
  std::printf("  consumers: %lld wgmmas of 64 x %lld, split along %s\n",
              static_cast<long long>(plan.wgmmas()),
              static_cast<long long>(plan.perN()), plan.splitN() ? "n" : "m");
  for (const HopperScales &scales : plan.scales)
    std::printf("  scales of view %u: %lld in each stage\n", scales.view,
                static_cast<long long>(scales.count));
  std::printf("  registers: %lld, %lld; arrivals: %lld\n",
              static_cast<long long>(plan.producerRegisters()),
              static_cast<long long>(plan.workerRegisters()),
              static_cast<long long>(plan.fullCount()));
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE.mlir\n", argv[0]);
    return 2;
  }
  checkOperands();
  GpuTarget target = *findGpuTarget("sm_90a");
  MLIRContext context;
  context.loadDialect<PitDialect, arith::ArithDialect, func::FuncDialect,
                      memref::MemRefDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 2;
  module->walk([&](func::FuncOp function) {
    std::optional<MainloopNest> nest = matchMainloopNest(function);
    if (!nest)
      return;
    OrRefusal<HopperPlan> plan = planHopper(*nest, /*rows=*/0, target);
    std::printf("%s:\n", function.getName().str().c_str());
    if (!plan) {
      std::printf("  none: %s\n", plan.refusal().why.c_str());
      return;
    }
    print(*plan);
    checkPlan(*plan);
    checkAttribute(*plan, *nest, target);
    HopperPlan alone = *plan;
    alone.cluster = 1;
    checkPlan(alone);
    OrRefusal<HopperPlan> filling = planHopper(*nest, /*rows=*/4100, target);
    CHECK(filling && filling->rows == (plan->isTransposed() ? 0 : 4100));
    checkPlan(*filling);
    checkAttribute(*filling, *nest, target);
    if (filling->rows)
      checkFill(*filling);
  });
  if (!failures)
    std::puts("plans: ok");
  return failures ? 1 : 0;
}
