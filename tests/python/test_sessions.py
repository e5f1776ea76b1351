"""Sessions: fetches of any structure, callables, threads, timeouts, Ctrl-C, checkpoints."""
import collections
import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import troupe


def test_fetches_of_any_structure(session):
    x, y = troupe.constant(1, name="x"), troupe.constant(2)
    nothing = troupe.group(x)
    pair = collections.namedtuple("pair", "first second")
    assert session.run({"a": [x, (y,)], "b": nothing, "c": {"d": "x:0"}}) == {"a": [1, (2,)], "b": None, "c": {"d": 1}}
    assert session.run(pair(y, x)) == pair(2, 1)
    assert session.run([]) == [] and session.run([x, x, y]) == [1, 1, 2]
    assert session.run("x") == 1 and session.run(nothing) is None


def test_outputs_themselves_can_be_fed_and_fetched(session):
    x = troupe.placeholder("int32", [])
    y = x + 1
    assert session.run([x, y], {x: 3}) == [3, 4] and session.run(y * 2, {y: 10}) == 20


def test_mistakes_in_feeds_and_fetches(session):
    x = troupe.placeholder("float32", [2])
    with pytest.raises(troupe.InvalidArgumentError, match="Placeholder"):
        session.run(x + 1)
    with pytest.raises(troupe.InvalidArgumentError):
        session.run(x + 1, {x: [1, 2, 3]})
    with pytest.raises(troupe.InvalidArgumentError, match="output or operation"):
        session.run(3)
    with pytest.raises(troupe.NotFoundError):
        session.run("nothing")
    with troupe.Graph():
        other = troupe.constant(1)
    with pytest.raises(troupe.InvalidArgumentError, match="another graph"):
        session.run(other)
    with pytest.raises(troupe.InvalidArgumentError, match="another graph"):
        session.run(x + 1, {other: 1})


def test_the_failure_of_a_step_says_where(session):
    x = troupe.placeholder("int32", [], name="x")
    y = troupe.ops.floor_div(1, x, name="quotient")
    with pytest.raises(troupe.InvalidArgumentError) as caught:
        session.run(y, {x: 0})
    assert caught.value.node == "quotient" and caught.value.op == "FloorDiv" and "quotient" in str(caught.value)


def test_what_no_structure_of_fetches_may_be(session):
    x = troupe.constant(1)
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        session.run(endless)
    with pytest.raises(TypeError):
        session.run(x, [(x, 1)])
    with pytest.raises(TypeError):
        session.run(x, timeout="soon")


def test_what_the_caller_does_with_its_structures_later_does_not_matter(session):
    x = troupe.placeholder("int32", [None])
    fetches = [x + 1]
    step = session.make_callable(fetches, [x])
    fetches.append(x)
    assert [part.tolist() for part in step([1])] == [[2]]

    class Meddler:
        def __array__(self, dtype=None, copy=None):
            feeds.clear()
            return np.array([1], np.int32)

    y = troupe.placeholder("int32", [None])
    feeds = {x: Meddler(), y: Meddler()}
    assert session.run(x + y, feeds).tolist() == [2]


def test_callables(session):
    x, y = troupe.placeholder("float32", [None]), troupe.placeholder("float32", [])
    step = session.make_callable({"sum": x + y, "product": x * y}, [x, y])
    result = step([1, 2], 3)
    assert result["sum"].tolist() == [4, 5] and result["product"].tolist() == [3, 6]
    with pytest.raises(troupe.InvalidArgumentError, match="2 feeds"):
        step([1, 2])
    assert session.make_callable(troupe.constant(1))() == 1


def test_the_graph_may_grow(session):
    x = troupe.constant(1)
    for i in range(300):
        x = x + 1
        assert session.run(x) == i + 2


def test_state_lasts_between_steps(graph):
    v = troupe.variable([1.0, 2.0], name="v")
    more = troupe.ops.assign_add(v, [1.0, 1.0])
    with troupe.Session(graph) as session:
        with pytest.raises(troupe.FailedPreconditionError, match="v"):
            session.run(v)
        assert session.run(troupe.report_uninitialized_variables()).tolist() == [b"v"]
        session.run(troupe.initializer())
        for _ in range(3):
            session.run(more.op)
        assert session.run(v).tolist() == [4, 5] and troupe.variables() == [v]


def test_checkpoints(graph, tmp_path):
    v = troupe.variable([1.0, 2.0])
    change = troupe.ops.assign_add(v, [1.0, 1.0])
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        assert session.save(str(tmp_path), round=7, note="mine").startswith(str(tmp_path))
        session.run(change)
        restored = session.restore(str(tmp_path))
        assert (restored["round"], restored["note"], restored["missing"]) == (7, "mine", [])
        assert session.run(v).tolist() == [1, 2]
        with pytest.raises(troupe.NotFoundError):
            session.restore(str(tmp_path / "none"))


