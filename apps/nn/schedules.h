// Schedules: learning rates that depend on the number of updates that have been applied. A schedule is a function that adds nodes;
// an optimizer calls it once per graph. The formulas are those of TensorFlow's `tf.compat.v1.train` and `tf.keras.optimizers`
// functions of the same names, in float. Public header; pure functions.
//
//   nn::Adam adam(nn::warm_up(1000, nn::cosine_decay(1e-3, 100'000)));
#pragma once

#include <functional>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// Returns the learning rate of an update, a float scalar. `step` is the number of updates applied before, a float scalar.
using Schedule = std::function<Output(const Scope& scope, Output step)>;

/// Returns the same rate for every step.
Schedule constant_rate(double rate);
/// Returns values[i] from the step after boundaries[i - 1] up to and including boundaries[i]. `values` must have one element more
/// than `boundaries`, which must ascend; throws InvalidArgument otherwise.
Schedule piecewise_constant(std::vector<int64_t> boundaries, std::vector<double> values);
/// rate * factor^(step / steps). With `staircase`, step / steps is rounded down.
Schedule exponential_decay(double rate, int64_t steps, double factor, bool staircase = false);
/// rate * exp(-factor * step / steps). With `staircase`, step / steps is rounded down.
Schedule natural_exp_decay(double rate, int64_t steps, double factor, bool staircase = false);
/// rate / (1 + factor * step / steps). With `staircase`, step / steps is rounded down.
Schedule inverse_time_decay(double rate, int64_t steps, double factor, bool staircase = false);
/// (rate - end) * (1 - min(step, steps) / steps)^power + end. With `cycle`, the period is the smallest multiple of `steps` that is
/// not less than `step`, and at least `steps`.
Schedule polynomial_decay(double rate, int64_t steps, double end, double power = 1, bool cycle = false);
/// rate * ((1 - alpha) * (1 + cos(pi * min(step, steps) / steps)) / 2 + alpha).
Schedule cosine_decay(double rate, int64_t steps, double alpha = 0);
/// Restarts cosine_decay after `steps` steps. Each period is `period_factor` times as long as the one before, and the part of the
/// rate above rate * alpha is multiplied by `rate_factor` (Loshchilov and Hutter 2017).
Schedule cosine_decay_restarts(double rate, int64_t steps, double period_factor = 2, double rate_factor = 1,
                               double alpha = 0);
/// Multiplies the rates of `schedule` by (step + 1) / steps in the first `steps` steps.
Schedule warm_up(int64_t steps, Schedule schedule);

}  // namespace troupe::nn
#pragma GCC visibility pop
