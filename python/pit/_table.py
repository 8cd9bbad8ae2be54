"""Tables as objects show themselves: text in a terminal, HTML in a notebook."""

import html


def as_text(headings, rows, left=()):
    """Lines of aligned columns. Columns whose numbers are in `left` are of words, the
    others of numbers."""
    rows = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) if i in left else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
            for row in rows]


def as_html(title, headings, rows):
    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    lines = [line(headings, "th"), *(line(cells, "td") for cells in rows)]
    return f"<table><caption>{html.escape(title)}</caption>{''.join(lines)}</table>"