def test_variables_are_assigned(graph):
    same = troupe.constant([0.0, 0.0])
    v, w = troupe.variable(same, "v"), troupe.variable(same, "w")
    count = troupe.variable(np.int64(0), "count", trainable=False)
    with troupe.Session(graph) as session:
        nodes = len(graph.operations())
        given = np.float32([5, 6])
        session.assign({v: given, "w": [7, 8], count: 3})
        given[:] = 0
        assert [value.tolist() for value in session.run([v, w, count])] == [[5, 6], [7, 8], 3]
        session.assign({w: [1.5, 2.5]})
        session.assign({})
        assert [value.tolist() for value in session.run([v, w])] == [[5, 6], [1.5, 2.5]]
        assert len(graph.operations()) == nodes
        for mistake, told in [
            ({v: [1, 2, 3]}, r"the value for v(:0)?: .*the shape is \[3\], it must be \[2\]"),
            ({count: 1.5}, "the value for count"),
            ({same: [1, 2]}, "is no variable"),
        ]:
            with pytest.raises(troupe.InvalidArgumentError, match=told):
                session.assign(mistake)


def test_variables_of_files_are_read_and_assigned(graph, tmp_path):
    v, w = troupe.variable([1.0, 2.0], "v"), troupe.variable(np.int64(3), "w", trainable=False)
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        checkpoint = session.save(tmp_path)
        session.run([troupe.assign(v, [0.0, 0.0]), troupe.assign(w, np.int64(0))])
        stored = troupe.read_variables(checkpoint)
        assert {name: value.tolist() for name, value in stored.items()} == {"v": [1, 2], "w": 3}
        session.assign({"v": stored["v"]})
        assert (session.run(v).tolist(), session.run(w)) == ([1, 2], 0)
    given = {"layer/kernel": np.arange(6, dtype=np.float32).reshape(2, 3), "words": np.array([b"a", b""], object), "n": np.int64(7)}
    numbers = {name: value for name, value in given.items() if name != "words"}
    for path, values in (("bundle", given), ("folder/", numbers)):
        troupe.write_variables(values, f"{tmp_path}/{path}")
        found = troupe.read_variables(f"{tmp_path}/{path}")
        assert {name: value.tolist() for name, value in found.items()} == {name: value.tolist() for name, value in values.items()}
    file = tmp_path / "weights.safetensors"
    troupe.write_variables({"kernel": given["layer/kernel"]}, file)
    assert troupe.read_variables(file)["kernel"].tolist() == given["layer/kernel"].tolist()
    with pytest.raises(troupe.AlreadyExistsError):
        troupe.write_variables({"kernel": [1.0]}, file)
    with pytest.raises(troupe.UnimplementedError, match="string"):
        troupe.write_variables({"words": [b"a"]}, tmp_path / "words.safetensors")
    with pytest.raises(troupe.NotFoundError):
        troupe.read_variables(tmp_path / "none")


def test_a_checkpoint_is_restored_by_its_path(graph, tmp_path, monkeypatch):
    v = troupe.variable([1.0, 2.0])
    change = troupe.ops.assign_add(v, [1.0, 1.0])
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        first = session.save(tmp_path, round=1)
        session.run(change)
        session.save(tmp_path, round=2)
        monkeypatch.chdir(tmp_path)
        for path in (first, first + "/", pathlib.Path(first), os.fsencode(first), os.path.basename(first), "./" + os.path.basename(first)):
            session.run(change)
            assert session.restore(path)["round"] == 1
            assert session.run(v).tolist() == [1, 2]
        assert session.restore(tmp_path)["round"] == 2
        assert session.restore(tmp_path, os.path.basename(first))["round"] == 1
        for path in (tmp_path / "000009-round-7", "000001-round-2"):
            with pytest.raises(troupe.NotFoundError):
                session.restore(path)


@pytest.mark.parametrize("given, folder, name", [
    ("s3://b/run/000007-round-500", "s3://b/run", "000007-round-500"), ("s3://b/000001-round-0/", "s3://b", "000001-round-0"),
    ("s3://000001-round-0", "s3://000001-round-0", ""), ("s3://b/run", "s3://b/run", ""), ("/000001-round-0", "/", "000001-round-0"),
    ("run/12-round-1x", "run/12-round-1x", ""),
])
def test_paths_of_checkpoints(monkeypatch, given, folder, name):
    monkeypatch.setattr(troupe._graph, "_restore_from_folder", lambda session, folder, name: (folder, name))
    assert troupe._graph._restore(None, given) == (folder, name)


