// Tests that expressions which overflow are replaced by stable ones, with their gradients, and that no others are.
#include "graph/passes/simplify/stabilize.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/kernels/subgraph_runner.h"
#include "tests/support/ops/run_op.h"

namespace troupe::stabilize_test {
namespace {

using namespace test;

struct Fixture : SubgraphRunner {
  Graph graph{library->ops};
  const Scope g{graph};
  const Output x = placeholder(g, f32, {unknown_dim, 4}), weight = placeholder(g, f32, {unknown_dim, 4});
  const std::vector<Tensor> feeds{Tensor::of<float>(Shape{2, 4}, {-200, -1, 0.25f, 3, 1e-9f, 150, 20, -50}),
                                  Tensor::of<float>(Shape{2, 4}, {1, -2, 0.5f, 0.25f, 3, 1, -1, 4})};

  Output gradient_of(Output y) { return dense(g, gradients(g, {sum_of(y)}, {x})[0], x); }
  Output sum_of(Output y) { return sum(g, mul(g, weight, y), {0, 1}); }

  Subgraph cut(const std::vector<Output>& fetches) {
    return value_or_throw(cut_subgraph(graph, {{x, weight}, fetches, {}}));
  }
  /// Runs what the expression and its gradient became; `replaced` is the number of expressions that must be replaced.
  std::vector<Tensor> stable(const std::vector<Output>& fetches, size_t replaced) {
    Subgraph subgraph = cut(fetches);
    simplify(subgraph);
    BOOST_TEST(value_or_throw(stabilize(subgraph)) == replaced);
    simplify(subgraph);
    return run(subgraph, feeds);
  }
  /// Checks that the expression and its gradient become the stable ones.
  void check(Output naive, Output expected) {
    const auto got = stable({naive, gradient_of(naive)}, 2);
    const auto wanted = run(cut({expected, gradient_of(expected)}), feeds);
    for (size_t i = 0; i < got.size(); ++i) {
      const auto a = got[i].as<float>(), b = wanted[i].as<float>();
      BOOST_REQUIRE_EQUAL(a.size(), b.size());
      for (size_t k = 0; k < a.size(); ++k)
        BOOST_TEST(std::abs(a[k] - b[k]) <= 1e-6f * std::abs(b[k]),
                   "fetch " << i << ": " << a[k] << ", not " << b[k]);
    }
  }
  void check_kept(Output y) { stable({y}, 0); }

  Output exp_plus_one() { return add(g, exp(g, x), 1); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(stabilizing, Fixture)

BOOST_AUTO_TEST_CASE(the_logarithm_of_softmax) { check(log(g, softmax(g, x)), log_softmax(g, x)); }

BOOST_AUTO_TEST_CASE(the_logarithm_of_sigmoid) {
  check(log(g, sigmoid(g, x)), neg(g, softplus(g, neg(g, x))));
}

BOOST_AUTO_TEST_CASE(the_logarithm_of_an_exponential_plus_one) {
  check(log(g, exp_plus_one()), softplus(g, x));
  check(log1p(g, exp(g, x)), softplus(g, x));
}

BOOST_AUTO_TEST_CASE(gradients_as_tensorflow_builds_them) {
  const Output s = softmax(g, x), seed = sin(g, x), d = mul(g, seed, g.add_one("Reciprocal", {s}));
  const auto got = stable({mul(g, s, sub(g, d, sum(g, mul(g, s, d), {1}, true)))}, 1);
  const auto wanted = run(cut({dense(g, gradients(g, {log_softmax(g, x)}, {x}, {seed})[0], x)}), feeds);
  for (size_t i = 0; i < 8; ++i)
    BOOST_TEST(std::abs(got[0].as<float>()[i] - wanted[0].as<float>()[i]) < 1e-6f);
}

BOOST_AUTO_TEST_CASE(digits_of_small_numbers_are_kept) {
  const auto got = stable({log(g, add(g, x, 1)), sub(g, exp(g, x), 1)}, 2);
  BOOST_TEST(got[0].as<float>()[4] == 1e-9f);
  BOOST_TEST(got[1].as<float>()[4] == 1e-9f);
}

BOOST_AUTO_TEST_CASE(other_expressions_stay) {
  check_kept(log(g, add(g, exp(g, x), 2)));
  check_kept(log(g, add(g, x, weight)));
  check_kept(sub(g, g.constant(Tensor::scalar(1.0f)), exp(g, x)));
  check_kept(mul(g, div(g, weight, add(g, exp(g, weight), 1)), exp(g, x)));
  const Output waits = g.with_control({weight}).add_one("Softmax", {x});
  check_kept(log(g, waits));
}

BOOST_AUTO_TEST_CASE(what_others_use_stays_too) {
  const Output s = softmax(g, x);
  const auto got = stable({log(g, s), s}, 1);
  BOOST_TEST(got[0].as<float>()[0] == -203.0f - std::log1p(std::exp(-4.0f) + std::exp(-2.75f)), 1e-6f);
  BOOST_TEST(got[1].as<float>()[0] == 0);
}

// The logarithm of the softmax of a variable is computed after the variable got another value.
BOOST_AUTO_TEST_CASE(a_variable_is_not_read_again) {
  const Output variable = g.add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape{2, 4}}});
  const Output s = softmax(g, g.add_one("Assign", {variable, x}));
  const Output changed = g.with_control({s}).add_one("Assign", {variable, weight});
  const auto got = stable({g.with_control({changed}).add_one("Log", {s})}, 0);
  const auto wanted = run(cut({log(g, softmax(g, x))}), feeds);
  BOOST_TEST(identical(got[0], wanted[0]));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::stabilize_test
