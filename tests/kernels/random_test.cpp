// Tests of random ops: known values of the generator, distributions within bounds that fail once in a million, and what the
// bits depend on.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "kernels/loops/philox.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::random_test {
namespace {

using Words = std::array<uint32_t, 4>;

Attributes floats_with_seed(int64_t seed, DType dtype = f32) { return {{"dtype", dtype}, {"seed", seed}}; }

Tensor draw(const std::string& op, int32_t count, const Attributes& attrs, const StepInfo& step = {},
            size_t threads = 1) {
  return value_or_throw(run_op(op, {ints({count})}, attrs, Known::Values, step, threads))[0];
}

double number(Half value) { return double{static_cast<float>(value)}; }
double number(double value) { return value; }

struct Moments {
  double mean = 0, deviation = 0, least = 0, most = 0;
};
template <class T>
Moments moments(const Tensor& tensor) {
  Moments m;
  m.least = m.most = number(tensor.as<T>()[0]);
  double squares = 0;
  for (const T& element : tensor.as<T>()) {
    const double x = number(element);
    m.mean += x / static_cast<double>(tensor.elements());
    squares += x * x / static_cast<double>(tensor.elements());
    m.least = std::min(m.least, x);
    m.most = std::max(m.most, x);
  }
  m.deviation = std::sqrt(squares - m.mean * m.mean);
  return m;
}

BOOST_AUTO_TEST_SUITE(random_ops)

BOOST_AUTO_TEST_CASE(philox_gives_the_published_answers) {
  BOOST_TEST((Philox(0, 0)(0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  BOOST_TEST((Philox(~uint64_t{0}, ~uint64_t{0})(~uint64_t{0}) ==
              Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  BOOST_TEST((Philox(0x299f31d0a4093822, 0x0370734413198a2e)(0x85a308d3243f6a88) ==
              Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

BOOST_AUTO_TEST_CASE(uniform_numbers_fill_their_interval) {
  const auto check = [](const Moments& m) {
    BOOST_TEST(m.mean == 0.5, boost::test_tools::tolerance(0.01));
    BOOST_TEST(m.deviation == std::sqrt(1.0 / 12), boost::test_tools::tolerance(0.02));
    BOOST_TEST((m.least >= 0 && m.most < 1));
  };
  check(moments<float>(draw("RandomUniform", 100'000, floats_with_seed(1))));
  check(moments<double>(draw("RandomUniform", 100'000, floats_with_seed(2, f64))));
  check(moments<Half>(draw("RandomUniform", 100'000, floats_with_seed(3, DType::Half))));
}

BOOST_AUTO_TEST_CASE(normal_numbers_have_their_moments) {
  const auto check = [](const Moments& m, double deviation) {
    BOOST_TEST(std::abs(m.mean) < 0.02);
    BOOST_TEST(m.deviation == deviation, boost::test_tools::tolerance(0.02));
  };
  check(moments<float>(draw("RandomStandardNormal", 100'001, floats_with_seed(1))), 1);
  check(moments<double>(draw("RandomStandardNormal", 100'001, floats_with_seed(1, f64))), 1);
  const Moments truncated = moments<float>(draw("TruncatedNormal", 100'001, floats_with_seed(1)));
  check(truncated, 0.8796);
  BOOST_TEST((truncated.least >= -2 && truncated.most <= 2));
  BOOST_TEST(moments<Half>(draw("TruncatedNormal", 1000, floats_with_seed(1, DType::Half))).most <= 2);
}

BOOST_AUTO_TEST_CASE(integers_reach_every_value_and_no_other) {
  const auto outputs =
      value_or_throw(run_op("RandomUniformInt", {ints({10'000}), int_scalar(-3), int_scalar(4)}));
  const auto values = outputs[0].as<int32_t>();
  BOOST_TEST((std::set<int32_t>(values.begin(), values.end()) == std::set<int32_t>{-3, -2, -1, 0, 1, 2, 3}));
  const auto wide = value_or_throw(
      run_op("RandomUniformInt", {ints({3}), Tensor::scalar(INT64_MIN), Tensor::scalar(INT64_MAX)}));
  BOOST_TEST(wide[0].as<int64_t>()[0] != wide[0].as<int64_t>()[2]);
  check_refused("RandomUniformInt", {ints({3}), int_scalar(2), int_scalar(2)}, {},
                "minval 2 is not below maxval 2");
  check_refused("RandomUniformInt", {ints({-3}), int_scalar(0), int_scalar(2)}, {}, "");
}

BOOST_AUTO_TEST_CASE(shuffling_keeps_the_rows) {
  std::vector<int32_t> pairs;
  for (int32_t i = 0; i < 50; ++i) pairs.insert(pairs.end(), {i, -i});
  const Tensor value = Tensor::of<int32_t>(Shape{50, 2}, std::span<const int32_t>(pairs));
  const auto shuffled = value_or_throw(run_op("RandomShuffle", {value}, {{"seed", int64_t{4}}}))[0];
  std::set<int32_t> firsts;
  for (size_t i = 0; i < 50; ++i) {
    firsts.insert(shuffled.as<int32_t>()[2 * i]);
    BOOST_TEST(shuffled.as<int32_t>()[2 * i] == -shuffled.as<int32_t>()[2 * i + 1]);
  }
  BOOST_TEST(firsts.size() == 50u);
  BOOST_TEST(!identical(shuffled, value));
  check_op("RandomShuffle", {int_scalar(3)}, {}, {int_scalar(3)});
  check_op("RandomShuffle", {ints({})}, {}, {ints({})});
}

BOOST_AUTO_TEST_CASE(bits_depend_on_seed_round_and_training_only) {
  const StepInfo first{.ordinal = 1, .seed = 5, .round = 8, .training = true};
  StepInfo later = first;
  later.ordinal = 2;  // a repeat: the same round in another step
  StepInfo next = first;
  next.round = 9;
  StepInfo outside = first;
  outside.training = false;
  const Tensor drawn = draw("RandomUniform", 1000, floats_with_seed(0), first);
  BOOST_TEST(identical(drawn, draw("RandomUniform", 1000, floats_with_seed(0), later)));
  BOOST_TEST(!identical(drawn, draw("RandomUniform", 1000, floats_with_seed(0), next)));
  BOOST_TEST(!identical(drawn, draw("RandomUniform", 1000, floats_with_seed(0), outside)));
  BOOST_TEST(!identical(drawn, draw("RandomUniform", 1000, floats_with_seed(1), first)));
  StepInfo seeded = first;
  seeded.seed = 6;
  BOOST_TEST(!identical(drawn, draw("RandomUniform", 1000, floats_with_seed(0), seeded)));
  BOOST_TEST(identical(
      draw("RandomUniform", 1000, floats_with_seed(1), first),
      draw("RandomUniform", 1000, floats_with_seed(1), seeded)));  // the seed of the node takes precedence
}

BOOST_AUTO_TEST_CASE(own_seeds_and_earlier_runs_are_all_that_counts) {
  StepInfo first{.ordinal = 1, .seed = 5}, other{.ordinal = 9, .seed = 6};
  const Attributes seeds = floats_with_seed(3);
  BOOST_TEST(identical(draw("RandomUniform", 100, seeds, first), draw("RandomUniform", 100, seeds, other)));
  other.earlier_runs = std::make_shared<EarlierRuns>(EarlierRuns{{"another", 3}});
  BOOST_TEST(identical(draw("RandomUniform", 100, seeds, first), draw("RandomUniform", 100, seeds, other)));
  other.earlier_runs = std::make_shared<EarlierRuns>(EarlierRuns{{"node", 1}});
  BOOST_TEST(!identical(draw("RandomUniform", 100, seeds, first), draw("RandomUniform", 100, seeds, other)));
  Attributes swapped = floats_with_seed(0);
  swapped.set("seed2", int64_t{3});
  BOOST_TEST(
      !identical(draw("RandomUniform", 100, seeds, first), draw("RandomUniform", 100, swapped, first)));
}

BOOST_AUTO_TEST_CASE(any_number_of_threads_gives_the_same_bits) {
  for (const char* op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"})
    BOOST_TEST(
        identical(draw(op, 100'003, floats_with_seed(7)), draw(op, 100'003, floats_with_seed(7), {}, 3)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::random_test
