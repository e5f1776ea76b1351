"""A model of examples/models in TensorFlow (graph mode) or PyTorch, as a process that models.py steers:
   models_peer.py tensorflow|torch|torch_compiled MODEL BATCH THREADS
   models_peer.py torch|torch_compiled|torch_graphs MODEL BATCH THREADS gpu|gpu_tf32|gpu_f16|gpu_bf16      on a GPU, where the inputs stay
torch_graphs replays the eager steps from CUDA graphs.
It reads the line that bench/models_bench.cpp writes at its start from its input, then the same commands, and gives the same answers.
The weights stand in the order in which the layers create them.
"""
import json
import os
import sys
import time

import numpy


class Weights:
    """The weights of a model, taken one after the other."""

    def __init__(self, description):
        self.description, self.arrays = description, []

    def load(self, path):
        """Returns what follows the weights in the file."""
        data = numpy.fromfile(path, numpy.float32)
        begin = 0
        for name, dims, _ in self.description:
            size = int(numpy.prod(dims))
            self.arrays.append(data[begin:begin + size].reshape(dims))
            begin += size
        return data[begin:]


# ---- The layers, for either framework


class Layers:
    """Builds a model on tensors of a framework. `take` returns the next weight."""

    def __init__(self, ops, weights, training):
        self.ops, self.weights, self.training, self.next = ops, weights, training, 0

    def take(self):
        self.next += 1
        return self.weights[self.next - 1]

    def conv(self, x, kernel, strides=1, pad="SAME", bias=True, relu=True):
        weights = self.take()
        x = self.ops.conv(x, weights, self.take() if bias else None, strides, pad, kernel)
        return self.ops.relu(x) if relu else x

    def conv_bn(self, x, kernel, strides=1, pad="SAME", scale=True, relu=True, epsilon=1e-3):
        x = self.conv(x, kernel, strides, pad, bias=False, relu=False)
        mean, variance = self.take(), self.take()
        gamma = self.take() if scale else None
        x = self.ops.batch_norm(x, mean, variance, gamma, self.take(), epsilon, self.training)
        return self.ops.relu(x) if relu else x

    def dense(self, x, relu=False):
        x = self.ops.dense(x, self.take(), self.take())
        return self.ops.relu(x) if relu else x

    def perceptron(self, x):
        x = self.ops.flatten(x)
        return self.dense(self.dense(self.dense(x, True), True))


def alexnet(n, x):
    x = n.ops.max_pool(n.conv(x, 11, 4, 2), 3, 2)
    x = n.ops.max_pool(n.conv(x, 5), 3, 2)
    for _ in range(3):
        x = n.conv(x, 3)
    return n.perceptron(n.ops.max_pool(x, 3, 2))


def overfeat(n, x):
    x = n.ops.max_pool(n.conv(x, 11, 4, "VALID"), 2, 2)
    x = n.ops.max_pool(n.conv(x, 5, 1, "VALID"), 2, 2)
    for _ in range(3):
        x = n.conv(x, 3)
    return n.perceptron(n.ops.max_pool(x, 2, 2))


def oxfordnet(n, x):
    for convolutions in (1, 1, 2, 2, 2):
        for _ in range(convolutions):
            x = n.conv(x, 3)
        x = n.ops.max_pool(x, 2, 2)
    return n.perceptron(x)


def googlenet(n, x):
    def inception(x):
        one = n.conv(x, 1)
        three = n.conv(n.conv(x, 1), 3)
        five = n.conv(n.conv(x, 1), 5)
        return n.ops.concat([one, three, five, n.conv(n.ops.max_pool(x, 3, 1, "SAME"), 1)])

    x = n.ops.max_pool(n.conv(x, 7, 2, 3), 3, 2, "SAME")
    x = n.ops.max_pool(n.conv(n.conv(x, 1), 3), 3, 2, "SAME")
    for stage, blocks in enumerate((2, 5, 2)):
        if stage > 0:
            x = n.ops.max_pool(x, 3, 2, "SAME")
        for _ in range(blocks):
            x = inception(x)
    return n.dense(n.ops.global_average(x))


