#!/usr/bin/env python3
"""Draws the results of filter_bench.

  bench/plot.py RESULTS.json DIRECTORY

writes lookup.svg, build.svg, frontier.svg and table.md into DIRECTORY, or of
results with --standalone standalone.md, with --ribbon-slots ribbon_slots.md.
The same results give the same bytes. Needs nothing but Python's standard
library.
"""

import json
import math
import os
import sys
from xml.sax.saxutils import escape

RATE = 0.01  # of lookup.svg, build.svg and the tables

# Okabe and Ito's colours, which most colour-blind people can tell apart.
COLOURS = {
    "RocksDB Bloom": "#000000",
    "RocksDB Ribbon": "#999999",
}
KIND_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]
KERNEL_DASHES = {"scalar": "2 3", "avx2": "7 4"}

WIDTH = 440  # of a panel, with its margins
HEIGHT = 300
LEFT, RIGHT, TOP, BOTTOM = 56, 18, 42, 40


class Axis:
    """Maps values to pixels. `high` may be below `low` in pixels."""

    def __init__(self, low, high, start, end, logarithmic):
        self.logarithmic = logarithmic
        self.low, self.high = self._scaled(low), self._scaled(high)
        self.start, self.end = start, end

    def _scaled(self, value):
        return math.log10(value) if self.logarithmic else value

    def __call__(self, value):
        span = self.high - self.low or 1
        share = (self._scaled(value) - self.low) / span
        return self.start + share * (self.end - self.start)

    def ticks(self):
        if self.logarithmic:
            first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
            return [10.0**power for power in range(first, last + 1)]
        rough = (self.high - self.low) / 6 or 1
        unit = 10.0 ** math.floor(math.log10(rough))
        step = unit * min((m for m in (1, 2, 5, 10) if m * unit >= rough), default=10)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def plain(value):
    return f"{value:g}"


def count(value):
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def percent(value):
    return f"{100 * value:g} %"


def text(x, y, content, anchor="middle", size=11):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
            f'font-size="{size}">{escape(content)}</text>')


def line(points, colour, dash="", width=1.6):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<polyline points="{path}" fill="none" stroke="{colour}" '
            f'stroke-width="{width}"{dashes}/>')


def panel(title, x_label, y_label, series, x_log, y_log, x_format, y_format):
    """One diagram at 0, 0. Series: (label, colour, dash, [(x, y, low, high)])."""
    points = [p for _, _, _, line_points in series for p in line_points]
    xs = [p[0] for p in points]
    lows, highs = [p[2] for p in points], [p[3] for p in points]
    x_axis = Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT, x_log)
    if y_log:
        low, high = 10 ** math.floor(math.log10(min(lows))), max(highs)
    else:
        low, high = 0, max(highs) * 1.05
    y_axis = Axis(low, high, HEIGHT - BOTTOM, TOP, y_log)

    out = [text(LEFT, 16, title, "start", 13), text(LEFT, 32, y_label, "start")]
    for tick in x_axis.ticks():
        x = x_axis(tick)
        out.append(line([(x, TOP), (x, HEIGHT - BOTTOM)], "#dddddd", width=0.7))
        out.append(text(x, HEIGHT - BOTTOM + 15, x_format(tick)))
    for tick in y_axis.ticks():
        y = y_axis(tick)
        out.append(line([(LEFT, y), (WIDTH - RIGHT, y)], "#dddddd", width=0.7))
        out.append(text(LEFT - 5, y + 4, y_format(tick), "end"))
    out.append(line([(LEFT, TOP), (LEFT, HEIGHT - BOTTOM),
                     (WIDTH - RIGHT, HEIGHT - BOTTOM)], "#444444", width=1))
    out.append(text(WIDTH - RIGHT, HEIGHT - 10, x_label, "end"))
    for _, colour, dash, line_points in series:
        pixels = [(x_axis(x), y_axis(y)) for x, y, _, _ in line_points]
        out.append(line(pixels, colour, dash))
        for (x, _, point_low, point_high), (px, py) in zip(line_points, pixels):
            out.append(line([(px, y_axis(point_low)), (px, y_axis(point_high))],
                            colour, width=0.9))
            if not dash:
                out.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.2" '
                           f'fill="{colour}"/>')
    return "\n".join(out)


