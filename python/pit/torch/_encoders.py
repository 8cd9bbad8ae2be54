"""torch.nn.TransformerEncoderLayer, which torch computes in one op where nobody asks for gradients. That
op calls none of its layers, so one whose Linear is to skip zeros is computed layer by layer."""

from torch import nn

from ._modules import make_dense, make_sparse


def is_one_op(module):
    """Whether torch computes a layer in one op, by what the layer has."""
    if type(module) is not nn.TransformerEncoderLayer or module.training:
        return False
    attention = module.self_attn
    return bool(module.activation_relu_or_gelu == 1 and attention.batch_first
                and attention._qkv_same_embed_dim and attention.in_proj_bias is not None
                and attention.num_heads % 2 == 0 and type(module.linear2) is nn.Linear)


class EncoderLayer(nn.TransformerEncoderLayer):
    """Computed layer by layer, with zeros of linear2's input skipped; nested tensors by torch's one op where
    that takes them, and else by its product."""

    dense = nn.TransformerEncoderLayer

    def take(self):
        make_sparse(self.linear2, "x")
        self.one_op, self.activation_relu_or_gelu = self.activation_relu_or_gelu, 0

    def give_back(self):
        make_dense(self.linear2)
        self.activation_relu_or_gelu = self.__dict__.pop("one_op")

    def forward(self, src, *args, **kwargs):
        if not isinstance(self, EncoderLayer) or not src.is_nested:
            return nn.TransformerEncoderLayer.forward(self, src, *args, **kwargs)
        self.activation_relu_or_gelu = self.one_op
        try:
            return super().forward(src, *args, **kwargs)
        finally:
            self.activation_relu_or_gelu = 0
