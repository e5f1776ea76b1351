"""Optimizers, schedules of learning rates, losses and layers. Names and defaults are those of run files and of C++.

    network = troupe.nn.Network()
    logits = network.dense(network.dense(image, 100, activation="relu"), 10)
    loss = troupe.nn.softmax_cross_entropy(logits, label)
    step = troupe.nn.Adam(1e-3).minimize(loss)
"""
from __future__ import annotations

from typing import Any, Callable, Iterable, Optional, Sequence, Union

from . import _troupe
from ._troupe import (
    Operation,
    Output,
    Schedule,
    Scope,
    constant_rate,
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    natural_exp_decay,
    piecewise_constant,
    polynomial_decay,
    warm_up,
)
from .building import Gradient, inside
from .scopes import current_scope
from .types import TensorLike

#: A number, an output of the graph, a float scalar, such as a placeholder or a variable, a schedule, or a function that returns the
#: rate, a float scalar, for the number of updates before, an output, too.
LearningRate = Union[float, Output, Schedule, Callable[[Output], TensorLike]]
#: Gradients beside their variables, as compute_gradients() returns them.
Gradients = list[tuple[Gradient, Output]]
#: The same for functions that take them: a list, or an iterator such as zip(gradients, variables).
GivenGradients = Iterable[tuple[Gradient, Output]]


def _placed(gradients: GivenGradients) -> tuple[Scope, Gradients]:
    """Returns the scope in which gradients are changed, and a list of them."""
    pairs = list(gradients)
    return current_scope([variable for _, variable in pairs]), pairs


def _rate(rate: LearningRate) -> Any:
    return inside(rate) if callable(rate) and not isinstance(rate, Schedule) else rate


class Optimizer:
    """Changes variables so that a loss becomes smaller. Each call of apply_gradients() or minimize() adds slots of its own."""

    def __init__(self, method: str, learning_rate: LearningRate, **numbers: float):
        self._method, self._learning_rate = method, learning_rate
        self._numbers = {name: float(number) for name, number in numbers.items()}

    def compute_gradients(self, loss: Output, variables: Union[None, Output, Sequence[Output]] = None) -> Gradients:
        """Returns the gradients of a loss by variables, by default by all trainable ones on which it depends."""
        return compute_gradients(loss, variables)

    def apply_gradients(self, gradients: GivenGradients) -> Operation:
        """Returns an operation that applies one update. It adds variables, so call troupe.initializer() later."""
        scope, pairs = _placed(gradients)
        return _troupe.apply_gradients(scope, self._method, _rate(self._learning_rate), self._numbers, pairs)

    def minimize(self, loss: Output, variables: Union[None, Output, Sequence[Output]] = None) -> Operation:
        """Returns an operation that computes the gradients of a loss and applies them."""
        return self.apply_gradients(self.compute_gradients(loss, variables))


class Sgd(Optimizer):
    def __init__(self, learning_rate: LearningRate):
        super().__init__("sgd", learning_rate)


class Momentum(Optimizer):
    def __init__(self, learning_rate: LearningRate, momentum: float, nesterov: bool = False):
        super().__init__("momentum", learning_rate, momentum=momentum, nesterov=nesterov)


class Adagrad(Optimizer):
    def __init__(self, learning_rate: LearningRate, initial_accumulator: float = 0.1):
        super().__init__("adagrad", learning_rate, initial_accumulator=initial_accumulator)


class AdagradDa(Optimizer):
    def __init__(self, learning_rate: LearningRate, l1: float = 0, l2: float = 0, initial_accumulator: float = 0.1):
        super().__init__("adagrad_da", learning_rate, l1=l1, l2=l2, initial_accumulator=initial_accumulator)


class Adadelta(Optimizer):
    def __init__(self, learning_rate: LearningRate = 1.0, decay: float = 0.95, epsilon: float = 1e-8):
        super().__init__("adadelta", learning_rate, decay=decay, epsilon=epsilon)


class Adam(Optimizer):
    def __init__(self, learning_rate: LearningRate, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, lazy: bool = False):
        super().__init__("adam", learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon, lazy=lazy)


class AdamW(Optimizer):
    def __init__(self, learning_rate: LearningRate, weight_decay: float = 0.01, beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-8, lazy: bool = False):
        super().__init__("adamw", learning_rate, weight_decay=weight_decay, beta1=beta1, beta2=beta2, epsilon=epsilon, lazy=lazy)


