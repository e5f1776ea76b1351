"""Lists of outputs that become one tensor, and structures of several tensors: in loops, conditionals, maps, folds and scans."""
import collections

import numpy as np
import pytest

import troupe

State = collections.namedtuple("State", "c h")
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


# ---- Structures


def test_a_list_of_arrays_is_several_tensors(session):
    fours = np.arange(4, dtype=np.float32)
    assert session.run(troupe.map_fn(lambda e: e[0] * e[1], [fours, fours])).tolist() == [0, 1, 4, 9]
    assert session.run(troupe.map_fn(lambda e: e[0] * e[1], (fours, [1.0, 2.0, 3.0, 4.0]))).tolist() == [0, 2, 6, 12]
    sums = troupe.scan(lambda s, e: [s[0] + e, s[1] * e], fours, [np.zeros([], np.float32), np.ones([], np.float32)])
    assert [values.tolist() for values in session.run(sums)] == [[0, 1, 3, 6], [0, 0, 0, 0]]


def test_a_list_of_numbers_is_one_tensor(session):
    assert session.run(troupe.map_fn(lambda e: e * 2, [1, 2, 3])).tolist() == [2, 4, 6]
    assert session.run(troupe.map_fn(lambda e: e * 2, [[1, 2], (3, 4)])).tolist() == [[2, 4], [6, 8]]
    assert session.run(troupe.foldl(lambda s, e: s + e, [[1, 2], [3, 4]], [0, 0])).tolist() == [4, 6]


def test_variables_of_loops_are_structures(session, x):
    states = []

    def body(i, state):
        states.append(state)
        return i + 1, State(state.c + 1, [state.h[0] * 2.0])

    i, state = troupe.while_loop(lambda i, state: i < 5, body, [0, State(0, [x])], shape_invariants=[[], State([], [[None, 3]])])
    assert session.run([i, state.c]) == [5, 5] and isinstance(states[0], State) and isinstance(state.h, list)
    np.testing.assert_array_equal(session.run(state.h[0], {x: ROWS}), ROWS * 32)
    (only,) = troupe.while_loop(lambda d: d["a"] < 3, lambda d: {"a": d["a"] + 1, "b": d["b"] * 2}, [{"b": 1, "a": 0}])
    assert session.run(only) == {"a": 3, "b": 8} and list(only) == ["b", "a"]
    pair = troupe.while_loop(lambda c, h: c < 3, lambda c, h: State(c + 1, h * 2), State(0, 1))
    assert session.run(pair) == State(3, 8)


def test_branches_return_structures(session, x, rows):
    either = troupe.cond(rows > 1, lambda: {"a": x, "b": [rows, 1]}, lambda: {"b": (3, 4), "a": x * 2.0})
    assert session.run(either["b"], {x: ROWS}) == [2, 1] and session.run(either["b"], {x: ROWS[:1]}) == [3, 4]
    np.testing.assert_array_equal(session.run(either["a"], {x: ROWS[:1]}), ROWS[:1] * 2)
    chosen = troupe.switch_case(rows, [lambda: State(0, (1,)), lambda: State(10, (11,))])
    assert session.run(chosen, {x: ROWS}) == State(10, (11,))
    small = troupe.case([(rows < 2, lambda: State(0, 1))], lambda: State(rows, 2))
    assert session.run(small, {x: ROWS}) == State(2, 2)


def test_elements_and_state_are_structures(session, x):
    mapped = troupe.map_fn(lambda e: {"sum": e["a"] + e["b"][0], "a": e["a"]}, {"a": x, "b": (x,)})
    np.testing.assert_array_equal(session.run(mapped["sum"], {x: ROWS}), ROWS * 2)
    scanned = troupe.scan(lambda s, e: State(s.c + e[0], {"n": s.h["n"] + 1}), (x, x), State([0.0, 0.0, 0.0], {"n": 0}))
    values = session.run(scanned, {x: ROWS})
    np.testing.assert_array_equal(values.c, np.cumsum(ROWS, 0))
    assert values.h["n"].tolist() == [1, 2]
    for fold in (troupe.foldl, troupe.foldr):
        total, steps = fold(lambda s, e: (s[0] + e, s[1] + 1), x, ([0.0, 0.0, 0.0], np.array(0)))
        np.testing.assert_array_equal(session.run(total, {x: ROWS}), ROWS.sum(0))
        assert session.run(steps, {x: ROWS}) == 2


def test_structures_that_do_not_fit(graph, x, rows):
    def loop(body, variables, **options):
        return lambda: troupe.while_loop(lambda *values: True, body, variables, **options)

    for build, text in (
        (loop(lambda i, s: (i, (s.c, s.h)), [0, State(0, x)]),
         r"results of body .* loop_vars, \[tensor, State\(c=tensor, h=tensor\)\], but they are \[tensor, \(tensor, tensor\)\]"),
        (loop(lambda i: (i, i), [0]), r"loop_vars, \[tensor\], but they are \[tensor, tensor\]"),
        (loop(lambda i: i, [0], shape_invariants=[[], []]), r"shape_invariants .* loop_vars, \[tensor\], but they are \[\[\], \[\]\]"),
        (lambda: troupe.cond(rows > 1, lambda: {"a": x}, lambda: {"b": x}),
         r"results of otherwise .* those of then, \[\{'a': tensor\}\], but they are \[\{'b': tensor\}\]"),
        (lambda: troupe.cond(rows > 1, lambda: x, lambda: [x, x]), r"then, \[tensor\], but they are \[tensor, tensor\]"),
        (lambda: troupe.switch_case(rows, [lambda: x, lambda: (x, x)]), r"function 1 .* function 0, \[tensor\]"),
        (lambda: troupe.case([(rows > 1, lambda: x)], lambda: State(x, x)), r"default .* function 0, .* \[State\(c=tensor, h=tensor\)\]"),
        (lambda: troupe.foldl(lambda s, e: (s, e), x, np.zeros(3)), r"function .* initial, tensor, but they are \[tensor, tensor\]"),
        (lambda: troupe.scan(lambda s, e: s["a"], x, {"a": np.zeros(3)}), r"initial, \{'a': tensor\}, but they are tensor"),
    ):
        with pytest.raises(troupe.InvalidArgumentError, match=text):
            build()
    with pytest.raises(TypeError, match="put it in a list"):
        loop(lambda d: d, {"a": 0})()
    with pytest.raises(TypeError, match=r"must have an order, but they are \[1, 'b'\]"):
        troupe.map_fn(lambda e: e[1], {1: x, "b": x})
