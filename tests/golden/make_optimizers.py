"""Optimizers, schedules and clipping as TensorFlow computes them: writes tests/golden/optimizers.npz, to which
tests/apps/nn/optimizer_test.cpp holds those of apps/nn. Run it again when one is added:
    VENV/bin/python tests/golden/make_optimizers.py        (VENV has tensorflow-cpu; made with 2.21.0)

Arrays: start, the variable; dense and rows, the gradients of three updates, the latter for the rows in indices; NAME/dense and NAME/rows,
the variable after these updates; schedule/NAME, the rates for the steps in steps; clip/NAME, what the first dense gradient and its double
become when they are clipped together."""
import os
import pathlib

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy
import tensorflow as tf

v1 = tf.compat.v1
random = numpy.random.default_rng(11)
START = random.uniform(-1, 1, [4, 3]).astype(numpy.float32)
DENSE = random.uniform(-1, 1, [3, 4, 3]).astype(numpy.float32)
ROWS = random.uniform(-1, 1, [3, 3, 3]).astype(numpy.float32)
INDICES = numpy.array([2, 0, 2], numpy.int32)
arrays = {"start": START, "dense": DENSE, "rows": ROWS, "indices": INDICES}

OPTIMIZERS = {
    "sgd": lambda step: v1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda step: v1.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda step: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda step: v1.train.AdagradOptimizer(0.1),
    "adagrad_da": lambda step: v1.train.AdagradDAOptimizer(0.1, step, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
    "adadelta": lambda step: v1.train.AdadeltaOptimizer(0.5),
    "adam": lambda step: v1.train.AdamOptimizer(0.1),
    "rmsprop": lambda step: v1.train.RMSPropOptimizer(0.1, momentum=0.3),
    "centered_rmsprop": lambda step: v1.train.RMSPropOptimizer(0.1, momentum=0.3, centered=True),
    "ftrl": lambda step: v1.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02,
                                                l2_shrinkage_regularization_strength=0.03),
    "proximal_sgd": lambda step: v1.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02),
    "proximal_adagrad": lambda step: v1.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01, 0.02),
    "scheduled_adam": lambda step: v1.train.AdamOptimizer(v1.train.exponential_decay(0.1, step, 2, 0.5)),
}


def train(make, gradients):
    with tf.Graph().as_default(), v1.Session() as session:
        variable = v1.get_variable("v", initializer=START, use_resource=True)
        step = v1.train.get_or_create_global_step()
        fed = v1.placeholder(tf.float32)
        gradient = fed if gradients is DENSE else tf.IndexedSlices(fed, INDICES, [4, 3])
        update = make(step).apply_gradients([(gradient, variable)], global_step=step)
        session.run(v1.global_variables_initializer())
        for value in gradients:
            session.run(update, {fed: value})
        return session.run(variable)


def raw(update, slots):
    """Applies a raw op, which has no optimizer in TensorFlow 2."""
    variable = tf.Variable(START)
    state = [tf.Variable(numpy.zeros_like(START)) for _ in range(slots)]
    for t, gradient in enumerate(DENSE, 1):
        update(variable.handle, *[slot.handle for slot in state], t, gradient)
    return variable.numpy()


def keras(optimizer):
    variable = tf.Variable(START)
    for gradient in DENSE:
        optimizer.apply([tf.constant(gradient)], [variable])
    return variable.numpy()


def lazy_adam():
    """Adam on the rows that occur, in NumPy: TensorFlow has no such op."""
    v, m, s = START.astype(numpy.float64), numpy.zeros([4, 3]), numpy.zeros([4, 3])
    for t, rows in enumerate(ROWS, 1):
        g = numpy.zeros([4, 3])
        numpy.add.at(g, INDICES, rows)
        for i in set(INDICES):
            m[i] += 0.1 * (g[i] - m[i])
            s[i] += 0.001 * (g[i] ** 2 - s[i])
            v[i] -= 0.1 * numpy.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t) * m[i] / (numpy.sqrt(s[i]) + 1e-8)
    return v.astype(numpy.float32)


def ratio(variable, update):
    v, u = numpy.linalg.norm(variable), numpy.linalg.norm(update)
    return v / u if v > 0 and u > 0 else 1


def lars():
    """LARS, in NumPy: Keras has none any more."""
    v, a = START.astype(numpy.float64), numpy.zeros([4, 3])
    for g in DENSE:
        trust = 0.5 * numpy.linalg.norm(v) / (numpy.linalg.norm(g) + 0.02 * numpy.linalg.norm(v) + 1e-3)
        a = 0.9 * a + g + 0.02 * v
        v -= 0.1 * trust * a
    return v.astype(numpy.float32)


