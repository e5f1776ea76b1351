"""L-BFGS as PyTorch computes it: writes tests/golden/lbfgs.npz, to which tests/apps/nn/lbfgs_test.cpp holds nn::Lbfgs. Run it again when
either changes:
    VENV/bin/python tests/golden/make_lbfgs.py        (VENV has torch and numpy; made with 2.15.0)

Arrays, all double: x and y, the data; weights and bias, [13, ...]: the variables before the first update and after each, of the loss in
loss() with a rate of 0.7 and a history of 3."""
import pathlib

import numpy
import torch

random = numpy.random.default_rng(11)
X, Y = random.uniform(-1, 1, [20, 3]), random.uniform(-1, 1, [20, 2])
weights = torch.tensor(random.uniform(-1, 1, [3, 2]), requires_grad=True)
bias = torch.zeros(2, dtype=torch.float64, requires_grad=True)


def loss():
    return ((torch.tanh(torch.tensor(X) @ weights + bias) - torch.tensor(Y)) ** 2).mean() + 0.01 * (weights ** 2).sum()


def closure():
    optimizer.zero_grad()
    value = loss()
    value.backward()
    return value


optimizer = torch.optim.LBFGS([weights, bias], lr=0.7, max_iter=1, history_size=3, tolerance_grad=0, tolerance_change=0)
history = {"weights": [], "bias": []}
for update in range(13):
    history["weights"].append(weights.detach().numpy().copy())
    history["bias"].append(bias.detach().numpy().copy())
    optimizer.step(closure)
numpy.savez(pathlib.Path(__file__).parent / "lbfgs.npz", x=X, y=Y, **{name: numpy.array(values) for name, values in history.items()})