class Nadam(Optimizer):
    def __init__(self, learning_rate: LearningRate, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, lazy: bool = False):
        super().__init__("nadam", learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon, lazy=lazy)


class AmsGrad(Optimizer):
    def __init__(self, learning_rate: LearningRate, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, lazy: bool = False):
        super().__init__("amsgrad", learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon, lazy=lazy)


class AdaMax(Optimizer):
    def __init__(self, learning_rate: LearningRate, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, lazy: bool = False):
        super().__init__("adamax", learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon, lazy=lazy)


class Lion(Optimizer):
    def __init__(self, learning_rate: LearningRate, weight_decay: float = 0, beta1: float = 0.9, beta2: float = 0.99,
                 lazy: bool = False):
        super().__init__("lion", learning_rate, weight_decay=weight_decay, beta1=beta1, beta2=beta2, lazy=lazy)


class Lars(Optimizer):
    """Layer-wise adaptive rates, for large batches."""
    def __init__(self, learning_rate: LearningRate, momentum: float = 0.9, weight_decay: float = 1e-4, trust_coefficient: float = 0.001,
                 epsilon: float = 0):
        super().__init__("lars", learning_rate, momentum=momentum, weight_decay=weight_decay, trust_coefficient=trust_coefficient,
                         epsilon=epsilon)


class Lamb(Optimizer):
    """Adam with layer-wise adaptive rates, for large batches."""
    def __init__(self, learning_rate: LearningRate, weight_decay: float = 0.01, beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-6):
        super().__init__("lamb", learning_rate, weight_decay=weight_decay, beta1=beta1, beta2=beta2, epsilon=epsilon)


class AddSign(Optimizer):
    def __init__(self, learning_rate: LearningRate, alpha: float = 1, sign_decay: float = 1, beta: float = 0.9, lazy: bool = False):
        super().__init__("add_sign", learning_rate, alpha=alpha, sign_decay=sign_decay, beta=beta, lazy=lazy)


class PowerSign(Optimizer):
    def __init__(self, learning_rate: LearningRate, log_base: float = 1, sign_decay: float = 1, beta: float = 0.9, lazy: bool = False):
        super().__init__("power_sign", learning_rate, log_base=log_base, sign_decay=sign_decay, beta=beta, lazy=lazy)


class RmsProp(Optimizer):
    def __init__(self, learning_rate: LearningRate, decay: float = 0.9, momentum: float = 0, epsilon: float = 1e-10,
                 centered: bool = False):
        super().__init__("centered_rmsprop" if centered else "rmsprop", learning_rate, decay=decay, momentum=momentum, epsilon=epsilon)


class Ftrl(Optimizer):
    def __init__(self, learning_rate: LearningRate, l1: float = 0, l2: float = 0, power: float = -0.5, initial_accumulator: float = 0.1,
                 shrinkage: float = 0):
        super().__init__("ftrl", learning_rate, l1=l1, l2=l2, power=power, initial_accumulator=initial_accumulator, shrinkage=shrinkage)


class ProximalSgd(Optimizer):
    def __init__(self, learning_rate: LearningRate, l1: float = 0, l2: float = 0):
        super().__init__("proximal_sgd", learning_rate, l1=l1, l2=l2)


class ProximalAdagrad(Optimizer):
    def __init__(self, learning_rate: LearningRate, l1: float = 0, l2: float = 0, initial_accumulator: float = 0.1):
        super().__init__("proximal_adagrad", learning_rate, l1=l1, l2=l2, initial_accumulator=initial_accumulator)


def compute_gradients(loss: Output, variables: Union[None, Output, Sequence[Output]] = None) -> Gradients:
    """Returns the gradients of a loss by variables, by default by all trainable ones on which it depends."""
    by = [variables] if isinstance(variables, Output) else variables
    return _troupe.compute_gradients(current_scope(loss), loss, None if by is None else list(by))


def clip_by_value(gradients: GivenGradients, limit: float) -> Gradients:
    """Limits each element to [-limit, limit]. Infinity is no limit."""
    return _troupe.clip_by_value(*_placed(gradients), limit)


