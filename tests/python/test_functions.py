"""Functions of Python in graphs, and gradients that they build."""
import gc
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest
import troupe


@pytest.fixture
def graph():
    with troupe.Graph() as graph:
        yield graph


def run(graph, fetches, feeds=None, **options):
    with troupe.Session(graph) as session:
        return session.run(fetches, feeds or {}, **options)


def test_a_function_gets_arrays_and_returns_arrays(graph):
    x = troupe.placeholder("float32", [None, 3])
    seen = []

    def sums(rows, text):
        seen.append((rows.shape, rows.dtype, text, rows.flags.writeable))
        return rows.sum(1), [b"a", text]

    total, words = troupe.py_function(sums, [x, "b"], ["float32", "string"])
    rows = np.arange(300, dtype=np.float32).reshape(100, 3)
    values = run(graph, [total, words, total * 2.0], {x: rows})
    np.testing.assert_array_equal(values[0], rows.sum(1))
    assert list(values[1]) == [b"a", b"b"]
    np.testing.assert_array_equal(values[2], rows.sum(1) * 2)
    assert seen == [((100, 3), np.dtype("float32"), b"b", False)]


def test_one_type_means_one_output_and_none_an_operation(graph):
    calls = []
    number = troupe.py_function(lambda: [1, 2], [], "int64", name="number")
    operation = troupe.py_function(lambda x: calls.append(int(x)), [7], [])
    assert number.name == "number:0" or number.name == "number"
    assert isinstance(operation, troupe.Operation)
    value, _ = run(graph, [number, operation])
    np.testing.assert_array_equal(value, [1, 2])
    assert value.dtype == np.int64 and calls == [7]


def test_shapes_are_known_and_checked(graph):
    pair = troupe.py_function(lambda: np.zeros(2, np.float32), [], "float32", shapes=[[2]])
    triple = troupe.py_function(lambda: np.zeros(3, np.float32), [], "float32", shapes=[[2]])
    assert pair.shape == (2,)
    run(graph, pair)
    with pytest.raises(troupe.InvalidArgumentError, match=r"\[2\]"):
        run(graph, triple)
    with pytest.raises(ValueError, match="2 shapes, but 1 outputs"):
        troupe.py_function(lambda: 1.0, [], "float32", shapes=[[], []])


def test_a_function_without_state_is_called_once_for_equal_calls(graph):
    calls = {True: 0, False: 0}

    def count(stateful):
        def function(x):
            calls[stateful] += 1
            return x
        return function

    for stateful in calls:
        y = troupe.py_function(count(stateful), [1.0], "float32", stateful=stateful)
        with troupe.Session(graph) as session:
            for _ in range(3):
                session.run(y)
    assert calls == {True: 3, False: 1}


def failing(error):
    def function():
        raise error
    return function


@pytest.mark.parametrize("error, kind, text", [
    (ValueError("is wrong"), troupe.InvalidArgumentError, r"ValueError: is wrong \(in function, .*test_functions.py:\d+\)"),
    (TypeError("t"), troupe.InvalidArgumentError, "TypeError: t"),
    (StopIteration(), troupe.OutOfRangeError, "StopIteration"),
    (NotImplementedError("n"), troupe.UnimplementedError, "NotImplementedError: n"),
    (MemoryError(), troupe.ResourceExhaustedError, "MemoryError"),
    (KeyError("k"), troupe.UnknownError, "KeyError: 'k'"),
    (troupe.AbortedError("come again"), troupe.AbortedError, "come again"),
])
def test_what_a_function_raises_fails_the_step(graph, error, kind, text):
    y = troupe.py_function(failing(error), [], "float32", name="failing")
    with pytest.raises(kind, match=text) as failure:
        run(graph, y)
    assert (failure.value.node, failure.value.op) == ("failing", "PyFunc")


