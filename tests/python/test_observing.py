"""What programs observe of their own training: files for TensorBoard and profiles of steps."""
import json

import numpy as np
import pytest

import troupe


def test_tensorboard_reads_the_file(graph, tmp_path):
    loading = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
    from tensorboard.compat.proto import config_pb2, event_pb2

    x = troupe.placeholder("float32", [], name="x")
    summary = troupe.ops.scalar_summary("loss", x)
    events = troupe.EventWriter(str(tmp_path / "logs" / "first"))
    events.add_start(2)
    events.add_scalar("valid/accuracy", 0.25, 2)
    events.add_histogram("weights", np.array([[1.0, 2.0], [3.0, np.inf]]), 3)
    with troupe.Session(graph) as session:
        events.add_summary(session.run(summary, {x: 1.5}), 4)
        events.add_profile("a step", session.profile(summary, {x: 3})[1], 5)
    events.add_graph(graph)
    start, scalar, histogram, loss, profile, graph_def = [
        event_pb2.Event.FromString(raw) for raw in loading.RawEventFileLoader(events.path).Load()][1:]
    assert start.step == 2 and start.session_log.status == start.session_log.START
    assert (scalar.step, scalar.summary.value[0].tag, scalar.summary.value[0].simple_value) == (2, "valid/accuracy", 0.25)
    assert histogram.step == 3 and (histogram.summary.value[0].histo.num, histogram.summary.value[0].histo.max) == (3, 3)
    assert (loss.step, loss.summary.value[0].tag, loss.summary.value[0].simple_value) == (4, "loss", 1.5)
    assert profile.step == 5 and profile.tagged_run_metadata.tag == "a step"
    [device] = config_pb2.RunMetadata.FromString(profile.tagged_run_metadata.run_metadata).step_stats.dev_stats
    [run] = [node for node in device.node_stats if node.timeline_label.endswith(" = ScalarSummary")]
    assert device.device.endswith("/device:CPU:0") and run.all_start_micros > 0
    assert run.op_end_rel_micros == run.all_end_rel_micros
    assert troupe.Graph.from_graph_def(graph_def.graph_def).operation("x").type == "Placeholder"


def test_what_no_file_for_tensorboard_can_have(tmp_path):
    events = troupe.EventWriter(str(tmp_path))
    with pytest.raises(troupe.InvalidArgumentError, match="3 bytes are no Summary"):
        events.add_summary(b"abc", 0)
    with pytest.raises(troupe.InvalidArgumentError):
        events.add_histogram("words", ["a"], 0)
    (tmp_path / "file").write_text("")
    with pytest.raises(troupe.Error, match="file"):
        troupe.EventWriter(str(tmp_path / "file" / "logs"))
    # Several writers of one folder have files of their own.
    assert troupe.EventWriter(str(tmp_path)).path != events.path
    with events as same:
        same.add_scalar("loss", 0.5, 3)
    events.close()
    with pytest.raises(troupe.FailedPreconditionError, match="the file of events .* is closed"):
        events.add_scalar("loss", 0.25, 4)


def test_a_profile_says_where_the_time_went(session):
    x = troupe.placeholder("float32", [None, 300], name="x")
    product = troupe.ops.matmul(x, np.ones([300, 300], np.float32), name="product")
    results, profile = session.profile({"y": product}, {x: np.ones([2, 300])})
    assert results["y"].shape == (2, 300)
    [device] = profile.devices
    assert device.device.endswith("/device:CPU:0") and 0 < device.driven <= device.elapsed <= profile.seconds
    node = next(node for node in device.nodes if node.name == "product")
    assert node.op == "MatMul" and node.runs == 1 and node.seconds > 0
    assert [node.seconds for node in device.nodes] == sorted((node.seconds for node in device.nodes), reverse=True)
    assert any(event.get("args", {}).get("node") == "product" for event in json.loads(profile.trace())["traceEvents"])


def test_the_description_of_a_step(graph):
    with troupe.device("/device:GPU:7"):
        x = troupe.placeholder("float32", [], name="x")
        y = troupe.ops.square(x, name="y")
    with troupe.Session(graph, soft_placement=True) as session:
        step = session.describe(y + 1, [x])
        assert [(node.op, node.device) for node in step.nodes if node.name == "y"] == [("Square", session.devices[0])]
        assert f"y: (Square) {session.devices[0]}\n" in str(step) and "GPU:7" in step.ignored_requests[0]
        (device, part), = step.graph_defs.items()
        assert device == session.devices[0] and b"_Arg" in part
        with pytest.raises(troupe.InvalidArgumentError):
            session.describe([])
