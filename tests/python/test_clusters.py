"""Sessions over several tasks, and of a cluster whose master is elsewhere. The tasks are runtimes of this process."""
import socket

import pytest

import troupe


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture
def cluster():
    ports = free_ports(2)
    return troupe.Cluster("secret", {"ps": {0: f"127.0.0.1:{ports[0]}"}, "worker": {0: f"127.0.0.1:{ports[1]}"}})


@pytest.fixture
def tasks(cluster):
    return {job: troupe.Runtime(threads=1, cluster=cluster, job=job, task=0) for job in ("ps", "worker")}


def build(runtime):
    graph = troupe.Graph(runtime)
    with graph:
        with troupe.device("/job:ps"):
            v = troupe.variable(1.0, name="v")
        with troupe.device("/job:worker"):
            x = troupe.placeholder("float32", [])
            more = troupe.ops.assign_add(v, x * 2.0)
        return graph, troupe.initializer(), x, more, v


def test_a_session_spans_all_tasks(tasks):
    graph, initialize, x, more, v = build(tasks["worker"])
    with troupe.Session(graph, start_timeout=20) as session:
        assert sorted(device.split("/")[1] for device in session.devices) == ["job:ps", "job:worker"]
        session.run(initialize)
        session.run(more.op, {x: 3})
        assert session.run(v) == 7


def test_clients_share_the_variables_of_a_cluster(cluster, tasks):
    master = cluster.jobs["worker"][0]
    graph, initialize, x, more, v = build(troupe.Runtime(threads=1))
    with troupe.Session(graph, master=master, cluster=cluster, start_timeout=20) as first:
        first.run(initialize)
        with troupe.Session(graph, master=master, cluster=cluster, start_timeout=20) as second:
            second.run(more.op, {x: 1})
        assert first.run(v) == 3
        assert tasks["worker"].reset() == 1
        with pytest.raises(troupe.AbortedError):
            first.run(v)


def test_mistakes(cluster):
    graph = troupe.Graph(troupe.Runtime(threads=1))
    with pytest.raises(troupe.InvalidArgumentError, match="neither"):
        troupe.Session(graph, master="127.0.0.1:1")
    with pytest.raises(troupe.Error) as caught:
        troupe.Session(graph, master=cluster.jobs["ps"][0], cluster=cluster, start_timeout=0.5)
    assert caught.value.code in (troupe.Code.DEADLINE_EXCEEDED, troupe.Code.UNAVAILABLE)
    with pytest.raises(troupe.InvalidArgumentError, match="TLS"):
        troupe.Cluster("name", {}, key="a.pem")
    with pytest.raises(troupe.InvalidArgumentError, match="pigeon"):
        troupe.Cluster("name", {}, transport="pigeon")
