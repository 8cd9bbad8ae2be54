// What bytecode holds is what the text says, at each level.
// RUN: pit-opt %s -o %t.text
// RUN: pit-opt %s --emit-bytecode -o %t.mlirbc
// RUN: pit-opt %t.mlirbc | diff %t.text -
// RUN: pit-opt %s --pit-to-tiles=choice=now -o %t.tiles
// RUN: pit-opt %s --pit-to-tiles=choice=now --emit-bytecode | pit-opt | diff %t.tiles -

// A file names the version of the dialect that wrote it.
// RUN: %python %S/Inputs/set_version.py %t.mlirbc 1 %t.old
// RUN: not pit-opt %t.old 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: %python %S/Inputs/set_version.py %t.mlirbc 3 %t.new
// RUN: not pit-opt %t.new 2>&1 | FileCheck %s --check-prefix=NEW

// OLD: error: the file has version 1 of the pit dialect; this pit reads version 2: write it again, from the program's text
// NEW: error: the file has version 3 of the pit dialect; this pit reads version 2: read it by the newer pit that wrote it

func.func @f(%a: tensor<?x96xf32>, %b: tensor<96x?xf32>, %c: tensor<?x?xf32>,
             %l: tensor<?xi32>, %m: tensor<?x96xi1>) -> tensor<?x?xf32> {
  %0 = pit.sparse %a mask(%m : tensor<?x96xi1>) background(0xFF800000 : f32) assume
         label("hidden") : tensor<?x96xf32>
  %1 = pit.sparse %a lengths(%l : tensor<?xi32>) live_fraction(0.05 in [4, 1])
         : tensor<?x96xf32>
  %2 = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<?x96xf32>
  %r = linalg.matmul ins(%2, %b : tensor<?x96xf32>, tensor<96x?xf32>)
         outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
