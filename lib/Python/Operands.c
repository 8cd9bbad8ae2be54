//===- Operands.c - Arguments of ops, and how they lie in memory ----------===//

#include "Call.h"

#include <string.h>

void pit_begin_operands(pit_operands *operands, pit_module *module) {
  operands->module = module;
  operands->count = 0; // what is behind is set when it is added
  operands->context = NULL;
}

int pit_clear_error(void) {
  if (!PyErr_ExceptionMatches(PyExc_Exception))
    return -1;
  PyErr_Clear();
  return 1;
}

/// Finds in which order of dimensions the elements lie without gaps. Arrays of
/// one element may stand anywhere: they stay in their place.
static void find_order(pit_operand *operand) {
  const DLTensor *tensor = operand->tensor;
  int32_t rank = tensor->ndim;
  operand->has_order = operand->row_major = true;
  bool empty = false;
  for (int32_t d = 0; d < rank; ++d) {
    operand->order[d] = d;
    empty = empty || tensor->shape[d] == 0;
  }
  if (!tensor->strides || empty)
    return;
  int32_t real[PIT_MAX_RANK], count = 0;
  for (int32_t d = 0; d < rank; ++d) {
    if (tensor->shape[d] == 1)
      continue;
    int32_t at = count++;
    for (; at > 0 && tensor->strides[real[at - 1]] < tensor->strides[d]; --at)
      real[at] = real[at - 1];
    real[at] = d;
  }
  int64_t step = 1;
  for (int32_t i = count - 1; i >= 0; --i)
    if (tensor->strides[real[i]] != step ||
        __builtin_mul_overflow(step, tensor->shape[real[i]], &step)) {
      operand->has_order = operand->row_major = false;
      return;
    }
  for (int32_t d = 0, next = 0; d < rank; ++d)
    if (tensor->shape[d] != 1) {
      operand->order[d] = real[next++];
      operand->row_major = operand->row_major && operand->order[d] == d;
    }
}

int pit_read_operand(pit_module *module, pit_operand *operand) {
  if (pit_read_array(module, operand->array, PIT_USE_OPERAND,
                     &operand->value.slot, &operand->tensor,
                     &operand->value.keep) != 0)
    return pit_clear_error();
  // Python copies what no element of its type may be read from.
  const DLTensor *tensor = operand->tensor;
  uintptr_t address = (uintptr_t)tensor->data + tensor->byte_offset;
  if (tensor->ndim > PIT_MAX_RANK || tensor->dtype.bits < 8 ||
      address % (tensor->dtype.bits / 8U) != 0)
    return 1;
  find_order(operand);
  return 0;
}

int pit_add_operand(pit_operands *operands, PyObject *array) {
  pit_module *module = operands->module;
  if (operands->count == PIT_MAX_OPERANDS)
    return 1;
  pit_operand *operand = &operands->at[operands->count++];
  memset(&operand->value, 0, sizeof(operand->value));
  Py_INCREF(array);
  operand->array = array;
  operand->index = NULL;
  if ((PyObject *)Py_TYPE(array) != module->package.Index)
    return pit_read_operand(module, operand);
  operand->tensor = NULL;
  operand->index = pit_get_pointer(array, module->names.address);
  if (PyErr_Occurred())
    return pit_clear_error();
  Py_XDECREF(operands->context);
  operands->context = PyObject_GetAttr(array, module->names.context);
  return operand->index && operands->context ? 0
         : PyErr_Occurred()                  ? pit_clear_error()
                                             : 1;
}

int pit_copy_operand(pit_module *module, pit_operand *operand) {
  PyObject *copy = PyObject_CallFunctionObjArgs(
      module->package.contiguous, operand->array, (PyObject *)NULL);
  if (!copy)
    return pit_clear_error();
  Py_CLEAR(operand->value.keep);
  Py_DECREF(operand->array);
  operand->array = copy;
  int status = pit_read_operand(module, operand);
  return status != 0 ? status : !operand->row_major;
}

void pit_reshape_operand(pit_operand *operand, int32_t rank) {
  operand->value.slot = *operand->tensor;
  operand->value.slot.ndim = rank;
  operand->value.slot.shape = operand->sizes;
  operand->value.slot.strides = NULL;
  operand->tensor = &operand->value.slot;
}

bool pit_collapse_operand(pit_operand *operand) {
  const DLTensor *tensor = operand->tensor;
  operand->sizes[0] = 1;
  operand->sizes[1] = tensor->shape[tensor->ndim - 1];
  for (int32_t d = 0; d + 1 < tensor->ndim; ++d)
    if (__builtin_mul_overflow(operand->sizes[0], tensor->shape[d],
                               &operand->sizes[0]))
      return false;
  pit_reshape_operand(operand, 2);
  return true;
}

static bool same_lead(const DLTensor *a, const DLTensor *b) {
  if (a->ndim != b->ndim)
    return false;
  for (int32_t d = 0; d + 1 < a->ndim; ++d)
    if (a->shape[d] != b->shape[d])
      return false;
  return true;
}

int pit_collapse_operands(pit_operands *operands, uint64_t set,
                          DLTensor *lead) {
  *lead = (DLTensor){0};
  for (int32_t i = 0; i < operands->count; ++i) {
    pit_operand *operand = &operands->at[i];
    if (!(set >> i & 1))
      continue;
    if (operand->index || operand->tensor->ndim < 2)
      return 1;
    int status =
        operand->row_major ? 0 : pit_copy_operand(operands->module, operand);
    if (status != 0)
      return status;
    if (lead->ndim > 0 && !same_lead(lead, operand->tensor))
      return 1;
    *lead = *operand->tensor;
    if (!pit_collapse_operand(operand))
      return 1;
    operand->order[0] = 0;
    operand->order[1] = 1;
  }
  return 0;
}

void pit_release_operands(pit_operands *operands) {
  for (int32_t i = 0; i < operands->count; ++i) {
    Py_XDECREF(operands->at[i].value.keep);
    Py_XDECREF(operands->at[i].array);
  }
  Py_XDECREF(operands->context);
}
