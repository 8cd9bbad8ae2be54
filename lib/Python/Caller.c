//===- Caller.c - The object that calls an entry --------------------------===//

#include "Call.h"

#include <string.h>

/// The number of values of a call whose memory is on the stack.
enum { VALUES_ON_STACK = 12 };

//===----------------------------------------------------------------------===//
// A call
//===----------------------------------------------------------------------===//

void pit_raise_status(const pit_call *call, pit_status status) {
  PyObject *error =
      PyObject_CallFunction(call->caller->module->package.status_error, "iN",
                            (int)status, PyLong_FromVoidPtr(call->context));
  if (error)
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  Py_XDECREF(error);
}

const char *pit_entry_text(const pit_caller *caller) {
  return caller->module->runtime.entry_name(caller->entry);
}

/// An argument that a call is given by name; None if it is not.
typedef struct options {
  PyObject *out, *context, *stream;
} options;

static int read_options(const pit_caller *caller, PyObject *keywords,
                        options *found) {
  *found = (options){Py_None, Py_None, Py_None};
  const pit_module *module = caller->module;
  PyObject *name, *object;
  for (Py_ssize_t at = 0;
       keywords && PyDict_Next(keywords, &at, &name, &object);) {
    if (name == module->names.out ||
        PyUnicode_CompareWithASCIIString(name, "out") == 0) {
      found->out = object;
    } else if (PyUnicode_CompareWithASCIIString(name, "context") == 0) {
      found->context = object;
    } else if (PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
      found->stream = object;
    } else {
      PyErr_Format(PyExc_TypeError,
                   "%s() got an unexpected keyword argument "
                   "%R; there are out, context and stream",
                   pit_entry_text(caller), name);
      return -1;
    }
  }
  return 0;
}

static int expect_count(const pit_caller *caller, PyObject *args) {
  Py_ssize_t count = PyTuple_Size(args);
  if (count == caller->num_args)
    return 0;
  PyObject *text = PyObject_CallFunction(caller->module->package.describe,
                                         "sOO", pit_entry_text(caller),
                                         caller->arguments, caller->results);
  if (text)
    pit_raise(caller->module, "%s takes %d argument%s, not %zd: %U",
              pit_entry_text(caller), (int)caller->num_args,
              caller->num_args == 1 ? "" : "s", count, text);
  Py_XDECREF(text);
  return -1;
}

int pit_run_entry(const pit_call *call, pit_stream stream) {
  const pit_caller *caller = call->caller;
  PyThreadState *thread = PyEval_SaveThread();
  pit_status status = caller->module->runtime.entry_run(
      call->context, caller->entry, call->ins, caller->num_args, call->outs,
      caller->num_results, stream);
  PyEval_RestoreThread(thread);
  if (status == PIT_OK)
    return 0;
  pit_raise_status(call, status);
  return -1;
}

/// A call in memory that holds `values`, all zero.
static PyObject *call_with(pit_call *call, PyObject *args, const options *given,
                           pit_slot *values, PyObject **context) {
  pit_slot *results = values + call->caller->num_args;
  pit_stream stream = NULL;
  if (pit_read_arguments(call, args, values, context) != 0 ||
      pit_take_results(call, given->out, results) != 0 ||
      pit_find_context(call, results, given->context, context) != 0 ||
      pit_read_results(call, results) != 0 ||
      (call->caller->device == kDLCUDA &&
       pit_find_stream(call, *context, given->stream, &stream) != 0) ||
      pit_run_entry(call, stream) != 0)
    return NULL;
  return pit_give_results(call, given->out, results);
}

