// Samples of the ops that keep numbers within limits.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {

void add_clip_cases(OpCases& cases) {
  const std::string op = "ClipByValue";
  const Tensor t = doubles(Shape{2, 3}, {1, 3, 5, 7, 9, 2}), low = doubles({}, {2.5}),
               high = doubles({}, {6.5});
  const Tensor lows = doubles(Shape{2, 3}, {2, 2, 2, 5, 1, 1}),
               highs = doubles(Shape{2, 3}, {4, 4, 4, 6, 3, 3});
  cases.good_in_every_type(op, {t, doubles({}, {4}), doubles({}, {6})});
  cases.good(op, {t, low, high});
  cases.good(op, {t, lows, high});
  cases.good(op, {t, low, highs});
  cases.good(op, {t, lows, highs});
  cases.good(op, {doubles({}, {1}), low, high});
  cases.good(op, {converted(t, f32), converted(high, f32), converted(low, f32)});
  cases.good(op, {random_doubles(Shape{0, 3}, 0, 9), low, high});
  cases.good(op, {converted(random_doubles(Shape{3, 70001}, 0, 9), f32), floats({}, {2}), floats({}, {6})});
  cases.bad(op, {t, doubles({3}, {1, 2, 3}), high}, {}, "clip_value_min of shape [3]");
  cases.bad(op, {t, low, doubles(Shape{1, 3}, {1, 2, 3})}, {}, "clip_value_max of shape [1,3]");
  cases.bad(op, {doubles({}, {1}), low, doubles({1}, {1})}, {}, "clip_value_max of shape [1]");
}

}  // namespace troupe::test
