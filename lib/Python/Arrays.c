//===- Arrays.c - Arrays of Python as DLTensors ---------------------------===//

#include "Call.h"

#include <string.h>

/// The contents of numpy's __array_struct__ (its PyArrayInterface).
typedef struct array_struct {
  int two;
  int rank;
  char kind;
  int item_size;
  int flags;
  intptr_t *shape, *strides; ///< strides in bytes
  void *data;
  PyObject *description;
} array_struct;

enum { CONTIGUOUS = 0x1, NATIVE_ORDER = 0x200, WRITEABLE = 0x400 };
_Static_assert(sizeof(intptr_t) == sizeof(int64_t),
               "numpy's sizes are DLPack's");

static bool writes(pit_use use) {
  return use == PIT_USE_WRITE || use == PIT_USE_MADE;
}

static int raise_read_only(const pit_module *module) {
  return pit_raise(module, "the array is read-only; a result is written to");
}

//===----------------------------------------------------------------------===//
// numpy
//===----------------------------------------------------------------------===//

/// The element type of a kind and size of numpy's; false if DLPack's protocol
/// has to say which one it is, or that it is none.
static bool find_dtype(char kind, int size, DLDataType *dtype) {
  bool power = size == 1 || size == 2 || size == 4 || size == 8;
  dtype->bits = (uint8_t)(8 * size);
  dtype->lanes = 1;
  switch (kind) {
  case 'i':
    dtype->code = PIT_DTYPE_INT;
    return power;
  case 'u':
    dtype->code = PIT_DTYPE_UINT;
    return power;
  case 'f':
    dtype->code = PIT_DTYPE_FLOAT;
    return power && size > 1;
  case 'b':
    dtype->code = PIT_DTYPE_BOOL;
    return size == 1;
  default:
    return false;
  }
}

/// Reads an array of numpy. Returns 1 if it is not a usual one, of which
/// pit_read_array asks the adapter.
static int read_struct(pit_module *module, PyObject *array, pit_use use,
                       DLTensor *slot, PyObject **keep) {
  PyObject *capsule = PyObject_GetAttr(array, module->names.__array_struct__);
  const array_struct *found =
      capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
  if (!found || found->two != 2 || !(found->flags & CONTIGUOUS) ||
      !(found->flags & NATIVE_ORDER) ||
      !find_dtype(found->kind, found->item_size, &slot->dtype)) {
    PyErr_Clear();
    Py_XDECREF(capsule);
    return 1;
  }
  if (writes(use) && !(found->flags & WRITEABLE)) {
    Py_DECREF(capsule);
    return raise_read_only(module);
  }
  slot->data = found->data;
  slot->device = (DLDevice){kDLCPU, 0};
  slot->ndim = found->rank;
  slot->shape = (int64_t *)found->shape;
  slot->strides = NULL;
  slot->byte_offset = 0;
  *keep = capsule;
  return 0;
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

/// 1 if a tensor's memory holds its negation.
static int is_negated(const pit_adapter *adapter, PyObject *array) {
  PyObject *value =
      PyObject_CallFunctionObjArgs(adapter->is_neg, array, (PyObject *)NULL);
  int found = value ? PyObject_IsTrue(value) : -1;
  Py_XDECREF(value);
  return found;
}

/// Reads a tensor by the exchange interface, which checks neither this nor the
/// conjugation of complex numbers. Returns 1 if it is not a usual one; then
/// the adapter knows what to say.
static int read_exchange(const pit_adapter *adapter, PyObject *array,
                         pit_use use, DLTensor *slot) {
  int negated = use == PIT_USE_MADE ? 0 : is_negated(adapter, array);
  if (negated == 0 && adapter->exchange->tensor_from_object(array, slot) == 0 &&
      slot->dtype.code != kDLComplex)
    return 0;
  PyErr_Clear();
  return 1;
}

/// Reads a capsule of __dlpack__.
static int read_capsule(const pit_module *module, PyObject *capsule,
                        pit_use use, DLTensor **tensor) {
  if (PyCapsule_IsValid(capsule, PIT_UNVERSIONED)) {
    DLManagedTensor *managed = PyCapsule_GetPointer(capsule, PIT_UNVERSIONED);
    *tensor = &managed->dl_tensor;
    return 0;
  }
  if (!PyCapsule_IsValid(capsule, PIT_VERSIONED))
    return pit_raise(module,
                     "its __dlpack__ gave %R, which is no tensor of "
                     "DLPack that can be used",
                     capsule);
  pit_managed_tensor *managed = PyCapsule_GetPointer(capsule, PIT_VERSIONED);
  if (managed->version.major != PIT_DLPACK_MAJOR)
    return pit_raise(
        module, "the array speaks version %u of DLPack; pit reads version %d",
        (unsigned)managed->version.major, PIT_DLPACK_MAJOR);
  if (writes(use) && managed->flags & PIT_DLPACK_READ_ONLY)
    return raise_read_only(module);
  if (writes(use) && managed->flags & PIT_DLPACK_COPIED)
    return pit_raise(module, "DLPack made a copy of the array; a result is "
                             "written to the array itself");
  *tensor = &managed->dl_tensor;
  return 0;
}

//===----------------------------------------------------------------------===//
// By the adapter
//===----------------------------------------------------------------------===//

/// Copies the sizes of a tuple.
static int copy_sizes(PyObject *tuple, Py_ssize_t count, int64_t *sizes) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    sizes[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    if (PyErr_Occurred())
      return -1;
  }
  return 0;
}

