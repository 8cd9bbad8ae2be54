//===- Call.h - Calls of programs from Python, inside -------------*- C -*-===//
//
// The extension module _pit_call takes a call of an entry from Python's objects
// to the runtime and back: arguments as DLTensors, results, context, stream.
// Rare cases stay in python/pit, which this calls back.
//
// It is built for Python's limited API, so that one binary fits all versions
// from 3.10 on, and linked with neither Python nor the runtime: it takes the
// runtime that the package has loaded. Its knowledge lies in the module's
// state, of which each interpreter has one.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_PYTHON_CALL_H
#define PIT_PYTHON_CALL_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include "Exchange.h"
#include "pit-runtime/Runtime.h"

/// Functions of the runtime.
typedef struct pit_runtime_functions {
  const char *(*entry_name)(const pit_entry *);
  int32_t (*entry_num_args)(const pit_entry *);
  int32_t (*entry_num_results)(const pit_entry *);
  int32_t (*entry_device)(const pit_entry *);
  bool (*entry_arg)(const pit_entry *, int32_t, pit_arg_info *);
  bool (*entry_result)(const pit_entry *, int32_t, pit_arg_info *);
  pit_status (*entry_result_shape)(pit_context *, const pit_entry *,
                                   const pit_value *, int32_t, int32_t,
                                   int64_t *);
  pit_status (*entry_run)(pit_context *, const pit_entry *, const pit_value *,
                          int32_t, DLTensor *const *, int32_t, pit_stream);
} pit_runtime_functions;

/// Objects of the package, by their names in python/pit/_call.py.
#define PIT_PACKAGE_OBJECTS(X)                                                 \
  X(Error)   /* the package's exception */                                     \
  X(Context) /* its classes */                                                 \
  X(Index)                                                                     \
  X(View)                                                                      \
  X(contexts)        /* dict: default contexts by device word */               \
  X(default_context) /* word: one that is not there yet */                     \
  X(make_adapter)    /* type of array: its adapter */                          \
  X(status_error)    /* status, context's handle: an exception */              \
  X(stream_handle)   /* stream, adapter, device: a number or None */           \
  X(describe)        /* signatures of an entry: text */                        \
  X(contiguous)      /* array: a copy in row-major order */

/// The objects that the module makes and keeps.
#define PIT_OWN_OBJECTS(X)                                                     \
  X(adapters) /* dict: type of array to pit_adapter */                         \
  X(adapter_type)                                                              \
  X(array_type)                                                                \
  X(caller_type)                                                               \
  X(plan_type)                                                                 \
  X(plans_type)

/// Names of attributes and arguments.
#define PIT_NAMES(X)                                                           \
  X(__array_struct__)                                                          \
  X(__dlpack__)                                                                \
  X(__dlpack_c_exchange_api__)                                                 \
  X(address)                                                                   \
  X(array)                                                                     \
  X(array_struct)                                                              \
  X(bits)                                                                      \
  X(code)                                                                      \
  X(context)                                                                   \
  X(device_id)                                                                 \
  X(device_type)                                                               \
  X(direct)                                                                    \
  X(exchange)                                                                  \
  X(finish)                                                                    \
  X(grad_enabled)                                                              \
  X(handle)                                                                    \
  X(is_neg)                                                                    \
  X(item)                                                                      \
  X(maker)                                                                     \
  X(message)                                                                   \
  X(modes)                                                                     \
  X(name)                                                                      \
  X(out)                                                                       \
  X(requires_grad)                                                             \
  X(shape)                                                                     \
  X(status)                                                                    \
  X(stream)                                                                    \
  X(type)                                                                      \
  X(view)                                                                      \
  X(wanted)

/// The module's state.
typedef struct pit_module {
  pit_runtime_functions runtime;
#define PIT_FIELD(name) PyObject *name;
  struct {
    PIT_PACKAGE_OBJECTS(PIT_FIELD)
  } package;
  struct {
    PIT_NAMES(PIT_FIELD)
  } names;
  PIT_OWN_OBJECTS(PIT_FIELD)
#undef PIT_FIELD
  long paused; ///< while positive, calls of ops are not made at once
} pit_module;

//===----------------------------------------------------------------------===//
// Module.c
//===----------------------------------------------------------------------===//

/// Raises an exception and returns -1 before the package has called bind().
int pit_expect_bound(const pit_module *module);

/// Raises a pit.Error. Returns -1.
int pit_raise(const pit_module *module, const char *format, ...);

/// If the exception that is raised is a pit.Error without a status of the
/// runtime's, which says everything itself, puts text before its message.
/// Returns -1.
int pit_raise_before(const pit_module *module, const char *format, ...);

