//===- Plan.c - How arrays of a kind are passed to a program --------------===//

#include "Plans.h"

#include <limits.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Whether it fits
//===----------------------------------------------------------------------===//

static bool fits_dims(const pit_pattern *wanted, const int64_t *shape,
                      int32_t rank, int64_t *symbols) {
  for (int32_t d = 0; d < rank; ++d) {
    int64_t dim = wanted->dims[d];
    int64_t *size = dim < 0 ? &symbols[-1 - dim] : &dim;
    if (*size < 0)
      *size = shape[d];
    if (*size != shape[d])
      return false;
  }
  return true;
}

static bool fits_index(const pit_plan *plan, const pit_arg_info *info,
                       const pit_index *index) {
  bool on_device = plan->device.device_type == kDLCUDA;
  if (index->rank != info->rank || index->axis != info->axis ||
      ((index->flags & PIT_INDEX_DEVICE) != 0) != on_device)
    return false;
  size_t bytes = (size_t)info->rank * sizeof(int64_t);
  return memcmp(index->micro_tile, info->micro_tile, bytes) == 0 &&
         memcmp(index->step, info->step, bytes) == 0;
}

/// Pinned and managed memory are their device's.
static bool fits_device(DLDevice wanted, DLDevice device) {
  int type = device.device_type == kDLCUDAHost      ? (int)kDLCPU
             : device.device_type == kDLCUDAManaged ? (int)kDLCUDA
                                                    : (int)device.device_type;
  return type == (int)wanted.device_type &&
         (type == kDLCPU || device.device_id == wanted.device_id);
}

static bool fits_order(const pit_pattern *wanted, const pit_operand *operand,
                       int32_t rank) {
  if (wanted->permuted)
    return operand->has_order && memcmp(wanted->order, operand->order,
                                        (size_t)rank * sizeof(int32_t)) == 0;
  // An array with gaps is copied. An array without gaps is not, if a plan can
  // have its order.
  return operand->row_major || !operand->has_order || !wanted->permutable;
}

/// Whether dynamic sizes, -1 if they are not known, multiply to `least` or
/// more, or to nothing.
static bool are_enough(const int64_t *symbols, int32_t count, int64_t least) {
  int64_t product = 1;
  for (int32_t i = 0; i < count && product < least; ++i) {
    if (symbols[i] == 0)
      return true;
    if (symbols[i] > 0 && __builtin_mul_overflow(product, symbols[i], &product))
      return true;
  }
  return product >= least;
}

/// Whether a plan is for the operands; `symbols` become its dynamic sizes.
bool pit_plan_fits(const pit_plan *plan, const pit_operands *operands,
                   int64_t *symbols) {
  if (operands->count != plan->caller->num_args)
    return false;
  for (int32_t i = 0; i < plan->num_symbols; ++i)
    symbols[i] = -1;
  for (int32_t i = 0; i < operands->count; ++i) {
    const pit_arg_info *info = &plan->caller->infos[i];
    const pit_operand *operand = &operands->at[i];
    const DLTensor *tensor = operand->tensor;
    const pit_pattern *wanted = &plan->args[i];
    if ((operand->index != NULL) != (info->kind == PIT_KIND_INDEX))
      return false;
    if (operand->index) {
      if (!fits_index(plan, info, operand->index) ||
          !fits_dims(wanted, operand->index->shape, info->rank, symbols))
        return false;
      continue;
    }
    if (tensor->ndim != info->rank || tensor->dtype.code != info->dtype.code ||
        tensor->dtype.bits != info->dtype.bits || tensor->dtype.lanes != 1 ||
        !fits_device(plan->device, tensor->device) ||
        !fits_dims(wanted, tensor->shape, info->rank, symbols) ||
        !fits_order(wanted, operand, info->rank))
      return false;
  }
  return are_enough(symbols, plan->num_symbols, plan->least);
}

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

/// Makes of the operands what the program takes.
static int pass_operands(const pit_plan *plan, pit_operands *operands,
                         pit_call *call) {
  for (int32_t i = 0; i < operands->count; ++i) {
    pit_operand *operand = &operands->at[i];
    const pit_pattern *wanted = &plan->args[i];
    if (operand->tensor && !call->like) {
      call->device = operand->tensor->device;
      if (pit_set_like(call, operand->array) != 0)
        return -1;
    }
    if (operand->tensor && !operand->row_major && !wanted->permuted) {
      int status = pit_copy_operand(operands->module, operand);
      if (status != 0)
        return status;
    }
    if (wanted->permuted) {
      int32_t rank = operand->tensor->ndim;
      for (int32_t d = 0; d < rank; ++d)
        operand->sizes[d] = operand->tensor->shape[wanted->order[d]];
      pit_reshape_operand(operand, rank);
    }
    call->ins[i] = operand->index ? pit_index_value(operand->index)
                                  : pit_tensor_value(operand->tensor);
  }
  return 0;
}