def clip_by_norm(gradients: GivenGradients, norm: float) -> Gradients:
    """Scales each gradient whose L2 norm is larger than `norm` to that norm. Infinity is no limit."""
    return _troupe.clip_by_norm(*_placed(gradients), norm)


def clip_by_global_norm(gradients: GivenGradients, norm: float) -> Gradients:
    """Scales all gradients so that their common norm is at most `norm`. Infinity is no limit."""
    return _troupe.clip_by_global_norm(*_placed(gradients), norm)


def add_weight_decay(gradients: GivenGradients, rate: float) -> Gradients:
    """Adds rate * variable to each gradient."""
    return _troupe.add_weight_decay(*_placed(gradients), rate)


def global_norm(gradients: GivenGradients) -> Output:
    """Returns the L2 norm of all gradients together."""
    return _troupe.global_norm(*_placed(gradients))


class WeightAverages:
    """Exponential moving averages of variables: after an update of v its average a becomes a - (1 - decay) (a - v). Models usually do
    better with the averages than with the last weights.

        averages = troupe.nn.WeightAverages(0.999)
        step = averages.update(troupe.nn.Adam(1e-3).minimize(loss))
    """

    def __init__(self, decay: float, variables: Optional[Sequence[Output]] = None):
        """Adds an average for each variable, by default for all trainable ones. Averages are variables, so call troupe.initializer()
        later, which gives them the initial values of the variables."""
        self._averages = _troupe.WeightAverages(current_scope(variables), decay, None if variables is None else list(variables))

    def update(self, step: Operation) -> Operation:
        """Returns an operation that runs `step`, which changes the variables, and then updates their averages."""
        return self._averages.update(current_scope(step).with_control([step]))

    def of(self, variable: Output) -> Output:
        """Returns the average of a variable, or the variable itself if it has none."""
        return self._averages.of(variable)


def save_variables(prefix: TensorLike, variables: Optional[Sequence[Output]] = None) -> Operation:
    """Returns an operation that writes variables to files in TensorFlow's format whose names begin with `prefix`, a string."""
    return _troupe.save_variables(current_scope(prefix, variables), prefix, variables)


def restore_variables(prefix: TensorLike, variables: Optional[Sequence[Output]] = None) -> Operation:
    """Returns an operation that reads variables from such files."""
    return _troupe.restore_variables(current_scope(prefix, variables), prefix, variables)


# ---- Losses and metrics: the mean over the samples of what is predicted and what is true. Losses with reduction="sum" return the sum,
# and with "none" the losses themselves: [n] for classes, and that of each number for numbers.


def mean_squared_error(predicted: TensorLike, label: TensorLike, reduction: str = "mean") -> Output:
    return _troupe.mean_squared_error(current_scope(predicted, label), predicted, label, reduction)


def mean_absolute_error(predicted: TensorLike, label: TensorLike, reduction: str = "mean") -> Output:
    return _troupe.mean_absolute_error(current_scope(predicted, label), predicted, label, reduction)


def mean_absolute_percentage_error(predicted: TensorLike, label: TensorLike, reduction: str = "mean") -> Output:
    return _troupe.mean_absolute_percentage_error(current_scope(predicted, label), predicted, label, reduction)


def mean_squared_log_error(predicted: TensorLike, label: TensorLike, reduction: str = "mean") -> Output:
    return _troupe.mean_squared_log_error(current_scope(predicted, label), predicted, label, reduction)


def log_cosh(predicted: TensorLike, label: TensorLike, reduction: str = "mean") -> Output:
    return _troupe.log_cosh(current_scope(predicted, label), predicted, label, reduction)


def huber(predicted: TensorLike, label: TensorLike, delta: float = 1.0, reduction: str = "mean") -> Output:
    return _troupe.huber(current_scope(predicted, label), predicted, label, delta, reduction)


def quantile_loss(predicted: TensorLike, label: TensorLike, quantile: float = 0.5, reduction: str = "mean") -> Output:
    return _troupe.quantile_loss(current_scope(predicted, label), predicted, label, quantile, reduction)


def poisson_loss(predicted: TensorLike, label: TensorLike, reduction: str = "mean") -> Output:
    return _troupe.poisson_loss(current_scope(predicted, label), predicted, label, reduction)


def cosine_distance(predicted: TensorLike, label: TensorLike, reduction: str = "mean") -> Output:
    return _troupe.cosine_distance(current_scope(predicted, label), predicted, label, reduction)


