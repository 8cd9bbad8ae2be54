//===- Abi.h - What generated code calls and exports ----------------------===//
//
// A compiled function f is `int32_t pit_f(pit_context *, const pit_value *ins,
// DLTensor *const *outs, pit_stream)`, beside it `const pit_manifest
// pit_f_manifest`; the module lists its functions in `const char
// pit_program_entries[]` = "f\0g\0\0".
//
//===----------------------------------------------------------------------===//

#ifndef PIT_RUNTIME_ABI_H
#define PIT_RUNTIME_ABI_H

#include "pit-runtime/LiveFractions.h"
#include "pit-runtime/Program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A module may also list, in `const char pit_program_features[]` = "a\0b\0\0",
/// the features of the CPU that it was compiled for, by LLVM's names as
/// "avx512f". It is not loaded on one that lacks any. This says whether a
/// feature belongs there: 1, or 0 if compiled code does not use it by itself.
PIT_RT_EXPORT int32_t pit_rt_lists_cpu_feature(const char *name);

/// The advice for the user of programs if a loader misses symbols; "" if there
/// is none.
PIT_RT_EXPORT const char *pit_rt_explain_missing(const char *message);

#define PIT_MANIFEST_MAGIC 0x4D544950 // "PITM" in memory
#define PIT_MANIFEST_VERSION 6
#define PIT_MANIFEST_WORD0                                                     \
  (PIT_MANIFEST_MAGIC | ((int64_t)PIT_MANIFEST_VERSION << 32))

/// DLPack's type code and bits of an element in one word.
#define PIT_DTYPE_WORD(code, bits) ((int64_t)(code) | (int64_t)(bits) << 8)

/// Operations of a size's postfix program; at most PIT_SHAPE_MAX_OPS of them
/// and PIT_SHAPE_MAX_DEPTH values on the stack. Values are signed, divisors
/// must be positive, quotients are rounded down (floor) or up (ceil), and a % b
/// is a - floor(a / b) * b.
enum {
  PIT_SHAPE_CONST = 0, ///< push `value`, which may be negative
  PIT_SHAPE_DIM = 1,   ///< push dimension `value` of tensor argument `arg` (of
                       ///< an index argument: of the tensor it indexes)
  PIT_SHAPE_ADD = 2,
  PIT_SHAPE_MUL = 3,
  PIT_SHAPE_FLOORDIV = 4,
  PIT_SHAPE_CEILDIV = 5,
  PIT_SHAPE_MOD = 6,
  PIT_SHAPE_UNKNOWN = 7, ///< push "not known"; any result with it is not
                         ///< known, and such a dimension is not checked
  PIT_SHAPE_SCALAR = 8   ///< push the value of the signed scalar argument `arg`
};
#define PIT_SHAPE_MAX_OPS 256
#define PIT_SHAPE_MAX_DEPTH 32

typedef struct pit_shape_op {
  int32_t op;    ///< PIT_SHAPE_*
  int32_t arg;   ///< of DIM and SCALAR; else 0
  int64_t value; ///< of CONST and DIM; else 0
} pit_shape_op;

/// A size that a call has: a program that leaves it on the stack.
typedef struct pit_shape_program {
  const pit_shape_op *ops;
  int64_t count;
} pit_shape_program;

/// The program of these operations.
#define PIT_SHAPE_PROGRAM(...)                                                 \
  {(const pit_shape_op[]){__VA_ARGS__},                                        \
   sizeof((const pit_shape_op[]){__VA_ARGS__}) / sizeof(pit_shape_op)}

/// The first program's value is equal to the second's, or not less.
enum { PIT_REQUIRE_EQUAL = 0, PIT_REQUIRE_AT_LEAST = 1 };

/// A condition that the arguments' shapes have to fulfil.
typedef struct pit_requirement {
  int64_t relation; ///< PIT_REQUIRE_*
  pit_shape_program sides[2];
} pit_requirement;

/// The signature of a compiled function, constant data of the program. A loader
/// checks it once (pit_program_open, pit_program_from_lookup), and calls rely
/// on it; a function that is called by its name comes from a compiler, of which
/// calls check the version alone.
typedef struct pit_manifest {
  int64_t version; ///< PIT_MANIFEST_WORD0; the first word in all versions
  int32_t num_args;
  int32_t num_results;
  int32_t num_requirements;
  int32_t device;    ///< kDLCPU or kDLCUDA (DLPack's): where it runs
  int64_t workspace; ///< scratch of each thread, in bytes
  /// The arguments, then the results. A dimension of a result that calls
  /// differ in is -1.
  const pit_arg_info *values;
  const pit_requirement *requirements;
  /// One for each dimension of a result that is -1, in their order.
  const pit_shape_program *sizes;
} pit_manifest;

