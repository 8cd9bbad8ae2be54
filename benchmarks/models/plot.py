#!/usr/bin/env python3
"""Draws what paper.py wrote with --json: how many times as fast models are with pit.

    plot.py models.jsonl... --out docs/models.svg        (needs matplotlib)

The last one of several lines of a case counts. A bar is torch's time over that with pit, a mark the time of the best
drop-in over it, where there is one.
"""

import argparse
import json
from pathlib import Path

# Okabe and Ito's colors, which stay apart for most eyes.
BAR, MARK = "#0072B2", "#D55E00"


def read(paths):
    found = {}
    for path in paths:
        for line in Path(path).read_text().splitlines():
            one = json.loads(line)
            if "pit" in one["ms"] and "torch" in one["ms"]:
                found[one["row"], one["case"]] = one
    return list(found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="+", help="files that paper.py --json wrote")
    parser.add_argument("--out", required=True, help="the figure, an SVG")
    options = parser.parse_args()
    lines = read(options.lines)[::-1]

    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "pit"})
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(8, 0.24 * len(lines) + 1))
    ratios = [line["ms"]["torch"] / line["ms"]["pit"] for line in lines]
    ax.barh(range(len(lines)), [ratio - 1 for ratio in ratios], left=1, color=BAR, label="torch's time over pit's")
    for i, line in enumerate(lines):
        others = [ms for name, ms in line["ms"].items() if name != "torch" and not name.startswith("pit")]
        if others:
            ax.plot(min(others) / line["ms"]["pit"], i, "D", color=MARK, markersize=4,
                    label=None if len(ax.get_legend_handles_labels()[1]) > 1 else "the best drop-in's time over pit's")
        ax.text(max(1, ratios[i]), i, f" {ratios[i]:.2f}", va="center", fontsize="small")
    ax.axvline(1, color="black", linewidth=0.8)
    ax.set_yticks(range(len(lines)), [f"{line['row']}: {line['case']}" for line in lines], fontsize="small")
    ax.set_ylim(-0.6, len(lines) - 0.4)
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}x")
    ax.set_xlabel("times as fast with pit")
    ax.grid(axis="x", alpha=0.3)
    ax.legend(fontsize="small", loc="lower right")
    # Text stays text, and the same lines make the same file.
    machines = ", ".join(sorted({line["machine"] for line in lines}))
    figure.savefig(options.out, format="svg", metadata={"Date": None, "Description": machines}, bbox_inches="tight")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
