// RUN: pit-opt %s --allow-unregistered-dialect --convert-pit-gpu-to-nvvm --canonicalize --cse | FileCheck %s

!values = !pit_gpu.fragment<64x8xf32>
!column = !pit_gpu.fragment<64x1xf32>
!half = !pit_gpu.fragment<64x1xf16>

gpu.module @kernels {
  // A thread has two neighbours in each of two rows: row 16 w + l / 4 and the eighth one after it, for
  // lane l of warp w of its warpgroup.
  // CHECK-LABEL: gpu.func @map
  gpu.func @map(%x: f32, %out: memref<?x?xf32>, %at: index) kernel {
    pit_gpu.roles {
      role "all" warps 8 registers 128 {
        // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
        // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
        // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
        // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
        // CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
        // CHECK: %[[GROUP:.*]] = arith.divui %[[WARP:.*]], %[[C4]]
        // CHECK: "test.group"(%[[GROUP]])
        %group = pit_gpu.warpgroup : i32
        "test.group"(%group) : (i32) -> ()
        // CHECK: %[[IN_FOUR:.*]] = arith.remui %[[LANE:.*]], %[[C4]]
        // CHECK: %[[COL:.*]] = arith.muli %[[IN_FOUR]], %[[C2]]
        // CHECK: %[[OWN:.*]] = arith.divui %[[LANE]], %[[C4]]
        // CHECK: %[[IN_GROUP:.*]] = arith.remui %[[WARP]], %[[C4]]
        // CHECK: %[[ROWS:.*]] = arith.muli %[[IN_GROUP]], %[[C16]]
        // CHECK: %[[ROW:.*]] = arith.addi %[[ROWS]], %[[OWN]]
        // CHECK: %[[LOWER:.*]] = arith.addi %[[ROW]], %[[C8]]
        // CHECK: "test.at"(%[[ROW]], %[[COL]])
        // CHECK: %[[NEXT:.*]] = arith.addi %[[COL]], %[[C1]]
        // CHECK: "test.at"(%[[ROW]], %[[NEXT]])
        // CHECK: "test.at"(%[[LOWER]], %[[COL]])
        // CHECK: "test.at"(%[[LOWER]], %[[NEXT]])
        // CHECK-NOT: "test.at"
        %f = pit_gpu.map () -> !values {
        ^bb0(%i: i32, %j: i32):
          %e = "test.at"(%i, %j) : (i32, i32) -> f32
          pit_gpu.yield %e : f32
        }
        // A column has two elements: no column is asked for.
        // CHECK: "test.row"(%[[ROW]], %{{.*}})
        // CHECK: "test.row"(%[[LOWER]], %{{.*}})
        // CHECK-NOT: "test.row"
        %c = pit_gpu.map () -> !column {
        ^bb0(%i: i32, %j: i32):
          %e = "test.row"(%i, %j) : (i32, i32) -> f32
          pit_gpu.yield %e : f32
        }
        // Both neighbours of a row take the row's element of a column.
        // CHECK: "test.both"(%[[F0:.*]], %[[R0:.*]])
        // CHECK: "test.both"(%[[F1:.*]], %[[R0]])
        // CHECK: "test.both"(%[[F2:.*]], %[[R1:.*]])
        // CHECK: "test.both"(%[[F3:.*]], %[[R1]])
        %g = pit_gpu.map (%f, %c : !values, !column) -> !values {
        ^bb0(%i: i32, %j: i32, %e: f32, %r: f32):
          %b = "test.both"(%e, %r) : (f32, f32) -> f32
          pit_gpu.yield %b : f32
        }
      }
    }
    gpu.return
  }

  // What a thread has of a row, then what the other three lanes of the row have.
  // CHECK-LABEL: gpu.func @reduce
  gpu.func @reduce(%x: f32, %out: memref<?x?xf32>, %h: f16) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        %f = pit_gpu.map () -> !values {
        ^bb0(%i: i32, %j: i32):
          %e = "test.at"(%i, %j) : (i32, i32) -> f32
          pit_gpu.yield %e : f32
        }
        // CHECK: %[[E0:.*]] = "test.at"
        // CHECK: %[[E1:.*]] = "test.at"
        // CHECK: %[[E2:.*]] = "test.at"
        // CHECK: %[[E3:.*]] = "test.at"
        // CHECK: %[[S:.*]] = "test.sum"(%[[E0]], %[[E1]])
        // CHECK: gpu.shuffle xor %{{.*}}, %c1_i32
        // CHECK: %[[T:.*]] = "test.sum"(%[[S]], %{{.*}})
        // CHECK: gpu.shuffle xor %{{.*}}, %c2_i32
        // CHECK: %[[R0:.*]] = "test.sum"(%[[T]], %{{.*}})
        // CHECK: "test.sum"(%[[E2]], %[[E3]])
        // CHECK-COUNT-2: gpu.shuffle xor
        // CHECK: "test.sum"
        // CHECK-NOT: gpu.shuffle
        %r = pit_gpu.reduce_rows %f : !values -> !column {
        ^bb0(%a: f32, %b: f32):
          %s = "test.sum"(%a, %b) : (f32, f32) -> f32
          pit_gpu.yield %s : f32
        }
        // The lanes of a column's row have its element already.
        // CHECK-NOT: "test.other"
        // CHECK: gpu.return
        %same = pit_gpu.reduce_rows %r : !column -> !column {
        ^bb0(%a: f32, %b: f32):
          %s = "test.other"(%a, %b) : (f32, f32) -> f32
          pit_gpu.yield %s : f32
        }
      }
    }
    gpu.return
  }

  // A thread has two chains of a row: every other column.
  // CHECK-LABEL: gpu.func @reduce_chains
  gpu.func @reduce_chains() kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        %f = pit_gpu.map () -> !pit_gpu.fragment<64x16xf32> {
        ^bb0(%i: i32, %j: i32):
          %e = "test.at"(%i, %j) : (i32, i32) -> f32
          pit_gpu.yield %e : f32
        }
        // CHECK: %[[E0:.*]] = "test.at"
        // CHECK: %[[E1:.*]] = "test.at"
        // CHECK: %[[E2:.*]] = "test.at"
        // CHECK: %[[E3:.*]] = "test.at"
        // CHECK: %[[EVEN:.*]] = "test.sum"(%[[E0]], %[[E2]])
        // CHECK: %[[ODD:.*]] = "test.sum"(%[[E1]], %[[E3]])
        // CHECK: "test.sum"(%[[EVEN]], %[[ODD]])
        %r = pit_gpu.reduce_rows %f : !pit_gpu.fragment<64x16xf32> -> !column {
        ^bb0(%a: f32, %b: f32):
          %s = "test.sum"(%a, %b) : (f32, f32) -> f32
          pit_gpu.yield %s : f32
        }
      }
    }
    gpu.return
  }

  // Columns alone are the same for all rows; a spread column comes from the lane that has it, once for both
  // rows. What is computed of spread columns alone is spread.
  // CHECK-LABEL: gpu.func @columns
  gpu.func @columns() kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        // CHECK-COUNT-2: "test.spread"
        // CHECK-NOT: "test.spread"
        %s = pit_gpu.map () -> !pit_gpu.fragment<1x64xf32, spread> {
        ^bb0(%i: i32, %j: i32):
          %e = "test.spread"(%j) : (i32) -> f32
          pit_gpu.yield %e : f32
        }
        // CHECK-COUNT-2: "test.twice"
        // CHECK-NOT: "test.twice"
        %t = pit_gpu.map (%s : !pit_gpu.fragment<1x64xf32, spread>) -> !pit_gpu.fragment<1x64xf32, spread> {
        ^bb0(%i: i32, %j: i32, %x: f32):
          %e = "test.twice"(%x) : (f32) -> f32
          pit_gpu.yield %e : f32
        }
        // CHECK-COUNT-16: "test.col"
        // CHECK-NOT: "test.col"
        %c = pit_gpu.map () -> !pit_gpu.fragment<1x64xi1> {
        ^bb0(%i: i32, %j: i32):
          %e = "test.col"(%j) : (i32) -> i1
          pit_gpu.yield %e : i1
        }
        // CHECK: nvvm.shfl.sync idx
        // CHECK: %[[FOUND:.*]] = llvm.bitcast %{{.*}} : i32 to f32
        // CHECK: "test.all"(%[[FOUND]], %[[C:.*]])
        // CHECK-NOT: nvvm.shfl
        // CHECK: "test.all"(%[[FOUND]], %[[C]])
        // CHECK-COUNT-15: nvvm.shfl.sync idx
        // CHECK-NOT: nvvm.shfl
        %f = pit_gpu.map (%t, %c : !pit_gpu.fragment<1x64xf32, spread>, !pit_gpu.fragment<1x64xi1>)
               -> !pit_gpu.fragment<64x64xf32> {
        ^bb0(%i: i32, %j: i32, %x: f32, %y: i1):
          %e = "test.all"(%x, %y) : (f32, i1) -> f32
          pit_gpu.yield %e : f32
        }
      }
    }
    gpu.return
  }

  // A causal mask: what is left of the limit for a row is compared with the numbers of columns.
  // CHECK-LABEL: gpu.func @places
  // CHECK-SAME: (%[[FIRST:.*]]: i32, %[[M:.*]]: index, %[[N:.*]]: index)
  gpu.func @places(%first: i32, %m: index, %n: index) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
        // CHECK-DAG: %[[COL:.*]] = arith.muli %{{.*}}, %c2_i32
        // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[FIRST]]
        // CHECK: %[[LOWER:.*]] = arith.addi %{{.*}}, %[[FIRST]]
        // CHECK: %[[LESS:.*]] = arith.subi %{{.*}}, %[[N]] : index
        // CHECK: %[[FAR:.*]] = arith.addi %[[LESS]], %[[M]] : index
        // CHECK: arith.minsi %[[FAR]]
        // CHECK: %[[NEAR:.*]] = arith.maxsi
        // CHECK: %[[LIMIT:.*]] = arith.index_cast %[[NEAR]] : index to i32
        // CHECK-COUNT-2: arith.subi %[[LIMIT]]
        // CHECK: %[[HOLDS:.*]] = arith.cmpi sge, %[[LEFT:.*]], %c0_i32 : i32
        // CHECK: "test.masked"(%[[HOLDS]])
        // CHECK: %[[HOLDS:.*]] = arith.cmpi sge, %[[LEFT]], %c1_i32 : i32
        // CHECK: "test.masked"(%[[HOLDS]])
        // CHECK: arith.cmpi sge, %[[LEFT]], %[[C8]] : i32
        // CHECK-NOT: arith.cmpi {{.*}} : index
        %f = pit_gpu.map () -> !pit_gpu.fragment<64x16xf32> rows from %first {
        ^bb0(%i: i32, %j: i32):
          %row = arith.index_cast %i : i32 to index
          %col = arith.index_cast %j : i32 to index
          %x = arith.addi %row, %m : index
          %y = arith.addi %col, %n : index
          %holds = arith.cmpi sle, %y, %x : index
          %e = "test.masked"(%holds) : (i1) -> f32
          pit_gpu.yield %e : f32
        }
      }
    }
    gpu.return
  }

  // Without roles a warp of the block has a fragment of its own.
  // CHECK-LABEL: gpu.func @of_warps
  gpu.func @of_warps() kernel {
    // CHECK: %[[THREAD:.*]] = gpu.thread_id x
    // CHECK: %[[NUMBER:.*]] = arith.index_cast %[[THREAD]]
    // CHECK: %[[LANE:.*]] = arith.remui %[[NUMBER]], %c32_i32
    // CHECK: %[[ROW:.*]] = arith.divui %[[LANE]], %c4_i32
    // CHECK: "test.at"(%[[ROW]], %{{.*}})
    // CHECK-COUNT-7: "test.at"
    // CHECK-NOT: "test.at"
    %f = pit_gpu.map () -> !pit_gpu.fragment<32x8xf32, warp_rows = 32> {
    ^bb0(%i: i32, %j: i32):
      %e = "test.at"(%i, %j) : (i32, i32) -> f32
      pit_gpu.yield %e : f32
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @reduce_halves
  gpu.func @reduce_halves() kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        %f = pit_gpu.map () -> !pit_gpu.fragment<64x8xf16> {
        ^bb0(%i: i32, %j: i32):
          %e = "test.at"(%i, %j) : (i32, i32) -> f16
          pit_gpu.yield %e : f16
        }
        // CHECK: arith.bitcast %{{.*}} : f16 to i16
        // CHECK: arith.extui %{{.*}} : i16 to i32
        // CHECK: gpu.shuffle xor
        // CHECK: arith.trunci %{{.*}} : i32 to i16
        // CHECK: arith.bitcast %{{.*}} : i16 to f16
        %r = pit_gpu.reduce_rows %f : !pit_gpu.fragment<64x8xf16> -> !half {
        ^bb0(%a: f16, %b: f16):
          %s = "test.sum"(%a, %b) : (f16, f16) -> f16
          pit_gpu.yield %s : f16
        }
      }
    }
    gpu.return
  }

  // Four matrices at once go to the 16 rows that a warp has; those of two more columns lie in the
  // same line, 32 bytes on, exclusive-ored.
  // CHECK-LABEL: gpu.func @local_store
  // CHECK-SAME: (%[[PLACE:.*]]: i32, %{{.*}}: f16)
  gpu.func @local_store(%place: i32, %x: f16) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        %f = pit_gpu.splat %x : f16 -> !pit_gpu.fragment<64x24xf16>
        %t = pit_gpu.tile_at %place : !pit_gpu.tile<64x64xf16, swizzle = 128>
        // CHECK: %[[LANES_ROW:.*]] = arith.remui %[[LANE:.*]], %c16_i32
        // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[LANES_ROW]]
        // CHECK: %[[FIRST:.*]] = arith.addi %[[PLACE]], %{{.*}} : i32
        // CHECK: %[[NEXT:.*]] = arith.xori %[[FIRST]], %c32_i32
        // CHECK: %[[TO:.*]] = llvm.inttoptr %[[NEXT]] : i32 to !llvm.ptr<3>
        // CHECK: nvvm.stmatrix %[[TO]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>
        // CHECK: arith.xori %[[FIRST]], %c64_i32
        // CHECK: nvvm.stmatrix %{{.*}}, %{{.*}}, %{{[0-9a-z_]*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>
        pit_gpu.local_store %f into %t cols 16 : !pit_gpu.fragment<64x24xf16>, !pit_gpu.tile<64x64xf16, swizzle = 128>
        // CHECK: nvvm.stmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>
        %u = pit_gpu.tile_at %place : !pit_gpu.tile<24x64xf16, swizzle = 32>
        pit_gpu.local_store %f transposed into %u : !pit_gpu.fragment<64x24xf16>, !pit_gpu.tile<24x64xf16, swizzle = 32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @local_store_words
  gpu.func @local_store_words(%place: i32, %x: f32) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        %f = pit_gpu.splat %x : f32 -> !pit_gpu.fragment<64x16xf32>
        %t = pit_gpu.tile_at %place : !pit_gpu.tile<64x32xf32, swizzle = 128>
        // CHECK-COUNT-4: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
        // CHECK-NOT: llvm.store
        // CHECK: gpu.return
        pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x16xf32>, !pit_gpu.tile<64x32xf32, swizzle = 128>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @local_load
  gpu.func @local_load(%place: i32, %y: memref<?x?xbf16>, %r: index) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        %t = pit_gpu.tile_at %place : !pit_gpu.tile<64x32xbf16, swizzle = 64>
        // CHECK-COUNT-2: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
        // CHECK-NOT: nvvm.ldmatrix
        %f = pit_gpu.local_load %t : !pit_gpu.tile<64x32xbf16, swizzle = 64> -> !pit_gpu.fragment<64x32xbf16>
        pit_gpu.store %f to %y[%r, %r] : !pit_gpu.fragment<64x32xbf16>, memref<?x?xbf16>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @load_matrices
  gpu.func @load_matrices(%row: i32, %out: memref<4xi32>) kernel {
    %c0 = arith.constant 0 : index
    // CHECK: %[[AT:.*]] = llvm.inttoptr %arg0 : i32 to !llvm.ptr<3>
    // CHECK: %[[FOUR:.*]] = nvvm.ldmatrix %[[AT]] {{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
    // CHECK: %[[THIRD:.*]] = llvm.extractvalue %[[FOUR]][2]
    // CHECK: memref.store %[[THIRD]]
    %w:4 = pit_gpu.load_matrices %row
    memref.store %w#2, %out[%c0] : memref<4xi32>
    // CHECK: %[[FOUR:.*]] = nvvm.ldmatrix %[[AT]] {{.*}}layout = #nvvm.mma_layout<col>, num = 4 : i32
    // CHECK: %[[FIRST:.*]] = llvm.extractvalue %[[FOUR]][0]
    // CHECK: memref.store %[[FIRST]]
    %t:4 = pit_gpu.load_matrices %row transposed
    memref.store %t#0, %out[%c0] : memref<4xi32>
    gpu.return
  }
}
