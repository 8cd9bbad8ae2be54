"""The types of tensors that are memory and nothing else; a subclass may compute by functions of its own."""

import torch

PLAIN = {torch.Tensor, torch.nn.Parameter}
