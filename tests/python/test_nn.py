"""Optimizers, schedules, losses and layers."""
import inspect

import numpy as np
import pytest

import troupe
from troupe import nn

OPTIMIZERS = [cls for _, cls in inspect.getmembers(nn, inspect.isclass) if issubclass(cls, nn.Optimizer) and cls is not nn.Optimizer]


def optimizer_of(cls, rate=0.05):
    return cls(rate, momentum=0.9) if cls is nn.Momentum else cls(rate)


@pytest.mark.parametrize("cls", OPTIMIZERS, ids=lambda cls: cls.__name__)
def test_every_optimizer_makes_a_loss_smaller(graph, cls):
    v = troupe.variable(np.zeros(2, np.float32))
    loss = troupe.ops.sum((v - [1.0, -2.0]) ** 2)
    step = optimizer_of(cls).minimize(loss)
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        before = session.run(loss)
        for _ in range(20):
            session.run(step)
        assert session.run(loss) < before


def values_after(graph, rate, steps):
    v = troupe.variable(0.0)
    step = nn.Sgd(rate).minimize(v)  # each step subtracts the rate
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        values = [0.0]
        for _ in range(steps):
            session.run(step)
            values.append(float(session.run(v)))
    return -np.diff(values)


def test_schedules(graph):
    np.testing.assert_allclose(values_after(graph, nn.piecewise_constant([1], [1.0, 0.5]), 4), [1, 1, 0.5, 0.5], rtol=1e-6)


def test_a_schedule_may_be_a_function(graph):
    np.testing.assert_allclose(values_after(graph, lambda step: 1.0 / (step + 1.0), 3), [1, 1 / 2, 1 / 3], rtol=1e-5)


@pytest.mark.parametrize("cls", OPTIMIZERS, ids=lambda cls: cls.__name__)
def test_the_rate_of_every_optimizer_may_be_an_output(cls):
    def values(rate_of):
        with troupe.Graph() as graph, troupe.Session(graph) as session:
            given = troupe.placeholder("float32", [])
            v = troupe.variable(np.float32([1, 2]))
            step = optimizer_of(cls, rate_of(given)).minimize(troupe.ops.sum(v * v))
            session.run(troupe.initializer())
            return [(session.run(step, {given: rate}), session.run(v))[1] for rate in (0.25, 0.5, 0.125)]

    np.testing.assert_array_equal(values(lambda given: given), values(lambda given: lambda updates: given))


def test_a_rate_may_be_a_variable_or_a_number_of_numpy(graph):
    assert values_after(graph, troupe.variable(0.5, trainable=False), 1)[0] == 0.5
    assert values_after(graph, np.float32(0.25), 1)[0] == 0.25


@pytest.mark.parametrize("rate", ["fast", np.ones(2), None])
def test_what_no_rate_may_be(graph, rate):
    with pytest.raises(troupe.InvalidArgumentError, match="must be a number, an output .*, a schedule, or a function .*, not .* of type"):
        nn.Sgd(rate).minimize(troupe.variable(1.0))


@pytest.mark.parametrize("schedule", [nn.constant_rate(1), nn.exponential_decay(1, 10, 0.5), nn.natural_exp_decay(1, 10, 0.5),
                                      nn.inverse_time_decay(1, 10, 0.5, staircase=True), nn.polynomial_decay(1, 10, 0.1),
                                      nn.cosine_decay(1, 10), nn.cosine_decay_restarts(1, 10), nn.warm_up(2, nn.constant_rate(1))])
def test_all_schedules(graph, schedule):
    assert np.all(values_after(graph, schedule, 2) > 0)


def test_gradients_can_be_changed(graph):
    v = troupe.variable(np.array([3.0, 4.0], np.float32))
    gradients = nn.compute_gradients(troupe.ops.sum(v * v))
    assert [variable for _, variable in gradients] == [v]
    norm = nn.global_norm(gradients)
    clipped = nn.clip_by_global_norm(gradients, 1.0)
    step = nn.Sgd(1.0).apply_gradients(nn.add_weight_decay(nn.clip_by_value(nn.clip_by_norm(clipped, 5.0), 9.0), 0.0))
    doubled = nn.Sgd(1.0).apply_gradients([(gradient * 0.0, variable) for gradient, variable in gradients])
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        assert session.run(norm) == 10
        session.run([step, doubled])
        np.testing.assert_allclose(session.run(v), [2.4, 3.2], rtol=1e-6)