@pytest.mark.parametrize("result, dtypes, text", [
    (1.5, "int32", "value 0 of the function: elements of type float"),
    ("a", "float32", "value 0 of the function: elements of type float are needed"),
    ((1.0, 2.0, 3.0), ["float32", "float32"], "the function returned 3 values; it must return 2"),
    (1.0, ["float32", "float32"], "returned a value of type float; it must return a list of 2 values"),
])
def test_wrong_results_are_refused(graph, result, dtypes, text):
    y = troupe.py_function(lambda: result, [], dtypes)
    with pytest.raises(troupe.InvalidArgumentError, match=text):
        run(graph, y)


def test_results_are_copied(graph):
    buffer = np.zeros(1000, np.float32)

    def next_values():
        buffer[:] += 1
        return buffer

    y = troupe.py_function(next_values, [], "float32")
    with troupe.Session(graph) as session:
        first, second = session.run(y), session.run(y)
    assert first[0] == 1 and second[0] == 2


def test_a_function_computes_with_denormals_as_the_program_does(graph):
    tiny = troupe.py_function(lambda x: x * x, [np.full(1000, 1e-20, np.float32)], "float32")
    assert (run(graph, tiny) > 0).all()


def test_the_gradient_of_a_function(graph):
    x, y = (troupe.constant(np.array(value, np.float32)) for value in ([1, 2], [3, 4]))
    z = troupe.py_function(lambda x, y, n: x * x * y, [x, y, 5], "float32", shapes=[[2]],
                           gradient=lambda x, y, n, dz: (2 * x * y * dz, None))
    by_x, by_y = troupe.gradients([troupe.ops.sum(z * 10.0)], [x, y])
    np.testing.assert_array_equal(run(graph, by_x), [60, 160])
    np.testing.assert_array_equal(run(graph, by_y), [0, 0])
    of_one = troupe.py_function(np.square, [x], "float32", gradient=lambda x, dy: 2 * x * dy)
    np.testing.assert_array_equal(run(graph, troupe.gradients([of_one], [x])[0]), [2, 4])
    without = troupe.py_function(np.square, [x], "float32")
    assert troupe.gradients([without], [x]) == [None]
    wrong = troupe.py_function(lambda x, y: x, [x, y], "float32", gradient=lambda x, y, dz: dz)
    with pytest.raises(troupe.InvalidArgumentError, match="must return a tuple of 2 gradients"):
        run(graph, troupe.gradients([wrong], [x])[0])


