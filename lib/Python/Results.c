//===- Results.c - Results that a call makes ------------------------------===//

#include "Call.h"

//===----------------------------------------------------------------------===//
// Making them
//===----------------------------------------------------------------------===//

/// The shape of result i as a tuple.
static PyObject *shape_of(const pit_call *call, int32_t i) {
  pit_caller *caller = call->caller;
  PyObject *shape = call->shape ? call->shape : caller->shapes[i];
  if (shape) {
    Py_INCREF(shape);
    return shape;
  }
  pit_module *module = caller->module;
  int64_t sizes[PIT_MAX_RANK];
  pit_status status = module->runtime.entry_result_shape(
      call->context, caller->entry, call->ins, caller->num_args, i, sizes);
  if (status != PIT_OK) {
    pit_raise_status(call, status);
    return NULL;
  }
  int32_t rank = caller->infos[caller->num_args + i].rank;
  bool known = true;
  shape = PyTuple_New(rank);
  for (int32_t d = 0; shape && d < rank; ++d) {
    PyObject *size = PyLong_FromLongLong(sizes[d]);
    known = known && sizes[d] >= 0;
    if (!size || PyTuple_SetItem(shape, d, size) != 0)
      Py_CLEAR(shape);
  }
  if (shape && !known) {
    pit_raise(
        module,
        "the arguments do not tell its shape %R; give it with out=", shape);
    Py_CLEAR(shape);
  }
  return shape;
}

/// Asks the adapter how a result like the first array is made.
static int find_maker(const pit_call *call, int32_t i, pit_maker *maker) {
  pit_module *module = call->caller->module;
  PyObject *signature = PyList_GetItem(call->caller->results, i);
  PyObject *type =
      signature ? PyObject_GetAttr(signature, module->names.type) : NULL;
  PyObject *find =
      type ? PyObject_GetAttr(call->adapter->python, module->names.maker)
           : NULL;
  PyObject *found = find ? PyObject_CallFunctionObjArgs(find, type, call->like,
                                                        (PyObject *)NULL)
                         : NULL;
  Py_XDECREF(find);
  Py_XDECREF(type);
  PyObject *function, *keywords, *element = NULL;
  if (!found || !PyArg_ParseTuple(found, "OO", &function, &keywords)) {
    Py_XDECREF(found);
    return -1;
  }
  if (!PyDict_Check(keywords)) {
    element = keywords;
    keywords = NULL;
  }
  Py_INCREF(function);
  Py_XINCREF(keywords);
  Py_XINCREF(element);
  Py_DECREF(found);
  // Another thread may have been faster.
  pit_maker before = *maker;
  *maker =
      (pit_maker){call->adapter, call->device, function, keywords, element};
  Py_XDECREF(before.function);
  Py_XDECREF(before.keywords);
  Py_XDECREF(before.type);
  return 0;
}

/// The strides of a shape in row-major order, as a tuple.
static PyObject *strides_of(PyObject *shape) {
  Py_ssize_t rank = PyTuple_Size(shape);
  PyObject *strides = rank < 0 ? NULL : PyTuple_New(rank);
  long long step = 1;
  for (Py_ssize_t d = rank - 1; strides && d >= 0; --d) {
    PyObject *stride = PyLong_FromLongLong(step);
    if (!stride || PyTuple_SetItem(strides, d, stride) != 0) {
      Py_CLEAR(strides);
      break;
    }
    long long size = PyLong_AsLongLong(PyTuple_GetItem(shape, d));
    step *= size > 0 ? size : 1;
  }
  return strides;
}

static PyObject *call_maker(const pit_maker *maker, PyObject *shape) {
  if (maker->keywords) {
    PyObject *args = PyTuple_Pack(1, shape);
    PyObject *made =
        args ? PyObject_Call(maker->function, args, maker->keywords) : NULL;
    Py_XDECREF(args);
    return made;
  }
  PyObject *strides = strides_of(shape);
  PyObject *made =
      strides ? PyObject_CallFunctionObjArgs(maker->function, shape, strides,
                                             maker->type, (PyObject *)NULL)
              : NULL;
  Py_XDECREF(strides);
  return made;
}

