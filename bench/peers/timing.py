"""Measures steps, and prints tables in the format of bench/README.md."""
import statistics
import time


def step_times(step, seconds, feeds=tuple, warmup=1):
    """Returns the times of steps that run for `seconds`, at least three. The first `warmup` steps are not measured, and neither is
    the call of `feeds`, which returns the arguments of a step."""
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
    """Returns "median (minimum - maximum)" of the times per item, in microseconds; an empty string if there are no times."""
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