//===----------------------------------------------------------------------===//
// Arrays.c, Adapters.c
//===----------------------------------------------------------------------===//

/// How arrays of a type are read.
typedef enum pit_reading {
  PIT_READ_STRUCT,   ///< numpy's __array_struct__
  PIT_READ_EXCHANGE, ///< DLPack's exchange interface
  PIT_READ_VIEW,     ///< a pit.View of another array
  PIT_READ_PYTHON    ///< the adapter's method view()
} pit_reading;

/// The functions that a type of array needs, found once.
typedef struct pit_adapter {
  PyObject ob_base;
  pit_reading reading;
  const pit_exchange *exchange; ///< NULL if there is none
  PyObject *python;             ///< of python/pit/_arrays.py
  PyObject *is_neg; ///< the type's method, where there is an exchange interface
  bool direct;      ///< arrays are memory, unless one of `modes` is on
  PyObject *modes; ///< functions that tell whether the framework does more than
                   ///< compute: records, traces, casts; NULL: none
  PyObject *grad_enabled; ///< tells whether arrays with a gradient are more
                          ///< than memory; NULL where `modes` is
} pit_adapter;

/// The adapter of an array's type, which lives as long as the module; NULL with
/// an exception.
pit_adapter *pit_adapter_of(pit_module *module, PyObject *array);

/// The truth of what a function without arguments returns; -1 with an
/// exception.
int pit_ask(PyObject *function);

/// Whether the framework would record what is done with an array, of an adapter
/// with `grad_enabled`; -1 with an exception.
int pit_has_gradient(const pit_module *module, const pit_adapter *adapter,
                     PyObject *array);

extern PyType_Spec pit_adapter_spec;

/// The tp_dealloc of types of which tp_clear lets go of all that they hold.
void pit_release_object(PyObject *self);

/// The use that a program makes of an array that is read.
typedef enum pit_use {
  PIT_USE_READ,
  PIT_USE_OPERAND, ///< read it where gradients are somebody else's, or none
  PIT_USE_WRITE,
  PIT_USE_MADE ///< write to a result that this call made
} pit_use;

/// Tells an array's DLTensor, which is `slot` or elsewhere. It lives as long as
/// the array and `*keep`, a new reference or NULL. Returns -1 with an
/// exception.
int pit_read_array(pit_module *module, PyObject *array, pit_use use,
                   DLTensor *slot, DLTensor **tensor, PyObject **keep);

/// An array that pit.Constant and others have read.
extern PyType_Spec pit_array_spec;
PyObject *pit_array_of(PyObject *self, PyObject *array);

//===----------------------------------------------------------------------===//
// Scalars.c
//===----------------------------------------------------------------------===//

/// Writes a number as an element of a type. Returns -1 with an exception if the
/// type has no such value.
int pit_pack_scalar(const pit_module *module, DLDataType dtype, PyObject *value,
                    void *bytes);

//===----------------------------------------------------------------------===//
// Caller.c
//===----------------------------------------------------------------------===//

/// How a result was made last: valid for arrays of an adapter on a device. With
/// keywords `function` takes the shape; else it takes shape, strides and
/// `type`.
typedef struct pit_maker {
  const pit_adapter *adapter;
  DLDevice device;
  PyObject *function, *keywords, *type;
} pit_maker;

/// The slot __call__ of an entry.
typedef struct pit_caller {
  PyObject ob_base;
  pit_module *module;
  const pit_entry *entry;
  PyObject *code;                ///< keeps the entry's program
  PyObject *arguments, *results; ///< lists of Signature
  int32_t num_args, num_results, device;
  pit_arg_info *infos; ///< arguments, then results
  PyObject **shapes;   ///< of results, NULL where the arguments tell it
  pit_maker *makers;   ///< of results
} pit_caller;

extern PyType_Spec pit_caller_spec;

/// A call: what it was given, and what it has found of that so far.
typedef struct pit_call {
  pit_caller *caller;
  pit_context *context;
  pit_value *ins;
  DLTensor **outs;
  PyObject *like;       ///< the first array: results are made beside it
  pit_adapter *adapter; ///< of that
  DLDevice device;      ///< of that
  PyObject *shape;      ///< of its only result; NULL: the entry tells it
} pit_call;

/// Raises the error that a status of the runtime's is.
void pit_raise_status(const pit_call *call, pit_status status);

/// The entry's name.
const char *pit_entry_text(const pit_caller *caller);

/// Runs the entry, without Python's lock. Returns -1 with an exception.
int pit_run_entry(const pit_call *call, pit_stream stream);