static PyObject *make_result(const pit_call *call, int32_t i) {
  if (!call->like) {
    pit_raise(call->caller->module, "there is no array argument to make it "
                                    "beside; give it with out=");
    return NULL;
  }
  PyObject *shape = shape_of(call, i);
  pit_maker *maker = &call->caller->makers[i];
  bool known = maker->adapter == call->adapter &&
               maker->device.device_type == call->device.device_type &&
               maker->device.device_id == call->device.device_id;
  if (!shape || (!known && find_maker(call, i, maker) != 0)) {
    Py_XDECREF(shape);
    return NULL;
  }
  // Another thread may put others in their place meanwhile.
  pit_maker mine = *maker;
  Py_INCREF(mine.function);
  Py_XINCREF(mine.keywords);
  Py_XINCREF(mine.type);
  PyObject *made = call_maker(&mine, shape);
  Py_DECREF(mine.function);
  Py_XDECREF(mine.keywords);
  Py_XDECREF(mine.type);
  Py_DECREF(shape);
  return made;
}

static PyObject *finish_result(const pit_call *call, PyObject *made) {
  if (call->adapter->reading != PIT_READ_PYTHON)
    return made;
  PyObject *finish = PyObject_GetAttr(call->adapter->python,
                                      call->caller->module->names.finish);
  PyObject *finished =
      finish ? PyObject_CallFunctionObjArgs(finish, made, (PyObject *)NULL)
             : NULL;
  Py_XDECREF(finish);
  Py_DECREF(made);
  return finished;
}

//===----------------------------------------------------------------------===//
// Taking and giving them
//===----------------------------------------------------------------------===//

int pit_take_results(const pit_call *call, PyObject *out, pit_slot *results) {
  pit_caller *caller = call->caller;
  bool list = PyList_Check(out);
  Py_ssize_t size = out == Py_None       ? caller->num_results
                    : list               ? PyList_Size(out)
                    : PyTuple_Check(out) ? PyTuple_Size(out)
                                         : 1;
  if (size != caller->num_results)
    return pit_raise(caller->module, "%s has %d result%s, out has %zd",
                     pit_entry_text(caller), (int)caller->num_results,
                     caller->num_results == 1 ? "" : "s", size);
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject *array = list                 ? PyList_GetItem(out, i)
                      : PyTuple_Check(out) ? PyTuple_GetItem(out, i)
                                           : out;
    if (!array)
      return -1;
    if (array == Py_None)
      continue;
    Py_INCREF(array);
    results[i].array = array;
  }
  return 0;
}

int pit_read_results(pit_call *call, pit_slot *results) {
  pit_caller *caller = call->caller;
  for (int32_t i = 0; i < caller->num_results; ++i) {
    pit_use use = results[i].array ? PIT_USE_WRITE : PIT_USE_MADE;
    if (use == PIT_USE_MADE) {
      results[i].made = true;
      results[i].array = make_result(call, i);
    }
    if (!results[i].array ||
        pit_read_array(caller->module, results[i].array, use, &results[i].slot,
                       &call->outs[i], &results[i].keep) != 0)
      return pit_raise_before(caller->module, "%s: result %d",
                              pit_entry_text(caller), (int)i);
    if (!call->adapter && pit_set_like(call, results[i].array) != 0)
      return -1;
  }
  return 0;
}

PyObject *pit_give_results(const pit_call *call, PyObject *out,
                           pit_slot *results) {
  int32_t count = call->caller->num_results;
  bool any = false;
  for (int32_t i = 0; i < count; ++i) {
    any = any || results[i].made;
    if (results[i].made)
      results[i].array = finish_result(call, results[i].array);
    if (!results[i].array)
      return NULL;
  }
  if (out != Py_None && !any) {
    Py_INCREF(out);
    return out;
  }
  if (count == 1) {
    Py_INCREF(results->array);
    return results->array;
  }
  PyObject *all = PyTuple_New(count);
  for (int32_t i = 0; all && i < count; ++i) {
    Py_INCREF(results[i].array);
    if (PyTuple_SetItem(all, i, results[i].array) != 0)
      Py_CLEAR(all);
  }
  return all;
}
