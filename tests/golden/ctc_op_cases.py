"""More calls of single ops: connectionist temporal classification; op_cases.py says what a case is."""
import numpy

from op_cases import case
from reference import i32, i64, mixed, zeros

ONE_EACH, TWO_AND_ONE = i64([[0, 0], [1, 0]]), i64([[0, 0], [0, 1], [1, 0]])


def losses():
    op = "CTCLoss"
    inputs = mixed([3, 2, 4])
    full = i32([3, 3])
    rounded = {"close": 1e-5, "near": 1e-5}  # TensorFlow computes parts of both types in float
    for dtype in (numpy.float32, numpy.float64):
        x = inputs.astype(dtype)
        case(op, x, ONE_EACH, i32([0, 1]), full, **rounded)
        for collapses, merges in ((False, False), (False, True), (True, False), (True, True)):
            flags = {"preprocess_collapse_repeated": collapses, "ctc_merge_repeated": merges}
            for values in ([0, 1, 1], [0, 0, 1]):
                case(op, x, TWO_AND_ONE, i32(values), full, **flags, **rounded)
                case(op, mixed([9, 2, 6], dtype, -5, 5), TWO_AND_ONE, i32(values), i32([9, 4]), **flags, **rounded)
    case(op, inputs, i64([[0, 5], [1, 0]]), i32([0, 1]), full, **rounded)
    for end in (3, 4, 2 ** 31 - 1):  # the blank and what is above it end a sequence
        case(op, inputs, TWO_AND_ONE, i32([0, end, 1]), full, **rounded)
        case(op, inputs, TWO_AND_ONE, i32([end, 0, 1]), full, fails=True)
        case(op, inputs, TWO_AND_ONE, i32([end, -1, 1]), full, fails=True)
    case(op, inputs, TWO_AND_ONE, i32([0, 0, 1]), i32([2, 3]), **rounded)
    case(op, inputs, TWO_AND_ONE, i32([0, 1, 1]), i32([1, 3]), ignore_longer_outputs_than_inputs=True, **rounded)
    case(op, inputs, ONE_EACH, i32([0, 1]), i32([0, 3]), ignore_longer_outputs_than_inputs=True, **rounded)
    labels = i64([[b, i] for b in range(3) for i in range(4)])
    values = i32([0, 1, 2, 2, 3, 3, 1, 0, 4, 5, 6, 7])
    case(op, mixed([12, 3, 9], low=-4, high=4), labels, values, i32([12, 7, 8]), **rounded)
    for indices, of, lengths in (([[0, 0]], [0], [3, 3]), ([[1, 0], [0, 0]], [0, 1], [3, 3]), ([[0, 0], [0, 0], [1, 0]], [0, 1, 1], [3, 3]),
                                 ([[0, 0], [0, 1], [1, 0]], [0, 1, 1], [1, 3]),
                                 ([[0, 0], [1, 0]], [-1, 1], [3, 3]), ([[0, 0], [1, 0]], [0, 1], [0, 3]),
                                 ([[0, 0], [1, 0]], [0, 1], [-1, 3]), ([[0, 0], [1, 0]], [0, 1], [4, 3]),
                                 ([[0, 0], [2, 0]], [0, 1], [3, 3]), ([[0, 0, 0], [1, 0, 0]], [0, 1], [3, 3]),
                                 ([[0, 0], [1, 0]], [0], [3, 3]), ([[0, 0], [1, 0]], [0, 1], [3])):
        case(op, inputs, i64(indices), i32(of), i32(lengths), fails=True)
    case(op, zeros([3, 2]), ONE_EACH, i32([0, 1]), full, fails=True)


def greedy_decoding():
    op = "CTCGreedyDecoder"
    for dtype in (numpy.float32, numpy.float64):
        x = mixed([9, 3, 4], dtype)
        for merges in (False, True):
            for blank in (-1, 0, 2, -4):
                case(op, x, i32([9, 0, 5]), merge_repeated=merges, blank_index=blank, close=1e-6)
    case(op, zeros([4, 1, 3]), i32([4]), merge_repeated=True)
    case(op, zeros([4, 0, 3]), i32([]), ours=[zeros([0, 2], numpy.int64), i64([]), i64([0, 0]), zeros([0, 1])],
         why="of no sequences the decoded ones are none")
    for shape, lengths, blank in (([4, 1, 3], [5], -1), ([4, 1, 3], [4, 4], -1), ([4, 3], [4], -1), ([0, 1, 3], [0], -1),
                                  ([4, 1, 3], [4], 3), ([4, 1, 3], [4], -4)):
        case(op, zeros(shape), i32(lengths), blank_index=blank, fails=True)


def beam_search():
    op = "CTCBeamSearchDecoder"
    rounded = {"close": 1e-5, "near": 1e-5}
    for dtype in (numpy.float32, numpy.float64):
        x = mixed([9, 3, 4], dtype, -4, 4)
        for merges in (False, True):
            for width, paths in ((1, 1), (3, 1), (5, 3), (100, 4)):
                case(op, x, i32([9, 2, 5]), beam_width=width, top_paths=paths, merge_repeated=merges, **rounded)
    peaked = 10 * numpy.eye(4, dtype=numpy.float32)[[0, 0, 3, 0, 1, 1, 2, 3]].reshape([8, 1, 4])
    case(op, peaked, i32([8]), beam_width=10, top_paths=2, merge_repeated=False, **rounded)
    case(op, peaked, i32([8]), beam_width=10, top_paths=2, merge_repeated=True, **rounded)
    case(op, mixed([30, 2, 9], low=-3, high=3), i32([30, 17]), beam_width=20, top_paths=5, merge_repeated=False, **rounded)
    case(op, zeros([4, 1, 3]), i32([0]), beam_width=2, top_paths=1, **rounded)
    for shape, lengths, width, paths in (([4, 1, 3], [5], 2, 1), ([4, 1, 3], [4, 4], 2, 1), ([4, 3], [4], 2, 1), ([0, 1, 3], [0], 2, 1),
                                         ([4, 1, 3], [4], 2, 3), ([4, 1, 3], [0], 2, 2)):
        case(op, zeros(shape), i32(lengths), beam_width=width, top_paths=paths, fails=True)
    case(op, zeros([4, 1, 3]), i32([-1]), beam_width=2, top_paths=1, ours="fails", why="a sequence cannot have -1 steps")


FAMILIES = (losses, greedy_decoding, beam_search)