/// The memory of an argument or a result of one call.
typedef struct pit_slot {
  DLTensor slot;
  int64_t number;  ///< the element of a scalar
  PyObject *array; ///< a result
  bool made;       ///< by this call
  PyObject *keep;  ///< what keeps the tensor alive
} pit_slot;

//===----------------------------------------------------------------------===//
// Arguments.c: all return -1 with an exception
//===----------------------------------------------------------------------===//

/// Reads the arguments. The context of an index becomes `*context`.
int pit_read_arguments(pit_call *call, PyObject *args, pit_slot *values,
                       PyObject **context);

/// Remembers the first array: results are made beside it, on its device.
/// For a pit.View that is the framework's array.
int pit_set_like(pit_call *call, PyObject *array);

/// The pointer that an attribute holds as a number, or NULL for None; NULL with
/// an exception.
void *pit_get_pointer(PyObject *object, PyObject *name);

/// Checks the context that was given, or finds the default one in `*context`,
/// which holds that of an index or NULL.
int pit_find_context(pit_call *call, const pit_slot *results, PyObject *given,
                     PyObject **context);

/// The stream of a call on a device: the one that was given, or the framework's
/// current one.
int pit_find_stream(const pit_call *call, PyObject *context, PyObject *given,
                    pit_stream *stream);

//===----------------------------------------------------------------------===//
// Results.c
//===----------------------------------------------------------------------===//

/// Takes references to the arrays of `out=`; of those to be made, NULL. Returns
/// -1 with an exception.
int pit_take_results(const pit_call *call, PyObject *out, pit_slot *results);

/// Makes the results that are missing, and reads all. Returns -1 with an
/// exception.
int pit_read_results(pit_call *call, pit_slot *results);

/// The results of a call.
PyObject *pit_give_results(const pit_call *call, PyObject *out,
                           pit_slot *results);

//===----------------------------------------------------------------------===//
// Operands.c, Plans.c, Shortcut.c: ops (python/pit/ops) on arrays that were
// seen before
//===----------------------------------------------------------------------===//

/// The arguments of a call of an op with at most this many go without Python.
enum { PIT_MAX_OPERANDS = 12, PIT_MAX_RESULTS = 8 };

/// An argument of an op, as it is given.
typedef struct pit_operand {
  PyObject *array; ///< the caller's, or a copy in row-major order
  pit_slot value;
  DLTensor *tensor;            ///< NULL of an index
  const pit_index *index;      ///< NULL of a tensor
  int64_t sizes[PIT_MAX_RANK]; ///< of the dimensions that the program sees
  int32_t order[PIT_MAX_RANK]; ///< of dimensions in memory, slowest first
  bool has_order, row_major;   ///< in `order` there are no gaps
} pit_operand;

/// The operands of a call.
typedef struct pit_operands {
  pit_module *module;
  int32_t count;
  PyObject *context; ///< of an index, or NULL
  pit_operand at[PIT_MAX_OPERANDS];
} pit_operands;

/// Takes back an exception that arrays may raise: Python will raise it again,
/// and say of which argument. Returns 1; -1 with another one.
int pit_clear_error(void);

/// None yet.
void pit_begin_operands(pit_operands *operands, pit_module *module);

/// Reads the operand's array. These return 1, without an exception, if Python
/// has to see to it; -1 with another exception than those of arrays.
int pit_read_operand(pit_module *module, pit_operand *operand);
int pit_add_operand(pit_operands *operands, PyObject *array);

/// Puts a copy in row-major order in the array's place.
int pit_copy_operand(pit_module *module, pit_operand *operand);

/// Makes one dimension of all but the last of the operands in the set, which
/// all have the same ones. `*lead` is the shape that they had; it has rank 0 if
/// the set is empty.
int pit_collapse_operands(pit_operands *operands, uint64_t set, DLTensor *lead);

/// Does so for one in row-major order; false: they are too many.
bool pit_collapse_operand(pit_operand *operand);

/// Gives an operand the shape that is in `sizes`.
void pit_reshape_operand(pit_operand *operand, int32_t rank);

void pit_release_operands(pit_operands *operands);

/// Runs the program of a Plans for the operands. The dimensions of `lead` but
/// the last stand in the place of the result's first one, unless its rank is 0.
/// Returns NotImplemented if there is no plan for them.
PyObject *pit_run_plan(PyObject *plans, pit_operands *operands, PyObject *out,
                       DLTensor lead);

extern PyType_Spec pit_plan_spec, pit_plans_spec, pit_shortcut_spec;

#endif // PIT_PYTHON_CALL_H
