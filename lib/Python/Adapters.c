//===- Adapters.c - What a type of array needs ----------------------------===//

#include "Call.h"

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

static int traverse(PyObject *self, visitproc visit, void *arg) {
  pit_adapter *adapter = (pit_adapter *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(adapter->python);
  Py_VISIT(adapter->is_neg);
  Py_VISIT(adapter->modes);
  Py_VISIT(adapter->grad_enabled);
  return 0;
}

static int clear(PyObject *self) {
  pit_adapter *adapter = (pit_adapter *)self;
  Py_CLEAR(adapter->python);
  Py_CLEAR(adapter->is_neg);
  Py_CLEAR(adapter->modes);
  Py_CLEAR(adapter->grad_enabled);
  return 0;
}

void pit_release_object(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  inquiry clear_it = PyType_GetSlot(type, Py_tp_clear);
  freefunc free_memory = PyType_GetSlot(type, Py_tp_free);
  PyObject_GC_UnTrack(self);
  (void)clear_it(self);
  free_memory(self);
  Py_DECREF(type);
}

static char doc[] = "What a type of array needs, found once.";

static PyType_Slot slots[] = {
    {Py_tp_traverse, (void *)traverse},
    {Py_tp_clear, (void *)clear},
    {Py_tp_dealloc, (void *)pit_release_object},
    {Py_tp_doc, doc},
    {0},
};

PyType_Spec pit_adapter_spec = {
    .name = "_pit_call.Adapter",
    .basicsize = sizeof(pit_adapter),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

//===----------------------------------------------------------------------===//
// Making one
//===----------------------------------------------------------------------===//

/// The table of a capsule in a version that is known here; NULL if it has none,
/// or with an exception.
static const pit_exchange *read_exchange(PyObject *capsule) {
  if (capsule == Py_None)
    return NULL;
  const pit_exchange *exchange = PyCapsule_GetPointer(capsule, PIT_EXCHANGE);
  while (exchange && exchange->version.major > PIT_DLPACK_MAJOR)
    exchange = exchange->previous;
  return exchange && exchange->version.major == PIT_DLPACK_MAJOR ? exchange
                                                                 : NULL;
}

/// Finds how arrays of `type` are read, from what their adapter says.
static int find_reading(pit_module *module, pit_adapter *adapter,
                        PyObject *type) {
  adapter->reading = PIT_READ_PYTHON;
  if (type == module->package.View) {
    adapter->reading = PIT_READ_VIEW;
    return 0;
  }
  PyObject *value =
      PyObject_GetAttr(adapter->python, module->names.array_struct);
  int has_struct = value ? PyObject_IsTrue(value) : -1;
  Py_XDECREF(value);
  if (has_struct > 0)
    adapter->reading = PIT_READ_STRUCT;
  if (has_struct != 0)
    return has_struct < 0 ? -1 : 0;
  value = PyObject_GetAttr(adapter->python, module->names.exchange);
  if (!value)
    return -1;
  adapter->exchange = read_exchange(value);
  Py_DECREF(value);
  if (PyErr_Occurred())
    return -1;
  if (adapter->exchange && adapter->exchange->tensor_from_object) {
    adapter->is_neg = PyObject_GetAttr(type, module->names.is_neg);
    if (!adapter->is_neg)
      return -1;
    adapter->reading = PIT_READ_EXCHANGE;
  }
  return 0;
}

/// Whether arrays of a type are memory and nothing else, from what their
/// adapter says.
static int find_modes(pit_module *module, pit_adapter *adapter) {
  PyObject *direct = PyObject_GetAttr(adapter->python, module->names.direct);
  int is_direct = direct ? PyObject_IsTrue(direct) : -1;
  Py_XDECREF(direct);
  if (is_direct < 0)
    return -1;
  adapter->direct = is_direct;
  PyObject *modes = PyObject_GetAttr(adapter->python, module->names.modes);
  if (!modes || modes == Py_None) {
    Py_XDECREF(modes);
    return modes ? 0 : -1;
  }
  adapter->modes = PySequence_Tuple(modes);
  Py_DECREF(modes);
  adapter->grad_enabled =
      PyObject_GetAttr(adapter->python, module->names.grad_enabled);
  return adapter->modes && adapter->grad_enabled ? 0 : -1;
}

static pit_adapter *make_adapter(pit_module *module, PyObject *type) {
  // For this type alone, which lacks what PyObject_New would need.
  allocfunc allocate =
      PyType_GetSlot((PyTypeObject *)module->adapter_type, Py_tp_alloc);
  pit_adapter *adapter =
      (pit_adapter *)allocate((PyTypeObject *)module->adapter_type, 0);
  if (!adapter)
    return NULL;
  adapter->python = PyObject_CallFunctionObjArgs(module->package.make_adapter,
                                                 type, (PyObject *)NULL);
  if (!adapter->python || find_reading(module, adapter, type) != 0 ||
      find_modes(module, adapter) != 0 ||
      PyDict_SetItem(module->adapters, type, (PyObject *)adapter) != 0) {
    Py_DECREF(adapter);
    return NULL;
  }
  Py_DECREF(adapter); // the dict has it
  return adapter;
}

pit_adapter *pit_adapter_of(pit_module *module, PyObject *array) {
  PyObject *type = (PyObject *)Py_TYPE(array);
  PyObject *found = PyDict_GetItemWithError(module->adapters, type);
  if (found || PyErr_Occurred())
    return (pit_adapter *)found;
  return make_adapter(module, type);
}

int pit_ask(PyObject *function) {
  PyObject *answer = PyObject_CallObject(function, NULL);
  int truth = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  return truth;
}

int pit_has_gradient(const pit_module *module, const pit_adapter *adapter,
                     PyObject *array) {
  PyObject *value = PyObject_GetAttr(array, module->names.requires_grad);
  int gradient = value ? PyObject_IsTrue(value) : -1;
  Py_XDECREF(value);
  return gradient == 1 ? pit_ask(adapter->grad_enabled) : gradient;
}
