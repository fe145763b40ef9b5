#!/usr/bin/env python3
"""Draws the results of benchmarks, and makes tables of them.

  bench/plot.py RESULTS.json DIRECTORY

writes into DIRECTORY, of filter_bench's results lookup.svg, build.svg, frontier.svg,
table.md, standalone.md and ribbon_slots.md; of its filter_large.json large.md; of
read_bench's reads.md, of store_bench's mixes.md, of front_bench's files.svg. If RESULTS
is a directory, cases.md and overview.md are made of the overviews in it.

  bench/plot.py --compact GOOGLE.json RESULTS.json

makes results with one record a line of what filter_bench, by Google Benchmark, writes:
medians over the repetitions, their intervals of 95 %, ratios to RocksDB's.

  bench/plot.py --put TABLE PAGE.md

puts the table, Markdown or text, in the place of what PAGE.md has between the
comments "<!-- TABLE -->" and "<!-- end -->".

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
CONTROL = "the same again"
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


def panel(title, x_label, y_label, series, x_log, y_log, x_format, y_format,
          x_ticks=None):
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
    for tick in x_ticks or x_axis.ticks():
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


def of_mode(results, mode):
    return [f for f in results["records"] if f["mode"] == mode]


def rowbloom_kinds(results):
    return sorted({f["filter"] for f in of_mode(results, "filters")}
                  - set(COLOURS) - {"memory alone"})


def equal_rate(results):
    """Filters of keys that are rows, at RATE; not those of equal bits."""
    return [f for f in of_mode(results, "filters")
            if f["shape"] == "row" and f["target_rate"] == RATE
            and f["equal"] != "bits" and f["filter"] != "memory alone"]


def rows_alone(results):
    """Tells whether there are filters of rows alone: filter_large.json has none."""
    return any(f["shape"] == "row" for f in results["records"])


def times(results, operation):
    """Series of ns per key over the number of keys, filters of equal rate."""
    kinds = rowbloom_kinds(results)
    lines = {}
    for result in equal_rate(results):
        median, low, high, _ = timing(result, operation)
        # A value without an interval is a point.
        lines.setdefault((result["filter"], result["kernel"]), []).append(
            (result["keys"], median, median if high is None else low,
             median if high is None else high))
    series = []
    # RocksDB's points come first, so that they do not cover rowbloom's.
    for (name, kernel), points in sorted(lines.items(), key=lambda item: item[0][0]):
        label = f"{name}, {kernel}" if kernel else name
        series.append((label, *style(name, kernel, kinds), sorted(points)))
    if not series:
        raise KeyError(f"no filters with a target rate of {RATE}")
    return series


def time_panel(results, title, operation):
    return panel(title, "keys", "ns per key, median and its interval of 95 %",
                 times(results, operation), True, False, count, plain)


def legend_of(series):
    return [(label, colour, dash) for label, colour, dash, _ in series]


def draw_lookup(results):
    panels = [time_panel(results, title, operation)
              for title, operation in (
                  ("Lookups, absent keys", "lookup, absent row"),
                  ("Lookups, present keys", "lookup, present"),
                  ("Batches of 32, absent keys", "batch of 32, absent row"),
                  ("Batches of 32, present keys", "batch of 32, present"))]
    return picture("Time of a filter lookup by number of keys, 1 % false positives",
                   panels, legend_of(times(results, "lookup, present")), 2)


def draw_build(results):
    return picture("Time to build a filter by number of keys, 1 % false positives",
                   [time_panel(results, "Build", "build")],
                   legend_of(times(results, "build")), 1)


def draw_frontier(results):
    kinds = rowbloom_kinds(results)
    lines = {}
    for result in of_mode(results, "frontier"):
        asked, passed = result["absent_row"]
        if passed == 0:
            continue  # a rate of zero has no place on this axis
        lines.setdefault(result["filter"], []).append(
            (bits(result), passed / asked, *wilson(passed, asked)))
    if not lines:
        raise KeyError("no points of the frontier")
    series = [(name, *style(name, None, kinds), sorted(points))
              for name, points in sorted(lines.items())]
    all_bits = [p[0] for _, _, _, points in series for p in points]
    lowest = min(p[1] for _, _, _, points in series for p in points)
    bound = [(b, 2.0**-b, 2.0**-b, 2.0**-b)
             for b in (min(all_bits) + step * (max(all_bits) - min(all_bits)) / 50
                       for step in range(51)) if 2.0**-b >= lowest]
    series.append(("no filter can do better", "#cc0000", "4 3", bound))
    return picture("False positive rate by bits per key",
                   [panel("Bits for a rate", "bits per key",
                          "false positive rate, 99 % interval", series, False, True,
                          plain, percent)], legend_of(series), 1)


def bits(record):
    """For each key and, where rows are filtered apart, each row."""
    return 8 * record["filter_bytes"] / record["entries"]


def over_bound_percent(record):
    """Of bits, over what any filter needs for the rate of one section."""
    asked, passed = record.get("absent_column", record["absent_row"])
    return 100 * (bits(record) / -math.log2(passed / asked) - 1)


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


OPERATIONS = ["build"] + [
    f"{mode}, {asked}" for mode in ("lookup", "batch of 32", "dependent lookup")
    for asked in ("absent row", "absent column", "half present", "present")]


def timing(record, operation):
    """[ns for a key, low, high, ratio]; records have them in OPERATIONS' order."""
    return record["timings"][OPERATIONS.index(operation)]


