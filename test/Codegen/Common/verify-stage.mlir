// Without pit-verify-stage nobody notices: neither the parser nor --verify-each
// looks here.
//
// RUN: pit-opt %s --mlir-very-unsafe-disable-verifier-on-parsing --verify-each=0 \
// RUN:   --pass-pipeline='builtin.module()' -o /dev/null
// RUN: not pit-opt %s --mlir-very-unsafe-disable-verifier-on-parsing --verify-each=0 \
// RUN:   --pass-pipeline='builtin.module(pit-verify-stage)' 2>&1 | FileCheck %s

// CHECK: 'pit.forall' op [loop 3] step 0 is not positive
func.func @step(%n: index) {
  pit.forall (%i) = (%n) to (%n) step (0) {}
  return
}
