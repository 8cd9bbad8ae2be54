//===- PitConstraints.td - Constraints that ops share ------*- tablegen -*-===//
//
// Each constraint of an op has a name, which stands in brackets before it in
// the op's description and in the message of the verifier. These are the ones
// of several ops. test/Dialect/Pit/IR/constraints.test compares descriptions,
// verifiers and tests.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_DIALECT_PIT_IR_PITCONSTRAINTS_TD
#define PIT_DIALECT_PIT_IR_PITCONSTRAINTS_TD

// The elements, and a number that stands for some.
def Pit_ElementConstraints {
  string text = [{
    - [element 1] elements are signless integers, `index` or floats;
    - [element 2] a given number (`background`, `pad`) has the type of the
      elements;
    - [element 3] it is an integer or a float.
  }];
}

// The tensor that selects, for sources other than the values.
def Pit_SelectorConstraints {
  string text = [{
    - [selector 1] a mask has elements of i1, or integers or floats of 8, 16, 32 or 64
      bits;
    - [selector 2] a mask has the shape of what it selects from;
    - [selector 3] lengths have elements of i32 or i64;
    - [selector 4] lengths have a lower rank than what they select from;
    - [selector 5] lengths have the extents of its first dimensions;
    - [selector 6] a routing has elements of i32 or i64;
    - [selector 7] a routing and what it selects from have rank 2;
    - [selector 8] they have as many rows.
  }];
}

// The bits that say which elements of a tensor are selected.
def Pit_BitmapConstraints {
  string text = [{
    - [bitmap 1] they are bytes (i8), of the rank of the tensor, which is not 0;
    - [bitmap 2] they have the tensor's extents, but in the last dimension 8 bytes
      for each 64 elements that a row has or begins.
  }];
}

// A tile and its subscripts.
def Pit_TileConstraints {
  string text = [{
    - [tile 1] there is one subscript for each dimension of the tensor;
    - [tile 2] the tile has the rank of the tensor;
    - [tile 3] the shape of the tile is static, and its extents are positive;
    - [tile 4] an index is the only subscript (then it is the whole-tensor
      form);
    - [tile 5] along a gathered dimension the tile is as long as the chunk of
      ids;
    - [tile 6] `dims` stands with an index only.
  }];
}

// The whole-tensor form.
def Pit_WholeConstraints {
  string text = [{
    - [whole 1] the micro-tiles of the index are 1 wide or whole (`*`) along
      every dimension;
    - [whole 2] `dims` has an entry for each dimension of the index;
    - [whole 3] an entry is a dimension of the tensor, or -1 for a whole
      dimension of the index;
    - [whole 4] no dimension stands in `dims` twice;
    - [whole 5] the packed tensor has one leading dimension and one for each
      dimension that is kept;
    - [whole 6] a kept dimension has the same extent in both.
  }];
}

// Loops over tiles.
def Pit_LoopConstraints {
  string text = [{
    - [loop 1] there are dense ranges, an index, or both;
    - [loop 2] there are as many lower bounds and upper bounds as steps;
    - [loop 3] steps are positive;
    - [loop 4] the chunk is positive with an index, and 0 without one;
    - [loop 5] there is one subscript for each dimension that numbers the
      groups of the index, and none without an index;
    - [loop 6] the body takes an `index` for each dense range, ids and
      positions if there is an index, and the iter_args.
  }];
}

#endif // PIT_DIALECT_PIT_IR_PITCONSTRAINTS_TD