def ratio(operation):
    return lambda found: f"{timing(found, operation)[3]:.2f}"


def table_of(results):
    """The table of filter_bench: each filter at equal rate, keys that are rows."""
    sizes, rows = by_name_and_size(equal_rate(results), lambda f: ", ".join(
        filter(None, (f["filter"], f["kernel"]))))
    return markdown(
        sizes, ["bits per key", "over the bound, %", "bytes to build", "build",
                "absent", "present", "absent, 32 at once"], rows,
        [lambda f: f"{bits(f):.2f}", lambda f: f"{over_bound_percent(f):.1f}",
         lambda f: f"{f['build_peak_bytes_per_key']:.0f}"]
        + [ratio(operation) for operation in (
            "build", "lookup, absent row", "lookup, present",
            "batch of 32, absent row")])


def standalone_table_of(results):
    """The table of filters that an application uses by itself."""
    filters = [f for f in of_mode(results, "standalone") if f["target_rate"] == RATE]
    sizes, rows = by_name_and_size(filters, lambda f: f["filter"])

    def nanoseconds(operation):
        return lambda found: f"{timing(found, operation)[0]:.0f}"

    return markdown(
        sizes, ["bytes per key", "measured rate, %", "ns to add",
                "ns to ask, absent", "ns to ask, present"], rows,
        [lambda f: f"{f['filter_bytes'] / f['keys']:.2f}",
         lambda f: f"{100 * f['absent_row'][1] / f['absent_row'][0]:.2f}",
         nanoseconds("build"), nanoseconds("lookup, absent row"),
         nanoseconds("lookup, present")])


def ribbon_slots_table_of(results):
    """What ribbon filters of more slots take, as shares of RocksDB's Ribbon."""
    filters = [f for f in of_mode(results, "ribbon_slots") if f["target_rate"] == RATE]
    sizes, rows = by_name_and_size(filters, lambda f: f["filter"])
    stock = rows["RocksDB Ribbon"]

    def share(found):
        return f"{found['filter_bytes'] / stock[found['keys']]['filter_bytes']:.2f}"

    return markdown(sizes, ["over the bound, %", "bytes", "build", "absent",
                            "present"], rows,
                    [lambda f: f"{over_bound_percent(f):.1f}", share, ratio("build"), ratio("lookup, absent row"),
                     ratio("lookup, present")])


def reads_table_of(results):
    """Processor time as a share of RocksDB's own filter's, by kind of read."""
    shapes = {r["shape"]: r for r in results["records"] if "filters" in r}
    ranges = {}
    for record in results["records"]:
        if "read" not in record:
            continue
        shape = shapes[record["shape"]]
        for column, name, several in ((0, "rowbloom ROWCOL", False),
                                      (1, "rowbloom ROWCOL", True),
                                      (2, "the same again", None)):
            if several in (None, shape["files"] > 1):
                place = shape["filters"].index(name)
                ranges.setdefault(record["read"], ([], [], []))[column].append(
                    record["cpu_ratio"][place][0])
    lines = ["| read | one file | several | the same again |",
             "| --- | --- | --- | --- |"]
    for read, columns in ranges.items():
        lines.append("| " + " | ".join(
            [read] + [f"{min(c):.2f} to {max(c):.2f}" if c else "" for c in columns])
            + " |")
    return "\n".join(lines) + "\n"


