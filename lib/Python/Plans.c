//===- Plans.c - The programs of an op, by the arrays that they are for ---===//
//
// A call of an op has the program that Python once planned for arrays of the
// same element types, on the same device, whose static dimensions have the same
// sizes and whose dynamic ones are equal where they were, and not too small. A
// hash of types, ranks and static sizes is the key that finds it: one key for
// each choice of static dimensions that plans of the op have made. A call that
// a plan does not fit goes back to Python, which makes a plan or knows what is
// wrong.
//
//===----------------------------------------------------------------------===//

#include "Plans.h"

#include <string.h>

enum {
  MAX_PLANS = 1024, ///< of an op; then it starts anew
  MAX_FORMS = 32,   ///< of these
  BUCKETS = 256     ///< of plans, by their keys
};

typedef struct plans {
  PyObject ob_base;
  pit_module *module;
  int32_t num_forms, num_plans;
  pit_form forms[MAX_FORMS]; ///< those of the most static dimensions first
  pit_plan *buckets[BUCKETS];
  pit_plan *recent; ///< the one of the first form that was found last, or NULL
} plans;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// The part of an argument's description that its key has.
typedef struct described {
  uint64_t type; ///< kind, rank and element type, or axis
  const int64_t *shape;
  const int64_t *micro_tile; ///< of an index, else NULL
  const int32_t *order;      ///< NULL: the usual one
  int32_t rank;
} described;

static described describe_tensor(DLDataType dtype, int32_t rank,
                                 const int64_t *shape, const int32_t *order) {
  return (described){(uint64_t)dtype.code << 16 | (uint64_t)dtype.bits << 8 |
                         (uint64_t)rank,
                     shape, NULL, order, rank};
}

static described describe_index(int32_t axis, int32_t rank,
                                const int64_t *shape,
                                const int64_t *micro_tile) {
  return (described){UINT64_C(1) << 32 | (uint64_t)axis << 8 | (uint64_t)rank,
                     shape, micro_tile, NULL, rank};
}