def softmax_cross_entropy(
    logits: TensorLike, label: TensorLike, label_smoothing: float = 0.0, class_weights: Sequence[float] = (), reduction: str = "mean"
) -> Output:
    """`label` holds classes [n], or probabilities [n, classes]. A sample counts by the weight of its class, if there are weights. Logits
    [n, 1] are those of class 1 of two."""
    return _troupe.softmax_cross_entropy(current_scope(logits, label), logits, label, label_smoothing, class_weights, reduction)


def kl_divergence(logits: TensorLike, label: TensorLike, reduction: str = "mean") -> Output:
    """How far softmax(logits) is from the labels, which are probabilities [n, classes]."""
    return _troupe.kl_divergence(current_scope(logits, label), logits, label, reduction)


def binary_cross_entropy(
    logits: TensorLike, label: TensorLike, label_smoothing: float = 0.0, class_weights: Sequence[float] = (), reduction: str = "mean"
) -> Output:
    """`class_weights` are those of the classes 0 and 1."""
    return _troupe.binary_cross_entropy(current_scope(logits, label), logits, label, label_smoothing, class_weights, reduction)


def focal_loss(
    logits: TensorLike, label: TensorLike, gamma: float = 2.0, class_weights: Sequence[float] = (), reduction: str = "mean"
) -> Output:
    """The cross entropy, of which certain samples count less (Lin et al. 2017)."""
    return _troupe.focal_loss(current_scope(logits, label), logits, label, gamma, class_weights, reduction)


def hinge(predicted: TensorLike, label: TensorLike, reduction: str = "mean") -> Output:
    return _troupe.hinge(current_scope(predicted, label), predicted, label, reduction)


def squared_hinge(predicted: TensorLike, label: TensorLike, reduction: str = "mean") -> Output:
    return _troupe.squared_hinge(current_scope(predicted, label), predicted, label, reduction)


def accuracy(logits: TensorLike, label: TensorLike) -> Output:
    """The share of samples whose class is predicted."""
    return _troupe.accuracy(current_scope(logits, label), logits, label)


def top_k_accuracy(logits: TensorLike, label: TensorLike, k: int = 5) -> Output:
    """The share of samples whose class is among the k most likely ones."""
    return _troupe.top_k_accuracy(current_scope(logits, label), logits, label, k)


class SetMetric:
    """A metric of all samples that is not the mean of those of batches: add() takes, after each step, what the step fetched of `means`.

        f1 = troupe.nn.f1(logits, label)
        for images, labels in batches:
            f1.add(session.run(f1.means, {image: images, label: labels}), len(labels))
        print(f1.value())
    """

    def __init__(self, name: str, predicted: TensorLike, label: TensorLike):
        self._name = name
        #: Numbers of a batch, a vector; value() follows from their means over all samples.
        self.means = _troupe.set_metric_means(current_scope(predicted, label), name, predicted, label)
        self._sums: list[float] = []
        self._samples = 0

    def add(self, means: Sequence[float], samples: int) -> None:
        """Adds the means of a batch of so many samples."""
        if samples < 1:
            raise ValueError(f"{self._name}: a batch of {samples} samples; a batch has at least 1")
        numbers = [float(mean) for mean in means]
        sums = self._sums or [0.0] * len(numbers)
        if len(sums) != len(numbers):
            raise ValueError(f"{self._name}: {len(numbers)} means, but the batches before had {len(sums)}")
        self._sums = [total + samples * mean for total, mean in zip(sums, numbers)]
        self._samples += samples

    def value(self) -> float:
        """Returns the metric of the samples added; NaN if it is not defined for them."""
        if not self._samples:
            return float("nan")
        return _troupe.set_metric_value(self._name, [total / self._samples for total in self._sums])

    def reset(self) -> None:
        """Forgets the samples added."""
        self._sums, self._samples = [], 0


def auc(logits: TensorLike, label: TensorLike) -> SetMetric:
    """The area under the ROC curve of two classes, exact to about 1e-3."""
    return SetMetric("auc", logits, label)


def f1(logits: TensorLike, label: TensorLike) -> SetMetric:
    """The harmonic mean of precision and recall of class 1 if there are two classes, otherwise the mean over the classes that occur."""
    return SetMetric("f1", logits, label)