def test_a_graph_grows_while_its_variables_are_saved_and_restored(graph, tmp_path):
    v = troupe.variable([1.0, 2.0])
    saved = threading.Event()

    def grow():
        with graph:
            while not saved.is_set():
                troupe.constant(1)

    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        thread = threading.Thread(target=grow)
        thread.start()
        try:
            for i in range(20):
                session.save(str(tmp_path), round=i)
                assert session.restore(str(tmp_path))["round"] == i
        finally:
            saved.set()
            thread.join()
        assert session.run(v).tolist() == [1, 2]


def endless():
    """Returns a step that ends only if it is cancelled."""
    queue = troupe.ops.fifo_queue(["float32"], shapes=[[]])
    return troupe.ops.queue_dequeue_v2(queue, component_types=["float32"])[0]


def test_timeouts(session):
    with pytest.raises(troupe.DeadlineExceededError):
        session.run(endless(), timeout=0.05)
    with pytest.raises(TimeoutError):
        session.make_callable(endless())(timeout=0.05)
    one = troupe.constant(1)
    run, call = (lambda timeout: session.run(one, timeout=timeout)), session.make_callable(one)
    for runner in (run, lambda timeout: call(timeout=timeout)):
        for timeout in (60, 60.0, None):
            assert runner(timeout) == 1
        for timeout in (0, -1, float("nan")):
            with pytest.raises(troupe.InvalidArgumentError, match="timeout"):
                runner(timeout)
        with pytest.raises(TypeError, match="timeout"):
            runner("soon")


def test_a_session_that_checks_numbers_names_the_node(graph):
    x = troupe.placeholder("float32", [None], name="x")
    total = troupe.ops.sum(troupe.ops.exp(troupe.ops.div(x, x, name="ratio")))
    session = troupe.Session(graph, check_finite=True)
    session.run(total, {x: [1.0, 2.0]})
    with pytest.raises(troupe.InvalidArgumentError, match="ratio.*output 0 has NaN"):
        session.run(total, {x: [1.0, 0.0]})
    with pytest.raises(troupe.InvalidArgumentError, match="x:0.*the tensor that is fed has Inf"):
        session.run(total, {x: [1.0, float("inf")]})


def test_a_closed_session(graph):
    x = troupe.constant(1)
    session = troupe.Session(graph)
    step = session.make_callable(x)
    session.close()
    session.close()
    for call in (step, lambda: session.run(x), lambda: session.make_callable(x)):
        with pytest.raises(troupe.FailedPreconditionError, match="closed"):
            call()


def test_other_threads_go_on_while_a_step_runs_and_cancel_it(graph):
    started = troupe.ops.fifo_queue(["float32"], shapes=[[]])
    with troupe.control_dependencies([troupe.ops.queue_enqueue_v2(started, [1.0])]):
        waits = endless()
    has_started = troupe.ops.queue_dequeue_v2(started, component_types=["float32"])
    session = troupe.Session(graph)
    failures = []

    def run():
        try:
            session.run(waits)
        except troupe.CancelledError as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    session.run(has_started)  # other threads run steps, too
    session.cancel()
    thread.join(30)
    assert not thread.is_alive() and len(failures) == 1


def test_many_threads(graph):
    x = troupe.placeholder("float32", [None])
    y = troupe.ops.sum(x * 2.0)
    failures = []
    with troupe.Session(graph) as session:
        step = session.make_callable(y, [x])

        def work(seed):
            for i in range(200):
                values = np.full(1000 + seed, i, np.float32)
                if step(values) != 2 * i * len(values) or session.run(y, {x: values}) != 2 * i * len(values):
                    failures.append((seed, i))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for i in range(100):  # the graph grows meanwhile
            assert session.run(troupe.constant(i)) == i
        for thread in threads:
            thread.join()
    assert not failures


INTERRUPTED = """
import os, signal, threading, time, troupe
with troupe.Graph() as graph:
    queue = troupe.ops.fifo_queue(["float32"], shapes=[[]])
    waits = troupe.ops.queue_dequeue_v2(queue, component_types=["float32"])[0]
    with troupe.Session(graph) as session:
        for attempt in range(2):
            if attempt == 1:  # a handler that the program sets later
                signal.signal(signal.SIGINT, signal.default_int_handler)
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            try:
                session.run(waits)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        x = troupe.placeholder("float32", [])
        run = session.partial_run_setup([waits], [x])
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            session.partial_run(run, waits)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        try:
            session.partial_run(run, waits)
        except troupe.CancelledError:
            print("over", flush=True)
        print(session.run(troupe.constant(5)))
"""


