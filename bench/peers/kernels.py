"""Compares kernels with those of PyTorch, which take turns, on one thread each. Needs an environment with torch:
   chrt -f 1 python bench/peers/kernels.py build/release/bench/kernels_bench [rounds] [part of a name]
Both sides write to memory that is kept. The time of an empty call from Python is subtracted from PyTorch's. Prints a table: for each
size of the largest input the medians of both sides over the rounds, and their ratio.
"""
import json
import statistics
import subprocess
import sys
import time

import torch

from timing import print_head, print_row

SIZES = {"32K": 1 << 15, "1M": 1 << 20, "16M": 1 << 24, "100M": 100 << 20}
NAMES = {"int32": torch.int32, "int64": torch.int64, "float": torch.float32, "double": torch.float64, "half": torch.float16,
         "bfloat16": torch.bfloat16, "uint8": torch.uint8, "bool": torch.bool}


def numbers(*dims, dtype=torch.float32):
    """The numbers of kernels_bench: from 1 to 9."""
    x = 1 + 8 * torch.rand(*dims)
    return x > 5 if dtype == torch.bool else x.to(dtype)


def unary(function):
    def make(n):
        x, out = numbers(n), torch.empty(n)
        return lambda: function(x, out=out)
    return make


def binary(function, dtype=torch.float32):
    def make(n):
        x, y, out = numbers(n), numbers(n), torch.empty(n, dtype=dtype)
        return lambda: function(x, y, out=out)
    return make


def reduction(function, columns, axis):
    def make(n):
        x = numbers(n // columns, columns)
        out = function(x, axis)
        return lambda: function(x, axis, out=out)
    return make


def sum_all(n):
    x = numbers(n)
    out = torch.empty(())
    return lambda: torch.sum(x, dim=0, out=out)


def softmax(function, classes):
    def make(n):
        x = numbers(n // classes, classes)
        out = torch.empty_like(x)
        return lambda: function(x, 1, False, out=out)
    return make


def cross_entropy(sparse):
    """Loss and gradient, as the kernels of TensorFlow and Troupe compute them."""
    def make(n):
        x = numbers(n // 10, 10).requires_grad_()
        labels = torch.randint(10, [n // 10]) if sparse else numbers(n // 10, 10)
        one = torch.ones(n // 10)

        def step():
            x.grad = None
            torch.nn.functional.cross_entropy(x, labels, reduction="none").backward(one)
        return step
    return make


def random(fill):
    def make(n):
        out = torch.empty(n)
        return lambda: fill(out)
    return make


def cast(source, target):
    def make(n):
        x, out = numbers(n, dtype=NAMES[source]), torch.empty(n, dtype=NAMES[target])
        return lambda: out.copy_(x)
    return make


nn = torch._C._nn
ROWS = {
    "Exp": unary(torch.exp), "Log": unary(torch.log), "Log1p": unary(torch.log1p), "Tanh": unary(torch.tanh),
    "Sigmoid": unary(torch.sigmoid), "Erf": unary(torch.erf), "Sin": unary(torch.sin), "Sqrt": unary(torch.sqrt),
    "Rsqrt": unary(torch.rsqrt), "Reciprocal": unary(torch.reciprocal), "Softplus": unary(nn.softplus), "Elu": unary(nn.elu),
    "Neg": unary(torch.neg), "Floor": unary(torch.floor), "Sign": unary(torch.sign),
    "Relu": unary(lambda x, out: torch.clamp_min(x, 0, out=out)),
    "Add": binary(torch.add), "Mul": binary(torch.mul), "Div": binary(torch.div), "Maximum": binary(torch.maximum),
    "Less": binary(torch.less, torch.bool), "Pow": binary(torch.pow), "FloorMod": binary(torch.remainder),
    "Sum all": sum_all, "Sum rows": reduction(torch.sum, 64, 1), "Sum columns": reduction(torch.sum, 64, 0),
    "Sum short rows": reduction(torch.sum, 5, 1), "Mean rows": reduction(torch.mean, 64, 1), "Max rows": reduction(torch.amax, 64, 1),
    "Max columns": reduction(torch.amax, 64, 0), "ArgMax rows": reduction(torch.argmax, 64, 1),
    "ArgMax short rows": reduction(torch.argmax, 10, 1),
    "Softmax of 10": softmax(torch._softmax, 10), "Softmax of 1000": softmax(torch._softmax, 1000),
    "LogSoftmax of 10": softmax(torch._log_softmax, 10), "LogSoftmax of 1000": softmax(torch._log_softmax, 1000),
    "SoftmaxCrossEntropyWithLogits": cross_entropy(False), "SparseSoftmaxCrossEntropyWithLogits": cross_entropy(True),
    "RandomUniform": random(lambda out: out.uniform_()), "RandomStandardNormal": random(lambda out: out.normal_()),
    "TruncatedNormal": random(lambda out: torch.nn.init.trunc_normal_(out, a=-2, b=2)),
    **{f"Cast {source} to {target}": cast(source, target)
       for source, target in [("float", "int32"), ("int32", "float"), ("float", "half"), ("half", "float"), ("float", "bfloat16"),
                              ("bfloat16", "float"), ("uint8", "float"), ("float", "uint8"), ("int64", "float"), ("float", "int64"),
                              ("bool", "float"), ("float", "bool"), ("int32", "int64")]},
}


def call_time(function, seconds=0.05):
    """Returns the CPU time of a call."""
    function()
    calls, begin = 0, time.thread_time()
    while calls < 3 or time.thread_time() - begin < seconds:
        function()
        calls += 1
    return (time.thread_time() - begin) / calls


def ours(program, name):
    """Returns the CPU time of a run of the kernel for each size."""
    output = subprocess.run([program, "--benchmark_format=json", "--benchmark_min_time=0.03", f"--benchmark_filter=^{name}/"],
                            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
    return {entry["name"].rsplit("/", 1)[1]: entry["cpu_time"] * unit[entry["time_unit"]]
            for entry in json.loads(output)["benchmarks"]}


def main(program, rounds=3, part=""):
    torch.set_num_threads(1)
    nothing, out = torch.empty(0), torch.empty(0)
    empty = call_time(lambda: torch.exp(nothing, out=out))
    print(f"PyTorch {torch.__version__}; an empty call takes {1e6 * empty:.2f} us.\n")
    print_head("kernel", *(column for size in SIZES for column in (f"{size}, us", "ratio")))
    for name, make in ROWS.items():
        if part not in name:
            continue
        times = {size: ([], []) for size in SIZES}
        for _ in range(int(rounds)):
            measured = ours(program, name)
            for size, data in SIZES.items():
                times[size][0].append(measured[size])
                times[size][1].append(max(call_time(make(data // 4)) - empty, 1e-9))
        cells = []
        for mine, theirs in times.values():
            mine, theirs = statistics.median(mine), statistics.median(theirs)
            cells += [f"{1e6 * mine:.3g} / {1e6 * theirs:.3g}", f"{mine / theirs:.2f}"]
        print_row(name, *cells)


if __name__ == "__main__":
    main(*sys.argv[1:])
