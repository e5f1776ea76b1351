// Tests of random ops whose distributions have parameters, and of candidate samplers: their means, deviations and frequencies,
// within bounds of more than five standard errors.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <set>

#include "graph/build/scope.h"
#include "tests/support/net/local_host.h"
#include "tests/support/ops/op_case.h"

namespace troupe::test::distributions_test {
namespace {

constexpr int draws = 20'000;

Tensor one(const std::string& op, const std::vector<Tensor>& inputs, Attributes attrs = {}) {
  attrs.set("seed", int64_t{5});
  return value_or_throw(run_op(op, inputs, attrs))[0];
}

/// Checks mean and deviation of column `column` of the doubles [rows, columns].
void check_moments(const Tensor& tensor, size_t column, double mean, double deviation,
                   const std::string& what) {
  const auto numbers = tensor.as<double>();
  const auto rows = static_cast<size_t>(tensor.shape()[0]), columns = numbers.size() / rows;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < rows; ++i) sum += numbers[i * columns + column];
  const double got = sum / static_cast<double>(rows);
  for (size_t i = 0; i < rows; ++i) squares += std::pow(numbers[i * columns + column] - got, 2);
  const double spread = std::sqrt(squares / static_cast<double>(rows)), error = deviation / std::sqrt(rows);
  BOOST_TEST(std::abs(got - mean) <= 6 * error, what << ": mean " << got << ", expected " << mean);
  BOOST_TEST(std::abs(spread / deviation - 1) < 0.1,
             what << ": deviation " << spread << ", expected " << deviation);
}

double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }
double share_above(double x) { return std::erfc(x / std::sqrt(2)) / 2; }

BOOST_AUTO_TEST_SUITE(distributions)

BOOST_AUTO_TEST_CASE(gamma_numbers_have_their_moments) {
  const std::vector<double> alphas = {0.1, 0.5, 1, 2.5, 30, 1000};
  const Tensor drawn =
      one("RandomGamma", {ints({draws}), Tensor::vector<double>(std::span<const double>(alphas))});
  for (size_t i = 0; i < alphas.size(); ++i)
    check_moments(drawn, i, alphas[i], std::sqrt(alphas[i]), "alpha " + std::to_string(alphas[i]));
}

BOOST_AUTO_TEST_CASE(the_gradient_of_gamma_numbers_moves_their_mean) {
  // The mean of the distribution is alpha, so the mean of the derivatives of its samples is 1.
  const Tensor drawn = one("RandomGamma", {ints({draws}), doubles(Shape{2}, {0.7, 6})});
  const Tensor slopes =
      value_or_throw(run_op("RandomGammaGrad", {doubles(Shape{2}, {0.7, 6}), drawn}, {}))[0];
  for (const size_t column : {0, 1}) {
    double sum = 0;
    for (size_t i = column; i < slopes.as<double>().size(); i += 2) sum += slopes.as<double>()[i];
    BOOST_TEST(std::abs(sum / draws - 1) < 0.05);
  }
}

BOOST_AUTO_TEST_CASE(poisson_numbers_have_their_moments) {
  const std::vector<double> rates = {0.3, 4, 9.9, 10, 50, 3000};
  const Tensor vector = Tensor::vector<double>(std::span<const double>(rates));
  for (const char* op : {"RandomPoisson", "RandomPoissonV2"}) {
    const Tensor drawn = one(op, {ints({draws}), vector}, {{"dtype", f64}});
    for (size_t i = 0; i < rates.size(); ++i)
      check_moments(drawn, i, rates[i], std::sqrt(rates[i]), "rate " + std::to_string(rates[i]));
  }
  const Tensor whole = one("RandomPoissonV2", {ints({9}), doubles(Shape{2}, {0, 1e300})}, {{"dtype", i32}});
  for (size_t i = 0; i < 18; ++i) BOOST_TEST(whole.as<int32_t>()[i] == (i % 2 == 0 ? 0 : INT32_MAX));
  const Tensor undefined =
      one("RandomPoisson", {ints({}), doubles(Shape{3}, {-1, NAN, HUGE_VAL})}, {{"dtype", f64}});
  for (const double x : undefined.as<double>()) BOOST_TEST(std::isnan(x));
}

