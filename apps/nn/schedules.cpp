#include "apps/nn/schedules.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

Output number_of(const Scope& scope, double value) {
  return scope.constant(Tensor::scalar(static_cast<float>(value)));
}

void require_positive(const char* schedule, int64_t steps) {
  if (steps < 1)
    throw Error(invalid_argument(std::string(schedule) + ": the number of steps is " + std::to_string(steps) +
                                 "; it must be at least 1"));
}

/// Returns step / steps, rounded down with `staircase`.
Output periods(const Scope& scope, Output step, int64_t steps, bool staircase) {
  const Output ratio = div(scope, step, number_of(scope, static_cast<double>(steps)));
  return staircase ? floor(scope, ratio) : ratio;
}

/// Returns (1 + cos(pi * fraction)) / 2.
Output wave(const Scope& scope, Output fraction) {
  const Output cosine = cos(scope, mul(scope, fraction, number_of(scope, std::numbers::pi)));
  return mul(scope, add(scope, cosine, number_of(scope, 1)), number_of(scope, 0.5));
}

/// Returns rate * ((1 - alpha) * share + alpha).
Output rate_above(const Scope& scope, double rate, double alpha, Output share) {
  const Output part = add(scope, mul(scope, share, number_of(scope, 1 - alpha)), number_of(scope, alpha));
  return mul(scope, number_of(scope, rate), part);
}

}  // namespace

Schedule constant_rate(double rate) {
  return [rate](const Scope& scope, Output) { return number_of(scope, rate); };
}

Schedule piecewise_constant(std::vector<int64_t> boundaries, std::vector<double> values) {
  if (values.size() != boundaries.size() + 1)
    throw Error(invalid_argument("piecewise_constant: there are " + std::to_string(values.size()) +
                                 " values for " + std::to_string(boundaries.size()) +
                                 " boundaries; there must be one value more than boundaries"));
  if (!std::ranges::is_sorted(boundaries, std::less_equal()))
    throw Error(invalid_argument("piecewise_constant: the boundaries do not ascend"));
  return [boundaries = std::move(boundaries), values = std::move(values)](const Scope& scope, Output step) {
    Output rate = number_of(scope, values.front());
    for (size_t i = 0; i < boundaries.size(); ++i) {
      const Output is_later = greater(scope, step, number_of(scope, static_cast<double>(boundaries[i])));
      rate = where_v2(scope, is_later, number_of(scope, values[i + 1]), rate);
    }
    return rate;
  };
}

Schedule exponential_decay(double rate, int64_t steps, double factor, bool staircase) {
  require_positive("exponential_decay", steps);
  return [=](const Scope& scope, Output step) {
    const Output decay = pow(scope, number_of(scope, factor), periods(scope, step, steps, staircase));
    return mul(scope, number_of(scope, rate), decay);
  };
}

Schedule natural_exp_decay(double rate, int64_t steps, double factor, bool staircase) {
  require_positive("natural_exp_decay", steps);
  return [=](const Scope& scope, Output step) {
    const Output exponent = mul(scope, number_of(scope, -factor), periods(scope, step, steps, staircase));
    return mul(scope, number_of(scope, rate), exp(scope, exponent));
  };
}

Schedule inverse_time_decay(double rate, int64_t steps, double factor, bool staircase) {
  require_positive("inverse_time_decay", steps);
  return [=](const Scope& scope, Output step) {
    const Output growth = mul(scope, number_of(scope, factor), periods(scope, step, steps, staircase));
    return div(scope, number_of(scope, rate), add(scope, number_of(scope, 1), growth));
  };
}

Schedule polynomial_decay(double rate, int64_t steps, double end, double power, bool cycle) {
  require_positive("polynomial_decay", steps);
  return [=](const Scope& scope, Output step) {
    Output period = number_of(scope, static_cast<double>(steps)), done = step;
    if (cycle) {
      const Output cycles = maximum(scope, number_of(scope, 1), ceil(scope, div(scope, step, period)));
      period = mul(scope, period, cycles);
    } else {
      done = minimum(scope, step, period);
    }
    const Output left = sub(scope, number_of(scope, 1), div(scope, done, period));
    return add(scope, mul(scope, number_of(scope, rate - end), pow(scope, left, number_of(scope, power))),
               number_of(scope, end));
  };
}

Schedule cosine_decay(double rate, int64_t steps, double alpha) {
  require_positive("cosine_decay", steps);
  return [=](const Scope& scope, Output step) {
    const Output end = number_of(scope, static_cast<double>(steps));
    return rate_above(scope, rate, alpha, wave(scope, div(scope, minimum(scope, step, end), end)));
  };
}

Schedule cosine_decay_restarts(double rate, int64_t steps, double period_factor, double rate_factor,
                               double alpha) {
  require_positive("cosine_decay_restarts", steps);
  if (!(period_factor >= 1))
    throw Error(invalid_argument("cosine_decay_restarts: period_factor is " + std::to_string(period_factor) +
                                 "; it must be at least 1"));
  return [=](const Scope& scope, Output step) {
    const Output done = periods(scope, step, steps, false);
    Output restarts = floor(scope, done), fraction = sub(scope, done, restarts);
    if (period_factor != 1) {
      // Before restart n, 1 + factor + ... + factor^(n - 1) = (factor^n - 1) / (factor - 1) first periods have passed.
      const auto scaled =
          add(scope, mul(scope, done, number_of(scope, period_factor - 1)), number_of(scope, 1));
      restarts = floor(scope, mul(scope, log(scope, scaled), number_of(scope, 1 / std::log(period_factor))));
      const Output length = pow(scope, number_of(scope, period_factor), restarts);
      const Output passed =
          mul(scope, sub(scope, length, number_of(scope, 1)), number_of(scope, 1 / (period_factor - 1)));
      fraction = div(scope, sub(scope, done, passed), length);
    }
    const Output amplitude = pow(scope, number_of(scope, rate_factor), restarts);
    return rate_above(scope, rate, alpha, mul(scope, amplitude, wave(scope, fraction)));
  };
}

Schedule warm_up(int64_t steps, Schedule schedule) {
  require_positive("warm_up", steps);
  return [steps, schedule = std::move(schedule)](const Scope& scope, Output step) {
    const Output one = number_of(scope, 1);
    const Output part = div(scope, add(scope, step, one), number_of(scope, static_cast<double>(steps)));
    return mul(scope, schedule(scope, step), minimum(scope, part, one));
  };
}

}  // namespace troupe::nn
