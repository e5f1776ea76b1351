"""Trained models: saved models of TensorFlow and the folders of runs."""
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import troupe

MODELS = pathlib.Path(__file__).parent.parent / "golden" / "models"


def case(name):
    """Returns a model, and inputs with the outputs that TensorFlow computed."""
    values = np.load(MODELS / f"{name}.npz")
    return troupe.load(MODELS / name), values


@pytest.mark.parametrize("name", ["convolution", "functions", "recurrent"])
def test_models_of_tensorflow(name):
    model, values = case(name)
    inputs = {key[3:]: values[key] for key in values if key.startswith("in_")}
    outputs = {key[4:]: values[key] for key in values if key.startswith("out_")}
    assert model.inputs == model.signatures["serving_default"].inputs and model.outputs.keys() == outputs.keys()
    ordered = [inputs[name] for name in model.inputs]
    for result in (model(**inputs), model.predict(inputs), model(*ordered)):
        for output, tensor in model.outputs.items():
            assert result[output].dtype == tensor.dtype.numpy
            np.testing.assert_allclose(result[output], outputs[output], rtol=1e-4, atol=1e-5)


def test_batches_give_what_the_whole_gives():
    model, _ = case("convolution")
    (name, tensor), = model.inputs.items()
    samples = np.random.default_rng(1).random([7, *tensor.shape[1:]], np.float32)
    whole, parts = model.predict(samples), model.predict(samples, batch=3)
    for output in whole:
        np.testing.assert_allclose(whole[output], parts[output], rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="at least one sample"):
        model.predict(samples, batch=0)


def test_mistakes():
    model, _ = case("convolution")
    (name, tensor), = model.inputs.items()
    sample = np.zeros([1, *tensor.shape[1:]], np.float32)
    with pytest.raises(troupe.InvalidArgumentError, match=name):
        model()
    with pytest.raises(troupe.InvalidArgumentError, match=f"nothing.*it takes {name}"):
        model(**{name: sample, "nothing": 1})
    with pytest.raises(troupe.InvalidArgumentError, match=f"nothing.*it takes {name}"):
        model(nothing=sample)
    with pytest.raises(troupe.InvalidArgumentError, match=name):
        model(np.zeros([1], np.float32))
    with pytest.raises(troupe.InvalidArgumentError, match=name):
        model(np.array(["text"]))
    for batch in (None, 1):
        with pytest.raises(TypeError, match="1 inputs"):
            model.predict(sample, sample, batch=batch)
        with pytest.raises(TypeError, match="twice"):
            model.predict(sample, batch=batch, **{name: sample})
    with pytest.raises(troupe.NotFoundError, match="serving_default"):
        model(sample, signature="other")
    with pytest.raises(troupe.NotFoundError):
        troupe.load(MODELS / "none")


def test_threads_share_a_model():
    model, _ = case("convolution")
    (name, tensor), = model.inputs.items()
    samples = np.random.default_rng(1).random([4, 8, *tensor.shape[1:]], np.float32)
    expected = [model(one) for one in samples]
    failures = []

    def work(i):
        for _ in range(10):
            for output, value in model(samples[i]).items():
                if not np.array_equal(value, expected[i][output]):
                    failures.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


INTERRUPTED = """
import os, signal, sys, threading, troupe
with troupe.Graph() as graph:
    n = troupe.placeholder("int64", [])
    counted, = troupe.while_loop(lambda i: i < n, lambda i: [i + 1], [troupe.constant(0, "int64")])
    with troupe.Session(graph) as session:
        session.export_saved_model(sys.argv[1], {"n": n}, {"counted": counted})
model = troupe.load(sys.argv[1])
for call in (model, model.predict):
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        call(n=2 ** 62)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
print(model(n=3)["counted"])
"""


def test_ctrl_c_ends_a_call(tmp_path):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(tmp_path / "1")], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["interrupted", "interrupted", "3"], done.stderr
    assert done.returncode == 0 and done.stderr == ""


@pytest.fixture
def trained(graph, session):
    """A network that has been trained, with its input, output, loss and label."""
    x = troupe.placeholder("float32", [None, 3], name="x")
    label = troupe.placeholder("int64", [None])
    logits = troupe.nn.Network().dense(x, 2)
    loss = troupe.nn.softmax_cross_entropy(logits, label)
    step = troupe.nn.Adam(0.1).minimize(loss)
    session.run(troupe.initializer())
    session.run(step, {x: np.eye(3), label: [0, 1, 0]})
    return {"session": session, "x": x, "label": label, "logits": logits, "loss": loss}


