// RUN: pit-opt %s -split-input-file -verify-diagnostics

func.func @no_extents() {
  // expected-error @below {{[tile_space 1] 0 extents; one at least, and one type, are right}}
  %s = "pit_gpu.tile_space"() <{operandSegmentSizes = array<i32: 0, 0>, order = 0 : i32}> : () -> !pit_gpu.tile_space
  return
}

// -----

func.func @extents_of_two_types(%n: i32, %m: index) {
  // expected-error @below {{[tile_space 1] 2 extents}}
  %s = pit_gpu.tile_space (%n, %m) by rows : i32, index
  return
}

// -----

func.func @no_such_dimension(%n: i32) {
  // expected-error @below {{[tile_space 2] names dimension 2 of 2; each of 0 to 1, once, is right}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 2 by rows : i32, i32
  return
}

// -----

func.func @rows_are_columns(%n: i32) {
  // expected-error @below {{[tile_space 2] names dimension 1 of 2}}
  %s = pit_gpu.tile_space (%n, %n) rows 1 by cols alike [1] : i32, i32
  return
}

// -----

func.func @bands_of_nothing(%n: i32) {
  // expected-error @below {{[tile_space 3] by bands, with bands of 0 rows and 0 dimensions that are alike; bands of 1 to 65536 rows, or of a height of the extents' type, without any, or rows or cols without bands, are right}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands of 0 : i32, i32
  return
}

// -----

func.func @rows_of_bands(%n: i32) {
  // expected-error @below {{[tile_space 3] by rows, with bands of 8 rows}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by rows of 8 : i32, i32
  return
}

// -----

func.func @height_of_bands(%n: i32, %m: index) {
  // expected-error @below {{[tile_space 3] by bands, with bands of 0 rows}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands height %m : index : i32, i32
  return
}

// -----

func.func @alike_in_bands(%n: i32) {
  // expected-error @below {{[tile_space 3] by bands, with bands of 8 rows and 1 dimensions that are alike}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 by bands of 8 alike [1] : i32, i32
  return
}

// -----

func.func @cluster_of_three(%n: i32) {
  // expected-error @below {{[tile_space 4] a cluster of 3 blocks; 1, 2, 4 or 8 blocks with rows, by bands, are right, and pairs of several with columns}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands of 8 cluster 3 : i32, i32
  return
}

// -----

func.func @cluster_by_columns(%n: i32) {
  // expected-error @below {{[tile_space 4] a cluster of 2 blocks}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by cols cluster 2 : i32, i32
  return
}

// -----

func.func @pairs_of_one(%n: i32) {
  // expected-error @below {{[tile_space 4] a cluster of 1 blocks, in pairs along columns}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands of 8 pairs : i32, i32
  return
}

// -----

func.func @counts_an_argument(%s: !pit_gpu.tile_space) {
  // expected-error @below {{[count_tiles 1] a space that no pit_gpu.tile_space makes}}
  %n = pit_gpu.count_tiles %s : i32
  return
}

// -----

func.func @counts_in_another_type(%n: i32) {
  %s = pit_gpu.tile_space (%n) by rows : i32
  // expected-error @below {{[count_tiles 1] numbers of type 'index', of a space with extents of 'i32'; one type is right}}
  %t = pit_gpu.count_tiles %s : index
  return
}

// -----

func.func @number_of_another_type(%n: i32, %m: index) {
  %s = pit_gpu.tile_space (%n) by rows : i32
  // expected-error @below {{[tile_of 1] numbers of type 'index'}}
  %t = pit_gpu.tile_of %m in %s : index -> index
  return
}

// -----

func.func @too_few_coordinates(%n: i32) {
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by rows : i32, i32
  // expected-error @below {{[tile_of 2] gives 1 values, of a space of 2 dimensions; 2 are right, the first ones of type 'i32'}}
  %t = pit_gpu.tile_of %n in %s : i32 -> i32
  return
}

// -----