def precision(logits: TensorLike, label: TensorLike) -> SetMetric:
    """The share of the samples predicted to be of class 1 that are; of several classes as f1."""
    return SetMetric("precision", logits, label)


def recall(logits: TensorLike, label: TensorLike) -> SetMetric:
    """The share of the samples of class 1 that are predicted to be; of several classes as f1."""
    return SetMetric("recall", logits, label)


def r2(predicted: TensorLike, label: TensorLike) -> SetMetric:
    """The share of the variance of the label that is predicted; the mean of those of several numbers."""
    return SetMetric("r2", predicted, label)


def root_mean_squared_error(predicted: TensorLike, label: TensorLike) -> SetMetric:
    """The root of the mean of the squared differences over all samples."""
    return SetMetric("root_mean_squared_error", predicted, label)


def perplexity(logits: TensorLike, label: TensorLike) -> SetMetric:
    """exp of the mean softmax cross entropy."""
    return SetMetric("perplexity", logits, label)


def gelu(x: TensorLike) -> Output:
    """x times the normal distribution function of x."""
    return _troupe.gelu(current_scope(x), x)


def gelu_tanh(x: TensorLike) -> Output:
    """gelu(x) with tanh in place of the error function, as in GPT-2 and BERT."""
    return _troupe.gelu_tanh(current_scope(x), x)


def swish(x: TensorLike) -> Output:
    """x * sigmoid(x), which is also called SiLU."""
    return _troupe.swish(current_scope(x), x)


def mish(x: TensorLike) -> Output:
    """x * tanh(softplus(x))."""
    return _troupe.mish(current_scope(x), x)


def hard_sigmoid(x: TensorLike) -> Output:
    """(x + 3) / 6, at least 0 and at most 1."""
    return _troupe.hard_sigmoid(current_scope(x), x)


def hard_swish(x: TensorLike) -> Output:
    """x * hard_sigmoid(x)."""
    return _troupe.hard_swish(current_scope(x), x)


def row_lengths(values: TensorLike, row_splits: TensorLike) -> Output:
    """The length of each row, [rows], of rows of different lengths: row i has the values row_splits[i] to row_splits[i + 1] - 1 of
    `values` [values, ...]. So do the next functions take rows; `row_splits` [rows + 1] is int32 or int64. Steps raise
    InvalidArgumentError unless it begins with 0, never falls, and ends with the number of values."""
    return _troupe.row_lengths(current_scope(values, row_splits), values, row_splits)


def row_sum(values: TensorLike, row_splits: TensorLike) -> Output:
    """The sum of each row: [rows, ...]."""
    return _troupe.row_sum(current_scope(values, row_splits), values, row_splits)


def row_mean(values: TensorLike, row_splits: TensorLike) -> Output:
    """The mean of each row: [rows, ...]. An empty row has mean 0."""
    return _troupe.row_mean(current_scope(values, row_splits), values, row_splits)


def row_max(values: TensorLike, row_splits: TensorLike) -> Output:
    """The greatest value of each row: [rows, ...]. That of an empty row is 0."""
    return _troupe.row_max(current_scope(values, row_splits), values, row_splits)


def row_min(values: TensorLike, row_splits: TensorLike) -> Output:
    """The least value of each row: [rows, ...]. That of an empty row is 0."""
    return _troupe.row_min(current_scope(values, row_splits), values, row_splits)


def row_softmax(values: TensorLike, row_splits: TensorLike) -> Output:
    """Values that are positive and whose sum over each row is 1: [values, ...]."""
    return _troupe.row_softmax(current_scope(values, row_splits), values, row_splits)


def row_spread(of_rows: TensorLike, values: TensorLike, row_splits: TensorLike) -> Output:
    """For each value the element of `of_rows` [rows, ...] for its row: [values, ...]."""
    return _troupe.row_spread(current_scope(of_rows, values, row_splits), of_rows, values, row_splits)


class Network(_troupe.Network):
    """Layers and their weights. Layers are added where other nodes would be: inside the `with` blocks around the call, and inside the
    branch or loop that calls them. Weights are variables outside of all branches and loops, on the device that is requested where their
    layer is first added. Add update_averages() to the training step if there are layers with batch_norm. rebuilt() gives a network with
    the same weights for another build of the same layers, for example for inference."""

    def __init__(self, training: bool = True):
        super().__init__(current_scope(), training)
