// Partial sums in memory of the device, and who adds them up.

// RUN: pit-opt %s --allow-unregistered-dialect --convert-pit-gpu-to-nvvm --canonicalize --cse | FileCheck %s

!values = !pit_gpu.fragment<64x8xf32>

gpu.module @kernels {
  // A slot has two sums of each of 32 threads: 256 bytes. Neighbouring threads are neighbours in memory.
  // CHECK-LABEL: gpu.func @store_numbers
  // CHECK-SAME: (%[[MEMORY:[a-z0-9]*]]: i64, %[[SLOT:[a-z0-9]*]]: i32, %[[THREAD:[a-z0-9]*]]: i32, %[[X:[a-z0-9]*]]: f32, %[[Y:.*]]: f32)
  gpu.func @store_numbers(%memory: i64, %slot: i32, %thread: i32, %x: f32, %y: f32) kernel {
    // CHECK-DAG: %[[OF_SLOT:.*]] = arith.muli %[[SLOT]], %c256_i32
    // CHECK-DAG: %[[OF_THREAD:.*]] = arith.muli %[[THREAD]], %c4_i32
    // CHECK: %[[BYTE:.*]] = arith.addi %[[OF_SLOT]], %[[OF_THREAD]]
    // CHECK: %[[WIDE:.*]] = arith.extui %[[BYTE]] : i32 to i64
    // CHECK: %[[ADDRESS:.*]] = arith.addi %[[MEMORY]], %[[WIDE]]
    // CHECK: %[[FIRST:.*]] = llvm.inttoptr %[[ADDRESS]]
    // CHECK: llvm.store %[[X]], %[[FIRST]] {alignment = 4 : i64} : f32, !llvm.ptr<1>
    // CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[FIRST]][128]
    // CHECK: llvm.store %[[Y]], %[[SECOND]] {alignment = 4 : i64}
    pit_gpu.store_partials %x, %y in %memory[%slot] thread %thread of 32 : f32, f32
    gpu.return
  }

  // A thread's four elements of a fragment, behind as many others.
  // CHECK-LABEL: gpu.func @store_fragment
  // CHECK-SAME: (%{{.*}}: i64, %[[SLOT:[a-z0-9]*]]: i32, %[[THREAD:[a-z0-9]*]]: i32,
  gpu.func @store_fragment(%memory: i64, %slot: i32, %thread: i32, %x: f32) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 168 {
        %values = pit_gpu.splat %x : f32 -> !values
        %four = arith.constant 4 : i32
        // CHECK-DAG: %[[OF_SLOT:.*]] = arith.muli %[[SLOT]], %c4096_i32
        // CHECK-DAG: %[[OF_THREAD:.*]] = arith.muli %[[THREAD]], %c16_i32
        // CHECK: arith.addi %[[OF_SLOT]], %[[OF_THREAD]]
        // CHECK: %[[FIRST:.*]] = llvm.inttoptr
        // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[FIRST]][2048]
        // CHECK-COUNT-4: llvm.insertelement
        // CHECK: llvm.store %{{.*}}, %[[PLACE]] {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
        pit_gpu.store_partials %values in %memory[%slot] from %four of 8 thread %thread of 128 vector 4 : !values
      }
    }
    gpu.return
  }

  // Two splits at once, three slots apart; the second one counts if it exists.
  // CHECK-LABEL: gpu.func @add
  // CHECK-SAME: (%{{.*}}: i64, %[[SLOT:[a-z0-9]*]]: i32, %{{.*}}: i32, %[[SPLITS:[a-z0-9]*]]: i32, %[[FROM:.*]]: i32)
  gpu.func @add(%memory: i64, %slot: i32, %thread: i32, %splits: i32, %from: i32) kernel {
    %three = arith.constant 3 : i32
    // CHECK: %[[ALL:.*]]:2 = scf.for %[[SPLIT:.*]] = %c0_i32 to %[[SPLITS]] step %c2_i32 iter_args(%[[A:.*]] = %cst, %[[B:.*]] = %cst) -> (f32, f32)
    // CHECK: %[[LAST:.*]] = arith.subi %[[SPLITS]], %c1_i32
    // CHECK: %[[NEXT:.*]] = arith.addi %[[SPLIT]], %c1_i32
    // CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[NEXT]], %[[SPLITS]]
    // CHECK: %[[READ:.*]] = arith.minsi %[[NEXT]], %[[LAST]]
    // CHECK: arith.muli %[[READ]], %c3_i32
    // CHECK: arith.addi %{{.*}}, %[[FROM]]
    // CHECK: %[[FIRST:.*]] = llvm.load volatile %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
    // CHECK: %[[SECOND:.*]] = llvm.load volatile
    // CHECK: %[[MORE:.*]] = arith.addf %[[A]], %{{.*}} : f32
    // CHECK: %[[BOTH:.*]] = arith.addf %[[MORE]], %{{.*}} : f32
    // CHECK: arith.select %[[EXISTS]], %[[BOTH]], %[[MORE]]
    // CHECK: "test.use"(%[[ALL]]#0, %[[ALL]]#1)
    %x:2 = pit_gpu.add_partials %splits in %memory[%slot] step %three from %from of 8
             thread %thread of 32 vector 2 once 2 x 2 : f32, f32
    "test.use"(%x#0, %x#1) : (f32, f32) -> ()
    // CHECK: scf.for {{.*}} step %c1_i32 iter_args(%[[BEFORE:[a-z0-9]*]] = %c-5_i32
    // CHECK: %[[READ:.*]] = llvm.load volatile {{.*}} -> i32
    // CHECK: arith.maxsi %[[BEFORE]], %[[READ]]
    %most = pit_gpu.add_partials %splits in %memory[%slot] thread %thread of 32 start -5 : i32 combine {
    ^bb0(%u: i32, %v: i32):
      %m = arith.maxsi %u, %v : i32
      pit_gpu.yield %m : i32
    } : i32
    "test.use"(%most) : (i32) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @last
  // CHECK-SAME: (%{{.*}}: i64, %{{.*}}: i32, %[[THREAD:[a-z0-9]*]]: i32, %[[SPLITS:[a-z0-9]*]]: i32, %[[WORD:.*]]: i32)
  gpu.func @last(%counters: i64, %tile: i32, %thread: i32, %splits: i32, %word: i32) kernel {
    // CHECK: %[[MOST:.*]] = arith.subi %[[SPLITS]], %c1_i32
    // CHECK: %[[SHARED:.*]] = llvm.inttoptr %[[WORD]] : i32 to !llvm.ptr<3>
    // CHECK: llvm.fence syncscope("device") acq_rel
    // CHECK: nvvm.barrier0
    // CHECK: %[[IS_FIRST:.*]] = arith.cmpi slt, %[[THREAD]], %c1_i32
    // CHECK: scf.if %[[IS_FIRST]]
    // CHECK: %[[BEFORE:.*]] = llvm.atomicrmw uinc_wrap %{{.*}}, %[[MOST]] syncscope("device") monotonic
    // CHECK: llvm.fence syncscope("device") acq_rel
    // CHECK: llvm.store %[[BEFORE]], %[[SHARED]]
    // CHECK: nvvm.barrier0
    // CHECK: %[[COUNT:.*]] = llvm.load %[[SHARED]]
    // CHECK: nvvm.barrier0
    // CHECK: arith.cmpi eq, %[[COUNT]], %[[MOST]]
    %last = pit_gpu.last_split of %splits in %counters[%tile] thread %thread through %word : i1
    "test.use"(%last) : (i1) -> ()
    gpu.return
  }

  // A lane counts the warp in, looks, gives up or not, and counts it out; all lanes get what it says.
  // CHECK-LABEL: gpu.func @await
  // CHECK-SAME: (%{{.*}}: i64, %{{.*}}: i32, %[[SPLIT:[a-z0-9]*]]: i32, %[[SPLITS:[a-z0-9]*]]: i32)
  gpu.func @await(%counters: i64, %number: i32, %split: i32, %splits: i32) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 168 {
        // CHECK: nvvm.bar.warp.sync
        // CHECK: llvm.fence syncscope("device") acq_rel
        // CHECK: llvm.atomicrmw add {{.*}} syncscope("device") monotonic
        // CHECK: scf.while {{.*}} %c77_i32
        // CHECK: llvm.load volatile
        // CHECK: scf.while
        // CHECK: llvm.cmpxchg {{.*}} syncscope("device") monotonic monotonic
        // CHECK: llvm.fence syncscope("device") acq_rel
        // CHECK: llvm.atomicrmw uinc_wrap {{.*}} syncscope("device") monotonic
        // CHECK: llvm.store %c0_i32
        // CHECK: nvvm.bar.warp.sync
        // CHECK: %[[WHAT:.*]] = nvvm.shfl.sync idx
        // CHECK-DAG: %[[IS_SHARED:.*]] = arith.cmpi eq, %[[WHAT]], %c1_i32
        // CHECK-DAG: %[[IS_ALONE:.*]] = arith.cmpi eq, %[[WHAT]], %c2_i32
        // CHECK: %[[OTHERS:.*]] = arith.select %[[IS_ALONE]], %c0_i32, %c6_i32
        // CHECK: %[[FIRST:.*]] = arith.select %[[IS_SHARED]], %[[SPLIT]], %[[OTHERS]]
        // CHECK: %[[STEP:.*]] = arith.select %[[IS_SHARED]], %[[SPLITS]], %c1_i32
        // CHECK: "test.use"(%[[FIRST]], %[[STEP]])
        %first, %step = pit_gpu.await_splits %split of %splits in %counters[%number] pieces 6 polls 77
        "test.use"(%first, %step) : (i32, i32) -> ()
      }
    }
    gpu.return
  }
}