/// The description of the build of an index, constant data that comes from
/// the compiler: calls rely on it. The fields are as those of pit_index_spec.
typedef struct pit_build {
  int32_t source;      ///< pit_source
  DLDataType dtype;    ///< of the data
  uint64_t background; ///< bits of an element of values, in the low bits
  uint32_t flags;      ///< PIT_INDEX_*
  int32_t data_rank;
  int32_t rank;
  int32_t axis; ///< or, of a variant, PIT_VARIANT_DENSE
  int64_t micro_tile[PIT_MAX_RANK];
  int64_t step[PIT_MAX_RANK];
} pit_build;

/// A tensor of a call, of a rank that whoever reads it knows; strides count
/// elements.
typedef struct pit_view {
  const void *data; ///< the first element
  int64_t shape[PIT_MAX_RANK];
  int64_t strides[PIT_MAX_RANK];
} pit_view;

/// Memory of one call.
typedef struct pit_frame pit_frame;

/// Checks the arguments and results of a call against the manifest: rank,
/// static dimensions, dtype, contiguity, alignment to the element, device,
/// result shapes, overlap of a result with anything else. An index argument is
/// checked as by pit_index_import, so that a program may trust it; not again if
/// a builder made it, and not what is in arrays in device memory. A CUDA
/// program's tensors are in memory of the context's device, its scalars in the
/// host's. On success `views` holds, for each argument and then each result: of
/// a tensor, the data pointer (byte_offset included) and shape[rank]; of an
/// index, the pointer to it; of a scalar, the pointer to its value. Until
/// pit_rt_leave it also sets, for a CPU program, the number of OpenMP threads
/// of the calling thread to the context's; for a CUDA program it makes the
/// device's context the thread's current one.
PIT_RT_EXPORT int32_t pit_rt_enter(pit_context *context,
                                   const pit_manifest *manifest,
                                   const pit_value *ins, DLTensor *const *outs,
                                   pit_stream stream, int64_t *views,
                                   pit_frame **frame);

/// Gives a frame back to its context; everything allocated or built in it is
/// gone. Returns `status`. Called by the thread that entered.
PIT_RT_EXPORT int32_t pit_rt_leave(pit_frame *frame, int32_t status);

/// As pit_rt_enter, of a function that takes memrefs and has no context
/// (pit-abi-open-frames): nothing is checked, and the frame is of the context
/// that belongs to the module, which the first call makes and nobody destroys.
/// `*module` is NULL before that. `function` is an address that is no other
/// function's. If there is no memory, the process ends (pit_rt_expect).
PIT_RT_EXPORT pit_frame *pit_rt_open(void **module, const void *function);

/// As pit_rt_open, of a function that works on a CUDA device, which is that of
/// the calling thread's current context, or device 0. As pit_rt_enter does, it
/// makes that device's primary context the thread's current one, until
/// pit_rt_close_cuda. Kernels go to `stream`, which is of that context; NULL is
/// the default stream. The words of `module` are not those of pit_rt_open. The
/// process ends with a message if there is no driver, no such device, or no
/// memory.
PIT_RT_EXPORT pit_frame *pit_rt_open_cuda(void **module, const void *function,
                                          pit_stream stream);

/// Gives a frame of pit_rt_open_cuda back, in the thread that opened it. If
/// `wait` is not 0, the work of the call is done afterwards. The process ends
/// with a message if the device reports an error by then.
PIT_RT_EXPORT void pit_rt_close_cuda(pit_frame *frame, int32_t wait);

/// Waits until all that is on the call's stream is done; of a program for the
/// CPU there is nothing to wait for. An error that work on the device has run
/// into is returned here. PIT_ERROR_UNSUPPORTED while the stream is captured.
PIT_RT_EXPORT int32_t pit_rt_wait(pit_frame *frame);

/// Ends the process by abort(), with the context's message on stderr, unless
/// `status` is PIT_OK: what a function without a status does with one.
PIT_RT_EXPORT void pit_rt_expect(pit_frame *frame, int32_t status);

/// Memory until pit_rt_leave, aligned to 64 bytes, not initialized; of a CUDA
/// program device memory, aligned to 256 bytes, for work on the call's stream.
/// Not to be called inside parallel regions, as all of the following.
PIT_RT_EXPORT int32_t pit_rt_alloc(pit_frame *frame, int64_t bytes,
                                   void **memory);

