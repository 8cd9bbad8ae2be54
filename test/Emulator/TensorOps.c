//===- TensorOps.c - mma, wgmma and matrices of a warp --------------------===//

#include "Lanes.h"
#include "Tensor.h"
#include "TensorMma.h"
#include "TensorWgmma.h"

#include <stdio.h>
#include <stdlib.h>

enum { WARPS = TENSOR_WARPGROUP / EMU_LANES, MOST_SUMS = 128 };

static bool type_of(const char *name, tensor_type *type) {
  static const char *const names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2",
                                      "s8",  "u8",   "f32",  "s32"};
  static const tensor_type types[] = {TENSOR_F16,  TENSOR_BF16, TENSOR_TF32,
                                      TENSOR_E4M3, TENSOR_E5M2, TENSOR_S8,
                                      TENSOR_U8,   TENSOR_F32,  TENSOR_S32};
  for (size_t n = 0; n < sizeof(names) / sizeof(*names); ++n)
    if (strcmp(name, names[n]) == 0) {
      *type = types[n];
      return true;
    }
  return false;
}

/// The registers of a list, as rows of lanes.
static void gather(const emu_warp *w, const emu_operand *list,
                   uint32_t (*to)[EMU_LANES]) {
  for (uint32_t n = 0; n < list->count; ++n)
    memcpy(to[n], emu_lanes(w, &list->elements[n]), sizeof(*to));
}