BOOST_AUTO_TEST_CASE(binomial_numbers_have_their_moments) {
  const std::pair<double, double> experiments[] = {{1, 0.3},    {10, 0.3},   {10, 0.8},  {33, 0.3},
                                                   {40, 0.5},   {100, 0.97}, {300, 0.2}, {1e5, 1e-5},
                                                   {1e6, 0.75}, {1e12, 1e-3}};
  for (const auto& [count, probability] : experiments) {
    const Tensor drawn =
        one("RandomBinomial", {ints({draws, 1}), doubles({}, {count}), doubles({}, {probability})},
            {{"dtype", f64}});
    const double mean = count * probability;
    check_moments(drawn, 0, mean, std::sqrt(mean * (1 - probability)),
                  std::to_string(count) + " experiments of " + std::to_string(probability));
    for (const double x : drawn.as<double>()) BOOST_REQUIRE((x == std::floor(x) && x >= 0 && x <= count));
  }
  const Tensor certain = one("RandomBinomial", {ints({6}), doubles(Shape{6}, {9, 9.7, 9, 0.5, -1, 1e300}),
                                                doubles(Shape{6}, {1, 2, -1, 0.5, 0.5, 1})});
  const int64_t expected[] = {9, 9, 0, 0, 0, INT64_MAX};
  for (size_t i = 0; i < 6; ++i) BOOST_TEST(certain.as<int64_t>()[i] == expected[i]);
  const Tensor undefined =
      one("RandomBinomial",
          {ints({3}), doubles(Shape{3}, {9, NAN, HUGE_VAL}), doubles(Shape{3}, {NAN, 0.5, 0.5})},
          {{"dtype", f64}});
  for (const double x : undefined.as<double>()) BOOST_TEST(std::isnan(x));
}

BOOST_AUTO_TEST_CASE(binomial_numbers_have_their_frequencies) {
  const double probability = 0.3;
  const Tensor drawn = one("RandomBinomial", {ints({draws, 1}), doubles({}, {4}), doubles({}, {probability})},
                           {{"dtype", i32}});
  const double ways[] = {1, 4, 6, 4, 1};
  for (int k = 0; k <= 4; ++k) {
    const double p = ways[k] * std::pow(probability, k) * std::pow(1 - probability, 4 - k);
    const auto count = static_cast<double>(std::ranges::count(drawn.as<int32_t>(), k));
    BOOST_TEST(std::abs(count - draws * p) <= 6 * std::sqrt(draws * p * (1 - p)), k << ": " << count);
  }
}

BOOST_AUTO_TEST_CASE(truncated_normal_numbers_have_their_moments) {
  const std::pair<double, double> intervals[] = {{-1, 1}, {-2, 0.5}, {-0.1, 1}, {2, 3},
                                                 {5, 9},  {-9, -5},  {1.6, 40}};
  for (const auto& [low, high] : intervals) {
    const auto scalar = [](double x) { return doubles({}, {x}); };
    const Tensor drawn = one("ParameterizedTruncatedNormal", {ints({draws, 1}), scalar(7), scalar(2),
                                                              scalar(7 + 2 * low), scalar(7 + 2 * high)});
    const double share =
        low > 0 ? share_above(low) - share_above(high) : share_above(-high) - share_above(-low);
    const double mean = (density(low) - density(high)) / share;
    const double variance = 1 + (low * density(low) - high * density(high)) / share - mean * mean;
    check_moments(drawn, 0, 7 + 2 * mean, 2 * std::sqrt(variance),
                  "[" + std::to_string(low) + ", " + std::to_string(high) + "]");
    for (const double x : drawn.as<double>()) BOOST_REQUIRE((x >= 7 + 2 * low && x <= 7 + 2 * high));
  }
}