/// The memory that one place of a program which runs several times in a call,
/// in a loop, has from one time to the next; all 0 when the call begins.
/// `index` is for pit_rt_build, the others are for pit_rt_realloc.
typedef struct pit_place {
  void *memory[2];
  int64_t bytes[2];
  int32_t next;  ///< which of the two comes next
  int32_t index; ///< one more than the number of the builder; 0: none yet
  int64_t build; ///< the number of the build
} pit_place;

/// As pit_rt_alloc, where the memory that this place got before is not used any
/// more and may be got again. With `two`, only the memory that it got the time
/// before the last one: the last one's lives on until the next time. A call
/// takes at most three times the largest request of each place, six times with
/// `two`, however often it comes by.
PIT_RT_EXPORT int32_t pit_rt_realloc(pit_frame *frame, int64_t bytes,
                                     int32_t two, pit_place *place,
                                     void **memory);

/// The place of the packed form of an operand, which pit_rt_keep tells.
enum {
  PIT_KEEP_NONE = 0, ///< memory of the call: pack there, or read in place
  PIT_KEEP_FILL = 1, ///< memory that stays: pack there, then pit_rt_kept
  PIT_KEEP_READY = 2 ///< it is there, packed already, and only to be read
};

/// Finds `bytes` of memory, aligned to 64 bytes, for the packed form of
/// `data_bytes` at `data`. If these are constant (Constant.h), the packed form
/// is kept from one call to the next. `layout` says what it is, the number of
/// words and then the words: where data and layout are equal, the same must be
/// packed, by whatever program. If nothing is kept (PIT_KEEP_NONE), `memory` is
/// of the call, as that of pit_rt_alloc, or NULL if it is not `needed`.
PIT_RT_EXPORT int32_t pit_rt_keep(pit_frame *frame, const void *data,
                                  int64_t data_bytes, const int64_t *layout,
                                  int64_t bytes, int32_t needed, void **memory,
                                  int32_t *state);

/// Says that memory of PIT_KEEP_FILL is packed. Other memory is fine, too:
/// nothing happens.
PIT_RT_EXPORT void pit_rt_kept(pit_frame *frame, const void *memory);

/// An upper bound of omp_get_thread_num() + 1 in the parallel regions of this
/// call. A program that has any calls this before the first one: where threads
/// cannot be made, it lowers the calling thread's number of OpenMP threads,
/// until pit_rt_leave, to as many as there can be.
PIT_RT_EXPORT int32_t pit_rt_workers(pit_frame *frame);

/// Parallel regions and their loops, as LLVM's code generation calls libomp:
/// the compiler puts pit_rt_omp_ for __kmpc_ and omp_. They run on the threads
/// of GNU's OpenMP library if the process has that one, else on LLVM's. `place`
/// is not used, `thread` neither. A region takes one pointer to its arguments,
/// or none. All threads of a region meet at a barrier between two of its loops.
PIT_RT_EXPORT void pit_rt_omp_fork_call_if(const void *place, int32_t count,
                                           void *body, int32_t condition,
                                           void *arguments);
PIT_RT_EXPORT void pit_rt_omp_fork_call(const void *place, int32_t count,
                                        void *body, ...);
PIT_RT_EXPORT int32_t pit_rt_omp_global_thread_num(const void *place);
PIT_RT_EXPORT int32_t pit_rt_omp_get_thread_num(void);
PIT_RT_EXPORT void pit_rt_omp_barrier(const void *place, int32_t thread);
PIT_RT_EXPORT void
pit_rt_omp_for_static_init_8u(const void *place, int32_t thread,
                              int32_t schedule, int32_t *last, uint64_t *lower,
                              uint64_t *upper, int64_t *stride, int64_t step,
                              int64_t chunk);
PIT_RT_EXPORT void pit_rt_omp_for_static_fini(const void *place,
                                              int32_t thread);
PIT_RT_EXPORT void pit_rt_omp_dispatch_init_8u(const void *place,
                                               int32_t thread, int32_t schedule,
                                               uint64_t lower, uint64_t upper,
                                               int64_t step, int64_t chunk);
/// Takes a chunk of the loop that this thread is in; 0 if there is none left.
PIT_RT_EXPORT int32_t pit_rt_omp_dispatch_next_8u(const void *place,
                                                  int32_t thread, int32_t *last,
                                                  uint64_t *lower,
                                                  uint64_t *upper,
                                                  int64_t *step);

