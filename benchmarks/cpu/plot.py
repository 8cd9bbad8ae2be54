#!/usr/bin/env python3
"""Tables and figures of what pit-bench wrote with --json.

plot.py bench.jsonl... --markdown        prints a table
plot.py bench.jsonl... --figures FOLDER  writes cpu-sparsity.svg and cpu-conv.svg (needs
                                         matplotlib)

Of several lines of one case the last counts.
"""

import argparse
import json
import re
from pathlib import Path

# Okabe and Ito's colors, which stay apart for most eyes.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
# The rules of the first figure: one size and type.
RULES = r"f32 (32x1|rows|1x64|B along k, 1x64|B along n, 64x1|C wanted, 32x1|batched, 32x1)"


def read(paths):
    """The lines, by case, sparsity and number of threads."""
    found = {}
    for path in paths:
        for line in Path(path).read_text().splitlines():
            one = json.loads(line)
            key = (one["case"], one["sparsity"], one["threads"])
            found.pop(key, None)
            found[key] = one
    return list(found.values())


def median(line, name):
    return line["seconds"][name]["median"]


def speedup(line, peer):
    return median(line, peer) / median(line, "pit")


def best_peer(line):
    peers = [name for name in line["seconds"] if name != "pit"]
    return min(peers, key=lambda name: median(line, name))


def markdown(lines):
    print("| case | zero | threads | pit, ms | GFLOP/s | over oneDNN dense | best peer, ms | ratio | floor, ms | floor's limit | pit / floor |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for line in lines:
        pit = line["seconds"]["pit"]
        rate = line["dense_operations"] * line["live_fraction"] / pit["median"] * 1e-9
        dense = f"{speedup(line, 'onednn'):.2f}x" if "onednn" in line["seconds"] else ""
        best = best_peer(line)
        print(f"| {line['case']} | {line['sparsity']:.0%} | {line['threads']} "
              f"| {pit['median'] * 1e3:.2f} ({pit['q1'] * 1e3:.2f} to {pit['q3'] * 1e3:.2f}) | {rate:.0f} "
              f"| {dense} | {best} {median(line, best) * 1e3:.2f} | {speedup(line, best):.2f}x "
              f"| {line['floor'] * 1e3:.2f} | {line['limit']} | {pit['median'] / line['floor']:.1f} |")


def save(figure, path, source):
    # Text stays text, and the same lines make the same file.
    figure.savefig(path, format="svg", metadata={"Date": None, "Description": source},
                   bbox_inches="tight")
    print(f"wrote {path}")


def about(lines):
    commits = sorted({line["commit"] for line in lines})
    machines = sorted({line["machine"] for line in lines})
    return f"{', '.join(machines)}; pit {', '.join(commits)}"


def plot_sparsity(plt, lines, path):
    lines = [line for line in lines if "onednn" in line["seconds"] and re.fullmatch(RULES, line["case"])]
    cases = list(dict.fromkeys(line["case"] for line in lines))
    if not cases:
        return
    threads = sorted({line["threads"] for line in lines})
    figure, axes = plt.subplots(1, len(threads), figsize=(5.5 * len(threads), 4.5), sharey=True, squeeze=False)
    ticks = sorted({line["sparsity"] for line in lines})
    at = {s: i for i, s in enumerate(ticks)}
    for ax, n in zip(axes[0], threads):
        for case, color in zip(cases, COLORS):
            points = sorted((line["sparsity"], speedup(line, "onednn")) for line in lines
                            if line["case"] == case and line["threads"] == n)
            ax.plot([at[s] for s, _ in points], [y for _, y in points], "o-", color=color, label=case)
        ax.plot([at[s] for s in ticks], [1 / (1 - s) for s in ticks], ":", color="gray", label="operations left out")
        ax.axhline(1, color="gray", linewidth=0.8)
        ax.set_yscale("log", base=2)
        ax.yaxis.set_major_formatter(lambda y, _: f"{y:g}x")
        ax.set_xticks(range(len(ticks)), [f"{s:.0%}" for s in ticks])
        ax.set_xlabel("micro-tiles of zeros")
        ax.set_title(f"{n} thread" + ("s" if n > 1 else ""))
        ax.grid(alpha=0.3)
    axes[0][0].set_ylabel("speed-up over oneDNN, dense")
    axes[0][0].legend(fontsize="small")
    save(figure, path, about(lines))


def plot_conv(plt, lines, path):
    lines = [line for line in lines if line["kind"] == "conv" and "onednn" in line["seconds"]]
    lines = [line for line in lines if line["threads"] == min(one["threads"] for one in lines)]
    cases = list(dict.fromkeys(line["case"] for line in lines))
    if not cases:
        return
    levels = sorted({line["sparsity"] for line in lines})
    figure, ax = plt.subplots(figsize=(max(9, 0.45 * len(cases)), 4))
    width = 0.8 / max(len(levels), 1)
    for i, (level, color) in enumerate(zip(levels, COLORS)):
        bars = {line["case"]: speedup(line, "onednn") for line in lines if line["sparsity"] == level}
        ax.bar([x + i * width for x, case in enumerate(cases) if case in bars],
               [bars[case] for case in cases if case in bars], width, color=color, label=f"{level:.0%} zeros")
    ax.axhline(1, color="gray", linewidth=0.8)
    ax.set_xticks([x + 0.4 - width / 2 for x in range(len(cases))], cases, rotation=40, ha="right")
    ax.set_ylabel("speed-up over oneDNN's convolution")
    ax.legend(fontsize="small")
    ax.grid(axis="y", alpha=0.3)
    save(figure, path, about(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="+", help="files that pit-bench --json wrote")
    parser.add_argument("--markdown", action="store_true", help="print a table")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="write figures there")
    options = parser.parse_args()
    lines = read(options.lines)
    if options.markdown:
        markdown(lines)
    if options.figures:
        import matplotlib
        matplotlib.use("svg")
        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "pit"})
        from matplotlib import pyplot
        plot_sparsity(pyplot, lines, options.figures / "cpu-sparsity.svg")
        plot_conv(pyplot, lines, options.figures / "cpu-conv.svg")


if __name__ == "__main__":
    main()