// The numbers of TensorFlow 2.21, which draws all rows from one stream.
BOOST_AUTO_TEST_CASE(rows_of_stateless_categories_follow_each_other) {
  Tensor logits = value_or_throw(Tensor::allocate(DType::Double, Shape{3, 100}));
  std::ranges::fill(logits.write<double>(), 0.0);
  const Tensor drawn = value_or_throw(
      run_op("StatelessMultinomial", {logits, int_scalar(1), Tensor::vector<int64_t>({1, 2})}))[0];
  const std::vector<int64_t> expected = {75, 96, 17};
  BOOST_TEST(drawn.as<int64_t>() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(categories_are_as_frequent_as_the_softmax_of_their_logits) {
  const double weights[] = {1, 2, 0, 5};
  const Tensor logits = doubles(Shape{2, 4}, {0, std::log(2), -HUGE_VAL, std::log(5), 3, 3, 3, 3});
  const Tensor seeds = Tensor::vector<int64_t>({4, 5});
  for (const bool stateless : {false, true}) {
    const Tensor drawn =
        stateless ? value_or_throw(run_op("StatelessMultinomial", {logits, int_scalar(draws), seeds}))[0]
                  : one("Multinomial", {logits, int_scalar(draws)});
    for (const int64_t row : {0, 1}) {
      std::map<int64_t, int> counts;
      for (int i = 0; i < draws; ++i) ++counts[drawn.as<int64_t>()[static_cast<size_t>(row * draws + i)]];
      for (int64_t k = 0; k < 4; ++k) {
        const double p = row == 1 ? 0.25 : weights[k] / 8, error = std::sqrt(draws * p * (1 - p));
        BOOST_TEST(std::abs(counts[k] - draws * p) <= 6 * error,
                   "row " << row << ", class " << k << ": " << counts[k]);
      }
    }
  }
}

/// Returns the attributes of a sampler of classes 0 .. 9.
Attributes sampling(int64_t count, bool unique) {
  return {{"num_true", int64_t{10}},
          {"num_sampled", count},
          {"unique", unique},
          {"range_max", int64_t{10}},
          {"seed", int64_t{5}}};
}

BOOST_AUTO_TEST_CASE(candidates_are_as_frequent_as_expected) {
  const Tensor classes = Tensor::vector<int64_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).reshaped(Shape{1, 10});
  for (const char* op :
       {"UniformCandidateSampler", "LogUniformCandidateSampler", "FixedUnigramCandidateSampler"}) {
    Attributes attrs = sampling(draws, false);
    if (op == std::string("FixedUnigramCandidateSampler")) {
      attrs.set("unigrams", std::vector<float>{1, 4, 9, 16, 25, 36, 0, 64});
      attrs.set("num_reserved_ids", int64_t{2});
      attrs.set("distortion", 0.5f);
    }
    const auto outputs = value_or_throw(run_op(op, {classes}, attrs));
    std::map<int64_t, int> counts;
    for (const int64_t candidate : outputs[0].as<int64_t>()) ++counts[candidate];
    double sum = 0;
    for (int64_t k = 0; k < 10; ++k) {
      const double expected = outputs[1].as<float>()[static_cast<size_t>(k)];
      sum += expected;
      BOOST_TEST(std::abs(counts[k] - expected) <= 6 * std::sqrt(expected),
                 op << ", class " << k << ": " << counts[k]);
    }
    BOOST_TEST(sum == draws, boost::test_tools::tolerance(1e-4));
  }
}

BOOST_AUTO_TEST_CASE(unique_candidates_differ_and_all_can_be_drawn) {
  const Tensor classes = Tensor::vector<int64_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).reshaped(Shape{1, 10});
  const auto outputs = value_or_throw(run_op("LogUniformCandidateSampler", {classes}, sampling(10, true)));
  const auto drawn = outputs[0].as<int64_t>();
  BOOST_TEST(std::set<int64_t>(drawn.begin(), drawn.end()).size() == 10u);
  for (const float expected : outputs[1].as<float>()) BOOST_TEST((expected > 0.5f && expected <= 1));
}

BOOST_AUTO_TEST_CASE(a_shard_draws_its_classes_only) {
  Attributes attrs = sampling(1000, false);
  attrs.set("unigrams", std::vector<float>(10, 1));
  attrs.set("num_shards", int64_t{3});
  attrs.set("shard", int64_t{1});
  const Tensor classes = Tensor::vector<int64_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).reshaped(Shape{1, 10});
  const auto outputs = value_or_throw(run_op("FixedUnigramCandidateSampler", {classes}, attrs));
  for (const int64_t candidate : outputs[0].as<int64_t>())
    BOOST_REQUIRE((candidate == 1 || candidate == 4 || candidate == 7));
  BOOST_TEST(outputs[1].as<float>()[0] == 0);
  BOOST_TEST(outputs[1].as<float>()[1] == 1000.0f / 3);
}

