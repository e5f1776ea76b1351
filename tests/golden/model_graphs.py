"""graphs/: models as users write them, trained for a few steps."""
import numpy

from optimizers import OPTIMIZERS
from reference import apply, f32, i32, i64, mixed, ramp, tf
from script import Script

CLOSE = {"rtol": 2e-5, "atol": 1e-6}


def variable(name, initial, use_resource):
    return tf.get_variable(name, initializer=initial, use_resource=use_resource)


def forms():
    """Both forms of variables, and what the names of cases end in."""
    return (("ref", False), ("resource", True))


def waves(shape, size):
    """Numbers of both signs that the graph computes, so that no array of them is kept."""
    count = int(numpy.prod(shape))
    return tf.reshape(tf.sin(apply("LinSpace", start=0.0, stop=float(count), num=count).outputs[0]) * size, shape)


def mlp():
    """The example of the 2015 paper, with its loss: log(softmax), and gradient descent."""
    for form, resource in forms():
        script = Script(f"graphs/mlp_{form}", **CLOSE)
        with script.graph.as_default():
            x, y = tf.placeholder(tf.float32, [None, 784], "x"), tf.placeholder(tf.float32, [None, 10], "y")
            w1, b1 = variable("w1", waves([784, 100], 0.05), resource), variable("b1", tf.zeros([100]), resource)
            w2, b2 = variable("w2", waves([100, 10], 0.3), resource), variable("b2", tf.zeros([10]), resource)
            hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
            logits = tf.add(tf.matmul(hidden, w2), b2, name="logits")
            loss = tf.reduce_mean(-tf.reduce_sum(y * tf.math.log(tf.nn.softmax(logits)), axis=1), name="loss")
            train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, name="train")
            init = tf.global_variables_initializer()
        feeds = {x: mixed([2, 784], low=0, high=1, seed=50), y: numpy.eye(10, dtype=numpy.float32)[[3, 7]]}
        script.run(init)
        for _ in range(3):
            script.step([loss], feeds, [train])
        script.step([logits, read(b1), read(b2)], feeds)
        script.write()


def linear_regression():
    for form, resource in forms():
        script = Script(f"graphs/linear_regression_{form}", **CLOSE)
        with script.graph.as_default():
            x, y = tf.placeholder(tf.float32, [None, 2], "x"), tf.placeholder(tf.float32, [None], "y")
            w, b = variable("w", tf.constant([0.5, -0.25]), resource), variable("b", tf.constant(0.0), resource)
            error = tf.reduce_sum(x * w, 1) + b - y
            loss = tf.reduce_mean(tf.square(error), name="loss")
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
            init = tf.global_variables_initializer()
        feeds = {x: mixed([5, 2], seed=51), y: mixed([5], seed=52)}
        script.run(init)
        for _ in range(3):
            script.step([loss], feeds, [train])
        script.step([read(w), read(b)])
        script.step([loss], {x: mixed([5, 2]), y: mixed([4])}, fails=True)
        script.write()


def logistic_regression():
    """With every optimizer of tf.compat.v1.train."""
    for (optimizer, make), (form, resource) in ((one, other) for one in OPTIMIZERS.items() for other in forms()):
        script = Script(f"graphs/{optimizer}_{form}", **CLOSE)
        with script.graph.as_default():
            x, y = tf.placeholder(tf.float32, [None, 3], "x"), tf.placeholder(tf.float32, [None], "y")
            w, b = variable("w", tf.constant([0.5, -0.25, 1.0]), resource), variable("b", tf.constant(0.0), resource)
            logits = tf.reduce_sum(x * w, 1) + b
            loss = tf.reduce_mean(tf.nn.relu(logits) - logits * y + tf.math.log1p(tf.exp(-tf.abs(logits))), name="loss")
            train = make().minimize(loss, name="train", global_step=step_of(optimizer))
            init = tf.global_variables_initializer()
            variables = tf.global_variables()
        feeds = {x: mixed([6, 3], seed=53), y: f32([1, 0, 1, 1, 0, 0])}
        script.run(init)
        for _ in range(3):
            script.step([loss], feeds, [train])
        script.step([read(one) for one in variables])
        script.write()


