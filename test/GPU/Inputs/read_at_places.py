"""Bodies that read a tensor at places which they compute: 0 outside of it, compared with numpy. Arguments as in
pit_run.py."""

import numpy as np

from pit_run import check_layers

TEXT = """
#i = affine_map<(i) -> (i)>
func.func @f(%ids: tensor<?xINT>, %table: tensor<TxOTHERxi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant -1 : INT
  %limit = arith.constant 5 : INT
  %last = arith.constant LAST : index
  %seven = arith.constant 7 : i32
  %n = tensor.dim %ids, %c0 : tensor<?xINT>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%ids : tensor<?xINT>) outs(%e : tensor<?xi32>) {
  ^bb0(%id: INT, %old: i32):
    %far = arith.cmpi sgt, %id, %limit : INT
    %chosen = arith.select %far, %id, %none : INT
    %place = linalg.index 0 : index
    %column = arith.minui %place, %last : index
    %row = arith.index_cast %ID : INT to index
    %v = tensor.extract %table[%row, %column] : tensor<TxOTHERxi32>
    linalg.yield %v : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
"""
LAYERS = [("i32", "id", 40, True), ("i64", "id", 40, False), ("i32", "chosen", 13, False),
          ("i64", "chosen", 13, True), ("i32", "chosen", 0, False)]


def check(pit_run, random, type_, name, rows, known):
    columns = int(random.integers(1, 9))
    bits = np.iinfo(type_.replace("i", "int"))
    ids = random.integers(-3, rows + 4, int(random.integers(1, 700))).astype(bits.dtype)
    ids[random.random(len(ids)) < 0.1] = bits.max
    ids[random.random(len(ids)) < 0.1] = bits.min
    ids[random.random(len(ids)) < 0.05] = rows  # one too far
    table = random.integers(1, 1 << 30, (rows, columns)).astype(np.int32)
    text = TEXT.replace("%ID", f"%{name}").replace("INT", type_).replace("TxOTHER", f"{rows if known else '?'}x{columns}")
    results, why = pit_run.traced(text.replace("LAST", str(columns - 1)), [ids, table])
    if results is None:
        return why
    rows_of = np.where(ids > 5, ids, -1) if name == "chosen" else ids
    inside = (rows_of >= 0) & (rows_of < rows)
    columns_of = np.minimum(np.arange(len(ids)), columns - 1)
    wanted = np.zeros(len(ids), np.int32)
    wanted[inside] = table[rows_of[inside], columns_of[inside]]
    wrong = (results[0] != wanted).sum()
    return f"{wrong} of {len(ids)} are wrong" if wrong else ""


if __name__ == "__main__":
    check_layers(LAYERS, check)