BOOST_AUTO_TEST_CASE(a_learning_sampler_draws_what_it_saw) {
  LocalRuntime runtime(op_library());
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output classes = g.constant(Tensor::vector<int64_t>({3, 3, 3, 5}).reshaped(Shape{4, 1}));
  const NodeId node = g.add("LearnedUnigramCandidateSampler", {classes},
                            {{"num_true", int64_t{1}},
                             {"num_sampled", int64_t{4000}},
                             {"unique", false},
                             {"range_max", int64_t{8}},
                             {"seed", int64_t{3}}});
  const auto plan = value_or_throw(runtime.prepare(graph, {{}, {{node, 0}, {node, 1}}, {}}));
  // After r runs class 3 has the weight 1 + 3 r, class 5 has 1 + r, and all others have 1.
  for (int64_t r = 0; r < 5; ++r) {
    const auto outputs = value_or_throw(runtime.run(plan));
    const double share = (1 + 3 * static_cast<double>(r)) / (8 + 4 * static_cast<double>(r));
    const auto drawn = static_cast<double>(std::ranges::count(outputs[0].as<int64_t>(), 3)) / 4000;
    BOOST_TEST(std::abs(drawn - share) <= 6 * std::sqrt(share * (1 - share) / 4000),
               "run " << r << ": " << drawn);
    BOOST_TEST(outputs[1].as<float>()[0] == 4000 * share, boost::test_tools::tolerance(1e-5));
  }
}

BOOST_AUTO_TEST_CASE(a_learning_sampler_takes_the_greatest_range) {
  const auto outputs = value_or_throw(run_op("LearnedUnigramCandidateSampler",
                                             {Tensor::vector<int64_t>({3, 3}).reshaped(Shape{1, 2})},
                                             {{"num_true", int64_t{2}},
                                              {"num_sampled", int64_t{4}},
                                              {"unique", true},
                                              {"range_max", std::numeric_limits<int64_t>::max()}}));
  for (const int64_t candidate : outputs[0].as<int64_t>()) BOOST_TEST(candidate >= 0);
}

BOOST_AUTO_TEST_CASE(fractional_pools_cover_the_image_with_steps_of_two_sizes) {
  std::set<std::vector<int64_t>> seen;
  for (const bool pseudo_random : {false, true})
    for (const int64_t size : {10, 17, 23, 29})
      for (uint64_t step = 0; step < 20; ++step) {
        StepInfo info;
        info.ordinal = step;
        const auto outputs = value_or_throw(
            run_op("FractionalMaxPool", {value_or_throw(Tensor::allocate(f32, Shape{1, size, 3, 1}))},
                   {{"pooling_ratio", std::vector<float>{1, 2.3F, 1, 1}}, {"pseudo_random", pseudo_random}},
                   Known::Values, info));
        const auto rows = outputs[1].as<int64_t>();
        const auto count = static_cast<int64_t>(rows.size()) - 1;
        BOOST_TEST(rows.front() == 0);
        BOOST_TEST(rows.back() == size);
        for (size_t i = 0; i + 1 < rows.size(); ++i) {
          const int64_t length = rows[i + 1] - rows[i];
          BOOST_TEST((length == size / count || length == size / count + 1), length << " of " << size);
        }
        seen.insert({rows.begin(), rows.end()});
      }
  BOOST_TEST(seen.size() > 40U);
}

BOOST_AUTO_TEST_CASE(deterministic_fractional_pools_repeat_their_sequences) {
  const auto rows_of = [](bool deterministic, uint64_t step) {
    StepInfo info;
    info.ordinal = step;
    const auto outputs = value_or_throw(
        run_op("FractionalAvgPool", {value_or_throw(Tensor::allocate(f32, Shape{1, 100, 1, 1}))},
               {{"pooling_ratio", std::vector<float>{1, 1.6F, 1, 1}}, {"deterministic", deterministic}},
               Known::Values, info));
    const auto rows = outputs[1].as<int64_t>();
    return std::vector<int64_t>(rows.begin(), rows.end());
  };
  BOOST_TEST((rows_of(true, 1) == rows_of(true, 2)));
  BOOST_TEST((rows_of(false, 1) != rows_of(false, 2)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::distributions_test