LOSSES = ["mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_log_error", "log_cosh", "huber",
          "quantile_loss", "poisson_loss", "cosine_distance", "hinge", "squared_hinge"]


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_numbers(session, name):
    label = np.array([[1.0, 0.0], [1.0, 1.0]], np.float32)
    assert np.isfinite(session.run(getattr(nn, name)(label * 0.5, label)))


def test_losses_of_the_samples_can_be_weighted(session):
    predicted, label = np.array([1.0, 2.0, 5.0], np.float32), np.array([1.0, 4.0, 4.0], np.float32)
    losses = nn.mean_squared_error(predicted, label, reduction="none")
    assert session.run(losses).tolist() == [0, 4, 1]
    assert session.run(troupe.ops.mean(losses * [1.0, 0.5, 4.0])) == 2
    assert session.run(nn.huber(predicted, label, delta=1.0, reduction="sum")) == 2
    logits = np.zeros((2, 4), np.float32)
    assert session.run(nn.softmax_cross_entropy(logits, [0, 3], reduction="none")) == pytest.approx(np.log([4.0, 4.0]))
    with pytest.raises(troupe.InvalidArgumentError, match="hinge: reduction is 'avg'; it must be 'mean', 'sum' or 'none'"):
        nn.hinge(predicted, label, reduction="avg")


def test_losses_and_metrics_of_classes(session):
    logits, label = np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]], np.float32), np.array([0, 2])
    assert session.run(nn.accuracy(logits, label)) == 0.5 and session.run(nn.top_k_accuracy(logits, label, k=3)) == 1
    odds = np.exp(2) / (np.exp(2) + 2)
    expected = -(np.log(odds) + np.log((1 - odds) / 2)) / 2
    assert session.run(nn.softmax_cross_entropy(logits, label)) == pytest.approx(expected, rel=1e-5)
    assert session.run(nn.binary_cross_entropy([0.0, 0.0], [1.0, 0.0])) == pytest.approx(np.log(2), rel=1e-5)
    smooth = nn.binary_cross_entropy([2.0, 2.0], [1.0, 0.0], label_smoothing=0.5)
    assert session.run(smooth) == pytest.approx(np.log(1 + np.exp(2)) - 1.0, rel=1e-5)
    assert session.run(nn.kl_divergence([[0.0, 0.0]], [[1.0, 0.0]])) == pytest.approx(np.log(2), rel=1e-5)


def of_batches(session, function, placeholders, batches):
    metric = function(*placeholders)
    for batch in batches:
        metric.add(session.run(metric.means, dict(zip(placeholders, batch))), len(batch[1]))
    return metric.value()


def test_metrics_of_all_samples_add_up_batches(session):
    random = np.random.default_rng(1)
    batches = [(random.normal(size=(n, 2)).astype(np.float32), random.integers(0, 2, n)) for n in (7, 40, 1)]
    logits, label = np.concatenate([one for one, _ in batches]), np.concatenate([one for _, one in batches])
    given = troupe.placeholder("float32", [None, 2]), troupe.placeholder("int64", [None])
    found = logits.argmax(-1)
    hits = ((found == 1) & (label == 1)).sum()
    precision, recall = hits / (found == 1).sum(), hits / (label == 1).sum()
    assert of_batches(session, nn.precision, given, batches) == pytest.approx(precision)
    assert of_batches(session, nn.recall, given, batches) == pytest.approx(recall)
    assert of_batches(session, nn.f1, given, batches) == pytest.approx(2 * precision * recall / (precision + recall))
    score = logits[:, 1] - logits[:, 0]
    pairs = score[label == 1][:, None] > score[label == 0][None, :]
    assert of_batches(session, nn.auc, given, batches) == pytest.approx(pairs.mean(), abs=2e-3)
    of_samples = np.log(np.exp(logits).sum(-1)) - logits[np.arange(len(label)), label]
    assert of_batches(session, nn.perplexity, given, batches) == pytest.approx(np.exp(of_samples.mean()), rel=1e-5)