def mixes_table_of(results):
    """Time by the clock of each engine, the fastest of a line in bold; bytes."""
    engines, lines, sizes = [], {}, {}
    for record in results["records"]:
        if record["operation"] == "bytes of files":
            sizes[record["by"]] = record["file_bytes"] / record["cell_bytes"]
        elif record["operation"].startswith("mix"):
            engines = [by for by in record["by"] if by != CONTROL]
            lines[record["operation"], record["where"]] = {
                by: nanos[0] / 1000
                for by, nanos in zip(record["by"], record["wall_nanos"])
                if by != CONTROL}
    out = ["| us, by the clock | cache | " + " | ".join(engines) + " |",
           "| --- | --- |" + " --- |" * len(engines)]
    for (operation, where), by in lines.items():
        texts = [f"{by[e]:.2f}" for e in engines]
        fastest = min(by.values())
        texts = [f"**{t}**" if by[e] == fastest else t
                 for t, e in zip(texts, engines)]
        out.append(f"| {operation} | {where} | " + " | ".join(texts) + " |")
    out.append("| bytes of files, of a byte of cells | | "
               + " | ".join(f"{sizes[e]:.2f}" for e in engines) + " |")
    return "\n".join(out) + "\n"


FRONT_SERIES = {  # a contender's names in front_bench, its label and colour
    ("stock Bloom",): ("RocksDB, its Bloom filter", COLOURS["RocksDB Bloom"]),
    ("rowbloom",): ("rowbloom's filter policy", KIND_COLOURS[0]),
    ("front filter, 0.001", "front filter"): ("policy and front filter", KIND_COLOURS[1]),
}


def draw_files(results):
    """Gets of absent and present rows over the number of files in level 0."""
    def series_of(operation):
        lines = {}
        for record in results["records"]:
            if record["operation"] != operation or " file" not in record["where"]:
                continue
            number = record["where"].split()[0]
            files = 1 if number == "one" else int(number)
            for names, (label, colour) in FRONT_SERIES.items():
                name = next(n for n in names if n in record["by"])
                nanos = record["cpu_nanos"][record["by"].index(name)]
                median, low, high = (value / 1000 for value in nanos)
                lines.setdefault((label, colour, ""), []).append(
                    (files, median, low, high))
        return [(*line_of, sorted(points)) for line_of, points in lines.items()]

    absent = series_of("get, absent row")
    files = [point[0] for point in absent[0][3]]
    panels = [panel(title, "files", "us per get, median and its interval of 95 %",
                    series, True, True, plain, plain, files)
              for title, series in (("Gets of absent rows", absent),
                                    ("Gets of present rows", series_of("get, present")))]
    return picture("Time of a get by the number of files that may have the row",
                   panels, legend_of(absent), 2)


CASES = [  # name and options, results, read, what is shown
    ("one file, all gets hit: nothing to skip | `--files 1`", "one_file",
     "get, present cell", "median_us"),
    ("one file, absent row: wasted reads | `--files 1`", "one_file",
     "get, absent row", "wasted_reads"),
    ("one file, absent column: wasted reads | `--files 1`", "one_file",
     "get, absent column", "wasted_reads"),
    ("two files, all gets hit: wasted reads | `--files 2`", "two_files",
     "get, present cell", "wasted_reads"),
    ("two files, absent column: wasted reads | `--files 2`", "two_files",
     "get, absent column", "wasted_reads"),
    ("eight files, all gets hit: time | ", "synthetic",
     "get, present cell", "median_us"),
    ("each row in every file, absent column: wasted reads | `--spread-rows`", "spread",
     "get, absent column", "wasted_reads"),
    ("row scan of an absent row: wasted reads | ", "synthetic",
     "row scan, absent row", "wasted_reads"),
]


OVERVIEW = [
    ("bytes of the filters", "quickstart", None, "filter_bytes"),
    ("wasted reads, get of an absent row", "quickstart",
     "get, absent row", "wasted_reads"),
    ("wasted reads, get of an absent column", "quickstart",
     "get, absent column", "wasted_reads"),
    ("wasted reads, row scan of an absent row", "quickstart",
     "row scan, absent row", "wasted_reads"),
    ("time of a get of an absent row", "quickstart",
     "get, absent row", "median_us"),
]


