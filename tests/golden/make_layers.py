"""Layers as Keras computes them: writes tests/golden/layers/NAME.npz, to which tests/apps/nn/layers_test.cpp holds those of apps/nn/layers.h.
Run it again when a layer is added:   VENV/bin/python tests/golden/make_layers.py   (VENV has tensorflow-cpu; made with 2.21.0)

The moving variance of batch_norm counts n - 1 samples, as in TensorFlow's FusedBatchNorm and PyTorch; Keras 3 counts n.

Arrays of a file: x, and memory if the layer has two inputs; y; c, the coefficients of the loss sum(c * y); w.NAME, the weights by Troupe's
names; g.x, g.memory and g.NAME, the gradients of the loss; a.NAME, moving averages after one training step.
"""
import os
import pathlib

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy
import tensorflow as tf

FOLDER = pathlib.Path(__file__).parent / "layers"
layers = tf.keras.layers
random = numpy.random.default_rng(7)


def drawn(shape):
    return random.uniform(-1, 1, shape).astype(numpy.float32)


def save(name, layer, inputs, ours, training=False, averages=()):
    """`ours` maps names of Troupe's weights to functions of Keras's weights, which also map their gradients."""
    inputs = {key: tf.constant(value) for key, value in inputs.items()}
    call = lambda: layer(*inputs.values(), **({"training": training} if averages else {}))
    call()
    for weight in layer.weights:
        weight.assign(numpy.abs(drawn(weight.shape)) + 0.5 if "variance" in weight.name else drawn(weight.shape))
    before = [weight.numpy() for weight in layer.weights]
    with tf.GradientTape() as tape:
        for value in inputs.values():
            if value.dtype.is_floating:
                tape.watch(value)
        y = call()
        c = drawn(y.shape)
        loss = tf.reduce_sum(c * y)
    trainable = layer.trainable_weights
    wanted = {key: value for key, value in inputs.items() if value.dtype.is_floating}
    found = tape.gradient(loss, trainable + list(wanted.values()))
    gradient_of = {id(weight): tf.convert_to_tensor(gradient).numpy() for weight, gradient in zip(trainable, found)}
    gradients = [gradient_of.get(id(weight)) for weight in layer.weights]
    arrays = {**{key: value.numpy() for key, value in inputs.items()}, "y": y.numpy(), "c": c}
    for key, part in ours.items():
        arrays["w." + key] = part(before)
        if key not in averages:
            arrays["g." + key] = part(gradients)
        elif training:
            after = part([weight.numpy() for weight in layer.weights])
            samples = y.numpy().size // y.shape[-1]
            factor = samples / (samples - 1) if "variance" in key else 1
            arrays["a." + key] = after + (factor - 1) * (after - layer.momentum * part(before))
    arrays.update({"g." + key: gradient.numpy() for key, gradient in zip(wanted, found[len(trainable):])})
    numpy.savez(FOLDER / f"{name}.npz", **{key: numpy.ascontiguousarray(value) for key, value in arrays.items()})


def nth(i, shape=None):
    return lambda weights: weights[i].reshape(shape) if shape else weights[i]


def biased(name):
    return {name + "_weights": nth(0), name + "_bias": nth(1)}


def recurrent(name, bidirectional=False):
    return {f"{name}_{way}{what}": nth(3 * i + j)
            for i, way in enumerate(("", "backward_") if bidirectional else ("",)) for j, what in enumerate(("weights", "recurrent", "bias"))}


class Masked(layers.Layer):
    """Attention to the steps of the memory for which a mask is true."""

    def __init__(self, attention, mask):
        super().__init__()
        self.attention, self.mask = attention, mask

    def call(self, x, memory):
        return self.attention(x, memory, attention_mask=self.mask)