/// Reads (address, device type, device, code, bits, shape, strides or None): an
/// array that DLPack does not know. `*keep` is the memory of the sizes.
static int read_description(PyObject *description, DLTensor *slot,
                            PyObject **keep) {
  int device, id;
  unsigned char code, bits;
  PyObject *address, *shape, *strides;
  if (!PyArg_ParseTuple(description, "OiibbO!O", &address, &device, &id, &code,
                        &bits, &PyTuple_Type, &shape, &strides))
    return -1;
  void *data = PyLong_AsVoidPtr(address);
  if (PyErr_Occurred())
    return -1;
  Py_ssize_t rank = PyTuple_Size(shape);
  bool strided = strides != Py_None;
  if (strided && (!PyTuple_Check(strides) || PyTuple_Size(strides) != rank)) {
    PyErr_SetString(PyExc_ValueError,
                    "an array has not as many strides as dimensions");
    return -1;
  }
  *keep = PyBytes_FromStringAndSize(NULL, (strided ? 2 : 1) * rank *
                                              (Py_ssize_t)sizeof(int64_t));
  // 8 bytes of a size, at 32 bytes behind the begin of an object.
  int64_t *sizes = *keep ? (int64_t *)(void *)PyBytes_AsString(*keep) : NULL;
  if (!sizes || copy_sizes(shape, rank, sizes) != 0 ||
      (strided && copy_sizes(strides, rank, sizes + rank) != 0)) {
    Py_CLEAR(*keep);
    return -1;
  }
  *slot = (DLTensor){
      .data = data,
      .device = {(DLDeviceType)device, id},
      .ndim = (int)rank,
      .dtype = {code, bits, 1},
      .shape = sizes,
      .strides = strided ? sizes + rank : NULL,
  };
  return 0;
}

/// Reads what the adapter's view() returns: a capsule or a description.
static int read_python(pit_module *module, const pit_adapter *adapter,
                       PyObject *array, pit_use use, DLTensor *slot,
                       DLTensor **tensor, PyObject **keep) {
  PyObject *view = PyObject_GetAttr(adapter->python, module->names.view);
  PyObject *found = view ? PyObject_CallFunctionObjArgs(
                               view, array, writes(use) ? Py_True : Py_False,
                               (PyObject *)NULL)
                         : NULL;
  Py_XDECREF(view);
  if (!found)
    return -1;
  if (PyTuple_Check(found)) {
    int status = read_description(found, slot, keep);
    Py_DECREF(found);
    return status;
  }
  if (read_capsule(module, found, use, tensor) != 0) {
    Py_DECREF(found);
    return -1;
  }
  *keep = found;
  return 0;
}

/// A small number that is an attribute; -1 with an exception.
static int get_number(PyObject *object, PyObject *name) {
  PyObject *value = PyObject_GetAttr(object, name);
  long number = value ? PyLong_AsLong(value) : -1;
  Py_XDECREF(value);
  return (int)number;
}

