"""Compares all-reduce between processes of this machine in Troupe, through shared memory and over TCP, and in torch.distributed with
gloo, which take turns in one run:
   python bench/peers/allreduce.py build/release/bench/allreduce_bench [rounds [ranks [largest size in bytes]]]
Needs a virtual environment with torch (CPU). Each rank is a process with one compute thread. Prints a table for bench/README.md: the
median over the rounds of the median time of a step, with the minimum and maximum, and the ratios of the medians.
"""
import os
import socket
import statistics
import subprocess
import sys
import time

SIZES = [4, 1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30]


def steps(size):
    return max(5, min(500, (256 << 20) // size))


def free_endpoints(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    endpoints = ["127.0.0.1:%d" % one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return endpoints


def times_of(commands):
    """Runs one process per rank and returns the seconds that rank 0 prints, by size."""
    ranks = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    outputs = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        sys.exit("a rank has failed")
    return {int(size): float(seconds) for size, seconds in (line.split() for line in outputs[0].splitlines())}


def ours(program, ranks, sizes, transport):
    endpoints = ",".join(free_endpoints(ranks))
    plan = ["%d:%d" % (size, steps(size)) for size in sizes]
    return times_of([[program, str(rank), endpoints, transport] + plan for rank in range(ranks)])


def theirs(ranks, sizes):
    port = free_endpoints(1)[0].split(":")[1]
    return times_of([[sys.executable, __file__, "--rank", str(rank), str(ranks), port] + [str(size) for size in sizes]
                     for rank in range(ranks)])


def gloo_rank(rank, ranks, port, sizes):
    import torch
    import torch.distributed as distributed
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, GLOO_SOCKET_IFNAME="lo")
    distributed.init_process_group("gloo", rank=rank, world_size=ranks)
    for size in sizes:
        tensor, times = torch.ones(size // 4), []
        for i in range(steps(size) + steps(size) // 10 + 1):
            tensor.fill_(rank + 1)
            begin = time.perf_counter()
            distributed.all_reduce(tensor)
            times.append(time.perf_counter() - begin)
        assert tensor[0] == ranks * (ranks + 1) / 2
        if rank == 0:
            print(size, statistics.median(times[steps(size) // 10 + 1:]), flush=True)
    distributed.destroy_process_group()


def text(size):
    for unit, bytes_of in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_of:
            return "%d %s" % (size // bytes_of, unit)
    return "%d B" % size


def cell(seconds):
    middle, low, high = (1e6 * value for value in (statistics.median(seconds), min(seconds), max(seconds)))
    if middle < 10_000:
        return "%.0f us (%.0f - %.0f)" % (middle, low, high)
    return "%.1f ms (%.1f - %.1f)" % (middle / 1e3, low / 1e3, high / 1e3)


def main(program, rounds, ranks, largest):
    sizes = [size for size in SIZES if size <= largest]
    rows = {size: ([], [], []) for size in sizes}
    for _ in range(rounds):
        sides = ours(program, ranks, sizes, "shared"), ours(program, ranks, sizes, "tcp"), theirs(ranks, sizes)
        for side, times in enumerate(sides):
            for size in sizes:
                rows[size][side].append(times[size])
    print("| size | Troupe | Troupe over TCP | gloo | ratio | ratio over TCP |\n|---|---|---|---|---|---|")
    for size, (shared, tcp, gloo) in rows.items():
        ratios = tuple(statistics.median(mine) / statistics.median(gloo) for mine in (shared, tcp))
        print("| %s | %s | %s | %s | %.2f | %.2f |" % (text(size), cell(shared), cell(tcp), cell(gloo), *ratios))


if __name__ == "__main__":
    if sys.argv[1] == "--rank":
        gloo_rank(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], [int(size) for size in sys.argv[5:]])
    else:
        numbers = [int(argument) for argument in sys.argv[2:]] + [3, 2, 1 << 30][len(sys.argv) - 2:]
        main(sys.argv[1], *numbers)
