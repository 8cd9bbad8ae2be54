"""FlexAttention's BlockMask as pit.attention has keys selected."""

from .._library import Error


def read(given, sizes, mask):
    """(blocks, block size, mask): blocks where all that are there are whole, else the mask that its
    function makes. Asks the device which of them are."""
    if mask is not None:
        raise Error("attention: mask and a BlockMask are given; one of mask, blocks and index "
                    "selects keys")
    batch, heads, queries, keys = sizes
    lengths = tuple(getattr(given, "seq_lengths", (queries, keys)))
    if lengths != (queries, keys):
        raise Error(f"attention: the BlockMask is one of {lengths} queries and keys, not of "
                    f"{(queries, keys)}")
    if not given.kv_num_blocks.any():  # blocks of which a function selects
        return given.to_dense().bool(), tuple(given.BLOCK_SIZE), None
    from torch.nn.attention.flex_attention import create_mask

    rows, columns = given.kv_num_blocks.shape[:2]
    return None, None, create_mask(given.mask_mod, rows, columns, queries, keys,
                                   device=given.kv_num_blocks.device)
