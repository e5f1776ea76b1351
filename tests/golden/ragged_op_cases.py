"""More calls of single ops: on ragged tensors; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import case
from reference import f32, i32, i64, mixed, ramp, text, tf, zeros

OUTER, INNER = i64([0, 2, 2, 4]), i64([0, 3, 3, 5, 9])


def ranges():
    op = "RaggedRange"
    for dtype in (numpy.int32, numpy.int64, numpy.float32, numpy.float64):
        array = lambda values: numpy.array(values, dtype=dtype)
        case(op, array([0, 5, 8, 3]), array([8, 8, 8, 4]), array(2))
        case(op, array([0, 5, 8]), array(6), array([1, 2, -1]), Tsplits=tf.int32)
        case(op, array(3), array(9), array(2))
        case(op, array([]), array([]), array(1))
        case(op, array([1, 2]), array([3, 4]), array([1, 0]), fails=True)
    case(op, f32([0, 1]), f32([1, -1]), f32([0.3, -0.3]))
    case(op, i32([1, 2]), i32([3, 4, 5]), i32(1), fails=True)
    case(op, i32([[1, 2]]), i32(5), i32(1), fails=True)


def gathering():
    op = "RaggedGather"
    for values in (mixed([9]), mixed([9, 2]), ramp([9], numpy.int8), text(list("abcdefghi")), numpy.arange(9) > 4):
        case(op, [OUTER, INNER], values, i32([2, 0, 1, 2]), OUTPUT_RAGGED_RANK=2)
    case(op, [OUTER], mixed([4]), i64([2, 0, 1, 2]), OUTPUT_RAGGED_RANK=1)
    case(op, [OUTER.astype(numpy.int32)], mixed([4]), i32([2, 0]), OUTPUT_RAGGED_RANK=1)
    case(op, [OUTER], mixed([4]), i64(2), OUTPUT_RAGGED_RANK=0)
    case(op, [OUTER, INNER], mixed([9]), i64(2), OUTPUT_RAGGED_RANK=1)
    case(op, [OUTER, INNER], mixed([9]), i64([[2, 0], [1, 1]]), OUTPUT_RAGGED_RANK=3)
    case(op, [OUTER], mixed([4]), i64(numpy.zeros([2, 0])), OUTPUT_RAGGED_RANK=2)
    case(op, [i64([1, 2, 4])], mixed([7]), i64([1, 1]), OUTPUT_RAGGED_RANK=1)
    for splits in ([0, 2, 5], [-1, 2, 4], [0, 3, 2], []):
        case(op, [i64(splits)], mixed([4]), i64([0]), OUTPUT_RAGGED_RANK=1, fails=True)
    for indices in ([3], [-1]):
        case(op, [OUTER], mixed([4]), i64(indices), OUTPUT_RAGGED_RANK=1, fails=True)


def to_others():
    op = "RaggedTensorToSparse"
    for values in (mixed([9]), mixed([9, 2]), text(list("abcdefghi")), ramp([9, 1, 2], numpy.int32)):
        case(op, [OUTER, INNER], values)
    case(op, [OUTER.astype(numpy.int32)], mixed([4]))
    case(op, [i64([0])], mixed([0]))
    case(op, [i64([0, 0, 4])], zeros([4, 0]))
    for splits in ([0, 2, 5], [1, 2, 4], [0, 3, 2, 4], []):
        case(op, [i64(splits)], mixed([4]), fails=True)
    op, rows = "RaggedTensorToTensor", [i64(4), i64([0, 0, 0, 2, 2, 2, 2, 3, 3])]
    for shape, (values, default) in itertools.product((i64([-1, -1, -1]), i64([2, 1, 3]), i32([5, 4, 4]), i32([-1, 3, -1])), (
            (mixed([9]), f32(9)), (ramp([9], numpy.int32), i32(-1)), (text(list("abcdefghi")), text("-")))):
        case(op, shape, values, default, [OUTER, INNER], row_partition_types=["ROW_SPLITS", "ROW_SPLITS"])
    for shape, default in itertools.product((i64([-1, -1, -1]), i64([3, 5, 2])), (f32(7), f32([7, 8]))):
        case(op, shape, mixed([9, 2]), default, rows, row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"])
    three = [i32(3), i32([0, 0, 2]), i32([0, 0, 0, 0, 1, 1, 2, 2, 2])]
    case(op, i64([-1, -1, -1]), mixed([9]), f32(0), three, row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS", "VALUE_ROWIDS"])
    case(op, i64([3, 2]), mixed([0]), f32(1), [i64([0, 0])], row_partition_types=["ROW_SPLITS"])
    case(op, i64([2]), mixed([4]), f32(1), [OUTER], row_partition_types=["ROW_SPLITS"], fails=True)
    case(op, i64(3), mixed([4]), f32(1), [OUTER], row_partition_types=["ROW_SPLITS"], fails=True)
    case(op, i64([-1, -1, 2]), mixed([4, 2]), f32([1, 2, 3]), [OUTER], row_partition_types=["ROW_SPLITS"], fails=True)
    case(op, i64([-1, -1]), mixed([1]), f32(1), [i64(2), i64([2])], row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"], fails=True)


def counts():
    splits, values, indices, shape = i64([0, 2, 2, 5]), [3, 0, 2, 2, 7], i64([[0, 1], [0, 3], [2, 0], [2, 1], [2, 4]]), i64([3, 5])
    for number, weight in itertools.product((numpy.int32, numpy.int64), (numpy.int32, numpy.int64, numpy.float32, numpy.float64)):
        numbers, none, some = numpy.array(values, dtype=number), zeros([0], weight), ramp([5], weight)
        size = numpy.array(4, dtype=number)
        for weights, binary in ((none, False), (some, False), (none, True)):
            case("RaggedBincount", splits, numbers, size, weights, binary_output=binary)
            case("SparseBincount", indices, numbers, shape, size, weights, binary_output=binary)
            case("SparseBincount", indices[:, :1] * 2 + indices[:, 1:], numbers, i64([9]), size, weights, binary_output=binary)
            for lengths in (dict(), dict(minlength=10), dict(maxlength=3), dict(minlength=2, maxlength=9), dict(maxlength=0)):
                if lengths and number == numpy.int64:
                    continue
                case("DenseCountSparseOutput", numbers, weights, binary_output=binary, **lengths)
                case("DenseCountSparseOutput", numbers.reshape(1, 5), weights.reshape(1, -1) if weights.size else weights, binary_output=binary, **lengths)
                case("RaggedCountSparseOutput", splits, numbers, weights, binary_output=binary, **lengths)
                case("SparseCountSparseOutput", indices, numbers, shape, weights, binary_output=binary, **lengths)
    case("DenseCountSparseOutput", i32([[1, -2], [1, 1]]), zeros([0]), binary_output=False, fails=True)
    case("DenseCountSparseOutput", i32([]), zeros([0]), binary_output=False)
    case("RaggedCountSparseOutput", i64([0]), i32([]), zeros([0]), binary_output=False,
         ours=[zeros([0, 2], numpy.int64), zeros([0]), i64([0, 1])], why="a ragged matrix may have no rows")
    case("RaggedCountSparseOutput", i64([0, 4, 3, 5]), i32(values), zeros([0]), binary_output=False, ours="fails", why="splits ascend")
    for bad in ([0, 2], [1, 2, 5], []):
        case("RaggedCountSparseOutput", i64(bad), i32(values), zeros([0]), binary_output=False, fails=True)
    for bad in ([0, 2], [1, 2, 5]):
        case("RaggedBincount", i64(bad), i32(values), i32(4), zeros([0]), fails=True)
    case("RaggedBincount", splits, i32([3, 0, -2, 2, 7]), i32(4), zeros([0]), fails=True)
    case("RaggedBincount", splits, i32(values), i32(-4), zeros([0]), fails=True)
    case("SparseBincount", indices, i32([3, 0, -2, 2, 7]), shape, i32(4), zeros([0]), ours="fails",
         why="a negative number is refused, as it is in a vector")
    case("SparseBincount", indices, i32(values), i64([2, 5]), i32(4), zeros([0]), fails=True)
    case("SparseCountSparseOutput", indices, i32(values), i64([2, 5]), zeros([0]), binary_output=False, fails=True)
    case("DenseCountSparseOutput", i32(values), zeros([4]), binary_output=False, fails=True)


FAMILIES = (ranges, gathering, to_others, counts)