/// Reads a pit.View: its array, with another element type.
static int read_view(pit_module *module, PyObject *view, pit_use use,
                     DLTensor *slot, PyObject **keep) {
  PyObject *type = PyObject_GetAttr(view, module->names.type);
  PyObject *array = type ? PyObject_GetAttr(view, module->names.array) : NULL;
  DLTensor *inner;
  PyObject *kept = NULL;
  int status = -1;
  if (array && Py_EnterRecursiveCall(" in a pit.View") == 0) {
    status = pit_read_array(module, array, use, slot, &inner, &kept);
    Py_LeaveRecursiveCall();
  }
  int bits = status == 0 ? get_number(type, module->names.bits) : -1;
  int code = bits >= 0 ? get_number(type, module->names.code) : -1;
  if (code < 0) {
    status = -1;
  } else if (inner->dtype.bits != bits) {
    PyObject *name = PyObject_GetAttr(type, module->names.name);
    status = name ? pit_raise(module, "a view of %d bits an element as %S",
                              (int)inner->dtype.bits, name)
                  : -1;
    Py_XDECREF(name);
  } else {
    *slot = *inner;
    slot->dtype.code = (uint8_t)code;
    // The view may be given another array.
    *keep = PyTuple_Pack(2, array, kept ? kept : Py_None);
    status = *keep ? 0 : -1;
  }
  Py_XDECREF(type);
  Py_XDECREF(array);
  Py_XDECREF(kept);
  return status;
}

/// Refuses an array of which a gradient is recorded: the program would not
/// record its part. The use of an operand, a promise or an index is no part of
/// a gradient.
static int expect_no_gradient(const pit_module *module,
                              const pit_adapter *adapter, PyObject *array,
                              pit_use use) {
  if (!adapter->grad_enabled || (use != PIT_USE_READ && use != PIT_USE_WRITE))
    return 0;
  int recorded = pit_has_gradient(module, adapter, array);
  if (recorded > 0)
    return pit_raise(module, "a tensor that requires a gradient would lose it; "
                             "use tensor.detach(), or torch.no_grad(), or call "
                             "it in a torch.autograd.Function");
  return recorded;
}

int pit_read_array(pit_module *module, PyObject *array, pit_use use,
                   DLTensor *slot, DLTensor **tensor, PyObject **keep) {
  *keep = NULL;
  const pit_adapter *adapter = pit_adapter_of(module, array);
  if (!adapter || expect_no_gradient(module, adapter, array, use) != 0)
    return -1;
  *tensor = slot;
  int status = 1;
  if (adapter->reading == PIT_READ_STRUCT)
    status = read_struct(module, array, use, slot, keep);
  else if (adapter->reading == PIT_READ_EXCHANGE)
    status = read_exchange(adapter, array, use, slot);
  else if (adapter->reading == PIT_READ_VIEW)
    return read_view(module, array, use, slot, keep);
  if (status <= 0)
    return status;
  return read_python(module, adapter, array, use, slot, tensor, keep);
}

//===----------------------------------------------------------------------===//
// For the package
//===----------------------------------------------------------------------===//

typedef struct array_object {
  PyObject ob_base;
  DLTensor slot;
  DLTensor *tensor;
  PyObject *array, *keep;
} array_object;

PyObject *pit_array_of(PyObject *self, PyObject *array) {
  pit_module *module = PyModule_GetState(self);
  if (pit_expect_bound(module) != 0)
    return NULL;
  allocfunc allocate =
      PyType_GetSlot((PyTypeObject *)module->array_type, Py_tp_alloc);
  array_object *made =
      (array_object *)allocate((PyTypeObject *)module->array_type, 0);
  if (!made)
    return NULL;
  Py_INCREF(array);
  made->array = array;
  // For promises and indices.
  if (pit_read_array(module, array, PIT_USE_OPERAND, &made->slot, &made->tensor,
                     &made->keep) != 0) {
    Py_DECREF(made);
    return NULL;
  }
  return (PyObject *)made;
}

static PyObject *get_address(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromVoidPtr(((array_object *)self)->tensor);
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
  array_object *array = (array_object *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(array->array);
  Py_VISIT(array->keep);
  return 0;
}

static void release(PyObject *self) {
  array_object *array = (array_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  freefunc free_memory = PyType_GetSlot(type, Py_tp_free);
  PyObject_GC_UnTrack(self);
  Py_CLEAR(array->keep);
  Py_CLEAR(array->array);
  free_memory(self);
  Py_DECREF(type);
}

static PyGetSetDef properties[] = {
    {"address", get_address, NULL, "Of the DLTensor.", NULL},
    {0},
};

static char doc[] = "The DLTensor of an array, which it keeps alive.";

static PyType_Slot slots[] = {
    {Py_tp_traverse, (void *)traverse},
    {Py_tp_dealloc, (void *)release},
    {Py_tp_getset, properties},
    {Py_tp_doc, doc},
    {0},
};

PyType_Spec pit_array_spec = {
    .name = "_pit_call.Array",
    .basicsize = sizeof(array_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
