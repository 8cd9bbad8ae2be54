//===- Module.c - The extension module, and errors ------------------------===//

#include "Call.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>

static pit_module *state_of(PyObject *module) {
  return PyModule_GetState(module);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static int raise_text(const pit_module *module, PyObject *text) {
  if (text)
    PyErr_SetObject(module->package.Error, text);
  Py_XDECREF(text);
  return -1;
}

int pit_raise(const pit_module *module, const char *format, ...) {
  va_list values;
  va_start(values, format);
  PyObject *text = PyUnicode_FromFormatV(format, values);
  va_end(values);
  return raise_text(module, text);
}

/// The message of an error; NULL if it has a status of the runtime's, or with
/// an exception.
static PyObject *message_of(const pit_module *module, PyObject *error) {
  PyObject *status = PyObject_GetAttr(error, module->names.status);
  int says = status ? PyObject_IsTrue(status) : -1;
  Py_XDECREF(status);
  return says == 0 ? PyObject_GetAttr(error, module->names.message) : NULL;
}

int pit_raise_before(const pit_module *module, const char *format, ...) {
  if (!PyErr_ExceptionMatches(module->package.Error))
    return -1;
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  PyObject *message = message_of(module, error);
  if (!message) {
    PyErr_Restore(type, error, trace); // in the place of another one
    return -1;
  }
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(trace);
  va_list values;
  va_start(values, format);
  PyObject *before = PyUnicode_FromFormatV(format, values);
  va_end(values);
  PyObject *text =
      before ? PyUnicode_FromFormat("%U: %S", before, message) : NULL;
  Py_XDECREF(before);
  Py_DECREF(message);
  return raise_text(module, text);
}

int pit_expect_bound(const pit_module *module) {
  if (module->package.Error)
    return 0;
  PyErr_SetString(PyExc_RuntimeError,
                  "_pit_call is part of the package pit, which has to bind it");
  return -1;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Looks up the runtime's functions in the library that dlopen returned.
static int find_functions(pit_runtime_functions *runtime, void *library) {
  const struct {
    const char *name;
    void *function;
  } wanted[] = {
      {"pit_entry_name", &runtime->entry_name},
      {"pit_entry_num_args", &runtime->entry_num_args},
      {"pit_entry_num_results", &runtime->entry_num_results},
      {"pit_entry_device", &runtime->entry_device},
      {"pit_entry_arg", &runtime->entry_arg},
      {"pit_entry_result", &runtime->entry_result},
      {"pit_entry_result_shape", &runtime->entry_result_shape},
      {"pit_entry_run", &runtime->entry_run},
  };
  for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); ++i) {
    void *address = dlsym(library, wanted[i].name);
    if (!address) {
      PyErr_Format(PyExc_ImportError, "the runtime has no function %s",
                   wanted[i].name);
      return -1;
    }
    // ISO C has no conversion from an object pointer to a function pointer;
    // POSIX promises that the bits are the same.
    memcpy(wanted[i].function, &address, sizeof(address));
  }
  return 0;
}

PyDoc_STRVAR(bind_doc,
             "bind(library, **objects)\n\n"
             "Tells the runtime, as dlopen's handle, and the package's objects "
             "that calls need. Before anything else.");
static PyObject *bind(PyObject *self, PyObject *args, PyObject *objects) {
  pit_module *module = state_of(self);
  PyObject *handle;
  if (!PyArg_ParseTuple(args, "O:bind", &handle))
    return NULL;
  void *library = PyLong_AsVoidPtr(handle);
  if (PyErr_Occurred() || find_functions(&module->runtime, library) != 0)
    return NULL;
  const struct {
    const char *name;
    PyObject **object;
  } wanted[] = {
#define PIT_OBJECT(name) {#name, &module->package.name},
      PIT_PACKAGE_OBJECTS(PIT_OBJECT)
#undef PIT_OBJECT
  };
  for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); ++i) {
    PyObject *object =
        objects ? PyDict_GetItemString(objects, wanted[i].name) : NULL;
    if (!object) {
      PyErr_Format(PyExc_TypeError, "bind: %s is missing", wanted[i].name);
      return NULL;
    }
    PyObject *before = *wanted[i].object;
    Py_INCREF(object);
    *wanted[i].object = object;
    Py_XDECREF(before);
  }
  Py_RETURN_NONE;
}

PyDoc_STRVAR(pack_scalar_doc,
             "pack_scalar(code, bits, value) -> bytes\n\n"
             "A number as an element of the type that DLPack numbers so.");