def picture(description, panels, legend, columns):
    """All panels in a grid, and below them what the lines are."""
    rows = math.ceil(len(panels) / columns)
    width = columns * WIDTH
    per_line = max(1, width // 220)
    legend_height = 18 * math.ceil(len(legend) / per_line) + 12
    height = rows * HEIGHT + legend_height
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
           f'height="{height}" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif">',
           f"<title>{escape(description)}</title>",
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for number, content in enumerate(panels):
        x, y = number % columns * WIDTH, number // columns * HEIGHT
        out.append(f'<g transform="translate({x} {y})">\n{content}\n</g>')
    for number, (label, colour, dash) in enumerate(legend):
        x = 20 + number % per_line * 215
        y = rows * HEIGHT + 14 + number // per_line * 18
        out.append(line([(x, y - 4), (x + 26, y - 4)], colour, dash, 2))
        out.append(text(x + 32, y, label, "start"))
    out.append("</svg>")
    return "\n".join(out) + "\n"


def style(filter_name, kernel, kinds):
    colour = COLOURS.get(filter_name)
    if colour is None:
        colour = KIND_COLOURS[kinds.index(filter_name) % len(KIND_COLOURS)]
    return colour, KERNEL_DASHES.get(kernel, "")


def rowbloom_kinds(results):
    return sorted({f["filter"] for f in results["filters"]} - set(COLOURS))


def timing(result, operation, asked):
    for entry in result["timings"]:
        if entry["operation"] == operation and entry.get("asked") == asked:
            return entry
    raise KeyError(f"{result['filter']}: no {operation}, {asked}")


def times(results, operation, asked):
    """Series of ns per key over the number of keys, filters of equal rate."""
    kinds = rowbloom_kinds(results)
    lines = {}
    for result in results["filters"]:
        if (result["shape"] != "row" or result["equal"] == "bits"
                or result["target_rate"] != RATE):
            continue
        entry = timing(result, operation, asked)
        lines.setdefault((result["filter"], result["kernel"]), []).append(
            (result["keys"], entry["ns_per_key"], entry["low_quartile"],
             entry["high_quartile"]))
    series = []
    # RocksDB's first, so that they do not cover rowbloom's.
    for (name, kernel), points in sorted(lines.items(), key=lambda item: item[0][0]):
        label = f"{name}, {kernel}" if kernel else name
        series.append((label, *style(name, kernel, kinds), sorted(points)))
    if not series:
        raise KeyError(f"no filters with a target rate of {RATE}")
    return series


def time_panel(results, title, operation, asked):
    return panel(title, "keys", "ns per key, median and quartiles",
                 times(results, operation, asked), True, False, count, plain)


def legend_of(series):
    return [(label, colour, dash) for label, colour, dash, _ in series]


def draw_lookup(results):
    panels = [time_panel(results, title, operation, asked)
              for title, operation, asked in (
                  ("Lookups, absent keys", "lookup", "absent row"),
                  ("Lookups, present keys", "lookup", "present"),
                  ("Batches of 32, absent keys", "batch of 32", "absent row"),
                  ("Batches of 32, present keys", "batch of 32", "present"))]
    return picture("Time of a filter lookup by number of keys, 1 % false positives",
                   panels, legend_of(times(results, "lookup", "present")), 2)


def draw_build(results):
    return picture("Time to build a filter by number of keys, 1 % false positives",
                   [time_panel(results, "Build", "build", None)],
                   legend_of(times(results, "build", None)), 1)


def draw_frontier(results):
    kinds = rowbloom_kinds(results)
    lines = {}
    for result in results["frontier"]:
        counts = result["absent_row"]
        if counts["passed"] == 0:
            continue  # a rate of zero has no place on this axis
        lines.setdefault(result["filter"], []).append(
            (result["bits_per_entry"], counts["rate"], counts["low99"],
             counts["high99"]))
    if not lines:
        raise KeyError("no points of the frontier")
    series = [(name, *style(name, None, kinds), sorted(points))
              for name, points in sorted(lines.items())]
    bits = [p[0] for _, _, _, points in series for p in points]
    lowest = min(p[1] for _, _, _, points in series for p in points)
    bound = [(b, 2.0**-b, 2.0**-b, 2.0**-b)
             for b in (min(bits) + step * (max(bits) - min(bits)) / 50
                       for step in range(51)) if 2.0**-b >= lowest]
    series.append(("no filter can do better", "#cc0000", "4 3", bound))
    return picture("False positive rate by bits per key",
                   [panel("Bits for a rate", "bits per key",
                          "false positive rate, 99 % interval", series, False, True,
                          plain, percent)], legend_of(series), 1)


TABLE_SIZES = 3  # the largest ones


def by_name_and_size(filters, name_of):
    """Those of the largest sizes: the sizes, and name -> keys -> filter."""
    sizes = sorted({f["keys"] for f in filters})[-TABLE_SIZES:]
    rows = {}
    for found in filters:
        if found["keys"] in sizes:
            rows.setdefault(name_of(found), {})[found["keys"]] = found
    return sizes, rows


def markdown(sizes, heads, rows, texts):
    """A column for each text, which is made of a filter, one for each size."""
    exponents = [f"10^{round(math.log10(size))}" for size in sizes]
    lines = ["| keys: " + " / ".join(exponents) + " | " + " | ".join(heads) + " |",
             "| --- |" + " --- |" * len(heads)]
    for name, by_size in rows.items():
        cells = [name] + [" / ".join(text(by_size[size]) for size in sizes)
                          for text in texts]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


TABLE_TIMES = [("build", None), ("lookup", "absent row"),
               ("lookup", "present"), ("batch of 32", "absent row")]


def table_of(results):
    """README's table: each filter at equal rate, keys that are rows."""
    filters = [f for f in results["filters"]
               if f["shape"] == "row" and f["target_rate"] == RATE
               and f["equal"] != "bits"]
    sizes, rows = by_name_and_size(filters, lambda f: ", ".join(
        filter(None, (f["filter"], f["kernel"]))))

    def ratio(operation, asked):
        def text(found):
            [timing] = [t for t in found["timings"]
                        if t["operation"] == operation and t.get("asked") == asked]
            return f"{timing['ratio_to_stock']:.2f}"
        return text

    return markdown(
        sizes, ["bits per key", "over the bound, %", "bytes to build", "build",
                "absent", "present", "absent, 32 at once"], rows,
        [lambda f: f"{f['bits_per_entry']:.2f}",
         lambda f: f"{f['over_bound_percent']:.1f}",
         lambda f: f"{f['build_peak_bytes_per_key']:.0f}"]
        + [ratio(*time) for time in TABLE_TIMES])


def standalone_table_of(results):
    """The table of filters that an application uses by itself."""
    filters = [f for f in results["standalone"] if f["target_rate"] == RATE]
    sizes, rows = by_name_and_size(filters, lambda f: f["filter"])

    def nanoseconds(timing):
        return lambda found: f"{found[timing]['ns_per_key']:.0f}"

    return markdown(
        sizes, ["bytes per key", "measured rate, %", "ns to add",
                "ns to ask, absent", "ns to ask, present"], rows,
        [lambda f: f"{f['bytes_per_key']:.2f}",
         lambda f: f"{100 * f['absent']['rate']:.2f}",
         nanoseconds("add"), nanoseconds("lookup_absent"),
         nanoseconds("lookup_present")])


def ribbon_slots_table_of(results):
    """What ribbon filters of more slots take, as shares of RocksDB's Ribbon."""
    filters = [f for f in results["ribbon_slots"] if f["target_rate"] == RATE]
    sizes, rows = by_name_and_size(filters, lambda f: f["filter"])
    stock = rows["RocksDB Ribbon"]

    def over(found):
        bits = 8 * found["bytes_per_key"]
        return f"{100 * (bits / -math.log2(found['absent']['rate']) - 1):.1f}"

    def share(found):
        return f"{found['bytes_per_key'] / stock[found['keys']]['bytes_per_key']:.2f}"

    def ratio(timing):
        return lambda found: f"{found[timing]['ratio_to_stock']:.2f}"

    return markdown(sizes, ["over the bound, %", "bytes", "build", "absent",
                            "present"], rows,
                    [over, share, ratio("add"), ratio("lookup_absent"),
                     ratio("lookup_present")])


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    source, directory = arguments
    try:
        with open(source, encoding="utf-8") as file:
            results = json.load(file)
        if "standalone" in results:
            pictures = {"standalone.md": standalone_table_of(results)}
        elif "ribbon_slots" in results:
            pictures = {"ribbon_slots.md": ribbon_slots_table_of(results)}
        else:
            pictures = {"lookup.svg": draw_lookup(results),
                        "build.svg": draw_build(results),
                        "frontier.svg": draw_frontier(results),
                        "table.md": table_of(results)}
        for name, content in pictures.items():
            path = os.path.join(directory, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
    except (OSError, ValueError) as error:
        print(f"plot: {error}", file=sys.stderr)
        return 1
    except KeyError as error:
        print(f"plot: {source} lacks something: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