class Rotary(layers.Layer):
    """Causal self-attention whose heads are turned, as complex numbers, by angles that grow with the position."""

    def __init__(self, heads, size):
        super().__init__()
        self.heads, self.size = heads, size
        self.query, self.key, self.value, self.mix = (layers.Dense(heads * size) for _ in range(4))

    def turned(self, x):
        steps, half = x.shape[1], self.size // 2
        x = tf.reshape(x, [-1, steps, self.heads, self.size])
        angles = numpy.arange(steps)[:, None] * 10000.0 ** (-2 * numpy.arange(half) / self.size)
        turned = tf.complex(x[..., :half], x[..., half:]) * numpy.exp(1j * angles).astype(numpy.complex64)[:, None, :]
        return tf.concat([tf.math.real(turned), tf.math.imag(turned)], -1)

    def call(self, x):
        steps = x.shape[1]
        values = tf.reshape(self.value(x), [-1, steps, self.heads, self.size])
        scores = tf.einsum("bqhs,bkhs->bhqk", self.turned(self.query(x)), self.turned(self.key(x))) / self.size ** 0.5
        scores = tf.where(numpy.tril(numpy.ones([steps, steps], bool)), scores, -numpy.inf)
        mixed = tf.einsum("bhqk,bkhs->bqhs", tf.nn.softmax(scores), values)
        return self.mix(tf.reshape(mixed, [-1, steps, self.heads * self.size]))


def parts_of_attention(units, shared=None):
    """The weights of queries, keys, values and results; `shared` is the size of keys and values, if that is another."""
    parts = {}
    for i, what in enumerate(("query", "key", "value", "output")):
        size = shared if shared and what in ("key", "value") else units
        parts[f"attention_{what}_weights"] = nth(2 * i, [-1, size])
        parts[f"attention_{what}_bias"] = nth(2 * i + 1, [size])
    return parts


