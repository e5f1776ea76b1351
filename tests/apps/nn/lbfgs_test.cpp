// Compares nn::Lbfgs with PyTorch's: tests/golden/lbfgs.npz, written by tests/golden/make_lbfgs.py, which says what the arrays are.
#include "apps/nn/lbfgs.h"

#include <boost/test/unit_test.hpp>

#include "actors/runtime.h"
#include "apps/data/arrays/npz.h"
#include "kernels/constructors.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/ops/op_case.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"

namespace troupe::test::lbfgs_test {
namespace {

/// Expects the elements of one row of `all` along the first dimension.
void check_row(const Tensor& found, const Tensor& all, size_t row) {
  const auto values = found.as<double>();
  const auto expected = all.as<double>().subspan(row * values.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i)
    BOOST_TEST(values[i] == expected[i], boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_SUITE(lbfgs)

BOOST_AUTO_TEST_CASE(takes_the_steps_of_pytorch) {
  const auto arrays = value_or_throw(data::read_npz(project_file("tests/golden/lbfgs.npz"), "lbfgs.npz"));
  const Tensor &all_weights = arrays.at("weights"), &all_bias = arrays.at("bias");
  Runtime runtime;
  Graph graph{runtime.ops()};
  const Scope g(graph);
  const auto first = [&](const Tensor& all) {
    const auto dims = all.shape().dims().subspan(1);
    const Shape shape = value_or_throw(Shape::make(dims, DType::Double));
    return g.constant(
        Tensor::of<double>(shape, all.as<double>().first(static_cast<size_t>(shape.elements()))));
  };
  const Output weights = variable(g, first(all_weights), "weights"),
               bias = variable(g, first(all_bias), "bias");
  const Output y = tanh(g, add(g, matmul(g, g.constant(arrays.at("x")), weights), bias));
  const Output loss = add(g, mean(g, squared_difference(g, y, g.constant(arrays.at("y")))),
                          mul(g, sum(g, square(g, weights)), 0.01));
  const Output update = nn::Lbfgs(0.7, 3).minimize(g, loss);
  auto session = runtime.session(graph);
  session.run({initializer(g)});
  for (size_t step = 0;; ++step) {
    const auto found = session.run({weights, bias});
    check_row(found[0], all_weights, step);
    check_row(found[1], all_bias, step);
    if (step == 12) break;
    session.run({update});
  }
}

// Gradient descent needs thousands of steps here, since the curvature differs by 1e4 between the axes.
BOOST_AUTO_TEST_CASE(solves_a_badly_scaled_problem_in_few_steps) {
  Runtime runtime;
  Graph graph{runtime.ops()};
  const Scope g(graph);
  const Output x = variable(g, g.constant(doubles(Shape{4}, {1, -2, 3, -4})), "x");
  const Output loss = sum(g, mul(g, square(g, x), g.constant(doubles(Shape{4}, {1, 20, 500, 1e4}))));
  const Output update = nn::Lbfgs().minimize(g, loss);
  auto session = runtime.session(graph);
  session.run({initializer(g)});
  for (int step = 0; step < 60; ++step) session.run({update});
  BOOST_TEST(session.run({loss})[0].item<double>() < 1e-12);
}

BOOST_AUTO_TEST_CASE(refuses_variables_of_two_types_and_an_empty_history) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output a = variable(g, g.constant(doubles(Shape{2}, {1, 2})), "a"),
               b = variable(g, g.constant(Tensor::vector<float>({1, 2})), "b");
  const Output loss = add(g, sum(g, a), cast(g, sum(g, b), f64));
  BOOST_CHECK_EXCEPTION(nn::Lbfgs().minimize(g, loss), Error, [](const Error& error) {
    return std::string(error.what()).find("updates double variables; 'b' is float") != std::string::npos;
  });
  BOOST_CHECK_THROW(nn::Lbfgs(1, 0), Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::lbfgs_test
