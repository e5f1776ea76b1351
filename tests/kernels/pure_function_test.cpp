// Functions that are computed outside steps yield what their ops yield, and only those without effects are allowed.
#include "kernels/runtime/pure_function.h"

#include <boost/test/unit_test.hpp>

#include "graph/build/control_flow.h"
#include "graph/build/functions.h"
#include "kernels/constructors.h"
#include "tests/support/net/local_host.h"
#include "tests/support/ops/op_library.h"

namespace troupe::pure_function_test {
namespace {

struct Fixture {
  Result<PureFunction> prepare(const FunctionSignature& signature, const FunctionBody& body) {
    Graph graph(library->ops);
    define_function(graph, signature, body);
    return PureFunction::prepare(*graph.find_function(signature.name), *library);
  }

  const std::shared_ptr<const OpLibrary> library = test::op_library();
  test::LocalRuntime runtime{library};
};

const FunctionSignature of_two{"of_two", {f32, f32}, {f32, f32}};
const Tensor x = Tensor::vector<float>({1, 2, 3});

BOOST_FIXTURE_TEST_SUITE(pure_functions, Fixture)

BOOST_AUTO_TEST_CASE(results_are_those_of_the_ops) {
  const auto function = prepare(of_two, [](const Scope& s, const std::vector<Output>& a) {
    const Output product = mul(s, a[0], a[1]);
    return std::vector{sum(s, product), sub(s, product, 1.0)};
  });
  BOOST_TEST_REQUIRE(function.ok(), function.status().message());
  const auto results = function->compute(std::vector{x, x}, runtime.device().context());
  BOOST_TEST_REQUIRE(results.ok(), results.status().message());
  BOOST_TEST(identical(results->at(0), Tensor::scalar(14.0f)));
  BOOST_TEST(identical(results->at(1), Tensor::vector<float>({0, 3, 8})));
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_refused) {
  const auto function =
      value_or_throw(prepare(of_two, [](const Scope&, const std::vector<Output>& a) { return a; }));
  const auto failure = [&](const std::vector<Tensor>& arguments) {
    return function.compute(arguments, runtime.device().context()).status().text();
  };
  BOOST_TEST(failure({x}) == "function of_two takes 2 arguments, but is given 1");
  BOOST_TEST(failure({x, Tensor::scalar(1.0)}) ==
             "argument 1 of function of_two is double[], but must be float");
}

BOOST_AUTO_TEST_CASE(a_kernel_that_fails_is_named) {
  const auto function = value_or_throw(prepare({"f", {f32, f32}, {f32}}, [](const Scope& s, const auto& a) {
    return std::vector{matmul(s, a[0], a[1])};
  }));
  const Status status = function.compute(std::vector{x, x}, runtime.device().context()).status();
  BOOST_TEST((status.code() == Code::InvalidArgument));
  BOOST_TEST(status.op() == "MatMul");
}

BOOST_AUTO_TEST_CASE(conditions_calls_and_random_numbers_are_refused) {
  const auto refused = [&](const FunctionBody& body, const std::string& op) {
    const auto function = prepare({"f", {f32}, {f32}, true}, body);
    BOOST_TEST((function.status().code() == Code::InvalidArgument), op);
    BOOST_TEST(function.status().op() == op);
  };
  refused([](const Scope& s, const auto& a) { return std::vector{random_shuffle(s, a[0])}; },
          "RandomShuffle");
  refused(
      [](const Scope& s, const auto& a) {
        return cond(
            s, greater(s, sum(s, a[0]), 0.0), [&](const Scope&) { return a; },
            [&](const Scope& t) { return std::vector{neg(t, a[0])}; });
      },
      "Switch");
  const FunctionSignature itself{"f", {f32}, {f32}, true};
  refused([&](const Scope& s, const auto& a) { return call(s, itself, a); }, "StatefulPartitionedCall");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::pure_function_test
