"""More calls of single ops: the block ops of LSTMs and GRUs; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import case
from reference import i64, mixed

CLOSE = {numpy.float32: dict(close=2e-6, near=2e-6), numpy.float16: dict(close=2e-2, near=2e-2)}


def lstm_inputs(batch, inputs, cells, time=None, dtype=numpy.float32):
    x = [batch, inputs] if time is None else [time, batch, inputs]
    shapes = [x, [batch, cells], [batch, cells], [inputs + cells, 4 * cells], [cells], [cells], [cells], [4 * cells]]
    return [mixed(shape, dtype, -0.9, 0.9, seed) for seed, shape in enumerate(shapes)]


def afterwards(shape, count, dtype=numpy.float32):
    return [mixed(shape, dtype, -0.9, 0.9, 20 + i) for i in range(count)]


def lstms():
    for dtype, peepholes, clip in itertools.product(CLOSE, (False, True), (-1.0, 0.5)):
        attrs = dict(use_peephole=peepholes, **CLOSE[dtype])
        cell = lstm_inputs(2, 3, 4, None, dtype)
        case("LSTMBlockCell", *cell, forget_bias=0.5, cell_clip=clip, **attrs)
        case("LSTMBlockCellGrad", *cell, *afterwards([2, 4], 8, dtype), **attrs)
        inputs, after = lstm_inputs(2, 3, 4, 3, dtype), afterwards([3, 2, 4], 9, dtype)
        for steps in (3, 0):
            if dtype == numpy.float16 or (steps == 0 and clip > 0):
                continue
            case("BlockLSTMGrad", i64(steps), *inputs, *after, **attrs)
            case("BlockLSTMGradV2", i64(steps), *inputs, *after, **attrs)
        case("BlockLSTM", i64(3), *inputs, forget_bias=0.5, cell_clip=clip, **attrs)
        case("BlockLSTMV2", i64(3), *inputs, cell_clip=clip, **attrs)
    inputs = lstm_inputs(2, 3, 4, 3)
    for wrong in range(1, 8):
        bad = list(inputs)
        bad[wrong] = bad[wrong][..., :-1]
        if wrong not in (4, 5, 6):  # which are not read; for a seq_len_max out of range TensorFlow ends the process
            case("BlockLSTM", i64(3), *bad, fails=True)


def grus():
    def inputs(batch, size, cells):
        shapes = [[batch, size], [batch, cells], [size + cells, 2 * cells], [size + cells, cells], [2 * cells], [cells]]
        return [mixed(shape, numpy.float32, -0.9, 0.9, seed) for seed, shape in enumerate(shapes)]

    for sizes in ((2, 3, 4), (5, 1, 2)):
        case("GRUBlockCell", *inputs(*sizes), **CLOSE[numpy.float32])
        case("GRUBlockCellGrad", *inputs(*sizes), *afterwards([sizes[0], sizes[2]], 4), **CLOSE[numpy.float32])
    for wrong in range(1, 6):
        bad = inputs(2, 3, 4)
        bad[wrong] = bad[wrong][..., :-1]
        case("GRUBlockCell", *bad, fails=True)


FAMILIES = (lstms, grus)
