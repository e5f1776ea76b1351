// Samples of the ops of kernels/ops/random.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
void add_random_cases(OpCases& cases) {
  const Attributes seeded = {{"seed", int64_t{3}}, {"dtype", f32}};
  for (const char* op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    cases.good_in_every_type(op, {ints({3, 7})}, seeded);
    cases.good(op, {ints({3, 70001})}, seeded);
    cases.good(op, {ints({3, 0})}, seeded);
    cases.good(op, {ints({})}, seeded);
    cases.bad(op, {ints({3, -1})}, seeded, "-1");
  }
  const Attributes seed = {{"seed", int64_t{3}}};
  cases.good_in_every_type("RandomUniformInt", {ints({7}), int_scalar(-5), int_scalar(9)}, seed);
  cases.good("RandomUniformInt", {ints({70001}), int_scalar(-5), int_scalar(9)}, seed);
  cases.good("RandomUniformInt", {ints({0}), int_scalar(-5), int_scalar(9)}, seed);
  cases.bad("RandomUniformInt", {ints({3}), int_scalar(9), int_scalar(9)}, seed, "9");
  cases.good_in_every_type("RandomShuffle", {random_doubles(Shape{11, 3}, 0, 1)}, seed);
  cases.good("RandomShuffle", {random_doubles(Shape{0, 2}, 0, 1)}, seed);
  cases.good("RandomShuffle", {doubles({}, {1})}, seed);
  cases.bad("RandomShuffle", {}, seed, "takes 1 inputs, got 0");
}

}  // namespace troupe::test
