/* A program for a device, as a compiler would make it, which computes nothing:
 * its result tells how it was called.
 *
 * probe(x: ?x? f32, factor: f32, i: index) -> 4 i64:
 *   the stream, the address of x, the factor, the address of the index's counts
 */

#include "pit-runtime/Abi.h"

#define EXPORT __attribute__((visibility("default")))

enum { F32 = PIT_DTYPE_FLOAT | 32 << 8, I64 = PIT_DTYPE_INT | 64 << 8 };

EXPORT extern const char pit_program_entries[];
const char pit_program_entries[] = "probe\0";

EXPORT extern const pit_manifest pit_probe_manifest;
const pit_manifest pit_probe_manifest = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 3,
    .num_results = 1,
    .device = kDLCUDA,
    .values = (const pit_arg_info[]){
        {.kind = PIT_KIND_TENSOR,
         .dtype = {PIT_DTYPE_FLOAT, 32, 1},
         .rank = 2,
         .dims = {-1, -1}},
        {.kind = PIT_KIND_SCALAR, .dtype = {PIT_DTYPE_FLOAT, 32, 1}},
        {.kind = PIT_KIND_INDEX,
         .rank = 2,
         .axis = 0,
         .micro_tile = {1, 0},
         .step = {1, 0}},
        {.kind = PIT_KIND_TENSOR,
         .dtype = {PIT_DTYPE_INT, 64, 1},
         .rank = 1,
         .dims = {4}}}};

EXPORT int32_t pit_probe(pit_context *context, const pit_value *ins,
                         DLTensor *const *outs, pit_stream stream);
int32_t pit_probe(pit_context *context, const pit_value *ins,
                  DLTensor *const *outs, pit_stream stream) {
  int64_t views[7];
  pit_frame *frame;
  int32_t status = pit_rt_enter(context, &pit_probe_manifest, ins, outs, stream,
                                views, &frame);
  if (status)
    return status;
  // The fake device's memory is the host's.
  int64_t *result = (int64_t *)(intptr_t)views[5];
  const pit_index *index = (const pit_index *)(intptr_t)views[4];
  result[0] = (int64_t)(intptr_t)stream;
  result[1] = views[0];
  result[2] = (int64_t)*(const float *)(intptr_t)views[3];
  result[3] = (int64_t)(intptr_t)index->counts;
  return pit_rt_leave(frame, PIT_OK);
}
