// Tests of functions of the program as nodes (PyFunc, PyFuncStateless).
#include <boost/test/unit_test.hpp>

#include "graph/build/gradients.h"
#include "graph/build/host_function.h"
#include "tests/support/failure_of.h"
#include "tests/support/local_graph.h"
#include "tests/support/says.h"

namespace troupe::test::host_functions_test {
namespace {

using Values = std::vector<Tensor>;
using Result = troupe::Result<Values>;

struct Fixture : LocalGraph {
  Output x = placeholder("x"), y = placeholder("y");

  Output placeholder(const char* name) const {
    return g.with_name(name).add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});
  }
  troupe::Result<Values> run(const std::vector<Output>& fetches) {
    return runtime.run(graph, {{x, Tensor::scalar(3.0f)}, {y, Tensor::scalar(2.0f)}}, fetches);
  }
  float number_of(Output fetch) { return value_or_throw(run({fetch}))[0].item<float>(); }
  Status failure(Output fetch) { return run({fetch}).status(); }
};

float at(std::span<const Tensor> values, size_t i) { return values[i].item<float>(); }
Result one(float value) { return Values{Tensor::scalar(value)}; }

BOOST_FIXTURE_TEST_SUITE(host_functions, Fixture)

BOOST_AUTO_TEST_CASE(a_function_computes_all_outputs_from_all_inputs) {
  const HostCall call =
      call_host(g,
                [](std::span<const Tensor> inputs) -> Result {
                  const float sum = at(inputs, 0) + at(inputs, 1);
                  return Values{Tensor::scalar(sum), Tensor::vector<std::string>({"a", "b"})};
                },
                {x, y}, {f32, DType::String});
  const Values values = value_or_throw(run(call.outputs));
  BOOST_TEST(values[0].item<float>() == 5);
  BOOST_TEST(values[1].as<std::string>()[1] == "b");
  BOOST_TEST(graph.shape(call.outputs[0]).text() == "?");
}

BOOST_AUTO_TEST_CASE(a_function_without_outputs_runs_as_a_target) {
  int runs = 0;
  const HostCall call = call_host(g,
                                  [&](std::span<const Tensor>) -> Result {
                                    ++runs;
                                    return Values();
                                  },
                                  {}, {});
  const auto plan = value_or_throw(runtime.prepare(graph, {{}, {}, {call.node}}));
  for (int step = 0; step < 3; ++step) value_or_throw(runtime.run(plan));
  BOOST_TEST(runs == 3);
}

BOOST_AUTO_TEST_CASE(a_function_fails_the_step_with_its_failure) {
  const HostCall refuses =
      call_host(g.with_name("refuses"),
                [](std::span<const Tensor>) -> Result { return out_of_range("no more"); }, {x, y}, {f32});
  const Status status = failure(refuses.outputs[0]);
  BOOST_TEST((status.code() == Code::OutOfRange));
  BOOST_TEST(status.node() == "refuses");
  const HostCall throws =
      call_host(g, [](std::span<const Tensor>) -> Result { throw Error(aborted("again")); }, {x, y}, {f32});
  BOOST_TEST((failure(throws.outputs[0]).code() == Code::Aborted));
}

BOOST_AUTO_TEST_CASE(no_function_is_refused) {
  BOOST_CHECK_EXCEPTION(call_host(g, nullptr, {x, y}, {f32}), Error, [](const Error& error) {
    return says(error.status().text(), "call_host() is given no function");
  });
}

BOOST_AUTO_TEST_CASE(results_of_another_number_or_type_are_refused) {
  const auto refusal = [&](Values results) {
    const HostCall call =
        call_host(g, [results](std::span<const Tensor>) -> Result { return results; }, {x, y}, {f32});
    return failure(call.outputs[0]).message();
  };
  BOOST_TEST(says(refusal({}), "the function returned 0 values; it must return 1"));
  BOOST_TEST(says(refusal({Tensor()}), "the function returned no value 0"));
  BOOST_TEST(
      says(refusal({Tensor::scalar(1.0)}), "value 0 of the function is double[]; its dtype must be float"));
}

BOOST_AUTO_TEST_CASE(a_function_that_was_dropped_is_not_found) {
  HostCall call = call_host(g, [](std::span<const Tensor>) { return one(1); }, {x, y}, {f32});
  BOOST_TEST(number_of(call.outputs[0]) == 1);
  call.function.reset();
  const Status status = failure(call.outputs[0]);
  BOOST_TEST((status.code() == Code::InvalidArgument));
  BOOST_TEST(says(status.message(), "this process has no function 'function_"), status.message());
}

// z = x^2 y, whose gradients a function computes. That of an integer is not asked for.
BOOST_AUTO_TEST_CASE(the_gradient_is_computed_by_a_function) {
  const HostFunction compute = [](std::span<const Tensor> v) { return one(at(v, 0) * at(v, 0) * at(v, 1)); };
  const HostFunction gradient = [](std::span<const Tensor> v) -> Result {
    const float dz = at(v, 3);
    return Values{Tensor::scalar(2 * at(v, 0) * at(v, 1) * dz), Tensor::scalar(at(v, 0) * at(v, 0) * dz)};
  };
  const HostCall call = call_host(g, compute, {x, y, number<int32_t>(7)}, {f32}, {.gradient = gradient});
  const auto by = gradients(g, {g.add_one("Mul", {call.outputs[0], number(10.0f)})}, {x, y});
  BOOST_TEST(number_of(std::get<Output>(by[0])) == 120);
  BOOST_TEST(number_of(std::get<Output>(by[1])) == 90);
  const Status again = failure_of([&] { gradients(g, {std::get<Output>(by[0])}, {x}); });
  BOOST_TEST(says(again.message(), "the gradient of a function of the program has none itself"),
             again.message());
}

BOOST_AUTO_TEST_CASE(no_gradient_passes_a_function_without_one) {
  const HostCall call = call_host(g, [](std::span<const Tensor> v) { return one(at(v, 0)); }, {x}, {f32});
  BOOST_TEST(std::holds_alternative<std::monostate>(gradients(g, {call.outputs[0]}, {x})[0]));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::host_functions_test