/// The result's shape: that of the program, whose first dimension is those
/// before the last one of `lead` if that has any.
static PyObject *shape_of(const pit_plan *plan, const int64_t *symbols,
                          DLTensor lead) {
  int32_t more = lead.ndim > 0 ? lead.ndim - 2 : 0;
  PyObject *shape = PyTuple_New(plan->rank + more);
  for (int32_t d = 0; shape && d < plan->rank + more; ++d) {
    int64_t dim = plan->result[d <= more ? 0 : d - more];
    int64_t size = lead.ndim > 0 && d <= more ? lead.shape[d]
                   : dim < 0                  ? symbols[-1 - dim]
                                              : dim;
    PyObject *number = PyLong_FromLongLong(size);
    if (!number || PyTuple_SetItem(shape, d, number) != 0)
      Py_CLEAR(shape);
  }
  return shape;
}

/// Whether the caller's result is of the shape and can be written to: 0, else
/// as pit_add_operand. Python writes by a copy, or says what is wrong.
static int check_out(pit_module *module, PyObject *out, PyObject *shape) {
  pit_operand operand = {.array = out};
  int status = pit_read_operand(module, &operand);
  if (status == 0)
    status = !operand.row_major || operand.tensor->ndim != PyTuple_Size(shape);
  for (int32_t d = 0; status == 0 && d < operand.tensor->ndim; ++d)
    status = operand.tensor->shape[d] !=
             PyLong_AsLongLong(PyTuple_GetItem(shape, d));
  Py_XDECREF(operand.value.keep);
  return status;
}

/// `results` has a value for each; `collapse` is for a single one.
static PyObject *finish_call(pit_call *call, PyObject *out, pit_slot *results,
                             PyObject **context, bool collapse) {
  pit_stream stream = NULL;
  DLTensor **tensor = call->outs;
  if (pit_take_results(call, out, results) != 0 ||
      pit_find_context(call, results, Py_None, context) != 0 ||
      pit_read_results(call, results) != 0)
    return NULL;
  pit_operand rows = {.value = results[0]};
  if (collapse) {
    rows.tensor = *tensor;
    (void)pit_collapse_operand(&rows); // of as many rows as the arguments
    *tensor = rows.tensor;
  }
  if ((call->caller->device == kDLCUDA &&
       pit_find_stream(call, *context, Py_None, &stream) != 0) ||
      pit_run_entry(call, stream) != 0)
    return NULL;
  return pit_give_results(call, out, results);
}

PyObject *pit_run_found_plan(const pit_plan *plan, pit_operands *operands,
                             const int64_t *symbols, PyObject *out,
                             DLTensor lead) {
  pit_value ins[PIT_MAX_OPERANDS];
  DLTensor *outs[PIT_MAX_RESULTS];
  pit_slot results[PIT_MAX_RESULTS] = {{0}};
  PyObject *given = NULL;
  pit_call call = {.caller = plan->caller, .ins = ins, .outs = outs};
  int status = pass_operands(plan, operands, &call);
  if (status == 0 && plan->rank >= 0) {
    call.shape = shape_of(plan, symbols, lead);
    status = call.shape ? 0 : -1;
  }
  if (status == 0 && out != Py_None)
    status =
        call.shape ? check_out(operands->module, out, call.shape) : INT_MAX;
  if (status == 0)
    given = finish_call(&call, out, results, &operands->context, lead.ndim > 0);
  for (int32_t i = 0; i < plan->caller->num_results; ++i) {
    Py_XDECREF(results[i].keep);
    Py_XDECREF(results[i].array);
  }
  Py_XDECREF(call.like);
  Py_XDECREF(call.shape);
  return status > 0 ? Py_NewRef(Py_NotImplemented) : given;
}

//===----------------------------------------------------------------------===//
// The type of a plan
//===----------------------------------------------------------------------===//