def test_metrics_of_all_numbers_add_up_batches(session):
    batches = [(np.array([1.0, 2.0, 4.0], np.float32), np.array([1.0, 2.5, 3.0], np.float32)), (np.array([0.0], np.float32),) * 2]
    errors, labels = np.array([0, -0.5, 1, 0]), np.array([1, 2.5, 3, 0])
    given = troupe.placeholder("float32", [None]), troupe.placeholder("float32", [None])
    assert of_batches(session, nn.r2, given, batches) == pytest.approx(1 - (errors**2).mean() / labels.var())
    assert of_batches(session, nn.root_mean_squared_error, given, batches) == pytest.approx(np.sqrt((errors**2).mean()))
    r2 = nn.r2(*given)
    r2.add([0.0, 0.0, 1.0], 5)
    assert r2.value() == 1
    r2.reset()
    assert np.isnan(r2.value())
    with pytest.raises(ValueError, match="r2: a batch of 0 samples"):
        r2.add([1.0], 0)
    with pytest.raises(troupe.errors.InvalidArgumentError, match="metric"):
        nn.r2(troupe.ops.zeros([2, 3]), troupe.ops.zeros([4]))


def test_layers_share_weights_between_builds(graph):
    x = troupe.placeholder("float32", [None, 4])
    network = nn.Network()
    trained = network.dropout(network.dense(x, 3, init=1.0), 0.9)
    same = network.rebuilt(training=False)
    inferred = same.dropout(same.dense(x, 3, init=1.0), 0.9)
    assert list(network.weights) == ["dense_weights", "dense_bias"] and len(troupe.variables()) == 2
    assert network.training and not same.training
    with troupe.Session(graph, seed=3) as session:
        session.run(troupe.initializer())
        assert session.run(inferred, {x: np.ones([1, 4])}).tolist() == [[4, 4, 4]]
        assert (session.run(trained, {x: np.ones([50, 4])}) == 0).any()


def test_activations(session):
    x = np.array([-4.0, -1.0, -0.25, 0.0, 0.5, 2.0, 4.0])
    logistic = 1 / (1 + np.exp(-x))
    hard = np.clip((x + 3) / 6, 0, 1)
    expected = {
        nn.gelu: [-0.000127, -0.158655, -0.100324, 0, 0.345731, 1.954500, 3.999873],
        nn.gelu_tanh: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        nn.swish: x * logistic,
        nn.mish: x * np.tanh(np.log1p(np.exp(x))),
        nn.hard_sigmoid: hard,
        nn.hard_swish: x * hard,
        troupe.ops.leaky_relu: np.where(x > 0, x, 0.2 * x),
        troupe.ops.softsign: x / (1 + abs(x)),
    }
    for function, values in expected.items():
        np.testing.assert_allclose(session.run(function(troupe.constant(x))), values, atol=1e-6, err_msg=function.__name__)
    assert session.run(troupe.ops.clip_by_value(x, -1.0, 2.0)).tolist() == [-1, -1, -0.25, 0, 0.5, 2, 2]


def test_layers_of_gates_and_norms(graph):
    x = np.array([[3.0, -4.0, 0.0, 1.0]], np.float32)
    network = nn.Network()
    gated, bent, normal = network.glu(x), network.prelu(x, slope=0.5), network.rms_norm(x)
    steps = network.attention(np.ones([2, 5, 8], np.float32), heads=4, causal=True, kv_heads=2, rotary=True)
    assert steps.shape == (2, 5, 8) and network.weights["attention_key_weights"].shape == (8, 4)
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        np.testing.assert_allclose(session.run(gated), [[1.5, -4 / (1 + np.exp(-1))]], rtol=1e-6)
        assert session.run(bent).tolist() == [[3, -2, 0, 1]]
        np.testing.assert_allclose(session.run(normal), x / np.sqrt(6.5), rtol=1e-6)
    with pytest.raises(troupe.errors.InvalidArgumentError, match="kv_heads is 3; it must divide the 4 heads"):
        network.attention(np.ones([2, 5, 8], np.float32), heads=4, kv_heads=3)