func.func @pairs_without_a_bit(%n: i32) {
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands of 8 cluster 2 pairs : i32, i32
  // expected-error @below {{[tile_of 2] gives 2 values, of a space of 2 dimensions with pairs; 3 are right}}
  %t:2 = pit_gpu.tile_of %n in %s rank %n : i32 -> i32, i32
  return
}

// -----

func.func @cluster_without_rank(%n: i32) {
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands of 8 cluster 2 : i32, i32
  // expected-error @below {{[tile_of 3] no rank in a cluster of 2; blocks of a cluster of several have one}}
  %t:2 = pit_gpu.tile_of %n in %s : i32 -> i32, i32
  return
}

// -----

func.func @rank_of_one(%n: i32) {
  %s = pit_gpu.tile_space (%n) by rows : i32
  // expected-error @below {{[tile_of 3] a rank in a cluster of 1}}
  %t = pit_gpu.tile_of %n in %s rank %n : i32 -> i32
  return
}

// -----

func.func @lists_of_nothing(%n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 24 {
      // expected-error @below {{[list_tiles 1] the first region takes 1 values and gives 0; one i32, and 1 to 8 of them, are right}}
      %next = pit_gpu.list_tiles %n first %n step %n count {
      ^bb0(%list: i32):
        pit_gpu.yield
      } tile {
      ^bb0(%list: i32, %number: i32):
        pit_gpu.yield
      }
    }
  }
  return
}

// -----

func.func @lists_without_numbers(%n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 24 {
      // expected-error @below {{[list_tiles 2] the second region takes 2 values and gives 0, with 1 results; 4, 1 and 1 i32 are right}}
      %next:2 = pit_gpu.list_tiles %n first %n step %n carry %n : i32 count {
      ^bb0(%list: i32):
        pit_gpu.yield %list, %list : i32, i32
      } tile {
      ^bb0(%list: i32, %number: i32):
        pit_gpu.yield
      }
    }
  }
  return
}

// -----

func.func @lists_in_no_role(%n: i32) {
  // expected-error @below {{[list_tiles 3] it is in no role; all lanes of a role's warps run it}}
  %next = pit_gpu.list_tiles %n first %n step %n count {
  ^bb0(%list: i32):
    pit_gpu.yield %list : i32
  } tile {
  ^bb0(%list: i32, %number: i32):
    pit_gpu.yield
  }
  return
}

// -----

func.func @lists_of_a_leader(%n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 24 {
      pit_gpu.leader {
        // expected-error @below {{[list_tiles 3] it is in a leader}}
        %next = pit_gpu.list_tiles %n first %n step %n count {
        ^bb0(%list: i32):
          pit_gpu.yield %list : i32
        } tile {
        ^bb0(%list: i32, %number: i32):
          pit_gpu.yield
        }
      }
    }
  }
  return
}

// -----

func.func @one_part(%n: i32) {
  // expected-error @below {{[share_tiles 1] tiles have 1 splits at most; 2 to 1024 are right}}
  %w, %p, %t = pit_gpu.share_tiles %n among %n most 1
  return
}

// -----

func.func @one_part_of_lists(%n: i32) {
  // expected-error @below {{[share_lists 1] 1 splits at most, enough 2, and 512 ids at least; 2 to 1024, 1 to 1024 and 1 to 1048576 are right}}
  %s:4 = pit_gpu.share_lists %n among %n worker %n enough 2 least 512 most 1 {
    pit_gpu.yield %n, %n : i32, i32
  }
  return
}

// -----

func.func @no_lists(%n: i32) {
  // expected-error @below {{[share_lists 2] the region takes 0 values and gives 1; none, and two i32, are right}}
  %s:4 = pit_gpu.share_lists %n among %n worker %n enough 2 least 512 most 2 {
    pit_gpu.yield %n : i32
  }
  return
}

// -----

func.func @no_steps(%n: i32) {
  // expected-error @below {{[steps_of_split 1] 1 steps at least, by 0 ids; 1 to 65536 are right}}
  %s:3 = pit_gpu.steps_of_split %n of %n in %n by 0 : i32
  return
}