static void scatter(const emu_warp *w, const emu_operand *list,
                    const uint32_t (*from)[EMU_LANES]) {
  for (uint32_t n = 0; n < list->count; ++n)
    if (list->elements[n].kind != EMU_SINK)
      memcpy(emu_lanes(w, &list->elements[n]), from[n], sizeof(*from));
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

EMU_HEAD(run_mma) {
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  uint32_t a[4][EMU_LANES], b[4][EMU_LANES], c[4][EMU_LANES];
  gather(w, &i->operands[1], a);
  gather(w, &i->operands[2], b);
  gather(w, &i->operands[3], c);
  const char *why = tensor_mma_run(i->info, (const uint32_t (*)[EMU_LANES])a,
                                   (const uint32_t (*)[EMU_LANES])b,
                                   (const uint32_t (*)[EMU_LANES])c, c);
  if (why)
    return emu_fault(w, i, 0, "%s", why);
  scatter(w, &i->operands[0], (const uint32_t (*)[EMU_LANES])c);
  return EMU_NEXT;
}

static bool decode_mma(emu_parser *p, emu_instruction *i,
                       const emu_words *words) {
  tensor_mma *op = emu_parser_new(p, sizeof(*op));
  tensor_type last;
  // mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  if (!op)
    return false;
  op->saturate = emu_has(words, "satfinite");
  if (words->count != 10 + op->saturate ||
      strcmp(words->word[1], "sync") != 0 ||
      strcmp(words->word[2], "aligned") != 0 ||
      strcmp(words->word[4], "row") != 0 ||
      strcmp(words->word[5], "col") != 0 ||
      sscanf(words->word[3], "m16n8k%u", &op->k) != 1)
    return false;
  int n = 6 + op->saturate;
  if (!type_of(words->word[n], &op->sum) ||
      !type_of(words->word[n + 1], &op->a) ||
      !type_of(words->word[n + 2], &op->b) ||
      !type_of(words->word[n + 3], &last) || last != op->sum ||
      i->operand_count != 4)
    return false;
  i->info = op;
  i->run = run_mma;
  unsigned bits = op->k * tensor_type_bits(op->a);
  if (bits != 128 && bits != 256)
    return false;
  return emu_take_list(p, &i->operands[0], 4, 4) &&
         emu_take_list(p, &i->operands[1], bits / 64, 4) &&
         emu_take_list(p, &i->operands[2], bits / 128, 4) &&
         emu_take_list(p, &i->operands[3], 4, 4);
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

static void addresses_of(const emu_warp *w, const emu_operand *o,
                         uint32_t to[EMU_LANES]) {
  for (uint32_t l = 0; l < EMU_LANES; ++l) {
    uint64_t address = emu_address(w, o, l);
    to[l] = address <= UINT32_MAX ? (uint32_t)address : UINT32_MAX;
  }
}

/// Looks for races in the rows of matrices.
static bool check_rows(emu_warp *w, const emu_instruction *i,
                       const uint32_t addresses[EMU_LANES],
                       race_access access) {
  for (uint32_t l = 0; l < 8U * i->vector; ++l)
    if (!emu_check_block_race(w, i, l, w->block, addresses[l], 16, access))
      return false;
  return true;
}

EMU_HEAD(load_matrix) {
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  uint32_t addresses[EMU_LANES], to[4][EMU_LANES];
  addresses_of(w, &i->operands[1], addresses);
  tensor_shared shared = emu_tensor_shared(w);
  const char *why =
      tensor_ldmatrix(&shared, i->vector, i->flags, addresses, to);
  if (why)
    return emu_fault(w, i, 0, "%s", why);
  if (!check_rows(w, i, addresses, RACE_READ))
    return EMU_FAULT;
  scatter(w, &i->operands[0], (const uint32_t (*)[EMU_LANES])to);
  return EMU_NEXT;
}

EMU_HEAD(store_matrix) {
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  uint32_t addresses[EMU_LANES], from[4][EMU_LANES];
  addresses_of(w, &i->operands[0], addresses);
  gather(w, &i->operands[1], from);
  tensor_shared shared = emu_tensor_shared(w);
  const char *why = tensor_stmatrix(&shared, i->vector, i->flags, addresses,
                                    (const uint32_t (*)[EMU_LANES])from);
  if (why)
    return emu_fault(w, i, 0, "%s", why);
  if (!check_rows(w, i, addresses, RACE_WRITE))
    return EMU_FAULT;
  ++w->block->launch->effects;
  return EMU_NEXT;
}

static bool decode_matrix(emu_parser *p, emu_instruction *i,
                          const emu_words *words) {
  // ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
  bool loads = strcmp(words->word[0], "ldmatrix") == 0;
  i->flags = emu_has(words, "trans");
  if (words->count != 7 + i->flags || strcmp(words->word[3], "m8n8") != 0 ||
      words->word[4][0] != 'x' ||
      strncmp(words->word[5 + i->flags], "shared", 6) != 0 ||
      strcmp(words->word[6 + i->flags], "b16") != 0 || i->operand_count != 2)
    return false;
  i->vector = (uint8_t)(words->word[4][1] - '0');
  if (i->vector != 1 && i->vector != 2 && i->vector != 4)
    return false;
  i->run = loads ? load_matrix : store_matrix;
  return emu_take_list(p, &i->operands[loads ? 0 : 1], i->vector, 4) &&
         emu_take_address(p, &i->operands[loads ? 1 : 0]);
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

EMU_HEAD(start_product) {
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  if (w->product_count == w->product_room) {
    int room = w->product_room ? 2 * w->product_room : 8;
    emu_product *moved = realloc(w->products, (size_t)room * sizeof(*moved));
    if (!moved)
      return emu_fault(w, i, 0, "the host is out of memory");
    w->products = moved;
    w->product_room = room;
  }
  emu_product *made = &w->products[w->product_count++];
  *made = (emu_product){.instruction = i,
                        .b = emu_read(w, &i->operands[2], 0),
                        .adds = emu_predicate(w, &i->operands[3]) & 1,
                        .group = w->committed_products};
  if (i->operands[1].kind == EMU_VALUE)
    made->a = emu_read(w, &i->operands[1], 0);
  ++w->block->launch->effects;
  return EMU_NEXT;
}

/// Rows of a list's registers in the four warps, one after the other.
static void gather_group(const emu_warp *first, const emu_operand *list,
                         uint32_t (*to)[TENSOR_WARPGROUP]) {
  for (uint32_t n = 0; n < list->count; ++n)
    for (int k = 0; k < WARPS; ++k)
      memcpy(to[n] + k * EMU_LANES, emu_lanes(first + k, &list->elements[n]),
             EMU_LANES * sizeof(**to));
}

/// Computes the oldest product of four warps.
static const char *multiply(emu_warp *first) {
  const emu_product *product = &first->products[0];
  const emu_instruction *i = product->instruction;
  tensor_wgmma op = *(const tensor_wgmma *)i->info;
  op.scale_d = product->adds;
  for (int k = 1; k < WARPS; ++k) {
    const emu_product *other = &first[k].products[0];
    if (other->instruction != i || other->a != product->a ||
        other->b != product->b || other->adds != product->adds)
      return "the warps of the warpgroup do not agree";
  }
  uint32_t sums[MOST_SUMS][TENSOR_WARPGROUP], a[4][TENSOR_WARPGROUP];
  const emu_operand *d = &i->operands[0];
  gather_group(first, d, sums);
  tensor_shared shared = emu_tensor_shared(first);
  const char *why;
  if (i->operands[1].kind == EMU_LIST) {
    gather_group(first, &i->operands[1], a);
    why = tensor_wgmma_run_registers(&op, &shared,
                                     (const uint32_t (*)[TENSOR_WARPGROUP])a,
                                     product->b, sums);
  } else {
    why = tensor_wgmma_run(&op, &shared, product->a, product->b, sums);
  }
  if (why)
    return why;
  for (uint32_t n = 0; n < d->count; ++n)
    for (int k = 0; k < WARPS; ++k)
      memcpy(emu_lanes(first + k, &d->elements[n]), sums[n] + k * EMU_LANES,
             EMU_LANES * sizeof(**sums));
  return NULL;
}

/// Products are done when their results are waited for, by the first warp that
/// does, as soon as the others have started them, too.
EMU_HEAD(wait_products) {
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  uint32_t number = w->number / WARPS * WARPS;
  uint64_t pending = emu_read(w, &i->operands[0], 0);
  while (w->product_count > 0 &&
         w->products[0].group + pending < w->committed_products) {
    if (number + WARPS > w->block->warp_count)
      return emu_fault(w, i, 0, "its warpgroup has less than %d warps", WARPS);
    emu_warp *first = &w->block->warps[number];
    for (int k = 0; k < WARPS; ++k)
      if (first[k].product_count == 0)
        return EMU_WAIT;
    const emu_instruction *of = w->products[0].instruction;
    const char *why = multiply(first);
    if (why)
      return emu_fault(w, of, 0, "%s", why);
    ++w->block->launch->effects;
    for (int k = 0; k < WARPS; ++k)
      memmove(first[k].products, first[k].products + 1,
              (size_t)--first[k].product_count * sizeof(emu_product));
  }
  return EMU_NEXT;
}

EMU_HEAD(commit_products) {
  (void)i;
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  ++w->committed_products;
  return EMU_NEXT;
}

EMU_HEAD(fence_products) {
  (void)i;
  return emu_together(w, UINT32_MAX) ? EMU_NEXT : EMU_WAIT;
}

/// A number that the instruction gives.
static bool immediate(emu_parser *p, const emu_operand *o, int64_t *value) {
  *value = o->value;
  return o->is_number || emu_refuse(p, "an operand that has to be a number");
}

static bool decode_product(emu_parser *p, emu_instruction *i,
                           const emu_words *words) {
  tensor_wgmma *op = emu_parser_new(p, sizeof(*op));
  uint32_t k;
  // wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
  if (!op)
    return false;
  op->saturate = emu_has(words, "satfinite");
  if (words->count != 8 + op->saturate ||
      sscanf(words->word[4], "m64n%uk%u", &op->n, &k) != 2)
    return false;
  int t = 5 + op->saturate;
  if (!type_of(words->word[t], &op->sum) ||
      !type_of(words->word[t + 1], &op->a) ||
      !type_of(words->word[t + 2], &op->b) ||
      k * tensor_type_bits(op->a) != 256 || op->n > 256)
    return false;
  bool in_registers = i->operands[1].kind == EMU_LIST;
  int64_t numbers[4] = {1, 1, 0, 0};
  bool is_float = !tensor_type_is_integer(op->a);
  int given = is_float ? 2 : 0;
  if (is_float && tensor_type_bits(op->a) == 16)
    given += in_registers ? 1 : 2;
  if (i->operand_count != 4 + given)
    return emu_refuse(p, "%u operands; %d are wanted", i->operand_count,
                      4 + given);
  for (int n = 0; n < given; ++n)
    if (!immediate(p, &i->operands[4 + n],
                   &numbers[in_registers && n == 2 ? 3 : n]))
      return false;
  op->scale_a = (int)numbers[0];
  op->scale_b = (int)numbers[1];
  op->transpose_a = numbers[2] != 0;
  op->transpose_b = numbers[3] != 0;
  i->info = op;
  i->run = start_product;
  return emu_take_list(p, &i->operands[0], op->n / 2, 4) &&
         (in_registers ? emu_take_list(p, &i->operands[1], 4, 4)
                       : emu_take(p, &i->operands[1], 8)) &&
         emu_take(p, &i->operands[2], 8) && emu_take(p, &i->operands[3], 0);
}

static bool decode_wgmma(emu_parser *p, emu_instruction *i,
                         const emu_words *words) {
  if (words->count < 4 || strcmp(words->word[2], "sync") != 0 ||
      strcmp(words->word[3], "aligned") != 0)
    return false;
  const char *what = words->word[1];
  if (strcmp(what, "mma_async") == 0)
    return decode_product(p, i, words);
  i->run = strcmp(what, "fence") == 0          ? fence_products
           : strcmp(what, "commit_group") == 0 ? commit_products
           : strcmp(what, "wait_group") == 0   ? wait_products
                                               : NULL;
  return i->run && emu_take_form(p, i, i->run == wait_products ? "4" : "");
}

const emu_family emu_tensor_families[] = {{"mma", decode_mma},
                                          {"ldmatrix", decode_matrix},
                                          {"stmatrix", decode_matrix},
                                          {"wgmma", decode_wgmma},
                                          {NULL, NULL}};