def test_layers_of_images(graph):
    network = nn.Network()
    x = network.conv2d(np.ones([2, 8, 8, 3], np.float32), 4, kernel=(3, 2), activation="relu")
    x = network.max_pool2d(network.batch_norm(x))
    shapes = [x.shape, network.avg_pool2d(x).shape, network.flatten(x).shape, network.global_avg_pool2d(x).shape]
    assert shapes == [(2, 4, 4, 4), (2, 2, 2, 4), (2, 64), (2, 4)]
    large = network.upsample2d(network.group_norm(x, groups=2), size=(2, 3), method="bilinear")
    assert large.shape == (2, 8, 12, 4) and network.global_max_pool2d(large).shape == (2, 4)
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        session.run([x, network.update_averages()])


def test_layers_of_sequences(graph):
    network = nn.Network().at("encoder")
    x = network.layer_norm(network.embedding(np.array([[1, 2, 3]]), rows=10, units=4))
    assert network.lstm(x, 5).shape == (1, 5) and network.gru(x, 5, sequences=True).shape == (1, 3, 5)
    assert network.rnn(x, 5, activation="relu").shape == (1, 5) and network.gru(x, 5, sequences=True, reset_after=False).shape == (1, 3, 5)
    with pytest.raises(troupe.errors.InvalidArgumentError, match="activation is 'elu'; it must be tanh or relu"):
        network.rnn(x, 5, activation="elu")
    assert network.named("look").attention(x, heads=2, memory_lengths=[2]).shape == (1, 3, 4)
    both = network.lstm(network.position_embedding(x, steps=3), 5, sequences=True, bidirectional=True)
    assert both.shape == (1, 3, 10)
    assert network.attention_lstm(x, both, units=7, memory_lengths=[2]).shape == (1, 3, 7)
    some = network.conv1d(both, 6, kernel=2, padding="CAUSAL")
    assert network.max_pool1d(some, window=3).shape == network.avg_pool1d(some, window=3).shape == (1, 1, 6)
    assert network.global_avg_pool1d(some).shape == network.global_max_pool1d(some).shape == (1, 6)
    assert all(name.startswith("encoder/") for name in network.weights)


def test_rows_of_different_lengths(session):
    values, splits = np.array([3.0, 1.0, 5.0], np.float32), np.array([0, 2, 2, 3], np.int32)
    for function, expected in [(nn.row_lengths, [2, 0, 1]), (nn.row_sum, [4, 0, 5]), (nn.row_mean, [2, 0, 5]),
                               (nn.row_max, [3, 0, 5]), (nn.row_min, [1, 0, 5])]:
        assert session.run(function(values, splits)).tolist() == expected
    odds = np.exp(2.0)
    np.testing.assert_allclose(session.run(nn.row_softmax(values, splits)), [odds / (odds + 1), 1 / (odds + 1), 1], rtol=1e-6)
    assert session.run(nn.row_spread([7.0, 8.0, 9.0], values, splits)).tolist() == [7, 7, 9]


@pytest.mark.parametrize("splits, what", [([1, 3], "begins with"), ([0, 2], "ends with"), ([0, 2, 1, 3], "falls from")])
def test_splits_that_do_not_fit_the_values_are_refused(session, splits, what):
    values = np.array([3.0, 1.0, 5.0], np.float32)
    for function in nn.row_lengths, nn.row_sum, nn.row_mean, nn.row_max, nn.row_min, nn.row_softmax:
        with pytest.raises(troupe.InvalidArgumentError, match=what):
            session.run(function(values, splits))
    with pytest.raises(troupe.InvalidArgumentError, match=what):
        session.run(nn.row_spread(np.zeros(len(splits) - 1), values, splits))


def test_local_response_normalization(session):
    x = np.random.default_rng(2).normal(size=(1, 2, 2, 6)).astype(np.float32)
    near = np.array([[abs(i - j) <= 2 for i in range(6)] for j in range(6)], np.float32)
    expected = x / (2.0 + 0.5 * x**2 @ near) ** 0.75
    got = session.run(nn.Network().lrn(x, depth_radius=2, bias=2.0, alpha=0.5, beta=0.75))
    np.testing.assert_allclose(got, expected, rtol=1e-5)


