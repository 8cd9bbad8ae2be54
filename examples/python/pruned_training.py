"""Training while weights are pruned: those of least magnitude count as zero, anew in each step.

    pruned_training.py [--block=N] [--device=cuda] [--picture=FILE]

The digits of scikit-learn go through a network with two large hidden layers. In each step a
mask keeps the largest weights of these, fewer and fewer until one in ten is left. They are
kept in blocks of 16x1, or one by one with --block=1; a block may come back. `pit.linear` takes
the mask, and so do its gradients: three products a layer and step, each of which skips what is
pruned. Nobody tells pit of the blocks. A format for sparse matrices would have to be made anew
in each step.
"""

import sys
import time
from pathlib import Path

import pit
import torch
import torch.nn.functional as F

import shared

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "digits"))
import train  # noqa: E402


class PrunedLinear(torch.nn.Linear):
    """relu(x weight.T + bias) with the weights that `kept` selects."""

    by_pit = True

    def prune(self, live_fraction, block):
        """Keeps that part of the weights: the blocks of block x 1 with the largest sums."""
        sums = self.weight.detach().abs().unflatten(0, (-1, block)).sum(dim=1)
        chosen = sums.flatten().topk(max(1, round(live_fraction * sums.numel()))).indices
        kept = torch.zeros(sums.numel(), dtype=torch.bool).index_fill_(0, chosen, True)
        self.kept = kept.view_as(sums).repeat_interleave(block, dim=0)

    def forward(self, x):
        if self.by_pit:
            return pit.linear(x, self.weight, self.bias, activation="relu", sparse="weight",
                              mask=self.kept)
        return F.relu(F.linear(x, self.weight * self.kept, self.bias))


class Network(torch.nn.Module):
    def __init__(self, width, block):
        super().__init__()
        self.first = torch.nn.Linear(64, width)
        self.pruned = torch.nn.ModuleList(PrunedLinear(width, width) for _ in range(2))
        self.last = torch.nn.Linear(width, 10)
        self.block = block
        self.prune(1)

    def by(self, pit_or_torch):
        for layer in self.pruned:
            layer.by_pit = pit_or_torch == "pit"
        return self

    def prune(self, live_fraction):
        for layer in self.pruned:
            layer.prune(live_fraction, self.block)

    def kept(self):
        return torch.stack([layer.kept for layer in self.pruned])

    def loss(self, images, labels):
        x = F.relu(self.first(images))
        for layer in self.pruned:
            x = layer(x)
        return F.cross_entropy(self.last(x), labels)


def live_fraction_at(step, steps, last):
    """From 1 to `last` in three quarters of the training, fast at first."""
    left = max(0.0, 1 - step / (0.75 * steps))
    return last + (1 - last) * left**3


def fit(network, images, labels, arguments, live_fraction):
    """The loss of each step, and in how many steps the selection changed."""
    torch.manual_seed(arguments.seed)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    losses, changed = [], 0
    for step in range(arguments.steps):
        batch = torch.randint(len(images), (arguments.batch,))
        before = network.kept()
        network.prune(live_fraction_at(step, arguments.steps, live_fraction))
        changed += not torch.equal(before, network.kept())
        loss = network.loss(images[batch], labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, changed


def main():
    arguments = shared.read_arguments(__doc__, width=512, batch=128, steps=60, live_fraction=0.1,
                                      block=16)
    if arguments.width % arguments.block:
        sys.exit(f"--block={arguments.block} does not divide --width={arguments.width}")
    torch.set_default_device(arguments.device)
    device = arguments.device
    images, labels, *test = (torch.from_numpy(x).to(device) for x in train.load_data())

    torch.manual_seed(arguments.seed)
    network = Network(arguments.width, arguments.block)
    dense = Network(arguments.width, arguments.block).by("torch")
    dense.load_state_dict(network.state_dict())

    start = time.perf_counter()
    pruned_losses, changed = fit(network, images, labels, arguments, arguments.live_fraction)
    seconds = time.perf_counter() - start
    dense_losses, _ = fit(dense, images, labels, arguments, 1)
    print(f"{arguments.steps} steps, pruned to {arguments.live_fraction:.0%}, in {seconds:.1f} s with "
          f"compilations; other weights than before in {changed} of them")
    for name, each, losses in (("dense", dense, dense_losses), ("pruned", network, pruned_losses)):
        with torch.no_grad():
            print(f"  {name:8} loss {losses[0]:.3f} to {losses[-1]:.3f}, "
                  f"{each.loss(*test).item():.3f} on test images")

    # One more step, beside the same network in float64 and dense products.
    wide = Network(arguments.width, arguments.block).by("torch").double()
    wide.load_state_dict(network.state_dict())
    for each, layer in zip(wide.pruned, network.pruned):
        each.kept = layer.kept
    batch = slice(arguments.batch)
    network.zero_grad()
    loss = network.loss(images[batch], labels[batch])
    loss.backward()
    expected = wide.loss(images[batch].double(), labels[batch])
    expected.backward()
    right = shared.check("the loss", loss.detach(), expected.detach(), 1e-5)
    for (name, found), each in zip(network.named_parameters(), wide.parameters()):
        right &= shared.check(f"the gradient of {name}", found.grad, each.grad, 1e-4)

    def step(pit_or_torch):
        network.by(pit_or_torch).zero_grad()
        network.loss(images[batch], labels[batch]).backward()

    print("forward and backward:")
    shared.compare({"torch, weight * mask": lambda: step("torch"), "pit": lambda: step("pit")},
                   arguments.repeat, device)

    if arguments.picture:
        drawn, axes = shared.figure(7, 4)
        axes.plot(dense_losses, label="dense")
        axes.plot(pruned_losses, label=f"pruned to {arguments.live_fraction:.0%}")
        axes.set_xlabel("step")
        axes.set_ylabel("loss")
        axes.set_ylim(bottom=0)
        share = axes.twinx()
        share.plot([live_fraction_at(step, arguments.steps, arguments.live_fraction)
                    for step in range(arguments.steps)], "k:", label="weights kept")
        share.set_ylabel("part of the weights that is kept")
        drawn.legend(loc="outside upper center", ncols=3)
        shared.save(drawn, arguments.picture)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
