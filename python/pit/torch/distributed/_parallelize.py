"""Mixtures of a model whose experts a group of ranks shares."""

import functools
import inspect

import torch
from torch import nn

from ... import ops
from ..._library import Error
from .. import _mixtures
from ._group import member
from ._moe import Layer, autocast, run


def parallelize(model, group=None, *, capacity=None, chunks=None, wire=None):
    """Leaves to each rank of a group its share of the experts of a model's mixtures, which then compute
    as `moe` does. The model has the same weights on all ranks before.

        names = pit.torch.distributed.parallelize(model, mesh["ep"])

    It takes the modules that pit.torch.sparsify takes: those that hold the weights of all experts, as
    transformers 5 has them, and blocks with a list of experts after sparsify has replaced them. The
    names of these are returned; a model without any is an error. Parameters of experts are this
    rank's afterwards: of expert e the number e % n on rank e // n, where a rank has n. load_state_dict
    takes those of all experts, too. DistributedDataParallel leaves them alone, because their
    gradients are those of all ranks' tokens.

    capacity, chunks and wire are as in `moe`; a number of rows makes one Capacity for each module.
    """
    here = member(group)
    found, refused = {}, []
    for name, module in list(model.named_modules()):
        if isinstance(module, (Parallel,)):
            raise Error(f"parallelize: {name or 'the model'} is parallel already")
        kind = kind_of(module)
        if kind is None:
            continue
        reason = reason_against(module, kind, here.size)
        if reason is None:
            found[name] = module, kind
        else:
            refused.append(f"{name}: {reason}")
    if not found:
        raise Error("parallelize: the model has no mixture that pit knows"
                    + (": " + "; ".join(refused) if refused else ""))
    ignored = set(getattr(model, "_ddp_params_and_buffers_to_ignore", ()))
    for name, (module, kind) in found.items():
        if kind is ParallelExperts and not isinstance(module, _mixtures.Experts):
            _mixtures.make_experts_sparse(module, _mixtures.Experts)
        module.__class__ = parallel_class(type(module), kind)
        module.share(group, here, capacity, chunks, wire)
        for parameter in module.of_experts():
            ignored.add(f"{name}.{parameter}" if name else parameter)
    model._ddp_params_and_buffers_to_ignore = sorted(ignored)
    return list(found)


def kind_of(module):
    if isinstance(module, _mixtures.Block):
        return ParallelBlock
    return ParallelExperts if _mixtures.is_experts(module) else None


def reason_against(module, kind, ranks):
    count = len(module.experts) if kind is ParallelBlock else module.down_proj.shape[0]
    if count % ranks:
        return f"it has {count} experts, which {ranks} ranks cannot share equally"
    if kind is ParallelBlock:
        return None
    dense = _mixtures.unknown_of_experts(module) if not isinstance(module, _mixtures.Experts) else None
    return dense and f"{type(module).__name__} {dense}"


@functools.lru_cache(maxsize=None)
def parallel_class(base, kind):
    return type(f"Parallel{base.__name__}", (kind, base), {})


class Parallel:
    """The base of both forms. Everything of the class before computes this rank's experts."""

    def share(self, group, here, capacity, chunks, wire):
        self.total = self.count()
        self.each, self.first = self.total // here.size, here.rank * (self.total // here.size)
        if isinstance(capacity, int):
            from ._exchange import Capacity
            capacity = Capacity(capacity)
        object.__setattr__(self, "exchange", (group, capacity, chunks, wire))
        self.keep_own()
        self._register_load_state_dict_pre_hook(self.select)

    def __reduce_ex__(self, protocol):
        raise Error(f"{type(self).__name__} belongs to a group of ranks and is not pickled or copied; "
                    "keep its state_dict")

    def run(self, columns, hidden, compute, x, scales, choices):
        group, capacity, chunks, wire = self.exchange
        layer = Layer(self.each, columns, compute, -1, hidden)
        layer.trained = torch.is_grad_enabled()
        x, = autocast(x)
        return run(layer, x, scales, choices, group, capacity, chunks, wire)

    def extra_repr(self):
        return f"experts {self.first} to {self.first + self.each - 1} of {self.total}"


class ParallelExperts(Parallel):
    """The form of a module that holds the weights of all experts."""

    def count(self):
        return self.down_proj.shape[0]

    def of_experts(self):
        """Names of the parameters whose first dimension is that of experts."""
        return [name for name, p in self._parameters.items() if p is not None and p.dim() > 1
                and p.shape[0] == self.each]

    def keep_own(self):
        for name, p in list(self._parameters.items()):
            if p is not None and p.dim() > 1 and p.shape[0] == self.total:
                own = p.detach()[self.first: self.first + self.each].clone()
                self._parameters[name] = nn.Parameter(own, p.requires_grad)

    def select(self, state, prefix, *_):
        for name in self.of_experts():
            given = state.get(prefix + name)
            if given is not None and given.shape[0] == self.total != self.each:
                state[prefix + name] = given[self.first: self.first + self.each]

    def forward(self, *args, **kwargs):
        names = tuple(inspect.signature(type(self).dense.forward).parameters)[1:4]
        given = dict(zip(names, args), **kwargs)
        if len(args) + len(kwargs) != 3 or any(name not in given for name in names):
            raise Error(f"{type(self).__name__} takes {', '.join(names)}, and nothing else")
        x, choices, scales = (given[name] for name in names)
        compute = super().forward
        down = self.down_proj
        columns = next(size for size in (down.shape[2], down.shape[1]) if size == x.shape[-1])
        return self.run(columns, down[0].numel() // columns,
                        lambda rows, weights, ids: compute(rows, ids, weights.to(scales.dtype)),
                        x, scales, choices)


class ParallelBlock(Parallel):
    """The form of a block with a list of experts."""

    def count(self):
        return len(self.experts)

    def of_experts(self):
        return [name for name, _ in self.named_parameters() if name.startswith("experts.")]

    def keep_own(self):
        self.experts = nn.ModuleList(list(self.experts)[self.first: self.first + self.each])
        self.stack()

    def select(self, state, prefix, *_):
        prefix += "experts."
        found = {name: name[len(prefix):].partition(".") for name in state if name.startswith(prefix)}
        if not any(int(number) >= self.each for number, _, _ in found.values()):
            return
        given = {name: state.pop(name) for name in found}
        for name, (number, _, rest) in found.items():
            if self.first <= int(number) < self.first + self.each:
                state[f"{prefix}{int(number) - self.first}.{rest}"] = given[name]

    def forward(self, x):
        parameters = self.weights()
        if parameters is None:
            raise Error(f"{type(self).__name__}: its experts have hooks, or are no longer those that "
                        "it had")
        weights = [_mixtures.as_one(each) for each in parameters]
        if torch.is_grad_enabled() or any(w is None for w in weights):
            weights = [torch.stack(list(each)) for each in parameters]
        tokens = x.reshape(-1, x.shape[-1])
        logits = self.gate(tokens)
        scales, choices = logits.float().softmax(-1).topk(self.top_k, -1)
        if getattr(self, "norm_topk_prob", True):
            scales = scales / scales.sum(-1, keepdim=True)
        weights = [w.mT for w in autocast(*weights)]

        def compute(rows, scales, ids):
            return ops.moe(rows, scales, ids, *weights, activation=self.activation)

        y = self.run(weights[2].shape[2], weights[2].shape[1], compute, tokens,
                     scales.to(tokens.dtype), choices).reshape(x.shape)
        return (y, logits) if self.with_logits else y
