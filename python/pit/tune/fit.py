"""From times to costs: the model of lib/Choice/Costs.cpp, solved by least squares.

What a product takes is linear in its costs, with numbers of multiplications, lists and
elements before them. All shapes of an element type are solved at once: a call, looking and
the step of a micro-tile are the same for all, the rest is of one size of B each. Errors
count as parts of a time, and no cost is less than 0. Which rules pack B, whatever is live,
and the columns that a step takes beside its own, are found by trying.
"""

from dataclasses import dataclass

import numpy as np

from .cases import COLUMNS, DENSE, ROWS

STEPS = range(0, 65, 4)
ROWS_IN_PLACE = 48  # in_place_rows of lib/Choice/CpuCosts.json
# The part of the error that packing has to explain to be in the table.
LEAST_GAIN = 0.05


@dataclass
class Fit:
    costs: dict  # picoseconds, by name, of a level as "dense 0"
    step: int
    error: float  # the root of the mean square of (predicted - measured) / measured
    worst: tuple  # (error, what was measured)


def round_up(value, unit):
    return -(-value // unit) * unit


def count(shape, measured, lanes, step, packing):
    """How often each cost is in a time, where the rules of `packing` pack B."""
    m, k, n, level = shape.m, shape.k, shape.n, shape.level
    strips, padded = -(-n // COLUMNS), round_up(n, lanes)
    terms = {"call": 1}
    if measured.rule == DENSE:
        terms[f"dense {level}"] = m * k * padded
        terms[f"read {level}"] = k * n
        return terms
    terms["scan"] = m * k
    if measured.rule in packing and m > max(measured.rule, 1):  # else B is read once
        terms[f"pack {measured.rule} {level}"] = k * n
    if measured.rule == ROWS:
        terms[f"0x1 {level}"] = measured.live * k * padded
        return terms
    groups = -(-m // measured.rule)
    terms[f"group {measured.rule} {level}"] = groups * strips
    terms[f"{measured.rule}x1 {level}"] = measured.live * measured.rule * (padded + step * strips)
    # Ids of B that some list has, or with few rows each id of each list.
    terms[f"read {level}"] = n * (measured.live if m <= ROWS_IN_PLACE else
                                  k * (1 - (1 - measured.live / (groups * k)) ** groups))
    return terms


def solve(rows, times):
    """Costs of least squared relative error, none of them negative."""
    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, 0) for name in names] for row in rows]) / times[:, None]
    scale = np.abs(matrix).max(axis=0)
    matrix /= scale
    active = list(range(len(names)))
    while True:
        found = np.linalg.lstsq(matrix[:, active], np.ones(len(times)), rcond=None)[0]
        if found.min() >= 0:
            break
        del active[int(found.argmin())]
    costs = dict.fromkeys(names, 0.0)
    for i, value in zip(active, found):
        costs[names[i]] = float(value / scale[i])
    predicted = matrix[:, active] @ found
    return costs, predicted - 1


def fit_with(pairs, lanes, packing):
    """The best Fit where the rules of `packing` pack B."""
    times = np.array([one.seconds * 1e12 for _, one in pairs])
    best = None
    for step in STEPS:
        costs, errors = solve([count(*pair, lanes, step, packing) for pair in pairs], times)
        error = float(np.sqrt(np.mean(errors**2)))
        if best is None or error < best.error:
            at = int(np.abs(errors).argmax())
            best = Fit(costs, step, error, (float(errors[at]), describe(*pairs[at])))
    return best


def fit(measured, lanes):
    """The Fit of [(shape, [Measured])] of an element type."""
    pairs = [(shape, one) for shape, ones in measured for one in ones]
    packing = []
    best = fit_with(pairs, lanes, packing)
    for rule in sorted({one.rule for _, one in pairs} - {DENSE}):
        other = fit_with(pairs, lanes, packing + [rule])
        if other.error < (1 - LEAST_GAIN) * best.error:
            best, packing = other, packing + [rule]
    return best


def describe(shape, measured):
    if measured.rule == DENSE:
        return f"{shape.name} dense"
    rule = "rows" if measured.rule == ROWS else f"{measured.rule}x1"
    return f"{shape.name} {rule}, {100 * measured.live_fraction:g} % live"


def digits(value):
    """Three digits: more were not measured."""
    value = float(f"{value:.3g}")
    return int(value) if value == int(value) else value


def group_of(costs, rule, level):
    """The time of a list; a time too short to be seen is not 0."""
    return digits(max(costs.get(f"group {rule} {level}", 0), 1000))


def micro_entry(costs, rule, level):
    multiply = costs[f"{rule}x1 {level}"]
    if rule == ROWS:  # computed as the dense program does
        multiply = max(multiply, costs[f"dense {level}"])
    entry = {"rows": rule, "multiply": digits(multiply)}
    if rule != ROWS:
        entry["group"] = group_of(costs, rule, level)
    pack = digits(costs.get(f"pack {rule} {level}", 0))
    return entry | ({"pack": pack} if pack else {})


def entries(element, found, limits, heights):
    """The entries of a table for a Fit; `limits` are the most bytes of B of each."""
    costs, made = found.costs, []
    for level, limit in enumerate(limits):
        dense = costs.get(f"dense {level}", 0)
        if dense <= 0:
            continue
        entry = {"element": element} | ({"bytes": limit} if limit else {})
        entry |= {"dense": digits(dense), "scan": digits(max(costs["scan"], 1)),
                  "group": group_of(costs, heights[0], level),
                  "read": digits(costs.get(f"read {level}", 0)), "step": found.step,
                  "micro": [micro_entry(costs, rule, level) for rule in [*heights, ROWS]
                            if costs.get(f"{rule}x1 {level}", 0) > 0]}
        if entry["micro"]:  # without any the compiler refuses it
            made.append(entry)
    return made
