"""Steps timed, and tables as bench/README.md has them."""
import statistics
import time


def step_times(step, seconds, feeds=tuple, warmup=1):
    """Of each step in so many seconds, three at least, the first ones left out; `feeds` makes its arguments, untimed."""
    for _ in range(warmup):
        step(*feeds())
    times = []
    begin = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < seconds:
        fed = feeds()
        start = time.perf_counter()
        step(*fed)
        times.append(time.perf_counter() - start)
    return times


def text(times, items=1):
    """Median (least - most) of seconds for so many things each; nothing of nothing."""
    if not times:
        return ""
    low, middle, high = (1e6 * value / items for value in (min(times), statistics.median(times), max(times)))
    return f"{middle:.4g} us ({low:.3g} - {high:.3g})"


def ratio(ours, theirs):
    return f"{statistics.median(ours) / statistics.median(theirs):.3f}"


def print_row(*cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def print_head(*columns):
    print_row(*columns)
    print("|" + "---|" * len(columns), flush=True)