def test_a_model_from_a_session(trained, tmp_path):
    session, x, label = (trained[name] for name in ("session", "x", "label"))
    session.export_saved_model(tmp_path / "1", {"sample": x}, {"logits": trained["logits"]},
                               others={"evaluate": ({"sample": x, "label": label}, {"loss": trained["loss"]})})
    model = troupe.load(tmp_path)
    samples = np.array([[1, 2, 3], [-1, 0, 1]], np.float32)
    expected = session.run([trained["logits"], trained["loss"]], {x: samples, label: [1, 0]})
    np.testing.assert_allclose(model(samples)["logits"], expected[0], rtol=1e-6)
    np.testing.assert_allclose(model(sample=samples, label=[1, 0], signature="evaluate")["loss"], expected[1], rtol=1e-6)
    with pytest.raises(troupe.AlreadyExistsError):
        session.export_saved_model(str(tmp_path / "1"), {"sample": x}, {"logits": trained["logits"]})


def test_an_onnx_file_from_a_session(trained, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    session, x = trained["session"], trained["x"]
    session.export_onnx(tmp_path / "model.onnx", {"sample": x}, {"logits": trained["logits"]})
    samples = np.array([[1, 2, 3], [-1, 0, 1]], np.float32)
    logits, = onnxruntime.InferenceSession(tmp_path / "model.onnx").run(["logits"], {"sample": samples})
    np.testing.assert_allclose(logits, session.run(trained["logits"], {x: samples}), rtol=1e-5)


def test_what_a_model_cannot_hold(trained, tmp_path):
    session, x = trained["session"], trained["x"]
    with pytest.raises(troupe.InvalidArgumentError, match="need this placeholder"):
        session.export_saved_model(tmp_path, {"sample": x}, {"loss": trained["loss"]})
    with pytest.raises(troupe.UnimplementedError, match="function of this process"):
        session.export_onnx(tmp_path / "model.onnx", {"x": x}, {"y": troupe.py_function(lambda v: v, [x], "float32")})
    with pytest.raises(troupe.InvalidArgumentError, match="serving_default"):
        session.export_saved_model(tmp_path, {"x": x}, {"y": x + 1}, others={"serving_default": ({"x": x}, {"y": x + 2})})
    assert not list(tmp_path.iterdir())


def test_slopes_of_convolutions_in_onnx(graph, session, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    random = np.random.default_rng(1)
    x = troupe.placeholder("float32", [None, 8, 7, 4])
    images = random.normal(size=[2, 8, 7, 4]).astype(np.float32)
    slopes = {}
    for padding in ("SAME", "VALID"):
        for channels in (4, 2):  # of the images, and of each of two groups
            filters = random.normal(size=[3, 3, channels, 6]).astype(np.float32)
            y = troupe.ops.conv2d(x, filters, strides=[1, 2, 2, 1], padding=padding)
            slopes[f"{padding}_{channels}"], = troupe.gradients(troupe.ops.sum(y * y), x)
    session.export_onnx(tmp_path / "model.onnx", {"x": x}, slopes)
    results = onnxruntime.InferenceSession(tmp_path / "model.onnx").run(list(slopes), {"x": images})
    for name, result, expected in zip(slopes, results, session.run(list(slopes.values()), {x: images})):
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-3, err_msg=name)


def test_rests_of_divisions_and_zeros_in_onnx(graph, session, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    values = {"float32": [7, -7, 7.5, -7.5, 0, -0.25], "int32": [7, -7, 6, -6, 0, -1], "int64": [7, -7, 6, -6, 0, -1]}
    for dtype, numbers in values.items():
        x, y = (troupe.placeholder(dtype, [None], name=f"{name}_{dtype}") for name in "xy")
        outputs = {"mod": troupe.ops.floor_mod(x, y), "div": troupe.ops.floor_div(x, y), "zeros": troupe.ops.zeros_like(x)}
        session.export_onnx(tmp_path / "model.onnx", {"x": x, "y": y}, outputs)
        model = onnxruntime.InferenceSession(tmp_path / "model.onnx")
        for divisor in (3, -3):
            given = {"x": np.array(numbers, dtype), "y": np.full(len(numbers), divisor, dtype)}
            expected = session.run(outputs, {x: given["x"], y: given["y"]})
            for name, values_of in zip(outputs, model.run(list(outputs), given)):
                np.testing.assert_allclose(values_of, expected[name], rtol=1e-6, err_msg=f"{name} {dtype} {divisor}")