@pytest.mark.parametrize("labels", [[3, 0, 6], [[3, 1], [0, 4], [6, 2]]])
def test_losses_over_drawn_classes(graph, labels):
    network = nn.Network()
    x = np.eye(3, 4, dtype=np.float32)
    whole = network.named("classes").softmax_loss(x, labels, classes=7)
    drawn = network.named("some").sampled_softmax_loss(x, labels, classes=7, sampled=2, distribution="fixed_unigram",
                                                       frequencies=[1, 2, 3, 4, 5, 6, 7], distortion=0.75)
    contrasted = network.named("others").nce_loss(x, labels, classes=7, sampled=3)
    assert whole.shape == drawn.shape == contrasted.shape == (3,)
    step = nn.Optimizer("sgd", 0.5).minimize(troupe.ops.mean(whole + drawn + contrasted))
    with troupe.Session(graph, seed=1) as session:
        session.run(troupe.initializer())
        before = session.run(whole).mean()
        for _ in range(20):
            session.run(step)
        assert session.run(whole).mean() < before
    with pytest.raises(troupe.InvalidArgumentError, match="has 1 frequencies; it needs one for each of the 7"):
        network.named("wrong").nce_loss(x, labels, classes=7, sampled=2, distribution="fixed_unigram", frequencies=[1])


def test_mistakes_name_the_layer(graph):
    with pytest.raises(troupe.InvalidArgumentError, match="dense"):
        nn.Network().dense(np.ones([2, 3], np.float32), 0)
    with pytest.raises(troupe.InvalidArgumentError, match="he_normal"):
        nn.Network().dense(np.ones([2, 3], np.float32), 2, init="he")
    with pytest.raises(troupe.InvalidArgumentError, match="learnin_rate|hyperparameter|no"):
        nn.Optimizer("adam", 0.1, learnin_rate=1).minimize(troupe.variable(1.0))
    with pytest.raises(TypeError):
        nn.Sgd(0.1).apply_gradients([3])


def test_averages_follow_the_weights(graph):
    v = troupe.variable(np.float32([8]), name="v")
    other = troupe.variable(np.float32([1]), name="other")
    averages = nn.WeightAverages(0.75, [v])
    step = averages.update(nn.Sgd(4).minimize(troupe.ops.sum(v)))  # v -= 4
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        session.run(step)
        assert session.run(averages.of(v)) == 7  # 8 - (8 - 4) / 4
        session.run(step)
        assert session.run(averages.of(v)) == 5.25  # 7 - (7 - 0) / 4
        assert session.run(v) == 0
    assert averages.of(other) == other
    with pytest.raises(troupe.InvalidArgumentError, match="at least 0 and below 1"):
        nn.WeightAverages(1.0)


def test_averages_are_of_all_trainable_variables_by_default(graph):
    v = troupe.variable(np.float32([8]), name="v")
    assert nn.WeightAverages(0.5).of(v) != v


def test_variables_in_files_of_tensorflow(graph, tmp_path):
    v = troupe.variable([1.0, 2.0])
    prefix = troupe.placeholder("string", [])
    save, restore = nn.save_variables(prefix), nn.restore_variables(prefix)
    zero = troupe.assign(v, [0.0, 0.0])
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        session.run(save, {prefix: str(tmp_path / "model")})
        session.run(zero.op)
        session.run(restore, {prefix: str(tmp_path / "model")})
        assert session.run(v).tolist() == [1, 2]
    assert (tmp_path / "model.index").exists()


# ---- Layers go where other nodes would be


def test_layers_in_a_branch_run_with_it(graph):
    network = nn.Network()
    chosen, x = troupe.placeholder("bool", []), troupe.placeholder("float32", [1, 2])
    other = troupe.variable(1.0)
    y = troupe.cond(chosen, lambda: network.dense(x, 2, init=1.0), lambda: x)
    by = network.weights["dense_weights"]
    gradient = troupe.dense(troupe.gradients(troupe.ops.sum(y), by)[0], by)
    step = nn.Sgd(0.1).minimize(troupe.ops.sum(y) + other)
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        assert session.run(y, {chosen: True, x: [[1, 2]]}).tolist() == [[3, 3]]
        assert session.run(gradient, {chosen: False, x: [[1, 2]]}).tolist() == [[0, 0], [0, 0]]
        assert session.run(gradient, {chosen: True, x: [[1, 2]]}).tolist() == [[1, 1], [2, 2]]
        session.run(step, {chosen: False, x: [[1, 2]]})
        assert session.run(other) == pytest.approx(0.9)