static PyObject *pack_scalar(PyObject *self, PyObject *args) {
  unsigned char code, bits;
  PyObject *value;
  if (pit_expect_bound(state_of(self)) != 0 ||
      !PyArg_ParseTuple(args, "bbO:pack_scalar", &code, &bits, &value))
    return NULL;
  DLDataType dtype = {code, bits, 1};
  int64_t bytes = 0;
  if (pit_pack_scalar(state_of(self), dtype, value, &bytes) != 0)
    return NULL;
  return PyBytes_FromStringAndSize((const char *)&bytes, bits / 8);
}

PyDoc_STRVAR(pause_doc, "pause(step)\n\n"
                        "From pause(1) to pause(-1) shortcuts and plans answer "
                        "NotImplemented.");
static PyObject *pause_calls(PyObject *self, PyObject *step) {
  long number = PyLong_AsLong(step);
  if (number == -1 && PyErr_Occurred())
    return NULL;
  state_of(self)->paused += number;
  Py_RETURN_NONE;
}

PyDoc_STRVAR(read_doc,
             "read(array) -> Array\n\n"
             "An array's DLTensor, of which the result tells the address and "
             "which it keeps alive.");

static PyMethodDef functions[] = {
    {"bind", (PyCFunction)(void (*)(void))bind, METH_VARARGS | METH_KEYWORDS,
     bind_doc},
    {"pack_scalar", pack_scalar, METH_VARARGS, pack_scalar_doc},
    {"pause", pause_calls, METH_O, pause_doc},
    {"read", pit_array_of, METH_O, read_doc},
    {0},
};

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

static PyObject *add_type(PyObject *self, PyType_Spec *spec) {
  PyObject *type = PyType_FromModuleAndSpec(self, spec, NULL);
  if (type && PyModule_AddType(self, (PyTypeObject *)type) != 0)
    Py_CLEAR(type);
  return type;
}

static int start(PyObject *self) {
  pit_module *module = state_of(self);
#define PIT_INTERN(name)                                                       \
  if (!(module->names.name = PyUnicode_InternFromString(#name)))               \
    return -1;
  PIT_NAMES(PIT_INTERN)
#undef PIT_INTERN
  module->adapters = PyDict_New();
  module->adapter_type = add_type(self, &pit_adapter_spec);
  module->array_type = add_type(self, &pit_array_spec);
  module->caller_type = add_type(self, &pit_caller_spec);
  module->plan_type = add_type(self, &pit_plan_spec);
  module->plans_type = add_type(self, &pit_plans_spec);
  PyObject *shortcut = add_type(self, &pit_shortcut_spec);
  bool all = module->adapters && module->adapter_type && module->array_type &&
             module->caller_type && module->plan_type && module->plans_type &&
             shortcut;
  Py_XDECREF(shortcut); // the module has it
  return all ? 0 : -1;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
  pit_module *module = state_of(self);
#define PIT_VISIT(name) Py_VISIT(module->package.name);
  PIT_PACKAGE_OBJECTS(PIT_VISIT)
#undef PIT_VISIT
#define PIT_VISIT(name) Py_VISIT(module->name);
  PIT_OWN_OBJECTS(PIT_VISIT)
#undef PIT_VISIT
  return 0;
}

static int clear(PyObject *self) {
  pit_module *module = state_of(self);
#define PIT_CLEAR(name) Py_CLEAR(module->package.name);
  PIT_PACKAGE_OBJECTS(PIT_CLEAR)
#undef PIT_CLEAR
#define PIT_CLEAR(name) Py_CLEAR(module->names.name);
  PIT_NAMES(PIT_CLEAR)
#undef PIT_CLEAR
#define PIT_CLEAR(name) Py_CLEAR(module->name);
  PIT_OWN_OBJECTS(PIT_CLEAR)
#undef PIT_CLEAR
  return 0;
}

static void release(void *self) { (void)clear(self); }

PyMODINIT_FUNC PyInit__pit_call(void);
PyMODINIT_FUNC PyInit__pit_call(void) {
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)start}, {0}};
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT,
      .m_name = "_pit_call",
      .m_doc = "Calls of pit's programs; python/pit/_call.py loads it.",
      .m_size = sizeof(pit_module),
      .m_methods = functions,
      .m_slots = slots,
      .m_traverse = traverse,
      .m_clear = clear,
      .m_free = release,
  };
  return PyModuleDef_Init(&definition);
}