/// Asks the system for AMX's tile registers, for all threads of the process;
/// PIT_ERROR_UNSUPPORTED if there are none or it refuses. A program that uses
/// them calls this first.
PIT_RT_EXPORT int32_t pit_rt_request_amx(pit_frame *frame);

/// Builds an index of `data`, for a tensor of the given shape (of build->rank
/// dimensions); it lives until pit_rt_leave, or, if `place` is not NULL, until
/// that place builds again, which takes the same memory. An index of constant
/// memory (Constant.h) is built once and kept. A CUDA program's data is in
/// device memory, and so are the index's arrays (PIT_INDEX_DEVICE). If `bitmap`
/// is not NULL, it is that of the same data, which then is not read: what
/// pit_rt_choose made, whose place may be the same, or pit_rt_bitmap described.
PIT_RT_EXPORT int32_t pit_rt_build(pit_frame *frame, const pit_build *build,
                                   const pit_view *data, const int64_t *shape,
                                   const pit_bitmap *bitmap, pit_place *place,
                                   const pit_index **index);

/// The packed micro-tiles of an index.
typedef struct pit_packed {
  void *memory; ///< row p, of micro_tile[0] elements, is for position p
  int64_t rows; ///< that there is room for: all that there may be
  int64_t done; ///< set by the build: 1 if it wrote the rows, else 0
} pit_packed;

/// As pit_rt_build, of values of the tensor's shape; and the build may write
/// the elements of the micro-tiles to `packed` while it has them at hand, with
/// zeros where the tensor ends within a micro-tile. If the build cannot do it
/// in one pass, nothing was written: on the CPU, of constant memory, on devices
/// without clusters of blocks (before sm_90), of elements that do not have 2
/// bytes, of micro-tiles other than [width, 1] with a width of 8, 16, or 32,
/// 64, 128 or 256, of rows that are not aligned to 16 bytes, and of rows that
/// do not fit in the registers of a cluster: 16384 elements, or from 64 rows on
/// 524288 for all rows of a micro-tile.
PIT_RT_EXPORT int32_t pit_rt_build_packed(pit_frame *frame,
                                          const pit_build *build,
                                          const pit_view *data,
                                          pit_packed *packed, pit_place *place,
                                          const pit_index **index);

#define PIT_MAX_VARIANTS 16
#define PIT_VARIANT_DENSE (-1)

/// The variants of a program among which it chooses by a value that is marked,
/// constant data.
typedef struct pit_variants {
  uint64_t identity; ///< a hash of the rest
  int32_t mark;      ///< tells the marks of a program apart
  int32_t flags;     ///< PIT_CHOOSE_*
  int32_t count;     ///< of variants, 1 to PIT_MAX_VARIANTS
  int32_t reserved;
  /// The index that each needs, and of none its axis alone; the data of all is
  /// that of the first. A program has no more than `count` of them.
  pit_build variants[PIT_MAX_VARIANTS];
} pit_variants;

/// The time of a variant, in a unit that all have: with an index
///   fixed + live * micro-tiles + fullest * micro-tiles of the fullest group,
/// for those that are live; of a dense variant `fixed` alone.
typedef struct pit_cost {
  double fixed, live, fullest;
} pit_cost;

/// Look in each call, so that the choice depends on nothing but the data and
/// the costs.
#define PIT_CHOOSE_DETERMINISTIC 1
/// `*bitmap` is the bitmap of the data already.
#define PIT_CHOOSE_SEEN 2

/// Describes a bitmap (LiveFractions.h) of values, of which the program itself
/// wrote the words: in device memory, if it is one for a device. The fields
/// point to them.
PIT_RT_EXPORT int32_t pit_rt_bitmap(pit_frame *frame, int32_t rank,
                                    const int64_t *shape, const void *words,
                                    pit_bitmap *bitmap);

/// Chooses the variant that is to run: the one with the least cost, of
/// `costs[count]`. The cost of reading the data belongs into that of the
/// variants that need an index. A cost that is no number is not chosen, of
/// equal ones the first is.
///
/// If a scan is needed, this makes a bitmap of the data (LiveFractions.h) and
/// `bitmap` tells it, for pit_rt_build; it lives until pit_rt_leave, or
/// until the `place` chooses again (NULL: it does not). With PIT_CHOOSE_SEEN
/// what `bitmap` tells is that bitmap, and the data is not read, unless it is
/// NULL, as where an earlier choice by the data did not scan. Otherwise,
/// without a scan, `bitmap` becomes NULL. There is no scan if the costs tell
/// without, if memory is constant that was scanned before, and, unless the
/// choice is deterministic (`flags`, or the context's option), for the next 1,
/// 2, 4, ... 64 calls after scans one after the other that ended dense: these
/// run dense, too. That is remembered by the context for each program, mark and
/// shape. For a program for the CPU.
PIT_RT_EXPORT int32_t pit_rt_choose(pit_frame *frame,
                                    const pit_variants *variants,
                                    const pit_view *data, const pit_cost *costs,
                                    pit_place *place, const pit_bitmap **bitmap,
                                    int32_t *variant);

