"""Arrays in and out: types, layouts, scalars, strings, and that bytes are not copied."""
import gc
import weakref

import numpy as np
import pytest

import troupe

PLAIN = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "complex64",
         "complex128"]


def identity(session, dtype, value, shape=None):
    x = troupe.placeholder(dtype, shape)
    return session.run(troupe.ops.identity(x), {x: value})


@pytest.mark.parametrize("dtype", PLAIN)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (40, 50), (2, 0, 3)])
def test_all_types_and_shapes(session, dtype, shape):
    value = (np.random.default_rng(1).random(shape) * 100).astype(dtype)
    result = identity(session, dtype, value)
    assert result.dtype == value.dtype and result.shape == value.shape
    np.testing.assert_array_equal(result, value)


def test_bfloat16_is_that_of_ml_dtypes(session):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    value = np.arange(1000, dtype=np.float32).astype(ml_dtypes.bfloat16)
    result = identity(session, "bfloat16", value)
    assert result.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(result, value)
    bits = identity(session, "bfloat16", value.view(np.uint16))
    np.testing.assert_array_equal(bits, value)


def test_quantized_types_are_the_integers_that_store_them(session):
    np.testing.assert_array_equal(identity(session, "qint8", np.array([1, -2], np.int8)), np.array([1, -2], np.int8))


def test_scalars_are_numpy_scalars(session):
    result = identity(session, "float32", 1.5)
    assert isinstance(result, np.float32) and result == 1.5


@pytest.mark.parametrize("value", [["a", "bc"], [b"a", b"bc"], np.array(["a", "bc"]), np.array([b"a", b"bc"]),
                                   np.array(["a", b"bc"], dtype=object)])
def test_strings(session, value):
    result = identity(session, "string", value)
    assert result.dtype == object and result.tolist() == [b"a", b"bc"]


def test_strings_keep_every_byte(session):
    assert identity(session, "string", b"a\0b\xff\0") == b"a\0b\xff\0"
    assert identity(session, "string", "\u00e9").decode() == "\u00e9"
    assert identity(session, "string", np.array([[b"x\0", b""]], dtype=object)).tolist() == [[b"x\0", b""]]


@pytest.mark.parametrize("value", [np.arange(20000.0).reshape(100, 200).T, np.arange(20000.0)[::2], np.arange(1000, dtype=">f8"),
                                   np.frombuffer(b"\0" + np.arange(1000.0).tobytes(), np.uint8)[1:].view(np.float64)])
def test_arrays_of_other_layouts_are_copied(session, value):
    np.testing.assert_array_equal(identity(session, "float64", value), value)


def test_values_become_the_type_of_the_placeholder(session):
    assert identity(session, "float32", np.arange(300.0)).dtype == np.float32
    assert identity(session, "float32", [1, 2]).dtype == np.float32
    assert identity(session, "int32", np.arange(300)).dtype == np.int32
    for value in ([1.5], np.array([1.5] * 300), "text", np.array([1 + 2j])):
        with pytest.raises(troupe.InvalidArgumentError, match="the feed of Placeholder"):
            identity(session, "int32", value)


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool", "string", "float64"])
def test_an_empty_list_has_the_type_of_the_placeholder(session, dtype):
    x = troupe.placeholder(dtype, [None, None])
    assert session.run(troupe.ops.identity(x), {x: [[], []]}).shape == (2, 0)
    assert session.run(troupe.ops.shape(troupe.constant([], dtype=dtype))).tolist() == [0]


def test_a_tensor_refers_to_the_bytes_of_its_array():
    array = np.arange(100000, dtype=np.float32)
    seen = weakref.ref(array)
    tensor = troupe.Tensor(array)
    array[7] = -1
    del array
    gc.collect()
    assert seen() is not None  # the tensor keeps it alive
    assert tensor.numpy()[7] == -1
    assert (tensor.dtype, tensor.shape) == (troupe.float32, (100000,))
    del tensor
    gc.collect()
    assert seen() is None


def test_a_copied_tensor_does_not():
    array = np.arange(100000, dtype=np.float32)
    tensor = troupe.Tensor(array, copy=True)
    array[7] = -1
    assert tensor.numpy()[7] == 7


