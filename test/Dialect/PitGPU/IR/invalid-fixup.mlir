// Sums of tiles with k-splits.

// RUN: pit-opt %s --split-input-file --verify-diagnostics

func.func @no_sums(%p: i64, %s: i32) {
  // expected-error @below {{[store_partials 1] 0 sums, the first one of 0 bits; one at least, and one type of 8, 16, 32 or 64 are right}}
  "pit_gpu.store_partials"(%p, %s, %s) <{operandSegmentSizes = array<i32: 0, 1, 1, 0, 1>, threads = 32 : i64}> : (i64, i32, i32) -> ()
  return
}

// -----

func.func @two_types(%p: i64, %s: i32, %x: f32, %y: f16) {
  // expected-error @below {{[store_partials 1] 2 sums, the first one of 32 bits}}
  pit_gpu.store_partials %x, %y in %p[%s] thread %s of 32 : f32, f16
  return
}

// -----

func.func @bits(%p: i64, %s: i32, %x: i1) {
  // expected-error @below {{[store_partials 1] 1 sums, the first one of 1 bits}}
  pit_gpu.store_partials %x in %p[%s] thread %s of 32 : i1
  return
}

// -----

func.func @no_threads(%p: i64, %s: i32, %x: f32) {
  // expected-error @below {{[store_partials 2] 1 of 1 sums of 0 threads; a slot of as many sums at least, and 1 to 65536 threads are right}}
  pit_gpu.store_partials %x in %p[%s] thread %s of 0 : f32
  return
}

// -----

func.func @small_slot(%p: i64, %s: i32, %f: !pit_gpu.fragment<64x8xf32>) {
  // expected-error @below {{[store_partials 2] 4 of 2 sums of 128 threads}}
  pit_gpu.store_partials %f in %p[%s] from %s of 2 thread %s of 128 : !pit_gpu.fragment<64x8xf32>
  return
}

// -----

func.func @wide_vector(%p: i64, %s: i32, %x: f64) {
  // expected-error @below {{[store_partials 3] 4 of 4 sums of 64 bits, in vectors of 4; 1, 2, 4, 8 or 16 that divide both, and 16 bytes at most are right}}
  pit_gpu.store_partials %x, %x, %x, %x in %p[%s] thread %s of 32 vector 4 : f64, f64, f64, f64
  return
}

// -----

func.func @part_of_vector(%p: i64, %s: i32, %x: f32) {
  // expected-error @below {{[store_partials 3] 2 of 5 sums of 32 bits, in vectors of 2}}
  pit_gpu.store_partials %x, %x in %p[%s] from %s of 5 thread %s of 32 vector 2 : f32, f32
  return
}

// -----

func.func @other_start(%p: i64, %s: i32) {
  // expected-error @below {{[add_partials 1] a start of type 'i32'; 'f32' is right}}
  %x = pit_gpu.add_partials %s in %p[%s] thread %s of 32 start 0 : i32 : f32
  return
}

// -----

func.func @two_types_added(%p: i64, %s: i32) {
  // expected-error @below {{[add_partials 1] 2 sums, the first one of 32 bits}}
  %x:2 = pit_gpu.add_partials %s in %p[%s] thread %s of 32 : f32, i32
  return
}

// -----

func.func @many_threads(%p: i64, %s: i32) {
  // expected-error @below {{[add_partials 2] 1 of 1 sums of 65537 threads}}
  %x = pit_gpu.add_partials %s in %p[%s] thread %s of 65537 : f32
  return
}

// -----

func.func @odd_vector(%p: i64, %s: i32) {
  // expected-error @below {{[add_partials 3] 3 of 3 sums of 32 bits, in vectors of 3}}
  %x:3 = pit_gpu.add_partials %s in %p[%s] thread %s of 32 vector 3 : f32, f32, f32
  return
}

// -----

func.func @many_at_once(%p: i64, %s: i32) {
  // expected-error @below {{[add_partials 4] 1 sums of 65 splits at once; 1 to 64 splits, and whole vectors of 1 are right}}
  %x = pit_gpu.add_partials %s in %p[%s] thread %s of 32 once 65 x 1 : f32
  return
}

// -----

func.func @part_of_vector_at_once(%p: i64, %s: i32) {
  // expected-error @below {{[add_partials 4] 3 sums of 2 splits at once; 1 to 64 splits, and whole vectors of 2 are right}}
  %x:2 = pit_gpu.add_partials %s in %p[%s] thread %s of 32 vector 2 once 2 x 3 : f32, f32
  return
}

// -----

func.func @one_argument(%p: i64, %s: i32) {
  // expected-error @below {{[add_partials 5] the region has to take two 'f32' and to yield one}}
  %x = pit_gpu.add_partials %s in %p[%s] thread %s of 32 combine {
  ^bb0(%u: f32):
    pit_gpu.yield %u : f32
  } : f32
  return
}

// -----

func.func @number_in_region(%p: i64, %s: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 24 {
      // expected-error @below {{[add_partials 6] there is a pit_gpu.warp in the region, which computes single elements}}
      %x = pit_gpu.add_partials %s in %p[%s] thread %s of 128 combine {
      ^bb0(%u: i32, %v: i32):
        %w = pit_gpu.warp : i32
        pit_gpu.yield %w : i32
      } : i32
    }
  }
  return
}

// -----

func.func @block_in_role(%p: i64, %s: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 24 {
      // expected-error @below {{[last_split 1] it is in a role; all threads of a block run it}}
      %x = pit_gpu.last_split of %s in %p[%s] thread %s through %s : i1
    }
  }
  return
}

// -----

func.func @no_role(%p: i64, %s: i32) {
  // expected-error @below {{[await_splits 1] it is in no role; all lanes of a role's warps run it}}
  %first, %step = pit_gpu.await_splits %s of %s in %p[%s] pieces 4 polls 1000
  return
}

// -----

func.func @no_pieces(%p: i64, %s: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 24 {
      // expected-error @below {{[await_splits 2] 0 pieces, and 1000 polls; 1 to 65536, and 1 to 1000000 are right}}
      %first, %step = pit_gpu.await_splits %s of %s in %p[%s] pieces 0 polls 1000
    }
  }
  return
}