static PyObject *call_entry(PyObject *self, PyObject *args,
                            PyObject *keywords) {
  pit_caller *caller = (pit_caller *)self;
  options given;
  if (expect_count(caller, args) != 0 ||
      read_options(caller, keywords, &given) != 0)
    return NULL;
  size_t count = (size_t)caller->num_args + (size_t)caller->num_results;
  pit_slot on_stack[VALUES_ON_STACK], *values = on_stack;
  pit_value ins_on_stack[VALUES_ON_STACK], *ins = ins_on_stack;
  DLTensor *outs_on_stack[VALUES_ON_STACK], **outs = outs_on_stack;
  if (count > VALUES_ON_STACK) {
    values = PyMem_Malloc(count * sizeof(*values));
    ins = PyMem_Malloc(count * sizeof(*ins));
    outs = PyMem_Malloc(count * sizeof(*outs));
  }
  PyObject *context = NULL, *result = NULL;
  pit_call call = {.caller = caller, .ins = ins, .outs = outs};
  if (values && ins && outs) {
    memset(values, 0, count * sizeof(*values));
    result = call_with(&call, args, &given, values, &context);
    for (size_t i = 0; i < count; ++i) {
      Py_XDECREF(values[i].keep);
      Py_XDECREF(values[i].array);
    }
  } else {
    PyErr_NoMemory();
  }
  Py_XDECREF(call.like);
  Py_XDECREF(context);
  if (count > VALUES_ON_STACK) {
    PyMem_Free(values);
    PyMem_Free(ins);
    PyMem_Free((void *)outs);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

/// The shape that a result always has, as a tuple; NULL if the arguments tell
/// it, or with an exception.
static PyObject *static_shape(const pit_arg_info *info) {
  for (int32_t d = 0; d < info->rank; ++d)
    if (info->dims[d] < 0)
      return NULL;
  PyObject *shape = PyTuple_New(info->rank);
  for (int32_t d = 0; shape && d < info->rank; ++d) {
    PyObject *size = PyLong_FromLongLong(info->dims[d]);
    if (!size || PyTuple_SetItem(shape, d, size) != 0)
      Py_CLEAR(shape);
  }
  return shape;
}

/// Reads the entry's signature.
static int describe_entry(pit_caller *caller) {
  const pit_runtime_functions *runtime = &caller->module->runtime;
  const pit_entry *entry = caller->entry;
  caller->num_args = runtime->entry_num_args(entry);
  caller->num_results = runtime->entry_num_results(entry);
  caller->device = runtime->entry_device(entry);
  size_t args = (size_t)caller->num_args, results = (size_t)caller->num_results;
  caller->infos = PyMem_Calloc(args + results, sizeof(*caller->infos));
  caller->shapes = PyMem_Calloc(results, sizeof(PyObject *));
  caller->makers = PyMem_Calloc(results, sizeof(*caller->makers));
  if (!caller->infos || !caller->shapes || !caller->makers) {
    PyErr_NoMemory();
    return -1;
  }
  for (size_t i = 0; i < args; ++i)
    (void)runtime->entry_arg(entry, (int32_t)i, &caller->infos[i]);
  for (size_t i = 0; i < results; ++i) {
    pit_arg_info *info = &caller->infos[args + i];
    (void)runtime->entry_result(entry, (int32_t)i, info);
    caller->shapes[i] = static_shape(info);
    if (PyErr_Occurred())
      return -1;
  }
  return 0;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  (void)keywords;
  PyObject *handle, *code, *arguments, *results;
  if (!PyArg_ParseTuple(args, "OOO!O!:Caller", &handle, &code, &PyList_Type,
                        &arguments, &PyList_Type, &results))
    return NULL;
  pit_module *module = PyType_GetModuleState(type);
  const pit_entry *entry = PyLong_AsVoidPtr(handle);
  if (!module || PyErr_Occurred() || pit_expect_bound(module) != 0)
    return NULL;
  allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
  pit_caller *caller = (pit_caller *)allocate(type, 0);
  if (!caller)
    return NULL;
  Py_INCREF(code);
  Py_INCREF(arguments);
  Py_INCREF(results);
  caller->module = module;
  caller->entry = entry;
  caller->code = code;
  caller->arguments = arguments;
  caller->results = results;
  if (describe_entry(caller) != 0) {
    Py_DECREF(caller);
    return NULL;
  }
  return (PyObject *)caller;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
  pit_caller *caller = (pit_caller *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(caller->code);
  Py_VISIT(caller->arguments);
  Py_VISIT(caller->results);
  for (int32_t i = 0; caller->makers && i < caller->num_results; ++i) {
    Py_VISIT(caller->makers[i].function);
    Py_VISIT(caller->makers[i].keywords);
    Py_VISIT(caller->makers[i].type);
  }
  return 0;
}

static void release(PyObject *self) {
  pit_caller *caller = (pit_caller *)self;
  PyTypeObject *type = Py_TYPE(self);
  freefunc free_memory = PyType_GetSlot(type, Py_tp_free);
  PyObject_GC_UnTrack(self);
  for (int32_t i = 0;
       caller->shapes && caller->makers && i < caller->num_results; ++i) {
    Py_XDECREF(caller->shapes[i]);
    Py_XDECREF(caller->makers[i].function);
    Py_XDECREF(caller->makers[i].keywords);
    Py_XDECREF(caller->makers[i].type);
  }
  PyMem_Free(caller->infos);
  PyMem_Free((void *)caller->shapes);
  PyMem_Free(caller->makers);
  Py_XDECREF(caller->arguments);
  Py_XDECREF(caller->results);
  Py_XDECREF(caller->code); // its program's code goes last
  free_memory(self);
  Py_DECREF(type);
}

static char doc[] = "Caller(handle, code, arguments, results)\n\n"
                    "Calls an entry of a program.";

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)make},
    {Py_tp_call, (void *)call_entry},
    {Py_tp_traverse, (void *)traverse},
    {Py_tp_dealloc, (void *)release},
    {Py_tp_doc, doc},
    {0},
};

PyType_Spec pit_caller_spec = {
    .name = "_pit_call.Caller",
    .basicsize = sizeof(pit_caller),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