def resnet50(n, x):
    def conv(x, kernel, strides=1, relu=True):
        return n.conv_bn(x, kernel, strides, kernel // 2, relu=relu, epsilon=1e-5)

    x = n.ops.max_pool(conv(x, 7, 2), 3, 2, "SAME")
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            strides = 2 if stage > 0 and block == 0 else 1
            shortcut = conv(x, 1, strides, relu=False) if block == 0 else x
            x = n.ops.relu(conv(conv(conv(x, 1), 3, strides), 1, relu=False) + shortcut)
    return n.dense(n.ops.global_average(x))


def inception_v3(n, x):
    def conv(x, kernel, strides=1, pad="SAME"):
        return n.conv_bn(x, kernel, strides, pad, scale=False)

    average = lambda x: n.ops.average_pool(x, 3, 1, "SAME")
    halved = lambda x: n.ops.max_pool(x, 3, 2)

    def block_a(x):
        five = conv(conv(x, 1), 5)
        twice = conv(conv(conv(x, 1), 3), 3)
        return n.ops.concat([conv(x, 1), five, twice, conv(average(x), 1)])

    def block_b(x):
        across, down = (1, 7), (7, 1)
        seven = conv(conv(conv(x, 1), across), down)
        twice = conv(conv(conv(conv(conv(x, 1), down), across), down), across)
        return n.ops.concat([conv(x, 1), seven, twice, conv(average(x), 1)])

    def block_c(x):
        three = conv(x, 1)
        twice = conv(conv(x, 1), 3)
        parts = [conv(x, 1), conv(three, (1, 3)), conv(three, (3, 1)), conv(twice, (1, 3)), conv(twice, (3, 1))]
        return n.ops.concat(parts + [conv(average(x), 1)])

    x = conv(conv(conv(x, 3, 2, "VALID"), 3, 1, "VALID"), 3)
    x = halved(conv(conv(halved(x), 1, 1, "VALID"), 3, 1, "VALID"))
    for _ in range(3):
        x = block_a(x)
    twice = conv(conv(conv(x, 1), 3), 3, 2, "VALID")
    x = n.ops.concat([conv(x, 3, 2, "VALID"), twice, halved(x)])
    for _ in range(4):
        x = block_b(x)
    three = conv(conv(x, 1), 3, 2, "VALID")
    seven = conv(conv(conv(conv(x, 1), (1, 7)), (7, 1)), 3, 2, "VALID")
    x = n.ops.concat([three, seven, halved(x)])
    for _ in range(2):
        x = block_c(x)
    return n.dense(n.ops.global_average(x))


def mlp(n, x):
    return n.dense(n.dense(x, relu=True))


def lstm512(n, x):
    x = n.ops.embedding(n.take(), x)
    x = n.ops.lstm(x, n.take(), n.take(), n.take())
    return n.dense(n.ops.rows(x))


def dynamic_lstm(n, x):
    x = n.ops.embedding(n.take(), x)
    x = n.ops.dynamic_lstm(x, n.take(), n.take(), n.take())
    return n.dense(n.ops.rows(x))


def transformer(n, x):
    def normalised(x):
        return n.ops.layer_norm(x, n.take(), n.take())

    def dense(x):
        return n.ops.dense(x, n.take(), n.take())

    positions = n.take()
    x = n.ops.embedding(n.take(), x) + positions
    for _ in range(6):
        y = normalised(x)
        x = x + dense(n.ops.attention(dense(y), dense(y), dense(y), 8))
        x = x + dense(n.ops.gelu(dense(normalised(x))))
    return n.dense(n.ops.rows(normalised(x)))


MODELS = {model.__name__: model
          for model in (alexnet, overfeat, oxfordnet, googlenet, resnet50, inception_v3, mlp, lstm512, dynamic_lstm,
                        transformer)}


# ---- TensorFlow


class TensorFlowOps:
    def __init__(self, tf):
        self.tf, self.relu = tf, tf.nn.relu

    def conv(self, x, weights, bias, strides, pad, kernel):
        if isinstance(pad, int):
            pad = [[0, 0], [pad, pad], [pad, pad], [0, 0]]
        x = self.tf.nn.conv2d(x, weights, strides, pad)
        return x if bias is None else self.tf.nn.bias_add(x, bias)

    def batch_norm(self, x, mean, variance, gamma, beta, epsilon, training):
        gamma = self.tf.ones_like(mean) if gamma is None else gamma
        given = {} if training else {"mean": mean, "variance": variance}
        return self.tf.compat.v1.nn.fused_batch_norm(x, gamma, beta, epsilon=epsilon, is_training=training, **given)[0]

    def max_pool(self, x, window, strides, pad="VALID"):
        return self.tf.nn.max_pool2d(x, window, strides, pad)

    def average_pool(self, x, window, strides, pad="VALID"):
        return self.tf.nn.avg_pool2d(x, window, strides, pad)

    def global_average(self, x):
        return self.tf.reduce_mean(x, [1, 2])

    def concat(self, parts):
        return self.tf.concat(parts, 3)

    def flatten(self, x):
        return self.tf.reshape(x, [-1, int(numpy.prod(x.shape[1:]))])

    def dense(self, x, weights, bias):
        return self.tf.nn.bias_add(self.tf.matmul(x, weights), bias)

    def rows(self, x):
        return self.tf.reshape(x, [-1, x.shape[-1]])

    def embedding(self, weights, tokens):
        return self.tf.gather(weights, tokens)

    def gelu(self, x):
        return self.tf.nn.gelu(x)

    def layer_norm(self, x, gamma, beta):
        mean, variance = self.tf.nn.moments(x, [-1], keepdims=True)
        return self.tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-5)

    def lstm(self, x, weights, recurrent, bias):
        """The gates of all steps in one product, then the steps one after the other."""
        tf = self.tf
        units, gates = recurrent.shape[0], self.dense(x, weights, bias)
        state = hidden = tf.zeros([x.shape[0], units])
        outputs = []
        for step in tf.unstack(gates, axis=1):
            enter, forget, candidate, leave = tf.split(step + tf.matmul(hidden, recurrent), 4, 1)
            state = tf.sigmoid(forget) * state + tf.sigmoid(enter) * tf.tanh(candidate)
            hidden = tf.sigmoid(leave) * tf.tanh(state)
            outputs.append(hidden)
        return tf.stack(outputs, 1)

    def dynamic_lstm(self, x, weights, recurrent, bias):
        """The steps in a loop over arrays of tensors, as tf.nn.dynamic_rnn has them."""
        tf = self.tf
        batch, time, units = x.shape[0], x.shape[1], recurrent.shape[0]
        inputs = tf.TensorArray(tf.float32, time).unstack(tf.transpose(self.dense(x, weights, bias), [1, 0, 2]))

        def step(i, hidden, state, outputs):
            enter, forget, candidate, leave = tf.split(inputs.read(i) + tf.matmul(hidden, recurrent), 4, 1)
            state = tf.sigmoid(forget) * state + tf.sigmoid(enter) * tf.tanh(candidate)
            hidden = tf.sigmoid(leave) * tf.tanh(state)
            return i + 1, hidden, state, outputs.write(i, hidden)

        zeros = tf.zeros([batch, units])
        outputs = tf.TensorArray(tf.float32, time, element_shape=[batch, units])
        states = tf.while_loop(lambda i, *_: i < time, step, [tf.constant(0), zeros, zeros, outputs])[3].stack()
        return tf.transpose(states, [1, 0, 2])

    def attention(self, query, key, value, heads):
        tf = self.tf
        batch, time, units = query.shape
        split = lambda x: tf.transpose(tf.reshape(x, [batch, time, heads, units // heads]), [0, 2, 1, 3])
        weights = tf.nn.softmax(tf.matmul(split(query), split(key), transpose_b=True) * (units // heads) ** -0.5)
        return tf.reshape(tf.transpose(tf.matmul(weights, split(value)), [0, 2, 1, 3]), [batch, time, units])


class TensorFlowModel:
    def __init__(self, model, threads):
        import tensorflow as tf
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        self.tf, self.model = tf, model

    def load(self, weights, inputs, labels):
        tf = self.tf
        variables = [tf.Variable(array) for array in weights.arrays]
        trainable = [v for v, (_, _, is_trainable) in zip(variables, weights.description) if is_trainable]
        x = tf.constant(inputs)
        build = lambda training: self.model(Layers(TensorFlowOps(tf), variables, training), x)

        def loss_of():
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=build(True)))

        def backward():
            with tf.GradientTape() as tape:
                loss = loss_of()
            return [gradient for gradient in tape.gradient(loss, trainable, unconnected_gradients="zero")]

        self.loss = tf.function(loss_of)
        self.gradients, self.inference = tf.function(backward), tf.function(lambda: build(False))

    def loss_value(self):
        return float(self.loss())

    def gradient_arrays(self):
        return [self.tf.convert_to_tensor(gradient).numpy() for gradient in self.gradients()]

    def training_step(self):
        self.gradients()[-1].numpy()

    def inference_step(self):
        self.inference().numpy()


# ---- PyTorch


class TorchOps:
    def __init__(self, torch):
        self.torch, self.f, self.relu = torch, torch.nn.functional, torch.relu

    @staticmethod
    def same(size, kernel, strides):
        total = max((-(-size // strides) - 1) * strides + kernel - size, 0)
        return total // 2, total - total // 2

    def padded(self, x, kernel, strides, pad, value=0.0):
        """Returns x and the padding that remains to be done by the op, which is the same on both sides."""
        if not isinstance(pad, str):
            return x, (pad, pad)
        if pad == "VALID":
            return x, (0, 0)
        down, across = (kernel, kernel) if isinstance(kernel, int) else kernel
        top, bottom = self.same(x.shape[2], down, strides)
        left, right = self.same(x.shape[3], across, strides)
        if top == bottom and left == right:
            return x, (top, left)
        return self.f.pad(x, (left, right, top, bottom), value=value), (0, 0)

    def conv(self, x, weights, bias, strides, pad, kernel):
        x, padding = self.padded(x, kernel, strides, pad)
        return self.f.conv2d(x, weights, bias, strides, padding)

    def batch_norm(self, x, mean, variance, gamma, beta, epsilon, training):
        gamma = self.torch.ones_like(mean) if gamma is None else gamma
        given = (None, None) if training else (mean, variance)
        return self.f.batch_norm(x, *given, gamma, beta, training, eps=epsilon)

    def max_pool(self, x, window, strides, pad="VALID"):
        x, padding = self.padded(x, window, strides, pad, float("-inf"))
        return self.f.max_pool2d(x, window, strides, padding)

    def average_pool(self, x, window, strides, pad="VALID"):
        x, padding = self.padded(x, window, strides, pad)
        return self.f.avg_pool2d(x, window, strides, padding, count_include_pad=False)

    def global_average(self, x):
        return x.mean((2, 3))

    def concat(self, parts):
        return self.torch.cat(parts, 1)

    def flatten(self, x):
        return x.permute(0, 2, 3, 1).reshape(x.shape[0], -1)  # in the order of the weights

    def dense(self, x, weights, bias):
        if x.dim() == 2:
            return self.torch.addmm(bias, x, weights)
        return self.f.linear(x, weights.t(), bias)

    def rows(self, x):
        return x.reshape(-1, x.shape[-1])

    def embedding(self, weights, tokens):
        return self.f.embedding(tokens, weights)

    def gelu(self, x):
        return self.f.gelu(x)

    def layer_norm(self, x, gamma, beta):
        return self.f.layer_norm(x, x.shape[-1:], gamma, beta, 1e-5)

    def lstm(self, x, weights, recurrent, bias):
        zeros = self.torch.zeros(1, x.shape[0], recurrent.shape[0])
        parameters = [weights.t().contiguous(), recurrent.t().contiguous(), bias, self.torch.zeros_like(bias)]
        return self.torch.lstm(x, (zeros, zeros), parameters, True, 1, 0.0, self.torch.is_grad_enabled(), False, True)[0]

    dynamic_lstm = lstm

    def attention(self, query, key, value, heads):
        split = lambda x: x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)
        y = self.f.scaled_dot_product_attention(split(query), split(key), split(value))
        return y.transpose(1, 2).reshape(query.shape)


class TorchModel:
    def __init__(self, model, threads, compiled, graphs=False, place="cpu"):
        import torch
        torch.set_num_threads(threads)
        self.torch, self.model, self.compiled, self.graphs = torch, model, compiled, graphs
        self.on_gpu, self.narrow = place.startswith("gpu"), {"gpu_f16": torch.float16, "gpu_bf16": torch.bfloat16}.get(place)
        if self.on_gpu:
            torch.set_default_device("cuda")
            torch.backends.cudnn.benchmark = os.environ.get("BENCHMARK") == "1"  # whether algorithms are chosen by timing them
            torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = place == "gpu_tf32"

    def load(self, weights, inputs, labels):
        torch = self.torch

        def tensor(array, trainable):
            if array.ndim == 4:
                array = array.transpose(3, 2, 0, 1)
            value = self.placed(numpy.array(array))
            if array.ndim == 4:
                value = value.contiguous(memory_format=torch.channels_last)
            return value.requires_grad_(trainable)

        self.weights = [tensor(array, trainable) for array, (_, _, trainable) in zip(weights.arrays, weights.description)]
        self.trainable = [weight for weight in self.weights if weight.requires_grad]
        if inputs.ndim == 4:
            pixels = self.placed(numpy.ascontiguousarray(inputs.transpose(0, 3, 1, 2)))
            self.x = pixels.contiguous(memory_format=torch.channels_last)
        else:
            self.x = self.placed(inputs)
        self.labels = self.placed(labels)
        self.scalar = self.placed(numpy.zeros((), numpy.float32))
        build = lambda x, training: self.model(Layers(TorchOps(torch), self.weights, training), x)
        self.forward = torch.compile(build) if self.compiled else build
        self.steps = {name: self.replayed(step) if self.graphs else step
                      for name, step in (("update", self.update), ("inference", self.infer))}

    def placed(self, array):
        value = self.torch.from_numpy(array)
        return value.cuda() if self.on_gpu else value

    def replayed(self, step):
        """Returns a function that replays the step from a CUDA graph."""
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = step()

        def replay():
            graph.replay()
            return result

        return replay

    def loss_tensor(self):
        with self.torch.autocast("cuda", self.narrow, enabled=self.narrow is not None):
            logits = self.forward(self.x, True)
        return self.torch.nn.functional.cross_entropy(logits.float(), self.labels)

    def loss_value(self):
        return float(self.loss_tensor())

    def backward(self):
        return self.torch.autograd.grad(self.loss_tensor(), self.trainable, allow_unused=True)

    def gradient_arrays(self):
        arrays = []
        for gradient, weight in zip(self.backward(), self.trainable):
            array = (self.torch.zeros_like(weight) if gradient is None else gradient).cpu().numpy()
            arrays.append(numpy.ascontiguousarray(array.transpose(2, 3, 1, 0) if array.ndim == 4 else array))
        return arrays

    def training_step(self):
        self.backward()
        self.wait()

    def update(self):
        """Forward, backward, and gradient descent with rate 0."""
        loss = self.loss_tensor()
        gradients = self.torch.autograd.grad(loss, self.trainable, allow_unused=True)
        pairs = [(w, g) for w, g in zip(self.trainable, gradients) if g is not None]
        with self.torch.no_grad():
            self.torch._foreach_add_([w for w, _ in pairs], [g for _, g in pairs], alpha=-0.0)
        return loss.detach()

    def infer(self):
        with self.torch.no_grad():
            return self.forward(self.x, False)

    def update_step(self):
        float(self.steps["update"]())

    def null_step(self):
        float(self.scalar)

    def inference_step(self):
        self.steps["inference"]()
        self.wait()

    def wait(self):
        if self.on_gpu:
            self.torch.cuda.synchronize()


# ---- Commands


def seconds(step, count):
    result = []
    for _ in range(count):
        start = time.perf_counter()
        step()
        result.append(time.perf_counter() - start)
    return result


def peak_memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def main():
    framework, name, batch, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    place = sys.argv[5] if len(sys.argv) > 5 else "cpu"
    os.environ["OMP_NUM_THREADS"] = str(threads)
    make = {"tensorflow": lambda m: TensorFlowModel(m, threads), "torch": lambda m: TorchModel(m, threads, False, place=place),
            "torch_compiled": lambda m: TorchModel(m, threads, True, place=place),
            "torch_graphs": lambda m: TorchModel(m, threads, False, True, place)}
    model = make[framework](MODELS[name])
    description = json.loads(sys.stdin.readline())
    for line in sys.stdin:
        command, *argument = line.split()
        answer = {}
        if command == "load":
            weights = Weights(description["weights"])
            inputs = weights.load(argument[0]).reshape(batch, *description["dims"])
            inputs = inputs.view(numpy.int32) if description["tokens"] else inputs
            rows = inputs.size if description["tokens"] else batch
            model.load(weights, inputs, numpy.arange(rows) % description["classes"])
        elif command == "loss":
            answer["loss"] = model.loss_value()
        elif command == "gradients":
            with open(argument[0], "wb") as file:
                for array in model.gradient_arrays():
                    file.write(numpy.asarray(array, numpy.float32).tobytes())
        elif command in ("training", "update", "inference", "null"):
            answer["seconds"] = seconds(getattr(model, command + "_step"), int(argument[0]))
        elif command == "memory":
            answer["bytes"] = peak_memory()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
