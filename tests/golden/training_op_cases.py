"""More calls of single ops: the update rules of optimizers; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import CLOSE, case
from reference import f32, i32, i64, mixed, name_of, ramp, zeros


def rules(dtype):
    """The rules for values of some type. Of each: its name, the variables, the scalars before the gradient and those after it, how close,
    and the attributes."""
    def numbers(*values):
        return [numpy.array(value, dtype=dtype) for value in values]
    close = 8 * CLOSE[name_of(dtype)]
    v, a, b = mixed([2, 3], dtype, seed=30), mixed([2, 3], dtype, 0.1, 1, 31), mixed([2, 3], dtype, 0.1, 1, 32)
    lr, = numbers(0.125)
    yield "GradientDescent", [v], [lr], [], {"close": close}
    for nesterov in (False, True):
        for name in ("Momentum", "KerasMomentum"):
            yield name, [v, a], [lr], numbers(0.75), {"close": close, "use_nesterov": nesterov}
        yield "Adam", [v, a, b], numbers(0.81, 0.998, 0.125, 0.9, 0.999, 0.001), [], {"close": 8 * close, "use_nesterov": nesterov}
    for updates in (True, False):
        yield "Adagrad", [v, a], [lr], [], {"close": close, "update_slots": updates}
        yield "AdagradV2", [v, a], numbers(0.125, 0.0625), [], {"close": close, "update_slots": updates}
    yield "AdaMax", [v, a, b], numbers(0.81, 0.125, 0.9, 0.75, 0.001), [], {"close": 8 * close}
    yield "AdamWithAmsgrad", [v, a, b, b[::-1].copy()], numbers(0.81, 0.998, 0.125, 0.9, 0.999, 0.001), [], {"close": 8 * close}
    yield "AddSign", [v, v[::-1].copy()], numbers(0.125, 1.5, 0.75, 0.9), [], {"close": close}
    yield "PowerSign", [v, v[::-1].copy()], numbers(0.125, 0.5, 0.75, 0.9), [], {"close": close}
    yield "RMSProp", [v, a, b], numbers(0.125, 0.75, 0.5, 0.01), [], {"close": close}
    yield "CenteredRMSProp", [v, 0.25 * a, b + 1, b], numbers(0.125, 0.75, 0.5, 0.01), [], {"close": 8 * close}
    yield "Adadelta", [v, a, b], numbers(0.125, 0.75, 0.01), [], {"close": close}
    for l1, l2 in ((0.5, 0.25), (0, 0)):
        yield "ProximalGradientDescent", [v], numbers(0.125, l1, l2), [], {"close": 2 * close}
        yield "ProximalAdagrad", [v, a], numbers(0.125, l1, l2), [], {"close": 2 * close}
        yield "AdagradDA", [v, v[::-1].copy(), b], [], numbers(0.125, l1, l2) + [i64(3)], {"close": 2 * close}
        for power, by_rate in itertools.product((-0.5, -0.25), (False, True)):
            said = {"close": 16 * close, "near": close, "multiply_linear_by_lr": by_rate}
            yield "Ftrl", [v, a, v[::-1].copy()], [], numbers(0.125, l1, l2, power), said
            yield "FtrlV2", [v, a, v[::-1].copy()], [], numbers(0.125, l1, l2, 0.5, power), said


WHOLE = ("GradientDescent", "Adam", "AdamWithAmsgrad", "AdaMax", "AddSign", "PowerSign")  # without a form for some rows
RESOURCES = ("KerasMomentum", "AdamWithAmsgrad")  # without a form for references


def training():
    for dtype in (numpy.float32, numpy.float64, numpy.float16):
        g = mixed([2, 3], dtype, seed=33)
        for (name, variables, before, after, said), form in itertools.product(rules(dtype), ("", "Resource")):
            if name in RESOURCES and form == "":
                continue
            case(f"{form}Apply{name}", *variables, *before, g, *after, **said)
            if name in WHOLE:
                continue
            # a row of half is not repeated: what is rounded in between differs
            some = [i32([1, 0, 1]), i64([1])] if dtype == numpy.float32 else [i32([1, 0])] if dtype == numpy.float16 else [i64([1, 0, 1])]
            for indices in some:
                case(f"{form}SparseApply{name}", *variables, *before, g[indices].copy(), indices, *after, **said)
    refused()


def refused():
    """Shapes and indices that do not fit; and nothing at all."""
    for form in ("", "Resource"):
        one_of_each = {rule[0]: rule for rule in rules(numpy.float32)}
        for name, variables, before, after, said in one_of_each.values():
            if name in RESOURCES and form == "":
                continue
            g = mixed([2, 3], seed=33)
            case(f"{form}Apply{name}", *[zeros([0, 3]) for _ in variables], *before, zeros([0, 3]), *after, **said)
            case(f"{form}Apply{name}", *variables, *before, ramp([3, 2]), *after, **said, fails=True)
            if name not in WHOLE:
                op = f"{form}SparseApply{name}"
                case(op, *variables, *before, zeros([0, 3]), i32([]), *after, **said)
                case(op, *variables, *before, g[:1].copy(), i32([2]), *after, **said, fails=True)
                case(op, *variables, *before, g, i32([0]), *after, **said, fails=True)
    f = mixed([2, 3], seed=34)
    case("ApplyMomentum", f, ramp([3, 2]), f32(1), f, f32(1), fails=True)
    case("ApplyGradientDescent", f, f32([1, 2]), f, fails=True)


FAMILIES = (training,)