/// Counts the live micro-tiles of all candidates of what a mark selects, and
/// adds them to the context's profile; micro-tile and step of `build` do not
/// matter. `mark` is three texts, each with its NUL: the label, what else
/// identifies the mark, and where it was in the source.
PIT_RT_EXPORT int32_t pit_rt_record(pit_frame *frame, const pit_build *build,
                                    const pit_view *data, const int64_t *shape,
                                    const char *mark, pit_place *place);

/// The choice of a device. If the host does not know (`known` is -1), it starts
/// the kernels of all variants, and those of the others leave at once:
/// `variant` is the address in device memory of a word that is the number when
/// they start. If the host does know, it starts those of the variant `known`
/// alone, and `variant` is NULL.
typedef struct pit_device_choice {
  const int32_t *variant;
  int32_t known;
} pit_device_choice;

/// Earlier findings of the call about the data of a choice on a device. Each
/// may be NULL.
typedef struct pit_choice_facts {
  /// Another choice: only where it took variant 0 one of the variants is taken,
  /// else none of them, and the number is -1.
  const pit_device_choice *after;
  /// An earlier choice by the same data: the device does not read that again if
  /// it has scanned it for that one, and for all indices that this one needs.
  const pit_device_choice *seen;
  /// The bitmap of the data (pit_rt_bitmap), which then is not read.
  const pit_bitmap *bitmap;
} pit_choice_facts;

/// As pit_rt_choose, of a program for a device, which chooses there; the host
/// does not wait for it. `*choice` lives until pit_rt_leave, or until the
/// `place` chooses again. Variant 0 must be dense, and the costs of the fullest
/// group 0. The host knows the variant if the costs tell without a scan, and
/// while calls run dense after scans that ended dense, as far as it has heard
/// of them. A call that a graph captures leaves that to the device, so that the
/// graph scans as rarely as a program does. `facts` may be NULL, and
/// PIT_CHOOSE_SEEN is not a flag here.
PIT_RT_EXPORT int32_t pit_rt_choose_on_device(
    pit_frame *frame, const pit_variants *variants, const pit_view *data,
    const pit_cost *costs, const pit_choice_facts *facts, pit_place *place,
    const pit_device_choice **choice);

/// As pit_rt_build, of the index of one of the variants of a choice, in the
/// same call and of the same data. Only kernels of the variant may read it, if
/// it is chosen; where the host knows another one, it is empty.
PIT_RT_EXPORT int32_t pit_rt_build_if_chosen(
    pit_frame *frame, const pit_build *build, const pit_view *data,
    const int64_t *shape, const pit_device_choice *choice, pit_place *place,
    const pit_index **index);

/// Builds the transpose (pit_index_transpose) of an index that this call built
/// or was given; it lives until pit_rt_leave, or until the `place`, if it is
/// not NULL, comes again. If `choice` is not NULL, the index is one of variant
/// `variant` of that choice, and so is its transpose: only kernels of the
/// variant may read it, if it is chosen; where the host knows another one, it
/// is empty.
PIT_RT_EXPORT int32_t pit_rt_transpose_index(pit_frame *frame,
                                             const pit_index *index,
                                             const pit_device_choice *choice,
                                             int32_t variant, pit_place *place,
                                             const pit_index **transpose);

/// The address in device memory of an index that this call built or was given,
/// until pit_rt_leave; of the caller's arrays (pit_index_import) a description
/// of them is made there. For a CUDA program.
PIT_RT_EXPORT int32_t pit_rt_device_index(pit_frame *frame,
                                          const pit_index *index,
                                          const pit_index **device);

/// Device code that a program brings along: PTX, a text that ends in a NUL
/// (which size counts), or a cubin. It is known by its content, because another
/// program may come to lie at its address: each call compares it with what was
/// loaded. An image whose last line is PIT_IMAGE_ID, 16 hexadecimal digits, a
/// hash of what is before it, and a NUL, is compared by that line alone; it may
/// follow a cubin, too.
#define PIT_IMAGE_ID "// pit "
typedef struct pit_image {
  const void *data;
  int64_t size;
} pit_image;