def test_layers_in_a_loop_use_one_weight(graph):
    network = nn.Network()
    x = troupe.placeholder("float32", [1, 2])
    loop = troupe.while_loop(lambda i, h: i < 3, lambda i, h: [i + 1, network.dense(h, 2, init=1.0, bias=False)], [0, x])
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        assert session.run(loop[1], {x: [[1, 2]]}).tolist() == [[12, 12]]
    assert list(network.weights) == ["dense_weights"]


def test_layers_run_after_what_the_scope_says(graph):
    network = nn.Network()
    x = troupe.constant([[1.0, 2.0]])
    network.dense(x, 1, init=1.0, bias=False)
    change = troupe.ops.assign_add(network.weights["dense_weights"], [[1.0], [1.0]])
    with troupe.control_dependencies([change]):
        after = network.rebuilt().dense(x, 1, init=1.0, bias=False)
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        assert session.run(after).tolist() == [[6]]


def test_weights_are_where_their_layer_is_added(graph):
    network = nn.Network()
    with troupe.device(troupe.replica_device_setter(ps_tasks=2)), troupe.name_scope("model"):
        hidden = network.dense(troupe.placeholder("float32", [None, 2]), 3)
    assert hidden.op.name.startswith("model/dense") and hidden.op.device == "/job:worker"
    assert {name: weight.op.device for name, weight in network.weights.items()} == {
        "dense_weights": "/job:ps/task:0",
        "dense_bias": "/job:ps/task:1",
    }
    with troupe.Graph(), pytest.raises(troupe.InvalidArgumentError, match="another graph"):
        network.dense(hidden, 3)


def test_an_empty_list_of_variables_is_a_mistake(graph):
    v = troupe.variable(1.0)
    for use in (lambda: nn.Sgd(0.1).minimize(v * v, []), lambda: nn.compute_gradients(v * v, []), lambda: nn.WeightAverages(0.9, [])):
        with pytest.raises(troupe.InvalidArgumentError, match="the list of variables is empty; None stands for all"):
            use()


def test_rows_that_occur_twice_count_with_their_sum_when_gradients_are_clipped(graph):
    table = troupe.variable(np.ones([4, 2], np.float32))
    rows = troupe.ops.gather(table, [1, 1, 2])
    gradients = nn.compute_gradients(troupe.ops.sum(rows * rows))  # 4 in row 1, 2 in row 2

    def dense(changed):
        return troupe.dense(changed[0][0], table)

    values = [dense(gradients), nn.global_norm(gradients), dense(nn.clip_by_global_norm(gradients, 1.0)),
              dense(nn.clip_by_norm(gradients, 1.0)), dense(nn.clip_by_value(gradients, 2.5))]
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        whole, norm, by_global_norm, by_norm, by_value = session.run(values)
    assert norm == pytest.approx(np.linalg.norm(whole)) == pytest.approx(np.sqrt(40))
    np.testing.assert_allclose(by_global_norm, whole / norm, rtol=1e-6)
    np.testing.assert_allclose(by_norm, whole / norm, rtol=1e-6)
    assert by_value.max() == 2.5


def test_slots_have_values_whether_or_not_their_branch_runs(graph):
    """Dynamic loss scaling: an update is left out if the gradient is not finite."""
    w = troupe.variable(np.float32([1, 2]))
    finite = troupe.placeholder("bool", [])
    gradients = nn.compute_gradients(troupe.ops.sum(w * w))
    step = troupe.cond(finite, lambda: troupe.group(nn.Adam(0.1).apply_gradients(gradients)), lambda: troupe.group(troupe.constant(0)))
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        session.run(step, {finite: False})
        assert session.run(w).tolist() == [1, 2]
        session.run(step, {finite: True})
        np.testing.assert_allclose(session.run(w), [0.9, 1.9], rtol=1e-5)


def test_a_second_optimizer_gets_its_variables_alone(graph):
    w = troupe.variable(np.float32([1, 2]))
    loss = troupe.ops.sum(w * w)
    first = nn.Sgd(0.1).minimize(loss)
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        session.run(first)
        known = troupe.variables()
        second = nn.Momentum(0.1, 0.9).minimize(loss)
        session.run(troupe.initializer([v for v in troupe.variables() if v not in known]))
        np.testing.assert_allclose(session.run(w), [0.8, 1.6], rtol=1e-6)
        session.run(second)
        np.testing.assert_allclose(session.run(w), [0.64, 1.28], rtol=1e-6)
    with pytest.raises(troupe.InvalidArgumentError, match="has no initial value"):
        troupe.initializer([loss])