def main():
    FOLDER.mkdir(exist_ok=True)
    save("dense", layers.Dense(5, activation="tanh"), {"x": drawn([4, 3])}, biased("dense"))
    save("dense_of_sequences", layers.Dense(5), {"x": drawn([2, 4, 3])}, biased("dense"))
    save("embedding", layers.Embedding(6, 3), {"x": numpy.array([[1, 5, 1], [0, 2, 5]], numpy.int32)}, {"embedding_weights": nth(0)})
    image = drawn([2, 7, 6, 4])
    save("conv2d", layers.Conv2D(6, (3, 2), strides=(2, 1), padding="same", activation="relu"), {"x": image}, biased("conv2d"))
    save("conv2d_groups", layers.Conv2D(6, 3, groups=2, use_bias=False), {"x": image}, {"conv2d_weights": nth(0)})
    save("depthwise_conv2d", layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same"), {"x": image}, biased("depthwise_conv2d"))
    for padding in ("same", "valid"):
        save("conv2d_transpose_" + padding, layers.Conv2DTranspose(3, (3, 2), strides=2, padding=padding), {"x": image},
             biased("conv2d_transpose"))
    normal = {"batch_norm_gamma": nth(0), "batch_norm_beta": nth(1), "batch_norm_moving_mean": nth(2), "batch_norm_moving_variance": nth(3)}
    averages = ("batch_norm_moving_mean", "batch_norm_moving_variance")
    for name, x in (("images", image), ("rows", drawn([8, 3]))):
        for training in (True, False):
            save(f"batch_norm_{name}_{'training' if training else 'inference'}", layers.BatchNormalization(momentum=0.9), {"x": x}, normal,
                 training, averages)
    save("layer_norm", layers.LayerNormalization(epsilon=1e-5), {"x": drawn([2, 3, 5])}, {"layer_norm_gamma": nth(0), "layer_norm_beta": nth(1)})
    save("group_norm", layers.GroupNormalization(2, epsilon=1e-5), {"x": image}, {"group_norm_gamma": nth(0), "group_norm_beta": nth(1)})
    save("upsample2d_nearest", layers.UpSampling2D((3, 2)), {"x": image}, {})
    save("upsample2d_bilinear", layers.UpSampling2D((3, 2), interpolation="bilinear"), {"x": image}, {})
    save("global_max_pool2d", layers.GlobalMaxPooling2D(), {"x": image}, {})
    sequence = drawn([3, 4, 5])
    save("lstm", layers.LSTM(6), {"x": sequence}, recurrent("lstm"))
    save("lstm_sequences", layers.LSTM(6, return_sequences=True), {"x": sequence}, recurrent("lstm"))
    gates = {"gru_weights": nth(0), "gru_recurrent": nth(1), "gru_bias": lambda w: w[2][0], "gru_recurrent_bias": lambda w: w[2][1]}
    save("gru", layers.GRU(6, return_sequences=True), {"x": sequence}, gates)
    both = recurrent("lstm", True)
    save("lstm_bidirectional", layers.Bidirectional(layers.LSTM(6)), {"x": sequence}, both)
    save("lstm_bidirectional_sequences", layers.Bidirectional(layers.LSTM(6, return_sequences=True)), {"x": sequence}, both)
    long = drawn([2, 9, 4])
    save("conv1d", layers.Conv1D(6, 3, strides=2, padding="same", activation="tanh"), {"x": long}, biased("conv1d"))
    save("conv1d_causal", layers.Conv1D(6, 3, dilation_rate=2, padding="causal", groups=2), {"x": long}, biased("conv1d"))
    save("max_pool1d", layers.MaxPooling1D(3, strides=2), {"x": long}, {})
    save("avg_pool1d", layers.AveragePooling1D(2, padding="same"), {"x": long}, {})
    save("global_avg_pool1d", layers.GlobalAveragePooling1D(), {"x": long}, {})
    save("global_max_pool1d", layers.GlobalMaxPooling1D(), {"x": long}, {})
    parts = parts_of_attention(6)
    save("attention", layers.MultiHeadAttention(2, 3), {"x": drawn([2, 4, 6]), "memory": drawn([2, 5, 6])}, parts)
    lengths = tf.sequence_mask([2, 5], 5)[:, tf.newaxis, :]
    save("attention_lengths", Masked(layers.MultiHeadAttention(2, 3), lengths),
         {"x": drawn([2, 4, 6]), "memory": drawn([2, 5, 6])}, parts)
    save("attention_shared", layers.GroupQueryAttention(3, 4, 2), {"x": drawn([2, 4, 12]), "memory": drawn([2, 5, 12])},
         parts_of_attention(12, 6))
    save("attention_rotary", Rotary(2, 4), {"x": drawn([2, 5, 8])}, parts_of_attention(8))
    wide = 4 * drawn([3, 5, 6])
    save("rms_norm", layers.RMSNormalization(epsilon=1e-6), {"x": wide}, {"rms_norm_gamma": nth(0)})
    save("prelu", layers.PReLU(shared_axes=[1]), {"x": wide}, {"prelu_slope": nth(0, [6])})
    save("glu", layers.Activation("glu"), {"x": wide}, {})
    for ours, function in (("gelu", "gelu"), ("gelu_tanh", lambda x: tf.keras.activations.gelu(x, approximate=True)), ("swish", "silu"),
                           ("mish", "mish"), ("hard_sigmoid", "hard_sigmoid"), ("hard_swish", "hard_silu")):
        save(ours, layers.Activation(function), {"x": wide}, {})
    save("rnn", layers.SimpleRNN(6), {"x": sequence}, recurrent("rnn"))
    save("rnn_relu", layers.SimpleRNN(6, activation="relu", return_sequences=True), {"x": sequence}, recurrent("rnn"))
    save("rnn_bidirectional", layers.Bidirectional(layers.SimpleRNN(6, return_sequences=True)), {"x": sequence}, recurrent("rnn", True))
    save("gru_reset_before", layers.GRU(6, return_sequences=True, reset_after=False), {"x": sequence}, recurrent("gru"))
    save("gru_reset_before_bidirectional", layers.Bidirectional(layers.GRU(6, reset_after=False)), {"x": sequence}, recurrent("gru", True))


if __name__ == "__main__":
    main()
