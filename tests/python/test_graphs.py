"""Graphs: ops, operators, scopes, gradients, control flow, GraphDef, errors."""
import inspect
import pathlib

import numpy as np
import pytest

import troupe


def test_ops_have_the_names_of_the_op_table():
    assert troupe.ops.matmul.__doc__.startswith("MatMul. Inputs: a: T, b: T.")
    assert callable(troupe.ops.mat_mul) and callable(troupe.ops.conv2d) and callable(troupe.ops.top_kv2)


def test_what_is_no_tensor(session):
    for value, text in ((None, "None is no value"), (2 ** 64, "fits neither int64 nor uint64"),
                        ([1, "a"], "the number 1 stands beside texts"), ([[1, 2], [3]], "inhomogeneous"),
                        ({"a": 1}, "of type dict is no number")):
        with pytest.raises(troupe.InvalidArgumentError, match=text):
            troupe.constant(value)


def test_resized_images_have_second_derivatives(session):
    for resize in (troupe.ops.resize_bilinear, troupe.ops.resize_nearest_neighbor, troupe.ops.resize_bicubic):
        x = troupe.constant(np.float32([1, 2, 3, 4]).reshape(1, 2, 2, 1))
        large = resize(x, [4, 4])
        slope, = troupe.gradients(troupe.ops.sum(large * large * large), x)
        curvature, = troupe.gradients(troupe.ops.sum(slope), x)
        # of a direction in which all elements grow alike, the derivative of the slope is that of the sum of 6 * large * d large
        expected, = troupe.gradients(troupe.ops.sum(large * large * 3.0 * resize(troupe.ops.ones_like(x), [4, 4])), x)
        np.testing.assert_allclose(session.run(curvature), session.run(expected), rtol=1e-5)


def test_an_op_by_both_of_its_names(session):
    a, b = np.ones([2, 3], np.float32), np.full([2, 4], 2, np.float32)
    product = troupe.ops.mat_mul(a, b, transpose_a=True, name="product")
    assert product.name == "product:0" and product.shape == (3, 4) and product.dtype == troupe.float32
    assert product.op.type == "MatMul" and product.op.attribute("transpose_a") is True
    np.testing.assert_array_equal(session.run(product), session.run(troupe.ops.matmul(a, b, transpose_a=True)))


def test_ops_with_several_outputs_and_lists(session):
    values, indices = session.run(troupe.ops.top_kv2([1.0, 3.0, 2.0], 2))
    assert values.tolist() == [3, 2] and indices.tolist() == [1, 2]
    parts = troupe.ops.split([[1, 2], [3, 4]], 2, axis=1)
    assert [part.tolist() for part in session.run(parts)] == [[[1], [3]], [[2], [4]]]
    assert session.run(troupe.ops.concat([[1, 2], troupe.constant([3])], 0)).tolist() == [1, 2, 3]


def message(number, data):
    """A field of a protobuf."""
    return bytes([number << 3 | 2, len(data)]) + data


def feature(name, value):
    return message(1, message(1, name) + message(2, value))


def integers(*values):
    return message(3, message(1, bytes(values)))