def test_a_function_is_called_in_loops_and_from_several_threads(graph):
    total = troupe.while_loop(lambda i, s: i < 10, lambda i, s: [i + 1, s + troupe.py_function(np.square, [i], "int32", shapes=[[]])], [0, 0])[1]
    values = []
    with troupe.Session(graph) as session:
        threads = [threading.Thread(target=lambda: values.append(session.run(total))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert values == [285] * 4


def test_a_function_may_run_steps_itself(graph):
    x = troupe.placeholder("float32", [])
    doubled = x * 2.0
    session = troupe.Session(graph)
    y = troupe.py_function(lambda v: session.run(doubled, {x: v + 1}), [x], "float32")
    assert session.run(y, {x: 3.0}) == 8
    session.close()


def test_steps_are_prepared_while_functions_run():
    """All threads of the runtime are in functions, or wait for the interpreter lock."""
    with troupe.Graph(troupe.Runtime(threads=2)) as graph:
        values = troupe.py_function(lambda: 1.0, [], "float32", shapes=[[]])
        filled = troupe.input_queues.batch([values], batch_size=2, num_threads=4, capacity=8)[0]
        sums = [troupe.ops.sum(filled * float(factor)) for factor in range(30)]
    with troupe.Session(graph) as session:
        session.start_queue_runners()
        assert [session.run(total) for total in sums] == [2.0 * factor for factor in range(30)]


def test_a_function_goes_with_its_graph():
    def function():
        return 1.0

    with troupe.Graph() as graph:
        y = troupe.py_function(function, [], "float32")
    assert run(graph, y) == 1
    lives = weakref.ref(function)
    del function, graph, y
    gc.collect()
    assert lives() is None


def test_a_graph_of_another_process_does_not_find_the_function(graph):
    troupe.py_function(lambda: 1.0, [], "float32", name="here")
    data = graph.graph_def()
    code = f"import troupe; g = troupe.Graph.from_graph_def({data!r}); troupe.Session(g).run('here:0')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "this process has no function 'function_" in ended.stderr


def test_a_process_ends_while_functions_run():
    """A queue is filled by a function in the background, which has not ended when the program does."""
    code = textwrap.dedent("""
        import time, troupe
        with troupe.Graph() as graph:
            values = troupe.py_function(lambda: time.sleep(0.001) or 1.0, [], "float32", shapes=[[]])
            batch = troupe.input_queues.batch([values], batch_size=2, num_threads=2, capacity=4)
        session = troupe.Session(graph)
        session.start_queue_runners()
        print(session.run(batch)[0].tolist())
    """)
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "[1.0, 1.0]\n", "")


BACKGROUND = """
import threading, time, troupe
with troupe.Graph() as graph:
    x = troupe.placeholder("float32", [])
    y = {node}
session = troupe.Session(graph)
running = threading.Event()

def work():
    while True:
        session.run(y, {{x: 1.0}})
        running.set()

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
running.wait()
print("end")
"""


@pytest.mark.parametrize("node", ["x * 2.0", 'troupe.py_function(lambda a: a, [x], "float32")'])
def test_a_process_ends_while_threads_run_steps(node):
    """Threads that are daemons are inside of steps when the interpreter ends."""
    for _ in range(4):
        ended = subprocess.run([sys.executable, "-c", BACKGROUND.format(node=node)], capture_output=True, text=True, timeout=60)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\n", "")


def test_ctrl_c_in_a_function_reaches_the_caller():
    code = textwrap.dedent("""
        import os, signal, threading, time, troupe
        with troupe.Graph() as graph:
            y = troupe.py_function(lambda: time.sleep(30) or 1.0, [], "float32", shapes=[[]])
            five = troupe.constant(5)
        session = troupe.Session(graph)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            session.run(y)
        except KeyboardInterrupt:
            print("interrupted", session.run(five))
    """)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "interrupted 5\n", "")


def test_a_custom_gradient_takes_the_place_of_the_ops(graph):
    @troupe.custom_gradient
    def rounded(x):
        """Rounds."""
        return troupe.ops.round(x), lambda dy: dy * 3.0

    @troupe.custom_gradient
    def both(x, y):
        return [x * y, x + y], lambda da, db: (da * 10.0 + db, None)

    x, y = troupe.constant([0.6, 1.2]), troupe.constant([2.0, 3.0])
    z = rounded(x)
    assert rounded.__doc__ == "Rounds."
    np.testing.assert_array_equal(run(graph, z), [1, 1])
    np.testing.assert_array_equal(run(graph, troupe.gradients([z], [x])[0]), [3, 3])
    product, total = both(x, y)
    by_x, by_y = troupe.gradients([troupe.ops.add_n([product, total])], [x, y])
    np.testing.assert_array_equal(run(graph, by_x), [11, 11])
    assert by_y is None


def test_a_custom_gradient_is_stable_where_that_of_the_ops_is_not(graph):
    @troupe.custom_gradient
    def log1pexp(x):
        e = troupe.ops.exp(x)
        return troupe.ops.log(1.0 + e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))

    x = troupe.placeholder("float32", [])
    slope = troupe.gradients([log1pexp(x)], [x])[0]
    assert run(graph, slope, {x: 100.0}) == 1
    with pytest.raises(troupe.InvalidArgumentError, match="returned 2 gradients; it must return 1"):
        troupe.gradients([troupe.custom_gradient(lambda v: (v, lambda dy: [dy, dy]))(x)], [x])
