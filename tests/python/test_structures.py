"""Lists of outputs that become one tensor."""
import numpy as np
import pytest

import troupe

ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def x(graph):
    return troupe.placeholder("float32", [None, 3], name="x")


@pytest.fixture
def rows(x):
    """How many rows x has, 2."""
    return troupe.ops.shape(x)[0]


# ---- Lists with outputs where one tensor is taken


@pytest.mark.parametrize("build, expected", [
    (lambda x, b: troupe.ops.reshape(x, [b, -1, 1]), ROWS.reshape(2, 3, 1)),
    (lambda x, b: troupe.ops.slice(x, [0, 1], (b, 1)), ROWS[:, 1:2]),
    (lambda x, b: troupe.ops.concat([[b], [4]], 0), [2, 4]),
    (lambda x, b: troupe.ops.fill([b, 3], 7.0), np.full([2, 3], 7)),
    (lambda x, b: troupe.ops.tile(x, [1, b]), np.tile(ROWS, [1, 2])),
    (lambda x, b: troupe.ops.gather(x, [b - 1, 0]), ROWS[[1, 0]]),
    (lambda x, b: troupe.ops.add([b, 1], [1, 2]), [3, 3]),
    (lambda x, b: troupe.ops.sum([b, 3]), 5),
    (lambda x, b: troupe.ops.stack([b, np.int64(5)]), [2, 5]),
    (lambda x, b: troupe.constant([[b, 4], [1, 2]]), [[2, 4], [1, 2]]),
    (lambda x, b: troupe.constant([(b, 4), [b, b]]), [[2, 4], [2, 2]]),
    (lambda x, b: x @ [[x[0, 1]], [1.0], [2.0]], [[5], [17]]),
    (lambda x, b: x * [x[0, 1], 1.0, 2.0], ROWS * [1, 1, 2]),
    (lambda x, b: troupe.gradients(x, x, [[[1.0, 2.0, 3.0], [x[0, 0], x[0, 1], 4.0]]])[0], [[1, 2, 3], [0, 1, 4]]),
    (lambda x, b: troupe.nn.mean_squared_error([x[0, 0], x[0, 1]], [1.0, 1.0]), 0.5),
    (lambda x, b: troupe.py_function(np.sum, [[b, 3]], "int32"), 5),
])
def test_a_list_with_outputs_is_stacked(session, x, rows, build, expected):
    np.testing.assert_allclose(session.run(build(x, rows), {x: ROWS}), expected)


def test_the_type_of_a_stacked_list_is_that_of_its_outputs(graph):
    long = troupe.constant(3, "int64")
    assert troupe.constant([1, long]).dtype == troupe.int64
    assert troupe.ops.reshape(np.zeros(3), [long]).op.inputs[1].dtype == troupe.int64
    assert troupe.constant([long, 4], name="sizes").name == "sizes:0"


def test_what_cannot_be_stacked(session, x, rows):
    endless = [rows]
    endless.append(endless)
    for build, text in ((lambda: troupe.ops.reshape(x, [rows, 1.5]), "troupe.ops.stack: elements of type float64 do not become"),
                        (lambda: troupe.constant([rows, troupe.ops.cast(rows, "int64")]), "troupe.ops.stack: .*int64, expected int32"),
                        (lambda: troupe.constant([rows, None]), "troupe.ops.stack: .* not a value of type NoneType"),
                        (lambda: troupe.constant([rows, 4], "int64"), "int32 is given, but .* int64 are needed: .*troupe.ops.cast"),
                        (lambda: troupe.ops.reshape(x, [troupe.ops.cast(rows, "float32")]), "Tshape is float"),
                        (lambda: troupe.ops.stack([rows, [rows, rows]]), "differ in rank")):
        with pytest.raises(troupe.InvalidArgumentError, match=text):
            build()
    with pytest.raises(RecursionError):
        troupe.constant(endless)


def test_a_layer_takes_no_list_of_outputs(graph, x):
    with pytest.raises(troupe.InvalidArgumentError, match="a layer takes one tensor, not a list with outputs: .* troupe.ops.stack"):
        troupe.nn.Network().dense([x], 3)
    assert troupe.nn.Network().dense([[1.0, 2.0]], 3).shape == (1, 3)


def test_an_output_is_no_array(session, x):
    for make in (lambda: np.array(x), lambda: np.asarray([x, x]), lambda: session.run(x, {x: x})):
        with pytest.raises(TypeError, match="'x:0' .* fetch it by session.run"):
            make()
    for value, of_type in ((None, "NoneType"), ([[1, 2, None]], "NoneType"), ({}, "dict"), ([["a", None, 1.0]], "str")):
        with pytest.raises(troupe.InvalidArgumentError, match=f"feed of x:0: .* not a value of type {of_type}: .* numbers, arrays"):
            session.run(x, {x: value})