def test_lengths_of_lists_need_not_be_given(session):
    context = feature(b"c", integers(7, 8)) + feature(b"d", integers(5))
    example = message(1, context) + message(2, feature(b"f", message(1, integers(1)) + message(1, integers(2, 3))))
    attributes = {"context_sparse_types": ["int64"], "context_dense_shapes": [[1]], "feature_list_sparse_types": ["int64"]}
    results = troupe.ops.parse_single_sequence_example(example, [], ["c"], ["d"], ["f"], [], [np.array([0])], "", **attributes)
    assert results[0].op.attribute("Ncontext_dense") == 1 and results[0].op.attribute("Nfeature_list_dense") == 0
    expected = [[[0], [1]], [7, 8], [2], [5], [[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 2]]  # as in TensorFlow
    assert [result.tolist() for result in session.run(results)] == expected
    with pytest.raises(troupe.InvalidArgumentError, match="takes 2 tensors as 'context_sparse_keys', as its attribute Ncontext_sparse says, not 1"):
        troupe.ops.parse_single_sequence_example(example, [], ["c"], ["d"], [], [], [np.array([0])], "", Ncontext_sparse=2)
    with pytest.raises(troupe.InvalidArgumentError, match="takes 3 tensors as 'data', as its attribute N says, not 1"):
        troupe.ops.dynamic_stitch([[0], [1], [2]], [[1.0]])


def test_reductions_over_all_axes_or_some(session):
    x = troupe.placeholder("float32")
    sums = [troupe.ops.sum(x), troupe.ops.sum(x, 0), troupe.ops.sum(x, [0, 1], keep_dims=True)]
    whole, columns, kept = session.run(sums, {x: np.arange(6).reshape(2, 3)})
    assert whole == 15 and columns.tolist() == [3, 5, 7] and kept.tolist() == [[15]]


def test_operators(session):
    x = np.array([[1.0, -2.0], [3.0, 4.0]], np.float32)
    t = troupe.constant(x)
    cases = {
        "add": (t + 1, x + 1), "radd": (1 + t, 1 + x), "array": (x + t, x + x), "sub": (5 - t, 5 - x), "mul": (t * t, x * x),
        "div": (1 / t, 1 / x), "pow": (t**2, x**2), "floordiv": (t // 2, x // 2), "mod": (t % 2, x % 2), "matmul": (t @ x, x @ x),
        "rmatmul": (x @ t, x @ x), "neg": (-t, -x), "abs": (abs(t), abs(x)), "less": (t < 2, x < 2), "ge": (t >= 3.0, x >= 3),
        "and": ((t > 0) & (t < 4), (x > 0) & (x < 4)), "not": (~(t > 0), ~(x > 0)),
    }
    results = session.run({name: case[0] for name, case in cases.items()})
    for name, (_, expected) in cases.items():
        np.testing.assert_allclose(results[name], expected, err_msg=name)
    assert session.run(troupe.constant(7) / 2) == 3.5


@pytest.mark.parametrize("key", [1, -1, slice(1, 3), slice(None, None, 2), (slice(None), 1), (Ellipsis, -1), (None, 0),
                                 (0, slice(1, None), slice(None, -1)), slice(None, None, -1)])
def test_subscripts(session, key):
    x = np.arange(60).reshape(3, 4, 5)
    np.testing.assert_array_equal(session.run(troupe.constant(x)[key]), x[key])


def test_a_subscript_may_be_a_tensor(session):
    assert session.run(troupe.constant([5, 6, 7])[troupe.constant(1)]) == 6


def test_outputs_have_no_value_while_the_graph_is_built(graph):
    x = troupe.constant([1.0])
    with pytest.raises(TypeError, match="no value"):
        bool(x > 0)
    with pytest.raises(TypeError, match="iterated"):
        list(x)
    assert x == x and x != troupe.constant([1.0]) and len({x, x.op.outputs[0]}) == 1


def test_types_of_constants(graph):
    assert [troupe.constant(value).dtype.name for value in (1, 2**40, 1.0, True, "a", b"a", 1j, np.float64(1), np.arange(2))] == [
        "int32", "int64", "float32", "bool", "string", "string", "complex64", "float64", "int64"]
    assert troupe.constant(1, "float64").dtype == troupe.float64
    assert (troupe.constant(np.float64(2)) * 3).dtype == troupe.float64
    assert (troupe.constant(np.float32(2)) * np.array([3.0])).dtype == troupe.float32


@pytest.mark.parametrize("name", [np.float32, "float32", "float", float, np.dtype("float32"), troupe.float32, "f4"])
def test_names_of_types(name):
    assert troupe.as_dtype(name) == troupe.float32


@pytest.mark.parametrize("type_of_python", [int, float, bool, complex, str])
def test_names_of_types_of_python_are_the_types(type_of_python):
    assert troupe.as_dtype(type_of_python.__name__) == troupe.as_dtype(type_of_python)


def test_scopes(graph):
    with troupe.name_scope("layer"), troupe.device("/cpu:0"):
        a = troupe.constant(1.0, name="a")
        with troupe.control_dependencies([a]):
            b = troupe.ops.neg(2.0, name="b")
    assert a.name == "layer/a:0" and "CPU:0" in a.op.device.upper()
    assert b.op.control_inputs == [a.op] and troupe.constant(0).op.device == ""
    assert graph.output("layer/a") == a and graph.operation("layer/b") == b.op and "layer/a" in graph
    with pytest.raises(troupe.NotFoundError, match="layer/a"):
        graph.output("layer/x")


def test_functions_say_where_nodes_go(graph):
    asked = []

    def on_second_cpu(node):
        asked.append((node.type, node.name, node.device, len(node.inputs), node.attribute("dtype"), node.attribute("none")))
        return "/cpu:1" if node.type == "Neg" else None

    with troupe.device("/job:worker"), troupe.device(on_second_cpu):
        a = troupe.constant(1.0, name="a")
        b = troupe.ops.neg(a, name="b")
    assert a.op.device == "/job:worker" and b.op.device == "/job:worker/device:CPU:1"
    assert asked == [("Const", "a", "", 0, troupe.float32, None), ("Neg", "b", "", 1, None, None)]
    with pytest.raises(ZeroDivisionError), troupe.device(lambda node: 1 / 0):
        troupe.constant(1.0)
    with pytest.raises(TypeError, match="the device function returned 3; it must return"), troupe.device(lambda node: 3):
        troupe.constant(1.0)
    with pytest.raises(TypeError, match="a device is a name or a function, not"):
        troupe.device(3)


def test_variables_go_to_parameter_servers(graph):
    def tasks(sizes, **options):
        with troupe.device(troupe.replica_device_setter(ps_tasks=2, **options)):
            return [troupe.variable(np.zeros(size, np.float32)).op.device for size in sizes]

    assert tasks([4, 1, 1]) == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
    assert tasks([4, 1, 1], ps_strategy="by_bytes") == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:1"]
    assert tasks([4], ps_strategy=lambda node: 1, ps_device="/job:server") == ["/job:server/task:1"]
    assert tasks([4], ps_ops=["Stack"], worker_device="/job:worker/task:3") == ["/job:worker/task:3"]
    with troupe.device(troupe.replica_device_setter()):
        assert troupe.constant(1).op.device == "/job:worker"
    with pytest.raises(troupe.InvalidArgumentError, match="'in_turn', 'by_bytes' or a function"):
        tasks([4], ps_strategy="random")
    with pytest.raises(TypeError, match="the choice of parameter servers returned 'a'"):
        tasks([4], ps_strategy=lambda node: "a")
    with pytest.raises(troupe.InvalidArgumentError, match="chosen for it is 2; it must be from 0 to 1"):
        tasks([4], ps_strategy=lambda node: np.int32(2))


def test_without_a_graph_in_use_that_of_the_inputs_is_used(graph):
    with troupe.Graph() as other:
        x = troupe.placeholder("float32", [2])
    with pytest.raises(troupe.InvalidArgumentError, match="another graph"):
        troupe.ops.neg(x)
    assert (x.graph is other) and len(other) == 1


def test_no_function_takes_what_belongs_to_another_graph(graph):
    with troupe.Graph():
        for _ in range(50):
            theirs = troupe.variable(1.0)
    x, v = troupe.placeholder("float32", []), troupe.variable(2.0)
    calls = [
        lambda: troupe.cond(True, lambda: theirs, lambda: x), lambda: troupe.group(theirs), lambda: troupe.group(theirs.op),
        lambda: troupe.while_loop(lambda a: a > 0, lambda a: theirs, [x]), lambda: troupe.gradients(theirs, x),
        lambda: troupe.gradients(x, theirs), lambda: troupe.dense(theirs, x), lambda: troupe.dense(x, theirs),
        lambda: troupe.variable(theirs), lambda: troupe.nn.compute_gradients(v, [theirs]),
        lambda: troupe.nn.Sgd(0.1).apply_gradients([(theirs, v)]), lambda: troupe.nn.Sgd(0.1).apply_gradients([(v, theirs)]),
        lambda: troupe.nn.Sgd(lambda step: theirs).minimize(v), lambda: troupe.nn.Network().dense(theirs, 3),
        lambda: troupe.nn.save_variables("x", [theirs]), lambda: troupe.map_fn(lambda row: theirs, [1.0]),
        lambda: troupe.colocate_with(theirs), lambda: troupe.control_dependencies([theirs]), lambda: x + theirs,
    ]
    for i, call in enumerate(calls):
        with pytest.raises(troupe.InvalidArgumentError, match="another graph"):
            call()
            pytest.fail(f"call {i}")


def test_no_graph():
    with pytest.raises(RuntimeError, match="no graph in use"):
        troupe.constant(1)
    with troupe.Graph():
        x = troupe.constant(1)
    assert (x + 1).graph is x.graph


def test_gradients(session):
    x = troupe.placeholder("float32", [3])
    unused = troupe.constant([1.0])
    slope, none = troupe.gradients(troupe.ops.sum(x**3), [x, unused])
    assert none is None
    np.testing.assert_allclose(session.run(slope, {x: [1, 2, 3]}), [3, 12, 27])
    (weighted,) = troupe.gradients([x**2], x, grad_ys=[np.array([1, 0, 2], np.float32)])
    np.testing.assert_allclose(session.run(weighted, {x: [1, 2, 3]}), [2, 0, 12])
    with pytest.raises(troupe.InvalidArgumentError, match="1 ys, but 2 grad_ys"):
        troupe.gradients([x], x, grad_ys=[None, None])


def test_gradients_that_are_rows(session):
    table = troupe.constant(np.ones([4, 2], np.float32))
    (rows,) = troupe.gradients(troupe.ops.gather(table, [1, 1, 3]), table)
    assert isinstance(rows, tuple)
    assert session.run(troupe.dense(rows, table)).tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_conditionals_and_loops(session):
    x = troupe.placeholder("int32", [])
    y = troupe.cond(x > 0, lambda: x * 2, lambda: -1)
    pair = troupe.cond(x > 0, lambda: [x, x + 1], lambda: [x, x])
    assert session.run([y, pair], {x: 5}) == [10, [5, 6]]
    assert session.run([y, pair], {x: -5}) == [-1, [-5, -5]]
    i, total = troupe.while_loop(lambda i, total: i < x, lambda i, total: (i + 1, total + i), [0, 0])
    assert session.run([i, total], {x: 10}) == [10, 45]


def test_gradients_beside_a_mistaken_node(graph):
    inside = []
    x = troupe.placeholder("float32", [])
    y = troupe.while_loop(lambda y: y < 10.0, lambda y: inside.append(y) or y * 2.0, [x])
    mistake = inside[0] + x  # a tensor of the loop's body, used outside it
    (slope,) = troupe.gradients(y, x)
    with troupe.Session(graph) as session:
        assert session.run(slope, {x: 3.0}) == 4
    with pytest.raises(troupe.InvalidArgumentError, match="inputs from different frames"):
        troupe.gradients(mistake, x)


def test_maps_folds_and_scans(session):
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    rows = troupe.constant(x)
    squares = troupe.map_fn(lambda row: row * row, rows)
    pair = troupe.map_fn(lambda slices: [slices[0] + slices[1], slices[0]], [rows, rows])
    left = troupe.foldl(lambda total, row: total * 2.0 + row, rows, [0.0, 0.0])
    right = troupe.foldr(lambda total, row: total * 2.0 + row, rows, np.zeros(2, np.float32))
    sums = troupe.scan(lambda total, row: total + row, rows, np.zeros(2, np.float32))
    backwards = troupe.scan(lambda total, row: total + row, rows, np.zeros(2, np.float32), reverse=True)
    results = session.run([squares, pair, left, right, sums, backwards])
    np.testing.assert_array_equal(results[0], x * x)
    np.testing.assert_array_equal(results[1][0], x * 2)
    np.testing.assert_array_equal(results[2], x[0] * 4 + x[1] * 2 + x[2])
    np.testing.assert_array_equal(results[3], x[2] * 4 + x[1] * 2 + x[0])
    np.testing.assert_array_equal(results[4], np.cumsum(x, 0))
    np.testing.assert_array_equal(results[5], np.cumsum(x[::-1], 0)[::-1])
    assert session.run(troupe.gradients(sums, rows))[0].tolist() == [[3, 3], [2, 2], [1, 1]]


def test_cases(session):
    x = troupe.placeholder("int32", [])
    size = troupe.case([(x < 10, lambda: "small"), (x < 100, lambda: "large")], lambda: "huge")
    name = troupe.switch_case(x, [lambda: 10, lambda: 11, lambda: 12])
    assert [session.run([size, name], {x: value}) for value in (0, 1, 50, 500)] == [
        [b"small", 10], [b"small", 11], [b"large", 12], [b"huge", 12]]


def test_the_exception_of_a_branch_is_that_of_the_caller(graph):
    def fail():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        troupe.cond(True, fail, lambda: 1)


def test_graph_def(session, graph):
    x = troupe.placeholder("float32", [None], name="x")
    troupe.ops.sum(x * x, name="energy")
    copy = troupe.Graph.from_graph_def(graph.graph_def())
    assert len(copy) == len(graph)
    with troupe.Session(copy) as other:
        assert other.run("energy:0", {"x:0": [1, 2, 3]}) == 14
    with pytest.raises(troupe.InvalidArgumentError, match="are not a GraphDef, neither a binary one nor one in text form"):
        troupe.Graph.from_graph_def(b"\xff\xff\xff")
    with pytest.raises(troupe.InvalidArgumentError, match="neither a binary GraphDef nor one in text form, which fails at line 1, column"):
        troupe.Graph.from_graph_def(b"garbage")


def test_meta_graphs(session, graph):
    w = troupe.variable([1.0, 2.0], "w")
    troupe.variable(0.0, "steps", trainable=False)
    loss = troupe.ops.sum(w * w, name="loss")
    troupe.input_queues.string_input_producer(["a", "b"], num_epochs=1, shuffle=False, name="words")
    for copy in (troupe.Graph.from_meta_graph(graph.meta_graph()), troupe.Graph.from_graph_def(graph.graph_def())):
        with copy, troupe.Session(copy) as other:
            names = [variable.op.name for variable in troupe.variables()]
            assert names == ["w", "steps"]
            found, = troupe.trainable_variables()
            gradient, = troupe.gradients(copy.output("loss:0"), [found])
            word = troupe.ops.queue_dequeue_v2(copy.output("words:0"), component_types=["string"])[0]
            other.run(troupe.initializer())
            assert other.run(gradient).tolist() == [2, 4]
            other.start_queue_runners()
            assert [other.run(word), other.run(word)] == [b"a", b"b"]
            with pytest.raises(troupe.OutOfRangeError):
                other.run(word)
            other.stop_queue_runners()
    with pytest.raises(troupe.InvalidArgumentError, match="are not a MetaGraphDef, neither a binary one nor one in text form"):
        troupe.Graph.from_meta_graph(b"\xff\xff\xff")
    with pytest.raises(troupe.InvalidArgumentError, match="neither a binary MetaGraphDef nor one in text form, which fails at line 1, column"):
        troupe.Graph.from_meta_graph(b"garbage")


def test_a_meta_graph_of_tensorflow():
    """The file was written by TensorFlow's Saver (tests/golden/make_graphs.py)."""
    data = (pathlib.Path(__file__).parent.parent / "golden" / "graphs" / "training_resource.meta").read_bytes()
    graph = troupe.Graph.from_meta_graph(data)
    with graph, troupe.Session(graph) as session:
        session.run(troupe.initializer())
        feeds = {"x:0": np.ones([3, 4], np.float32), "y:0": [0, 1, 1]}
        losses = [session.run(["loss:0", "step"], feeds)[0] for _ in range(50)]
        assert losses[-1] == pytest.approx(3 * np.log(3) - 2 * np.log(2), abs=0.01)  # of three equal rows two have label 1
        gradients = troupe.gradients(graph.output("loss:0"), troupe.trainable_variables()[:2])
        assert all(gradient is not None for gradient in gradients)


def test_mistakes_name_op_and_argument(graph):
    with pytest.raises(troupe.InvalidArgumentError, match="MatMul"):
        troupe.ops.matmul(np.ones([2, 3], np.float32), np.ones([2, 3], np.float32))
    with pytest.raises(troupe.InvalidArgumentError, match="'b'"):
        troupe.ops.matmul(np.ones([2, 3], np.float32), "text")
    with pytest.raises(troupe.InvalidArgumentError, match="transpose_a"):
        troupe.ops.mat_mul([[1.0]], [[1.0]], transpose_a="yes")
    with pytest.raises(TypeError):
        troupe.ops.matmul([[1.0]], [[1.0]], transpose_c=True)
    with pytest.raises(troupe.InvalidArgumentError, match="no type"):
        troupe.placeholder(object())


@pytest.mark.parametrize("code", range(1, 16))
def test_each_code_has_an_exception(code):
    with pytest.raises(troupe.Error) as caught:
        troupe._troupe.fail_with(code, "what is wrong")
    assert caught.value.code == code and caught.value.text == "what is wrong"
    assert type(caught.value) is not troupe.Error


JUNK = [None, -1, 2**70, 1.5, "text", b"\xff", [], [[1, 2], [3]], {}, object(), np.zeros([0, 3], np.float32), np.array(["a"]), [1, "a"],
        troupe.float32, float("nan"), (None, -5), [np.nan] * 3]


def test_no_value_breaks_an_op_function(graph):
    """Every function takes what does not fit as a mistake; what fits by chance makes a graph."""
    tensor = troupe.placeholder("float32", [2, None])
    functions = [f for name, f in vars(troupe.ops).items() if inspect.isfunction(f) and f.__module__ == "troupe.ops"]
    assert len(functions) > 850
    failures = 0
    for i, function in enumerate(functions):
        names = [name for name in inspect.signature(function).parameters if name != "name"]
        for j in range(6):
            values = [tensor if (i + j + k) % 3 == 0 else JUNK[(7 * i + 5 * j + 3 * k) % len(JUNK)] for k in range(len(names))]
            try:
                function(**dict(zip(names, values)))
            except (troupe.Error, TypeError, ValueError, OverflowError):
                failures += 1
    assert failures > len(functions)


# ---- Mistakes that must not pass


def test_integers_that_do_not_fit_are_refused(session):
    for build in (
        lambda: troupe.ops.reshape([1.0, 2.0], [2**32 + 2]),
        lambda: troupe.constant(1) < 2**33,
        lambda: troupe.constant([300], "uint8"),
        lambda: troupe.constant([-1], "uint8"),
        lambda: troupe.constant(np.array([2**40]), "int32"),
    ):
        with pytest.raises(troupe.InvalidArgumentError, match="the integer -?[0-9]+ does not fit in u?int"):
            build()
    x = troupe.placeholder("int8", [None])
    with pytest.raises(troupe.InvalidArgumentError, match="the integer 200 does not fit in int8"):
        session.run(x, {x: [1, 200]})
    assert session.run(x, {x: [1, -128]}).tolist() == [1, -128]
    assert session.run(troupe.constant([3, 255], "uint8") - 3).tolist() == [0, 252]


def test_subscripts_that_are_no_positions_are_refused(session):
    x = troupe.constant([1, 2, 3])
    for key in (0.5, True, [0, 1], "a", np.array([True, False, True])):
        with pytest.raises(TypeError, match="a subscript must be an integer"):
            x[key]
    assert session.run(x[np.int64(1)]) == session.run(x[troupe.constant(1)]) == 2


def test_none_where_something_is_needed(graph, tmp_path):
    with pytest.raises(TypeError):
        troupe.Session(None)
    with pytest.raises(TypeError):
        troupe.EventWriter(str(tmp_path)).add_graph(None)
    with pytest.raises(troupe.InvalidArgumentError, match="returned None"):
        troupe.cond(True, lambda: None, lambda: troupe.constant(1))
    operation = troupe.group()
    with troupe.Session(graph) as session, pytest.raises(troupe.InvalidArgumentError, match="a feed is node 'NoOp'"):
        session.run([], {operation: 1})


def test_text_that_is_not_utf8_is_an_error_of_troupe():
    with pytest.raises(troupe.InvalidArgumentError, match="a \ufffd b"):
        troupe._troupe.fail_with(3, b"a \xff b")


def test_an_empty_list_of_sizes(session):
    assert session.run(troupe.ops.random_uniform([], dtype="float32")).shape == ()


def test_variables_that_are_resources_are_saved_and_restored(tmp_path):
    meta = pathlib.Path(__file__).parent.parent / "golden" / "graphs" / "training_resource.meta"
    with troupe.Graph.from_meta_graph(meta.read_bytes()) as graph:
        path = str(tmp_path / "model")
        save, restore = troupe.nn.save_variables(path), troupe.nn.restore_variables(path)
        values = [troupe.ops.read_variable_op(v, dtype=v.op.attribute("dtype")) for v in troupe.variables(graph)]
        with troupe.Session(graph) as session:
            session.run(troupe.initializer())
            saved = session.run(values)
            session.run(save)
        with troupe.Session(graph) as session:  # its variables have no values
            session.run(restore)
            restored = session.run(values)
    assert len(saved) > 4
    for old, new in zip(saved, restored):
        np.testing.assert_array_equal(old, new)