def cases_table_of(directory, title, cases):
    """Values of the overviews, a line for each case."""
    filters = ["none", "stock Bloom, prefix + key", "rowbloom ROWCOL"]
    lines = [f"| {title} | none | RocksDB's Bloom | ROWCOL |",
             "| --- " * (4 + title.count("|")) + "|"]
    for name, results, read, shown in cases:
        with open(os.path.join(directory, results + ".json"), encoding="utf-8") as file:
            records = json.load(file)["records"]
        names = next(r["filters"] for r in records if "filters" in r)
        values = next(r[shown] for r in records if r.get("read") == read)
        texts = [values[names.index(f)] for f in filters]
        unit = "{:.1f} us" if shown == "median_us" else "{:,}"
        lines.append(f"| {name} | "
                     + " | ".join(unit.format(t) for t in texts) + " |")
    return "\n".join(lines) + "\n"


def large_table_of(results):
    """Filters of the largest files: the model's numbers, and measured ones."""
    filters = of_mode(results, "filters")
    (cells,) = {f["keys"] for f in filters}
    exponent = round(math.log10(cells))
    heads = [f"file of 10^{exponent} cells, 10^{exponent - 1} rows", "bytes",
             "rate, absent row", "rate, absent column", "memory to build, bytes a cell",
             "ns a cell to build", "hours for 10^12 cells", "ns a lookup, absent row"]
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " --- |" * (len(heads) - 1)]
    for found in filters:
        build = timing(found, "build")[0]
        measured = [f"{found['filter_bytes']:,}"] + [
            f"{found[absent][1] / found[absent][0]:.6f}"
            for absent in ("absent_row", "absent_column")] + [
            f"{found['build_peak_bytes_per_key']:.1f}", f"{build:.0f}",
            f"{build * 1e3 / 3600:.0f}",
            f"{timing(found, 'lookup, absent row')[0]:.0f}"]
        predicted = [f"{found['predicted_bytes']:,}"] + [
            f"{found['predicted_' + absent]:.6f}"
            for absent in ("absent_row", "absent_column")] + [""] * 4
        for name, cells_of_line in (("predicted", predicted), ("measured", measured)):
            lines.append("| " + " | ".join(
                [f"{found['filter']}, {name}"] + cells_of_line) + " |")
    return "\n".join(lines) + "\n"


def median_of(samples):
    """[median, low, high]: the interval of 95 % as bench/turns.h has it."""
    samples = sorted(samples)
    n, below, out = len(samples), 0.0, -1
    for k in range(n):
        below += math.comb(n, k) / 2**n
        if below > 0.025:
            break
        out = k
    median = samples[int((n - 1) / 2 + 0.5)]
    return [median, 0, None] if out < 0 else [median, samples[out], samples[n - 1 - out]]


def wilson(passed, asked):
    """The interval of a rate that has 99 % confidence (E. B. Wilson, 1927)."""
    z, rate = 2.5758293035489, passed / asked
    middle = (rate + z * z / asked / 2) / (1 + z * z / asked)
    half = z / (1 + z * z / asked) * math.sqrt(
        rate * (1 - rate) / asked + z * z / asked**2 / 4)
    return [max(0.0, middle - half), min(1.0, middle + half)]


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, list):
        return [rounded(part) for part in value]
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    return value


def describe(record, counters):
    """Adds the bytes of a filter, and how many of the absent keys passed it."""
    record["entries"] = int(counters["entries"])
    record["setting_bits"] = counters["setting_bits"]
    record["filter_bytes"] = int(counters["filter_bytes"])
    record["build_peak_bytes_per_key"] = counters["peak_bytes"] / record["keys"]
    for absent in ("absent_row", "absent_column"):
        if absent + "_passed" in counters:
            record[absent] = [int(counters["absent_asked"]),
                              int(counters[absent + "_passed"])]
        if "predicted_" + absent in counters:
            record["predicted_" + absent] = counters["predicted_" + absent]
    if "predicted_bytes" in counters:
        record["predicted_bytes"] = int(counters["predicted_bytes"])