/// Reads a tuple of at most PIT_MAX_RANK numbers. Returns how many; -1 with an
/// exception.
static int read_numbers(PyObject *tuple, int64_t *numbers) {
  Py_ssize_t count = PyTuple_Size(tuple);
  if (count > PIT_MAX_RANK)
    PyErr_SetString(PyExc_ValueError, "too many dimensions");
  for (Py_ssize_t i = 0; !PyErr_Occurred() && i < count; ++i)
    numbers[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
  return PyErr_Occurred() ? -1 : (int)count;
}

static int note_symbols(pit_plan *plan, const int64_t *dims, int rank) {
  for (int d = 0; d < rank; ++d) {
    if (dims[d] < -PIT_MAX_SYMBOLS) {
      PyErr_SetString(PyExc_ValueError, "too many dynamic dimensions");
      return -1;
    }
    if (dims[d] < 0 && -dims[d] > plan->num_symbols)
      plan->num_symbols = (int32_t)-dims[d];
  }
  return 0;
}

static int read_pattern(pit_plan *plan, PyObject *argument, int32_t i) {
  PyObject *dims, *order;
  int permutable;
  pit_pattern *to = &plan->args[i];
  if (!PyArg_ParseTuple(argument, "O!Op", &PyTuple_Type, &dims, &order,
                        &permutable))
    return -1;
  int rank = read_numbers(dims, to->dims);
  if (rank < 0 || note_symbols(plan, to->dims, rank) != 0)
    return -1;
  to->permutable = permutable;
  to->permuted = order != Py_None;
  int64_t places[PIT_MAX_RANK];
  int count = to->permuted ? read_numbers(order, places) : rank;
  if (count < 0)
    return -1;
  bool wrong = rank != plan->caller->infos[i].rank || count != rank;
  for (int d = 0; d < rank && to->permuted && !wrong; ++d) {
    wrong = places[d] < 0 || places[d] >= rank;
    to->order[d] = (int32_t)places[d];
  }
  if (wrong)
    PyErr_Format(PyExc_ValueError, "argument %d of a plan has rank %d", (int)i,
                 (int)plan->caller->infos[i].rank);
  return wrong ? -1 : 0;
}

/// Notes which dimensions are static, and the key.
static void find_key(pit_plan *plan) {
  pit_form *form = &plan->form;
  form->num_args = plan->caller->num_args;
  for (int32_t i = 0; i < form->num_args; ++i) {
    form->permutable[i] = plan->args[i].permutable;
    for (int32_t d = 0; d < plan->caller->infos[i].rank; ++d)
      if (plan->args[i].dims[d] >= 0) {
        form->dims[i] |= (uint8_t)(1U << d);
        ++form->num_static;
      }
  }
  plan->key = pit_key_of_plan(plan);
}

static int read_plan(pit_plan *plan, PyObject *arguments, PyObject *result) {
  const pit_caller *caller = plan->caller;
  if (PyTuple_Size(arguments) != caller->num_args ||
      caller->num_args > PIT_MAX_OPERANDS ||
      caller->num_results > PIT_MAX_RESULTS ||
      (result != Py_None && caller->num_results != 1)) {
    PyErr_Format(PyExc_ValueError,
                 "a plan of %zd arguments for an entry of %d, with %d results",
                 PyTuple_Size(arguments), (int)caller->num_args,
                 (int)caller->num_results);
    return -1;
  }
  plan->args = PyMem_Calloc((size_t)caller->num_args, sizeof(*plan->args));
  if (!plan->args) {
    PyErr_NoMemory();
    return -1;
  }
  for (int32_t i = 0; i < caller->num_args; ++i)
    if (read_pattern(plan, PyTuple_GetItem(arguments, i), i) != 0)
      return -1;
  find_key(plan);
  if (result == Py_None) {
    plan->rank = -1;
    return 0;
  }
  plan->rank = read_numbers(result, plan->result);
  return plan->rank < 0 ? -1 : note_symbols(plan, plan->result, plan->rank);
}

static PyObject *make_plan(PyTypeObject *type, PyObject *args,
                           PyObject *keywords) {
  (void)keywords;
  PyObject *caller, *arguments, *result;
  int device_type, device_id;
  long long least = 0;
  if (!PyArg_ParseTuple(args, "O(ii)O!O|L:Plan", &caller, &device_type,
                        &device_id, &PyTuple_Type, &arguments, &result, &least))
    return NULL;
  if (result != Py_None && !PyTuple_Check(result)) {
    PyErr_SetString(PyExc_TypeError, "the dims of a result are a tuple");
    return NULL;
  }
  const pit_module *module = PyType_GetModuleState(type);
  if (!module)
    return NULL;
  if ((PyObject *)Py_TYPE(caller) != module->caller_type) {
    PyErr_SetString(PyExc_TypeError, "a plan is for a Caller");
    return NULL;
  }
  allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
  pit_plan *made = (pit_plan *)allocate(type, 0);
  if (!made)
    return NULL;
  Py_INCREF(caller);
  made->caller = (pit_caller *)caller;
  made->device = (DLDevice){(DLDeviceType)device_type, device_id};
  made->least = least;
  if (read_plan(made, arguments, result) != 0) {
    Py_DECREF(made);
    return NULL;
  }
  return (PyObject *)made;
}

static int traverse_plan(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT((PyObject *)((pit_plan *)self)->caller);
  return 0;
}

static void release_plan(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc free_memory = PyType_GetSlot(type, Py_tp_free);
  PyObject_GC_UnTrack(self);
  PyMem_Free(((pit_plan *)self)->args);
  Py_XDECREF((PyObject *)((pit_plan *)self)->caller);
  free_memory(self);
  Py_DECREF(type);
}

static char plan_doc[] =
    "Plan(caller, device, arguments, result, least=0)\n\n"
    "For an entry's caller on a device (type, number): of each argument (dims, "
    "order, permutable), dims of the result; None where there are several, "
    "whose shapes the entry tells. A dim is a size, or -1, -2, ... "
    "for the first, second, ... size that calls may vary. An order is None "
    "where it is the usual one. Sizes that vary multiply to `least` or more, "
    "unless one of them is 0.";

static PyType_Slot plan_slots[] = {
    {Py_tp_new, (void *)make_plan},
    {Py_tp_traverse, (void *)traverse_plan},
    {Py_tp_dealloc, (void *)release_plan},
    {Py_tp_doc, plan_doc},
    {0},
};

PyType_Spec pit_plan_spec = {
    .name = "_pit_call.Plan",
    .basicsize = sizeof(pit_plan),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = plan_slots,
};