def test_explicit_padding(graph):
    x = np.ones([1, 4, 4, 1], np.float32)
    net = nn.Network()
    assert net.conv2d(x, 2, 3, padding="EXPLICIT", pad=(2, 1)).shape == (1, 6, 4, 2)
    with pytest.raises(troupe.InvalidArgumentError, match='pad is for padding = "EXPLICIT", but padding is "SAME"'):
        net.conv2d(x, 2, 3, pad=1)
    with pytest.raises(troupe.InvalidArgumentError, match='padding is "causal"; allowed: "SAME", "VALID", "CAUSAL"'):
        net.conv1d(np.ones([1, 4, 2], np.float32), 2, 3, padding="causal")


def test_gradients_may_come_from_an_iterator(graph):
    v = troupe.variable([3.0, -3.0])
    loss = troupe.ops.sum(v * v)
    pairs = zip(troupe.gradients(loss, [v]), [v])
    clipped = nn.clip_by_value(pairs, 1.0)
    step = nn.Sgd(1.0).apply_gradients(zip([gradient for gradient, _ in clipped], [v]))
    assert len(nn.Sgd(1.0).compute_gradients(loss, v)) == 1
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        session.run(step)
        assert session.run(v).tolist() == [2, -2]


def test_losses_do_not_depend_on_what_is_known_of_shapes(graph):
    predicted = troupe.placeholder("float32", [None, 1])
    label = troupe.placeholder("float32")
    losses = [loss(predicted, label) for loss in (nn.mean_squared_error, nn.mean_absolute_error, nn.huber, nn.log_cosh)]
    with troupe.Session(graph) as session:
        for labels in ([1, 2, 3], [[1], [2], [3]]):
            assert session.run(losses, {predicted: [[1], [2], [3]], label: labels}) == [0, 0, 0, 0]
        with pytest.raises(troupe.InvalidArgumentError):
            session.run(losses, {predicted: [[1], [2], [3]], label: [1, 2]})


def test_ids_may_be_of_any_integer_type(graph):
    network = nn.Network()
    rows = network.embedding(troupe.constant([3, 0], "uint8"), 4, 2)
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        assert session.run(rows).tolist() == session.run(network.weights["embedding_weights"])[[3, 0]].tolist()


def test_transposed_and_depthwise_convolutions(graph):
    network = nn.Network()
    x = troupe.placeholder("float32", [None, 4, 5, 3])
    larger = network.conv2d_transpose(x, 2, kernel=3, strides=2, init=1.0)
    each = network.depthwise_conv2d(x, kernel=1, multiplier=2, init=3.0, bias=False)
    assert larger.shape == (None, 8, 10, 2) and each.shape == (None, 4, 5, 6)
    image = np.arange(60, dtype=np.float32).reshape(1, 4, 5, 3)
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        np.testing.assert_array_equal(session.run(each, {x: image}), np.repeat(3 * image, 2, axis=3))
        assert session.run(larger, {x: image}).sum() == pytest.approx(2 * sum_of_transposed(image.sum(axis=3)[0]))


def sum_of_transposed(image):
    """Of a 3 x 3 kernel of ones with stride 2: each pixel is added to the pixels of the result that its kernel reaches."""
    sums = np.zeros([8, 10])
    for (row, column), pixel in np.ndenumerate(image):
        sums[2 * row : 2 * row + 3, 2 * column : 2 * column + 3] += pixel
    return sums.sum()


def test_an_embedding_in_parts_with_bounded_rows(graph):
    network = nn.Network()
    rows = network.embedding(troupe.constant([0, 4]), 5, 2, init=3.0, partitions=2, max_norm=1.0)
    assert len(network.weights) == 2
    with troupe.Session(graph) as session:
        session.run(troupe.initializer())
        np.testing.assert_allclose(session.run(rows), np.full([2, 2], 0.5**0.5), rtol=1e-6)