def lamb_with_decay():
    """LAMB with weight decay, in NumPy: Keras subtracts the decay beside the update."""
    v, m, s = START.astype(numpy.float64), numpy.zeros([4, 3]), numpy.zeros([4, 3])
    for t, g in enumerate(DENSE, 1):
        m += 0.1 * (g - m)
        s += 0.001 * (g ** 2 - s)
        update = m / (1 - 0.9 ** t) / (numpy.sqrt(s / (1 - 0.999 ** t)) + 1e-6) + 0.02 * v
        v -= 0.1 * ratio(v, update) * update
    return v.astype(numpy.float32)


for name, make in OPTIMIZERS.items():
    arrays[name + "/dense"] = train(make, DENSE)
    arrays[name + "/rows"] = train(make, ROWS)
arrays["nadam/dense"] = raw(lambda v, m, s, t, g: tf.raw_ops.ResourceApplyAdam(
    var=v, m=m, v=s, beta1_power=0.9 ** t, beta2_power=0.999 ** t, lr=0.1, beta1=0.9, beta2=0.999, epsilon=1e-8, grad=g, use_nesterov=True), 2)
arrays["adamax/dense"] = raw(lambda v, m, s, t, g: tf.raw_ops.ResourceApplyAdaMax(
    var=v, m=m, v=s, beta1_power=0.9 ** t, lr=0.1, beta1=0.9, beta2=0.999, epsilon=1e-8, grad=g), 2)
arrays["adamw/dense"] = keras(tf.keras.optimizers.AdamW(0.1, weight_decay=0.02, epsilon=1e-8))
arrays["amsgrad/dense"] = raw(lambda v, m, s, largest, t, g: tf.raw_ops.ResourceApplyAdamWithAmsgrad(
    var=v, m=m, v=s, vhat=largest, beta1_power=0.9 ** t, beta2_power=0.5 ** t, lr=0.1, beta1=0.9, beta2=0.5, epsilon=1e-8, grad=g), 3)
arrays["lion/dense"] = keras(tf.keras.optimizers.Lion(0.1, weight_decay=0.02))
arrays["add_sign/dense"] = raw(lambda v, m, t, g: tf.raw_ops.ResourceApplyAddSign(
    var=v, m=m, lr=0.1, alpha=1.5, sign_decay=0.5, beta=0.9, grad=g), 1)
arrays["power_sign/dense"] = raw(lambda v, m, t, g: tf.raw_ops.ResourceApplyPowerSign(
    var=v, m=m, lr=0.1, logbase=0.75, sign_decay=0.5, beta=0.9, grad=g), 1)
arrays["lars/dense"] = lars()
arrays["lamb/dense"] = keras(tf.keras.optimizers.Lamb(0.1, epsilon=1e-6))
arrays["lamb_with_decay/dense"] = lamb_with_decay()
arrays["lazy_adam/rows"] = lazy_adam()

SCHEDULES = {
    "piecewise_constant": lambda step: v1.train.piecewise_constant(step, [10, 25], [0.5, 0.2, 0.1])(),
    "exponential_decay": lambda step: v1.train.exponential_decay(0.5, step, 10, 0.7)(),
    "exponential_staircase": lambda step: v1.train.exponential_decay(0.5, step, 10, 0.7, staircase=True)(),
    "natural_exp_decay": lambda step: v1.train.natural_exp_decay(0.5, step, 10, 0.7)(),
    "inverse_time_decay": lambda step: v1.train.inverse_time_decay(0.5, step, 10, 0.7, staircase=True)(),
    "polynomial_decay": lambda step: v1.train.polynomial_decay(0.5, step, 20, 0.01, power=2.0)(),
    "polynomial_cycle": lambda step: v1.train.polynomial_decay(0.5, step, 20, 0.01, power=0.5, cycle=True)(),
    "cosine_decay": lambda step: v1.train.cosine_decay(0.5, step, 30, alpha=0.1)(),
    "cosine_decay_restarts": lambda step: v1.train.cosine_decay_restarts(0.5, step, 8, t_mul=2.0, m_mul=0.8, alpha=0.1)(),
    "cosine_equal_restarts": lambda step: v1.train.cosine_decay_restarts(0.5, step, 8, t_mul=1.0, m_mul=0.8)(),
}
arrays["steps"] = numpy.array([0, 1, 5, 9, 10, 11, 20, 21, 25, 26, 33, 60, 100], numpy.float32)
for name, rate in SCHEDULES.items():
    arrays["schedule/" + name] = numpy.array([rate(tf.constant(int(step))).numpy() for step in arrays["steps"]], numpy.float32)

pair = [tf.constant(DENSE[0]), tf.constant(2 * DENSE[0])]
arrays["clip/value"] = numpy.stack([tf.clip_by_value(g, -0.5, 0.5) for g in pair])
arrays["clip/norm"] = numpy.stack([tf.clip_by_norm(g, 2.5) for g in pair])
arrays["clip/global_norm"] = numpy.stack(tf.clip_by_global_norm(pair, 1.5)[0])
arrays["clip/global_norm_above"] = numpy.stack(tf.clip_by_global_norm(pair, 50.0)[0])

numpy.savez(pathlib.Path(__file__).parent / "optimizers.npz", **arrays)
