"""Trained models: saved models of TensorFlow and the folders of runs."""
import pathlib
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