def test_results_refer_to_the_bytes_of_tensors(session):
    x = troupe.placeholder("float32", [None])
    result = session.run(x * 2.0, {x: np.arange(100000, dtype=np.float32)})
    assert not result.flags.owndata and result.flags.writeable and result.flags.aligned
    result += 1
    np.testing.assert_array_equal(result, np.arange(100000, dtype=np.float32) * 2 + 1)


def test_results_that_others_share_are_read_only(graph):
    v = troupe.variable(np.zeros(10000, np.float32))
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        before = session.run(v)
        assert not before.flags.writeable
        session.run(troupe.ops.assign_add(v, np.ones(10000, np.float32)))
        assert before[0] == 0 and session.run(v)[0] == 1


def test_results_outlive_session_and_runtime():
    graph = troupe.Graph(troupe.Runtime(threads=1))
    with graph:
        y = troupe.ops.range(0, 100000) * 2
    session = troupe.Session(graph)
    result = session.run(y)
    session.close()
    del session, graph, y
    gc.collect()
    np.testing.assert_array_equal(result, np.arange(100000) * 2)


def test_a_fed_array_can_be_changed_after_the_step(graph):
    """Neither a result nor a variable refers to the memory of an array that was fed."""
    x = troupe.placeholder("float32", [10000])
    v = troupe.variable(np.zeros(10000, np.float32))
    same, stored = troupe.ops.identity(x), troupe.assign(v, x)
    more = troupe.ops.assign_add(v, np.ones(10000, np.float32))
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        array = np.full(10000, 5, np.float32)
        result = session.run(same, {x: array})
        session.run(stored.op, {x: array})
        array[:] = 6
        assert result[0] == 5 and session.run(v)[0] == 5
        session.run(more.op)
        assert array[0] == 6 and session.run(v)[0] == 6


def test_a_tensor_can_be_fed_often_and_is_copied_where_it_is_stored(graph):
    x = troupe.placeholder("float32", [10000])
    v = troupe.variable(np.zeros(10000, np.float32))
    stored, more = troupe.assign(v, x), troupe.ops.assign_add(v, np.ones(10000, np.float32))
    array = np.full(10000, 5, np.float32)
    fed, constant = troupe.Tensor(array), troupe.constant(troupe.Tensor(array))
    with troupe.Session(graph) as session:
        for _ in range(3):
            session.run(stored.op, {x: fed})
            session.run(x + 1.0, {x: fed})
        session.run(more.op)
        array[:] = 6
        assert session.run(v)[0] == 6 and session.run(constant)[0] == 5 and array[0] == 6


def test_a_queue_does_not_refer_to_a_fed_array(graph):
    queue = troupe.ops.fifo_queue(["float32"], shapes=[[10000]])
    x = troupe.placeholder("float32", [10000])
    enqueue = troupe.ops.queue_enqueue_v2(queue, [x])
    dequeue = troupe.ops.queue_dequeue_v2(queue, component_types=["float32"])
    with troupe.Session(graph) as session:
        array = np.full(10000, 1, np.float32)
        session.run(enqueue, {x: array})
        array[:] = 2
        assert session.run(dequeue[0])[0] == 1


def test_fed_arrays_are_released(session):
    x = troupe.placeholder("float32", [None])
    y = x + 1.0
    array = np.zeros(100000, np.float32)
    seen = weakref.ref(array)
    session.run(y, {x: array})
    del array
    for _ in range(1000):
        session.run(y, {x: [1.0]})
        if seen() is None:
            break
    assert seen() is None


@pytest.mark.parametrize("value", [np.array(["2020-01-01"], "datetime64[D]"), np.zeros(3, [("a", "f4")]), np.array([object()])])
def test_types_that_troupe_lacks(session, value):
    with pytest.raises(troupe.InvalidArgumentError):
        troupe.constant(value)


def test_what_cannot_be_fetched(session):
    with pytest.raises(troupe.Error):
        session.run(troupe.ops.fifo_queue(["float32"]))