static uint64_t mix(uint64_t key, uint64_t word) {
  key = (key ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return key ^ key >> 32;
}

static uint64_t mix_argument(uint64_t key, const described *argument,
                             unsigned static_dims) {
  key = mix(key, argument->type);
  for (int32_t d = 0; d < argument->rank; ++d) {
    if (static_dims >> d & 1)
      key = mix(key, (uint64_t)argument->shape[d]);
    if (argument->micro_tile)
      key = mix(key, (uint64_t)argument->micro_tile[d]);
    if (argument->order)
      key = mix(key, (uint64_t)argument->order[d]);
  }
  return key;
}

uint64_t pit_key_of_plan(const pit_plan *plan) {
  uint64_t key = (uint64_t)plan->form.num_args;
  for (int32_t i = 0; i < plan->caller->num_args; ++i) {
    const pit_arg_info *info = &plan->caller->infos[i];
    const pit_pattern *args = &plan->args[i];
    const described argument =
        info->kind == PIT_KIND_INDEX
            ? describe_index(info->axis, info->rank, args->dims,
                             info->micro_tile)
            : describe_tensor(info->dtype, info->rank, args->dims,
                              args->permuted ? args->order : NULL);
    key = mix_argument(key, &argument, plan->form.dims[i]);
  }
  return key;
}

/// The key that plans of a form for the operands have.
static uint64_t key_of_operands(const pit_form *form,
                                const pit_operands *operands) {
  uint64_t key = (uint64_t)form->num_args;
  for (int32_t i = 0; i < operands->count; ++i) {
    const pit_operand *operand = &operands->at[i];
    const pit_index *index = operand->index;
    const DLTensor *tensor = operand->tensor;
    bool permuted =
        form->permutable[i] && operand->has_order && !operand->row_major;
    const described argument =
        index ? describe_index(index->axis, index->rank, index->shape,
                               index->micro_tile)
              : describe_tensor(tensor->dtype, tensor->ndim, tensor->shape,
                                permuted ? operand->order : NULL);
    key = mix_argument(key, &argument, form->dims[i]);
  }
  return key;
}

//===----------------------------------------------------------------------===//
// Finding a plan
//===----------------------------------------------------------------------===//

/// The plan for the operands, a new reference; NULL if there is none.
static pit_plan *find_plan(plans *all, const pit_operands *operands,
                           int64_t *symbols) {
  // No plan has more static dimensions.
  if (all->recent && pit_plan_fits(all->recent, operands, symbols)) {
    Py_INCREF(all->recent);
    return all->recent;
  }
  for (int32_t i = 0; i < all->num_forms; ++i) {
    const pit_form *form = &all->forms[i];
    if (form->num_args != operands->count)
      continue;
    uint64_t key = key_of_operands(form, operands);
    for (pit_plan *each = all->buckets[key % BUCKETS]; each; each = each->next)
      if (each->key == key && pit_plan_fits(each, operands, symbols)) {
        if (i == 0)
          all->recent = each;
        Py_INCREF(each);
        return each;
      }
  }
  return NULL;
}

PyObject *pit_run_plan(PyObject *self, pit_operands *operands, PyObject *out,
                       DLTensor lead) {
  int64_t symbols[PIT_MAX_SYMBOLS];
  pit_plan *plan = find_plan((plans *)self, operands, symbols);
  if (!plan)
    return Py_NewRef(Py_NotImplemented);
  PyObject *given = pit_run_found_plan(plan, operands, symbols, out, lead);
  Py_DECREF(plan);
  return given;
}

//===----------------------------------------------------------------------===//
// The type of all plans of an op
//===----------------------------------------------------------------------===//

static PyObject *make_plans(PyTypeObject *type, PyObject *args,
                            PyObject *keywords) {
  (void)keywords;
  if (!PyArg_ParseTuple(args, ":Plans"))
    return NULL;
  pit_module *module = PyType_GetModuleState(type);
  if (!module || pit_expect_bound(module) != 0)
    return NULL;
  allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
  plans *made = (plans *)allocate(type, 0);
  if (!made)
    return NULL;
  made->module = module;
  return (PyObject *)made;
}

static int clear_plans(PyObject *self) {
  plans *all = (plans *)self;
  for (int i = 0; i < BUCKETS; ++i)
    while (all->buckets[i]) {
      pit_plan *first = all->buckets[i];
      all->buckets[i] = first->next;
      first->next = NULL;
      first->listed = false;
      Py_DECREF(first);
    }
  all->num_forms = all->num_plans = 0;
  all->recent = NULL;
  return 0;
}

static bool same_form(const pit_form *a, const pit_form *b) {
  return a->num_args == b->num_args &&
         memcmp(a->dims, b->dims, sizeof(a->dims)) == 0 &&
         memcmp(a->permutable, b->permutable, sizeof(a->permutable)) == 0;
}

/// Adds a form behind those that have as many static dimensions.
static void add_form(plans *all, const pit_form *added) {
  int32_t at = all->num_forms;
  for (int32_t i = 0; i < all->num_forms; ++i)
    if (same_form(&all->forms[i], added))
      return;
  for (; at > 0 && all->forms[at - 1].num_static < added->num_static; --at)
    all->forms[at] = all->forms[at - 1];
  all->forms[at] = *added;
  ++all->num_forms;
}

PyDoc_STRVAR(add_doc, "add(plan)\n\nFor the calls to come.");
static PyObject *add(PyObject *self, PyObject *object) {
  plans *all = (plans *)self;
  pit_plan *added = (pit_plan *)object;
  if ((PyObject *)Py_TYPE(object) != all->module->plan_type) {
    PyErr_SetString(PyExc_TypeError, "add takes a Plan");
    return NULL;
  }
  if (added->listed) {
    PyErr_SetString(PyExc_ValueError, "the plan is in a list already");
    return NULL;
  }
  if (all->num_plans >= MAX_PLANS || all->num_forms >= MAX_FORMS)
    (void)clear_plans(self);
  add_form(all, &added->form);
  all->recent = NULL; // the first form may be another one now
  // A plan in front of one of the same key is found first.
  pit_plan **bucket = &all->buckets[added->key % BUCKETS];
  Py_INCREF(added);
  added->listed = true;
  added->next = *bucket;
  *bucket = added;
  ++all->num_plans;
  Py_RETURN_NONE;
}

PyDoc_STRVAR(run_doc, "run(out, *arrays)\n\n"
                      "The result; NotImplemented where there is no plan. "
                      "Nobody asks whether an array has a gradient.");
static PyObject *run(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  pit_operands operands;
  pit_begin_operands(&operands, ((plans *)self)->module);
  int status = count < 1 || operands.module->paused > 0;
  for (Py_ssize_t i = 1; i < count && status == 0; ++i)
    status = pit_add_operand(&operands, args[i]);
  PyObject *found = status == 0
                        ? pit_run_plan(self, &operands, args[0], (DLTensor){0})
                    : status > 0 ? Py_NewRef(Py_NotImplemented)
                                 : NULL;
  pit_release_operands(&operands);
  return found;
}

static PyMethodDef methods[] = {
    {"add", add, METH_O, add_doc},
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL, run_doc},
    {0},
};

static int traverse_plans(PyObject *self, visitproc visit, void *arg) {
  const plans *all = (const plans *)self;
  Py_VISIT(Py_TYPE(self));
  for (int i = 0; i < BUCKETS; ++i)
    for (pit_plan *each = all->buckets[i]; each; each = each->next)
      Py_VISIT((PyObject *)each);
  return 0;
}

static char plans_doc[] = "Plans()\n\nThe plans of an op.";

static PyType_Slot plans_slots[] = {
    {Py_tp_new, (void *)make_plans},
    {Py_tp_methods, methods},
    {Py_tp_traverse, (void *)traverse_plans},
    {Py_tp_clear, (void *)clear_plans},
    {Py_tp_dealloc, (void *)pit_release_object},
    {Py_tp_doc, plans_doc},
    {0},
};

PyType_Spec pit_plans_spec = {
    .name = "_pit_call.Plans",
    .basicsize = sizeof(plans),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = plans_slots,
};