def step_of(optimizer):
    return tf.train.get_or_create_global_step() if optimizer == "adagrad_da" else None


def read(variable):
    return variable.value() if hasattr(variable, "handle") else variable


def embeddings():
    """Rows looked up in three partitions, and trained: only rows that were looked up change."""
    ways = [("mod", "gradient_descent"), ("div", "gradient_descent"), ("mod", "adagrad"), ("div", "momentum")]
    ways += [("mod", optimizer) for optimizer in OPTIMIZERS if optimizer not in ("gradient_descent", "adagrad", "momentum")]
    for form, resource in forms():
        for strategy, optimizer in ways:
            script = Script(f"graphs/embedding_{strategy}_{optimizer}_{form}", **CLOSE)
            with script.graph.as_default():
                ids = tf.placeholder(tf.int64, [None], "ids")
                rows = (3, 3, 2)  # of seven or eight: the first partitions of "div" are the longer ones
                parts = [variable(f"part{i}", tf.constant(ramp([count, 2], first=10 * i)), resource) for i, count in enumerate(rows)]
                found = tf.nn.embedding_lookup(parts, ids, partition_strategy=strategy, name="found")
                loss = tf.reduce_sum(tf.square(found), name="loss")
                train = OPTIMIZERS[optimizer]().minimize(loss, name="train", global_step=step_of(optimizer))
                init = tf.global_variables_initializer()
            script.run(init)
            script.step([found], {ids: i64([0, 7, 3, 3, 5, 1])})
            script.step([loss], {ids: i64([7, 2, 2])}, [train])
            script.step([read(part) for part in parts])
            script.step([found], {ids: i64([])})
            script.write()


def gather_out_of_range():
    script = Script("graphs/gather_out_of_range")
    with script.graph.as_default():
        ids = tf.placeholder(tf.int32, [None], "ids")
        rows = variable("rows", tf.constant(ramp([4, 2])), False)
        found = apply("Gather", params=rows, indices=ids, name="found").outputs[0]
        init = tf.global_variables_initializer()
    script.run(init)
    script.step([found], {ids: i32([3, 0])})
    script.step([found], {ids: i32([0, 4])}, fails=True)
    script.step([found], {ids: i32([-1])}, fails=True)
    script.step([found], {ids: i32([1])})
    script.write()


def foreign_cluster():
    """One client, jobs of names that no cluster of Troupe's need have: variables on one, their optimizer on another."""
    for form, resource in forms():
        script = Script(f"graphs/foreign_cluster_{form}", **CLOSE)
        with script.graph.as_default():
            x, y = tf.placeholder(tf.float32, [None, 2], "x"), tf.placeholder(tf.float32, [None, 1], "y")
            with tf.device("/job:poly/task:0"):
                w = variable("w", tf.constant([[0.5], [-0.25]]), resource)
            with tf.device("/job:poly/task:1"):
                b = variable("b", tf.constant([0.0]), resource)
            with tf.device("/job:ember/task:0"):
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y), name="loss")
                train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="train")
            init = tf.global_variables_initializer()
        feeds = {x: mixed([5, 2], seed=54), y: mixed([5, 1], seed=55)}
        script.run(init)
        for _ in range(3):
            script.step([loss], feeds, [train])
        script.step([read(w), read(b)])
        script.write()


