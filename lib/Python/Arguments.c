//===- Arguments.c - Arguments, context and stream of a call --------------===//

#include "Call.h"

#include <string.h>

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Text that says what argument i must be.
static PyObject *wanted_of(const pit_caller *caller, int32_t i) {
  PyObject *signature = PyList_GetItem(caller->arguments, i);
  PyObject *wanted =
      signature ? PyObject_GetAttr(signature, caller->module->names.wanted)
                : NULL;
  PyObject *text = wanted ? PyObject_CallObject(wanted, NULL) : NULL;
  Py_XDECREF(wanted);
  return text;
}

/// Says of an error which argument it is about, and what that must be where the
/// value is no array at all. Returns -1.
static int raise_for_argument(const pit_caller *caller, int32_t i,
                              PyObject *object) {
  const pit_module *module = caller->module;
  if (!PyErr_ExceptionMatches(module->package.Error))
    return -1;
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  PyObject *wanted = PyObject_HasAttr(object, module->names.__dlpack__)
                         ? NULL
                         : wanted_of(caller, i);
  PyErr_Restore(type, error, trace);
  if (wanted)
    pit_raise_before(module, "%s: argument %d %U", pit_entry_text(caller),
                     (int)i, wanted);
  else
    pit_raise_before(module, "%s: argument %d", pit_entry_text(caller), (int)i);
  Py_XDECREF(wanted);
  return -1;
}

int pit_set_like(pit_call *call, PyObject *array) {
  pit_module *module = call->caller->module;
  pit_adapter *adapter = pit_adapter_of(module, array);
  Py_INCREF(array);
  while (adapter && adapter->reading == PIT_READ_VIEW) {
    PyObject *inner = PyObject_GetAttr(array, module->names.array);
    Py_DECREF(array);
    array = inner;
    adapter = inner ? pit_adapter_of(module, inner) : NULL;
  }
  if (!adapter) {
    Py_XDECREF(array);
    return -1;
  }
  call->like = array;
  call->adapter = adapter;
  return 0;
}

/// Passes a number as a tensor of rank 0. Returns 1 if the object is none.
static int read_scalar(const pit_call *call, int32_t i, PyObject *object,
                       pit_slot *to) {
  const pit_module *module = call->caller->module;
  DLDataType dtype = call->caller->infos[i].dtype;
  int status;
  if (PyFloat_Check(object) || PyLong_Check(object)) {
    status = pit_pack_scalar(module, dtype, object, &to->number);
  } else {
    // numpy's scalars are numbers, arrays of rank 0 are arrays.
    if (PyObject_HasAttr(object, module->names.__dlpack__) ||
        !PyObject_HasAttr(object, module->names.item))
      return 1;
    PyObject *item = PyObject_GetAttr(object, module->names.item);
    PyObject *number = item ? PyObject_CallObject(item, NULL) : NULL;
    Py_XDECREF(item);
    if (!number)
      return -1;
    status = pit_pack_scalar(module, dtype, number, &to->number);
    Py_DECREF(number);
  }
  if (status != 0)
    return pit_raise_before(module, "%s: argument %d",
                            pit_entry_text(call->caller), (int)i);
  to->slot =
      (DLTensor){.data = &to->number, .device = {kDLCPU, 0}, .dtype = dtype};
  call->ins[i] = pit_tensor_value(&to->slot);
  return 0;
}

void *pit_get_pointer(PyObject *object, PyObject *name) {
  PyObject *number = PyObject_GetAttr(object, name);
  void *pointer = number && number != Py_None ? PyLong_AsVoidPtr(number) : NULL;
  Py_XDECREF(number);
  return pointer;
}

/// Passes a pit.Index, whose context becomes the call's.
static int read_index(pit_call *call, int32_t i, PyObject *object,
                      PyObject **context) {
  pit_module *module = call->caller->module;
  int is_index = PyObject_IsInstance(object, module->package.Index);
  if (is_index < 0)
    return -1;
  if (!is_index) {
    PyObject *wanted = wanted_of(call->caller, i);
    PyObject *type =
        wanted ? PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__")
               : NULL;
    if (type)
      pit_raise(module, "%s: argument %d %U; it is a %S",
                pit_entry_text(call->caller), (int)i, wanted, type);
    Py_XDECREF(wanted);
    Py_XDECREF(type);
    return -1;
  }
  call->ins[i] =
      pit_index_value(pit_get_pointer(object, module->names.address));
  if (PyErr_Occurred())
    return -1;
  if (!call->ins[i].index)
    return pit_raise(
        module, "%s: argument %d is an index that could not be built again",
        pit_entry_text(call->caller), (int)i);
  Py_XDECREF(*context);
  *context = PyObject_GetAttr(object, module->names.context);
  return *context ? 0 : -1;
}

