//===- Shortcut.c - From a function's arguments to the plans of an op -----===//
//
// A function of python/pit/ops makes an op of its options and of the ranks of
// its arrays, and then calls that. A shortcut remembers which op it was.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <string.h>

enum { MAX_FORMS = 4096 /**< that are remembered; then it starts anew */ };

typedef struct shortcut {
  PyObject ob_base;
  pit_module *module;
  Py_ssize_t arrays; ///< of a call
  PyObject *forms;   ///< dict: options and ranks to (plans, collapsed operands)
} shortcut;

//===----------------------------------------------------------------------===//
// The options that are memory
//===----------------------------------------------------------------------===//

/// Whether a framework does more than compute now.
static int any_mode(PyObject *modes) {
  Py_ssize_t count = PyTuple_Size(modes);
  int found = 0;
  for (Py_ssize_t i = 0; i < count && found == 0; ++i)
    found = pit_ask(PyTuple_GetItem(modes, i));
  return found;
}

/// Whether an array is memory and nothing else: no gradient is asked for, and
/// nothing traces. `*asked` are the modes that were asked about.
static int is_memory(shortcut *self, PyObject *array, PyObject **asked) {
  pit_module *module = self->module;
  if ((PyObject *)Py_TYPE(array) == module->package.Index)
    return 1;
  const pit_adapter *adapter = pit_adapter_of(module, array);
  if (!adapter)
    return -1;
  if (!adapter->direct || !adapter->modes)
    return adapter->direct;
  if (*asked != adapter->modes) {
    int found = any_mode(adapter->modes);
    if (found != 0)
      return found < 0 ? -1 : 0;
    *asked = adapter->modes;
  }
  int gradient = pit_has_gradient(module, adapter, array);
  return gradient < 0 ? -1 : !gradient;
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// The parts of an op: the options, and the rank of each array.
static PyObject *key_of(const shortcut *self, PyObject *given,
                        const int32_t *ranks) {
  Py_ssize_t first = 1 + self->arrays, size = PyTuple_Size(given);
  PyObject *key = PyTuple_New(size - first + 1);
  uint64_t code = 0;
  for (Py_ssize_t i = 0; i < self->arrays; ++i)
    code = code << 4 | (uint64_t)(ranks[i] + 2);
  for (Py_ssize_t i = first; key && i < size; ++i) {
    PyObject *option = PyTuple_GetItem(given, i);
    if (PyBool_Check(option)) // which is equal to a number
      code |= 1ULL << (4 * PIT_MAX_OPERANDS + (i - first) % 16);
    if (PyList_Check(option))
      option = PyList_AsTuple(option);
    else
      Py_INCREF(option);
    if (!option)
      Py_CLEAR(key);
    else if (PyTuple_SetItem(key, i - first, option) != 0)
      Py_CLEAR(key);
  }
  PyObject *number = key ? PyLong_FromUnsignedLongLong(code) : NULL;
  if (!number || PyTuple_SetItem(key, size - first, number) != 0)
    Py_CLEAR(key);
  return key;
}

enum { ABSENT = -2, INDEX = -1 };
_Static_assert(PIT_MAX_RANK + 2 < 16 && 4 * PIT_MAX_OPERANDS < 64,
               "the code of the ranks has four bits for each");

/// The arguments of `run` and `add` have a result and the arrays in front.
static int expect_arrays(const shortcut *self, PyObject *given) {
  if (PyTuple_Check(given) && PyTuple_Size(given) > self->arrays)
    return 0;
  PyErr_Format(PyExc_TypeError,
               "a tuple of a result, %zd arrays and options is needed",
               self->arrays);
  return -1;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Reads the arrays that are given. Returns as pit_add_operand.
static int read_arrays(shortcut *self, PyObject *given, pit_operands *operands,
                       int32_t *ranks) {
  PyObject *asked = NULL;
  for (Py_ssize_t i = 0; i < self->arrays; ++i) {
    PyObject *array = PyTuple_GetItem(given, 1 + i);
    ranks[i] = ABSENT;
    if (array == Py_None)
      continue;
    int memory = is_memory(self, array, &asked);
    int status = memory > 0    ? pit_add_operand(operands, array)
                 : memory == 0 ? 1
                               : -1;
    if (status != 0)
      return status;
    const pit_operand *added = &operands->at[operands->count - 1];
    ranks[i] = added->index ? INDEX : added->tensor->ndim;
  }
  return 0;
}

/// The form for what is given, a new reference; NULL if there is none, or with
/// an exception.
static PyObject *find_form(const shortcut *self, PyObject *given,
                           const int32_t *ranks) {
  PyObject *key = key_of(self, given, ranks);
  PyObject *form = key ? PyDict_GetItemWithError(self->forms, key) : NULL;
  Py_XINCREF(form);
  Py_XDECREF(key);
  return form;
}

/// Runs the program of a form. Returns NotImplemented if Python has to see to
/// it.
static PyObject *run_form(PyObject *form, PyObject *out,
                          pit_operands *operands) {
  uint64_t set = PyLong_AsUnsignedLongLong(PyTuple_GetItem(form, 1));
  DLTensor lead;
  int status = pit_collapse_operands(operands, set, &lead);
  if (status == 0)
    return pit_run_plan(PyTuple_GetItem(form, 0), operands, out, lead);
  return status < 0 ? NULL : Py_NewRef(Py_NotImplemented);
}

PyDoc_STRVAR(run_doc,
             "run((out, *arrays, *options))\n\n"
             "The result; NotImplemented where Python has to see to it.");
static PyObject *run(PyObject *object, PyObject *given) {
  shortcut *self = (shortcut *)object;
  if (expect_arrays(self, given) != 0)
    return NULL;
  if (self->module->paused > 0)
    return Py_NewRef(Py_NotImplemented);
  pit_operands operands;
  int32_t ranks[PIT_MAX_OPERANDS];
  pit_begin_operands(&operands, self->module);
  int status = read_arrays(self, given, &operands, ranks);
  PyObject *form = status == 0 ? find_form(self, given, ranks) : NULL;
  PyObject *found = NULL;
  if (form)
    found = run_form(form, PyTuple_GetItem(given, 0), &operands);
  else if (!PyErr_Occurred() || pit_clear_error() > 0)
    found = Py_NewRef(Py_NotImplemented);
  Py_XDECREF(form);
  pit_release_operands(&operands);
  return found;
}

/// The rank of an array, as read_arrays tells it. Returns 1 if it has none.
static int rank_of(const shortcut *self, PyObject *array, int32_t *rank) {
  const pit_module *module = self->module;
  *rank = ABSENT;
  if (array == Py_None)
    return 0;
  *rank = INDEX;
  if ((PyObject *)Py_TYPE(array) == module->package.Index)
    return 0;
  PyObject *shape = PyObject_GetAttr(array, module->names.shape);
  Py_ssize_t size = shape ? PyObject_Size(shape) : -1;
  Py_XDECREF(shape);
  if (size < 0)
    return pit_clear_error();
  *rank = (int32_t)size;
  return size > PIT_MAX_RANK;
}

PyDoc_STRVAR(
    add_doc,
    "add((out, *arrays, *options), plans, collapsed)\n\n"
    "The plans of the op for such options and ranks. `collapsed` are "
    "bits: of which of the arrays that are given the dimensions before "
    "the last are one for the op.");
static PyObject *add(PyObject *object, PyObject *args) {
  shortcut *self = (shortcut *)object;
  PyObject *given, *plans, *collapsed;
  if (!PyArg_ParseTuple(args, "OOO!:add", &given, &plans, &PyLong_Type,
                        &collapsed) ||
      expect_arrays(self, given) != 0)
    return NULL;
  if ((PyObject *)Py_TYPE(plans) != self->module->plans_type) {
    PyErr_SetString(PyExc_TypeError, "add takes Plans");
    return NULL;
  }
  int32_t ranks[PIT_MAX_OPERANDS];
  int status = 0;
  for (Py_ssize_t i = 0; i < self->arrays && status == 0; ++i)
    status = rank_of(self, PyTuple_GetItem(given, 1 + i), &ranks[i]);
  (void)PyLong_AsUnsignedLongLong(collapsed);
  if (status < 0 || PyErr_Occurred())
    return NULL;
  if (status > 0)
    Py_RETURN_NONE;
  PyObject *key = key_of(self, given, ranks);
  PyObject *form = key ? PyTuple_Pack(2, plans, collapsed) : NULL;
  if (form && PyDict_Size(self->forms) >= MAX_FORMS)
    PyDict_Clear(self->forms);
  if (form && PyDict_SetItem(self->forms, key, form) != 0)
    status = pit_clear_error(); // An option cannot be hashed.
  Py_XDECREF(form);
  Py_XDECREF(key);
  if (!form || status < 0)
    return NULL;
  Py_RETURN_NONE;
}

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  (void)keywords;
  Py_ssize_t arrays;
  if (!PyArg_ParseTuple(args, "n:Shortcut", &arrays))
    return NULL;
  pit_module *module = PyType_GetModuleState(type);
  if (!module || pit_expect_bound(module) != 0)
    return NULL;
  if (arrays < 0 || arrays > PIT_MAX_OPERANDS)
    return PyErr_Format(PyExc_ValueError, "%zd arrays; there may be %d", arrays,
                        (int)PIT_MAX_OPERANDS);
  allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
  shortcut *made = (shortcut *)allocate(type, 0);
  if (!made)
    return NULL;
  made->module = module;
  made->arrays = arrays;
  made->forms = PyDict_New();
  if (!made->forms)
    Py_CLEAR(made);
  return (PyObject *)made;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((shortcut *)self)->forms);
  return 0;
}

static int clear(PyObject *self) {
  Py_CLEAR(((shortcut *)self)->forms);
  return 0;
}

static PyMethodDef methods[] = {
    {"run", run, METH_O, run_doc},
    {"add", add, METH_VARARGS, add_doc},
    {0},
};

static char doc[] = "Shortcut(arrays)\n\n"
                    "Which op a function of so many arrays calls.";

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)make},
    {Py_tp_methods, methods},
    {Py_tp_traverse, (void *)traverse},
    {Py_tp_clear, (void *)clear},
    {Py_tp_dealloc, (void *)pit_release_object},
    {Py_tp_doc, doc},
    {0},
};

PyType_Spec pit_shortcut_spec = {
    .name = "_pit_call.Shortcut",
    .basicsize = sizeof(shortcut),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