/// The kernel waits itself until the work before it is done
/// (griddepcontrol.wait) and touches no memory earlier: from sm_90 on it may be
/// started while that still runs.
#define PIT_KERNEL_PDL 1

/// A kernel of an image, constant data.
typedef struct pit_kernel {
  const pit_image *image;
  const char *name;
  int32_t threads;      ///< of a block
  int32_t shared_bytes; ///< dynamic shared memory of a block
  int32_t flags;        ///< PIT_KERNEL_*
  int32_t reserved;
} pit_kernel;

/// Starts a kernel on the call's stream: `params` as cuLaunchKernel takes them.
/// The grid is `blocks` along x and `split`, at least 1, along y; blocks <= 0
/// starts nothing. More than INT32_MAX and 65535, what a device can do, are cut
/// to that: kernels have loops over the grid in both directions.
PIT_RT_EXPORT int32_t pit_rt_launch(pit_frame *frame, const pit_kernel *kernel,
                                    int64_t blocks, int64_t split,
                                    void **params);

/// Copies between pieces of device memory, on the call's stream.
PIT_RT_EXPORT int32_t pit_rt_copy(pit_frame *frame, void *to, const void *from,
                                  int64_t bytes);

/// PIT_COUNTERS words of 4 bytes in device memory that are 0 when a kernel of
/// the call starts. It has to leave them so.
#define PIT_COUNTERS 4096
PIT_RT_EXPORT int32_t pit_rt_counters(pit_frame *frame, void **counters);

/// The number of multiprocessors of the call's device; 1 on the CPU.
PIT_RT_EXPORT int32_t pit_rt_multiprocessors(pit_frame *frame);

/// The form of a TMA descriptor, constant data.
#define PIT_TMA_MAX_RANK 5
typedef struct pit_tensor_map {
  DLDataType dtype;
  int32_t rank;         ///< 1 to PIT_TMA_MAX_RANK
  int32_t swizzle;      ///< 0, 32, 64 or 128 bytes
  int32_t l2_promotion; ///< 0, 64, 128 or 256 bytes
  int64_t box[PIT_TMA_MAX_RANK];
} pit_tensor_map;

/// Writes a TMA descriptor of a tensor in device memory, whose last stride is
/// 1, into `map`: 128 bytes, aligned to 64, to be passed to a kernel by value.
/// Elements outside of the tensor read as 0.
PIT_RT_EXPORT int32_t pit_rt_tensor_map(pit_frame *frame, void *map,
                                        const pit_tensor_map *form,
                                        const pit_view *data);

/// Copies a tensor in device memory to `to`, on the call's stream, so that rows
/// (what the last dimension numbers) lie without gaps between dimensions but
/// start at multiples of 16 bytes; `to` does. Elements behind the end of a row
/// are 0. An element has `bytes`, 1, 2 or 4; the rank is 1 to PIT_TMA_MAX_RANK.
/// Nothing is copied unless the word at `word`, in device memory, is `number`
/// by then; NULL: it always is.
PIT_RT_EXPORT int32_t pit_rt_pack_rows(pit_frame *frame, void *to,
                                       const pit_view *from, int32_t bytes,
                                       int32_t rank, const int32_t *word,
                                       int32_t number);

/// Checks a dimension of a result that the manifest does not tell: the program
/// computed the size `computed`, the caller's tensor has `given`.
PIT_RT_EXPORT int32_t pit_rt_check_dim(pit_frame *frame, int32_t result,
                                       int32_t dim, int64_t computed,
                                       int64_t given);

/// An assertion of the program: an error with its text unless `holds`.
PIT_RT_EXPORT int32_t pit_rt_assert(pit_frame *frame, int32_t holds,
                                    const char *text);

/// For a program with checked bounds (pit-check-bounds): unless `count`
/// elements from `first` on lie inside of `size` along dimension `dim` (-1: of
/// all elements, counted in memory), pit_rt_leave returns PIT_ERROR_INTERNAL in
/// place of success. `what` is the access that did not take place. May be
/// called inside parallel regions.
PIT_RT_EXPORT void pit_rt_check_bounds(pit_frame *frame, const char *what,
                                       int32_t dim, int64_t first,
                                       int64_t count, int64_t size);

#ifdef __cplusplus
}
#endif

#endif // PIT_RUNTIME_ABI_H