def compact(source, target):
    with open(source, encoding="utf-8") as file:
        google = json.load(file)
    samples, records = {}, {}
    # Repetitions were shuffled.
    for run in sorted(google["benchmarks"], key=lambda run: run["family_index"]):
        if run["run_type"] != "iteration":
            continue
        if run.get("error_occurred"):
            raise ValueError(run["error_message"])
        mode, shape, keys, rate, name, kernel, equal, operation = (
            run["name"].split("/")[:8])
        group = (mode, shape, int(keys), float(rate))
        key = group + (name, kernel, equal)
        record = records.setdefault(key, {
            "mode": mode, "shape": shape, "keys": int(keys),
            "target_rate": float(rate), "filter": name,
            "kernel": "" if kernel == "-" else kernel, "equal": equal})
        if "entries" in run and "entries" not in record:
            describe(record, run)
        if "keys" in run:
            nanos = run["cpu_time"] / run["keys"]
            samples.setdefault((key, operation), []).append(nanos)
    for (key, operation), nanos in samples.items():
        timings = records[key].setdefault("timings", [None] * len(OPERATIONS))
        timings[OPERATIONS.index(operation)] = median_of(nanos)
    for key, record in records.items():
        stock = "RocksDB Ribbon" if key[0] == "ribbon_slots" else "RocksDB Bloom"
        base = records.get(key[:4] + (stock, "-", "rate"), {}).get("timings")
        for i, own in enumerate(record.get("timings", [])):
            if own:
                own.append(own[0] / base[i][0] if base and base[i] else None)
    context = {name: value for name, value in google["context"].items()
               if name not in ("host_name", "executable", "load_avg")}
    with open(target, "w", encoding="utf-8") as file:
        file.write('{\n"context": ' + json.dumps(context)
                   + ',\n"operations": ' + json.dumps(OPERATIONS)
                   + ',\n"records": [\n')
        file.write(",\n".join(json.dumps(rounded(record), separators=(",", ":"))
                              for record in records.values()))
        file.write("\n]\n}\n")


def put(table, page):
    """Replaces the table between the comments of its name."""
    with open(table, encoding="utf-8") as file:
        content = file.read()
    if table.endswith(".txt"):
        content = f"```\n{content}```\n"
    with open(page, encoding="utf-8") as file:
        text = file.read()
    begin = f"<!-- {os.path.basename(table)} -->\n"
    end = "<!-- end -->"
    if begin not in text:
        raise ValueError(f"{page} has no comment {begin.strip()}")
    head, rest = text.split(begin, 1)
    if end not in rest:
        raise ValueError(f"{page}: no comment {end} after {begin.strip()}")
    with open(page, "w", encoding="utf-8") as file:
        file.write(head + begin + content + rest[rest.index(end):])


def main(arguments):
    if len(arguments) == 3 and arguments[0] in ("--put", "--compact"):
        try:
            {"--put": put, "--compact": compact}[arguments[0]](*arguments[1:])
        except (OSError, ValueError, KeyError) as error:
            print(f"plot: {error}", file=sys.stderr)
            return 1
        return 0
    if len(arguments) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    source, directory = arguments
    try:
        results = {"records": []}
        if not os.path.isdir(source):
            with open(source, encoding="utf-8") as file:
                results = json.load(file)
        if os.path.isdir(source):
            pictures = {"cases.md": cases_table_of(source, "case | options", CASES),
                        "overview.md": cases_table_of(source, "50,000 reads of each kind",
                                                      OVERVIEW)}
        elif any("read" in record for record in results["records"]):
            pictures = {"reads.md": reads_table_of(results)}
        elif any("mix" in record.get("operation", "") for record in results["records"]):
            pictures = {"mixes.md": mixes_table_of(results)}
        elif any("operation" in record for record in results["records"]):
            pictures = {"files.svg": draw_files(results)}
        elif results["records"] and not rows_alone(results):
            pictures = {"large.md": large_table_of(results)}
        else:
            pictures = {"lookup.svg": draw_lookup(results),
                        "build.svg": draw_build(results),
                        "frontier.svg": draw_frontier(results),
                        "table.md": table_of(results),
                        "standalone.md": standalone_table_of(results),
                        "ribbon_slots.md": ribbon_slots_table_of(results)}
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