def test_ctrl_c_ends_the_wait_for_a_cluster():
    code = """if True:
        import os, signal, threading, troupe
        cluster = troupe.Cluster("lab", {"a": {0: "127.0.0.1:2"}, "b": {0: "127.0.0.1:1"}})
        graph = troupe.Graph(troupe.Runtime(cluster=cluster, job="a", listen="127.0.0.1:0"))
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            troupe.Session(graph)
        except KeyboardInterrupt:
            print("interrupted")
        try:
            troupe.Session(graph, start_timeout=0.3)
        except troupe.DeadlineExceededError as error:
            print("b" in str(error))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert (done.stdout, done.returncode) == ("interrupted\nTrue\n", 0), done.stderr


def test_ctrl_c_cancels_the_step():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, env=os.environ)
    assert done.stdout.split() == ["interrupted", "interrupted", "interrupted", "over", "5"], done.stderr
    assert done.returncode == 0 and done.stderr == ""


LEFT_OPEN = """
import numpy as np, troupe
graph = troupe.Graph()
with graph:
    x = troupe.placeholder("float32", [None])
    y = x + 1.0
session = troupe.Session(graph)
step = session.make_callable(y, [x])
result = step(np.zeros(100000, np.float32))
"""


def test_the_interpreter_ends_with_everything_open():
    done = subprocess.run([sys.executable, "-c", LEFT_OPEN], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


FORKED = """
import os, sys, numpy as np, troupe
def build():
    with troupe.Graph() as graph:
        x = troupe.placeholder("float32", [None])
        return graph, x, x + 1.0
graph, x, y = build()
session = troupe.Session(graph)
step = session.make_callable(y, [x])
step([1.0])
child = os.fork()
if child == 0:
    for call in (lambda: step([1.0]), lambda: session.run(y, {x: [1.0]}), lambda: troupe.Session(graph), lambda: session.save("x")):
        try:
            call()
            sys.exit(1)
        except troupe.FailedPreconditionError as error:
            assert "forked" in str(error)
    mine, u, v = build()
    with troupe.Session(mine) as own:
        assert own.run(v, {u: np.zeros(10000)})[0] == 1
    session.close()
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert step([1.0])[0] == 2
"""


def test_forked_processes():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_seeds(graph):
    numbers = troupe.ops.random_uniform([4])
    def draw(seed):
        with troupe.Session(graph, seed=seed) as session:
            return session.run(numbers).tolist()
    assert draw(1) == draw(1) != draw(2)


def test_devices():
    graph = troupe.Graph(troupe.Runtime(threads=2, cpus=2))
    with graph, troupe.device("/cpu:1"):
        x = troupe.constant(1) + 1
    with troupe.Session(graph) as session:
        assert session.run(x) == 2
    with graph, troupe.device("/cpu:7"):
        y = troupe.constant(1) + 1
    with troupe.Session(graph) as session, pytest.raises(troupe.InvalidArgumentError, match="(?i)cpu:7"):
        session.run(y)
    with troupe.Session(graph, soft_placement=True) as session:
        assert session.run(y) == 2


def test_a_partial_run_gets_its_feeds_one_after_the_other(session):
    a, b, c = (troupe.placeholder("float32", []) for _ in range(3))
    total, product = a + b, (a + b) * c
    run = session.partial_run_setup([total, product], [a, b, c])
    assert session.partial_run(run, {"sum": total}, {a: 1, b: 2}) == {"sum": 3}
    with pytest.raises(troupe.InvalidArgumentError, match="has already been fed"):
        session.partial_run(run, product, {a: 1})
    assert session.partial_run(run, product, {c: 10}) == 30
    with pytest.raises(troupe.Error):
        session.partial_run(run, product)


def test_partial_runs_end(session):
    a = troupe.placeholder("float32", [])
    run = session.partial_run_setup(-a, [a], timeout=0.01)
    while True:  # the step ends by its timeout
        try:
            session.partial_run(run, [])
        except troupe.DeadlineExceededError:
            break
    del run
    with pytest.raises(troupe.InvalidArgumentError, match="timeout"):
        session.partial_run_setup(-a, [a], timeout=-1)
    with troupe.Session(session.graph) as other:
        run = other.partial_run_setup(-a, [a])
        with pytest.raises(troupe.InvalidArgumentError, match="belongs to another session"):
            session.partial_run(run, -a, {a: 1})