int pit_read_arguments(pit_call *call, PyObject *args, pit_slot *values,
                       PyObject **context) {
  pit_caller *caller = call->caller;
  for (int32_t i = 0; i < caller->num_args; ++i) {
    PyObject *object = PyTuple_GetItem(args, i);
    pit_arg_kind kind = caller->infos[i].kind;
    int status = kind == PIT_KIND_SCALAR
                     ? read_scalar(call, i, object, &values[i])
                 : kind == PIT_KIND_INDEX ? read_index(call, i, object, context)
                                          : 1;
    if (status < 0)
      return -1;
    if (status == 0)
      continue;
    DLTensor *tensor;
    if (pit_read_array(caller->module, object, PIT_USE_READ, &values[i].slot,
                       &tensor, &values[i].keep) != 0)
      return raise_for_argument(caller, i, object);
    call->ins[i] = pit_tensor_value(tensor);
    if (kind == PIT_KIND_SCALAR || call->like)
      continue;
    call->device = tensor->device;
    if (pit_set_like(call, object) != 0)
      return -1;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// The context and the stream
//===----------------------------------------------------------------------===//

/// The default context of a device. NULL with an exception.
static PyObject *default_context(const pit_module *module, DLDevice device) {
  int64_t word; // as _context.py numbers devices
  memcpy(&word, &device, sizeof(word));
  PyObject *key = PyLong_FromLongLong(word);
  if (!key)
    return NULL;
  PyObject *found = PyDict_GetItemWithError(module->package.contexts, key);
  if (found)
    Py_INCREF(found);
  else if (!PyErr_Occurred())
    found = PyObject_CallFunctionObjArgs(module->package.default_context, key,
                                         (PyObject *)NULL);
  Py_DECREF(key);
  return found;
}

/// The device of the first array, or of the first result if that is the first;
/// else, or if the result is no array, which is said when it is passed, the
/// CPU.
static int find_device(const pit_call *call, const pit_slot *values,
                       DLDevice *device) {
  pit_module *module = call->caller->module;
  *device = call->like ? call->device : (DLDevice){kDLCPU, 0};
  PyObject *array = call->caller->num_results > 0 ? values->array : NULL;
  if (call->like || !array)
    return 0;
  DLTensor slot;
  DLTensor *tensor;
  PyObject *keep;
  if (pit_read_array(module, array, PIT_USE_READ, &slot, &tensor, &keep) == 0) {
    *device = tensor->device;
    Py_XDECREF(keep);
    return 0;
  }
  if (!PyErr_ExceptionMatches(module->package.Error))
    return -1;
  PyErr_Clear();
  return 0;
}

int pit_find_context(pit_call *call, const pit_slot *results, PyObject *given,
                     PyObject **context) {
  pit_module *module = call->caller->module;
  if (given != Py_None) {
    int is_context = PyObject_IsInstance(given, module->package.Context);
    if (is_context < 0)
      return -1;
    if (!is_context) {
      PyObject *type =
          PyObject_GetAttrString((PyObject *)Py_TYPE(given), "__name__");
      if (type)
        pit_raise(module, "context must be a pit.Context, not a %S", type);
      Py_XDECREF(type);
      return -1;
    }
    Py_XDECREF(*context);
    Py_INCREF(given);
    *context = given;
  } else if (!*context) {
    DLDevice device;
    if (find_device(call, results, &device) != 0)
      return -1;
    *context = default_context(module, device);
    if (!*context)
      return -1;
  }
  call->context = pit_get_pointer(*context, module->names.handle);
  return PyErr_Occurred() ? -1 : 0;
}

/// A number that is an attribute of an object; -1 with an exception.
static long get_number(PyObject *object, PyObject *name) {
  PyObject *value = PyObject_GetAttr(object, name);
  long number = value ? PyLong_AsLong(value) : -1;
  Py_XDECREF(value);
  return number;
}

int pit_find_stream(const pit_call *call, PyObject *context, PyObject *given,
                    pit_stream *stream) {
  const pit_module *module = call->caller->module;
  *stream = NULL;
  long type = get_number(context, module->names.device_type);
  if (PyErr_Occurred() || type != kDLCUDA)
    return PyErr_Occurred() ? -1 : 0;
  long id = get_number(context, module->names.device_id);
  if (PyErr_Occurred())
    return -1;
  const pit_adapter *adapter = call->adapter;
  if (given == Py_None && adapter && adapter->exchange)
    return adapter->exchange->current_work_stream(kDLCUDA, (int32_t)id, stream);
  PyObject *number =
      PyObject_CallFunction(module->package.stream_handle, "OOl", given,
                            adapter ? adapter->python : Py_None, id);
  if (number && number != Py_None)
    *stream = PyLong_AsVoidPtr(number);
  Py_XDECREF(number);
  return PyErr_Occurred() ? -1 : 0;
}
