"""Draws line charts as SVG files, for the scripts of this folder. Needs no packages."""
import math
import pathlib

FOLDER = pathlib.Path(__file__).parents[2] / "docs" / "figures"
LEFT, TOP, WIDTH, HEIGHT, LEGEND = 64, 34, 460, 290, 250
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f"]
DASHES = ["", "7 3", "2 3"]


class Axis:
    """Places values on a line from `begin` to `end`, and says where its ticks are."""

    def __init__(self, values, log, ticks, begin, end):
        self.log, self.begin, self.end = log, begin, end
        self.ticks = ticks or (log_ticks if log else linear_ticks)(min(values), max(values))
        self.low, self.high = (self.scaled(edge(*values, *self.ticks)) for edge in (min, max))

    def scaled(self, value):
        return math.log10(value) if self.log else value

    def at(self, value):
        share = (self.scaled(value) - self.low) / ((self.high - self.low) or 1)
        return round(self.begin + share * (self.end - self.begin), 1)


def linear_ticks(low, high):
    """Returns about six round numbers, of which the first and the last enclose the values."""
    if low > 0 and low < 0.4 * high:
        low = 0
    rough = (high - low or abs(high) or 1) / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= 0.99 * rough)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


def log_ticks(low, high):
    factors = (1, 2, 3, 5, 7) if high / low < 20 else (1, 2, 5) if high / low < 500 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [factor * 10.0**decade for decade in decades for factor in factors]
    first = max((i for i, tick in enumerate(ticks) if tick <= low * 1.001), default=0)
    last = min((i for i, tick in enumerate(ticks) if tick >= high * 0.999), default=len(ticks) - 1)
    return ticks[first : last + 1]


def number(value):
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:g} {unit}"
    return f"{value:.4g}" if abs(value) >= 1e-3 or value == 0 else f"{value:g}"


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def label(x, y, text, anchor="middle", more=""):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{more}>{escaped(text)}</text>'


def line(x1, y1, x2, y2, colour, more=""):
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}"{more}/>'


def grid(x, y):
    yield from (line(LEFT, y.at(tick), LEFT + WIDTH, y.at(tick), "#dddddd") for tick in y.ticks)
    yield from (label(LEFT - 6, y.at(tick) + 4, number(tick), "end") for tick in y.ticks)
    yield from (line(x.at(tick), TOP + HEIGHT, x.at(tick), TOP + HEIGHT + 4, "#333333") for tick in x.ticks)
    yield from (label(x.at(tick), TOP + HEIGHT + 18, number(tick)) for tick in x.ticks)
    yield line(LEFT, TOP + HEIGHT, LEFT + WIDTH, TOP + HEIGHT, "#333333")


def curve(index, name, points, x, y):
    """Yields a series and its line of the legend."""
    dash = DASHES[index // len(COLOURS) % len(DASHES)]
    stroke = f'stroke="{COLOURS[index % len(COLOURS)]}" stroke-width="1.8"' + (f' stroke-dasharray="{dash}"' if dash else "")
    places = [(x.at(a), y.at(b)) for a, b in points]
    yield f'<polyline fill="none" {stroke} points="{" ".join(f"{a},{b}" for a, b in places)}"/>'
    if len(points) < 25:
        yield from (f'<circle cx="{a}" cy="{b}" r="2.6" fill="{COLOURS[index % len(COLOURS)]}"/>' for a, b in places)
    left, height = LEFT + WIDTH + 14, TOP + 8 + 19 * index
    yield f'<path d="M{left} {height}h22" {stroke}/>' + label(left + 28, height + 4, name, "start")


def table_of(text):
    """Returns the rows of the last table in a text: lists of cells, numbers where they are numbers."""
    lines = text[text.rindex("|---") :].splitlines()[1:]
    rows = ([cell.strip() for cell in line.strip("| ").split("|")] for line in lines if line.startswith("|"))
    return [[float(cell) if cell.replace(".", "", 1).isdigit() else cell for cell in row] for row in rows]


def draw(name, title, x_label, y_label, series, log="", x_ticks=None, y_ticks=None):
    """Writes docs/figures/NAME.svg: `series` maps names to lists of points; `log` names the axes that are logarithmic. Says where it is."""
    points = [point for one in series.values() for point in one]
    x = Axis([point[0] for point in points], "x" in log, x_ticks, LEFT, LEFT + WIDTH)
    y = Axis([point[1] for point in points], "y" in log, y_ticks, TOP + HEIGHT, TOP)
    middle = f"{TOP + HEIGHT / 2}"
    parts = [label(LEFT, 18, title, "start", ' font-weight="bold"'), *grid(x, y),
             label(LEFT + WIDTH / 2, TOP + HEIGHT + 38, x_label),
             label(14, middle, y_label, more=f' transform="rotate(-90 14 {middle})"')]
    for index, (legend, one) in enumerate(series.items()):
        parts += curve(index, legend, one, x, y)
    size = f"{LEFT + WIDTH + LEGEND} {TOP + HEIGHT + 50}"
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.svg"
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" font-family="sans-serif" font-size="12">\n'
                    f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n")
    print(f"\nThe figure is {path.relative_to(FOLDER.parents[1])}.")