def quantized_network():
    """A small convolutional network in integers of 8 bits, of floats and for floats: every op of quantised tensors."""
    script = Script("graphs/quantized_network", rtol=1e-5, atol=1e-5)

    def quantize(x, low, high):
        return apply("QuantizeV2", input=x, min_range=low, max_range=high, T=tf.quint8, mode="MIN_FIRST").outputs

    def narrow(x, low, high):
        found = apply("RequantizationRange", input=x, input_min=low, input_max=high).outputs
        return apply("Requantize", input=x, input_min=low, input_max=high, requested_output_min=found[0], requested_output_max=found[1],
                     out_type=tf.quint8).outputs

    with script.graph.as_default():
        images = tf.placeholder(tf.float32, [None, 6, 6, 2], "images")
        x, low, high = quantize(images, -1.0, 1.0)
        filters, filter_low, filter_high = quantize(mixed([3, 3, 2, 4], low=-0.5, high=0.5, seed=11), -0.5, 0.5)
        sums = apply("QuantizedConv2D", input=x, filter=filters, min_input=low, max_input=high, min_filter=filter_low,
                     max_filter=filter_high, strides=[1, 1, 1, 1], padding="SAME").outputs
        features, low, high = narrow(*sums)
        bias, bias_low, bias_high = quantize(mixed([4], low=-0.3, high=0.3, seed=12), -0.3, 0.3)
        sums = apply("QuantizedBiasAdd", input=features, bias=bias, min_input=low, max_input=high, min_bias=bias_low, max_bias=bias_high,
                     out_type=tf.qint32).outputs
        features, low, high = narrow(*sums)
        features, low, high = apply("QuantizedRelu", features=features, min_features=low, max_features=high).outputs
        windows = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
        greatest = apply("QuantizedMaxPool", input=features, min_input=low, max_input=high, **windows).outputs
        means = apply("QuantizedAvgPool", input=features, min_input=low, max_input=high, **windows).outputs
        features, low, high = apply("QuantizedConcat", concat_dim=3, values=[greatest[0], means[0]], input_mins=[greatest[1], means[1]],
                                    input_maxes=[greatest[2], means[2]]).outputs
        normal = apply("QuantizedInstanceNorm", x=features, x_min=low, x_max=high).outputs
        channels = [quantize(mixed([8], low=bottom, high=bottom + 1, seed=14), bottom, bottom + 1) for bottom in (-0.5, 0.5, -1.0, 0.0)]
        ranged = {key: value for name, made in zip(("m", "v", "beta", "gamma"), channels)
                  for key, value in zip((name, f"{name}_min", f"{name}_max"), made)}
        fixed = apply("QuantizedBatchNormWithGlobalNormalization", t=features, t_min=low, t_max=high, out_type=tf.qint32,
                      variance_epsilon=0.001, scale_after_normalization=True, **ranged).outputs
        rows, low, high = apply("QuantizedReshape", tensor=features, shape=[-1, 72], input_min=low, input_max=high).outputs
        rows, low, high = apply("QuantizedRelu6", features=rows, min_features=low, max_features=high).outputs
        weights, weights_low, weights_high = quantize(mixed([72, 5], low=-0.2, high=0.2, seed=13), -0.2, 0.2)
        sums = apply("QuantizedMatMul", a=rows, b=weights, min_a=low, max_a=high, min_b=weights_low, max_b=weights_high).outputs
        scores, low, high = apply("QuantizeDownAndShrinkRange", input=sums[0], input_min=sums[1], input_max=sums[2],
                                  out_type=tf.quint8).outputs
        results = [apply("Dequantize", input=scores, min_range=low, max_range=high, mode="MIN_FIRST").outputs[0]]
        for op in ("QuantizedAdd", "QuantizedMul"):
            wide = apply(op, x=scores, y=weights[:1], min_x=low, max_x=high, min_y=weights_low, max_y=weights_high).outputs
            results.append(apply("Dequantize", input=wide[0], min_range=wide[1], max_range=wide[2], mode="MIN_FIRST").outputs[0])
        for steps in (normal, fixed):
            results.append(apply("Dequantize", input=steps[0], min_range=steps[1], max_range=steps[2], mode="MIN_FIRST").outputs[0])
    for seed in (1, 2):
        script.step(results, {images: mixed([2, 6, 6, 2], low=-1, high=1, seed=seed)})
    script.write()


GRAPHS = (quantized_network, mlp, linear_regression, logistic_regression, embeddings, gather_out_of_range, foreign_cluster)
