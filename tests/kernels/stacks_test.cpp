// Tests of the stacks of a step: values kept in one iteration and used in another.
#include <boost/test/unit_test.hpp>

#include "graph/build/control_flow.h"
#include "tests/support/local_graph.h"

namespace troupe::test::stacks_test {
namespace {

struct Fixture : LocalGraph {
  Output stack(int32_t most) {
    return g.add_one("StackV2", {g.constant(Tensor::scalar(most))}, {{"elem_type", f32}});
  }
  Output push(Output stack, Output value, std::vector<Output> after = {}) {
    return g.with_control(after).add_one("StackPushV2", {stack, value});
  }
  Output pop(Output stack, std::vector<Output> after, DType type = f32) {
    return g.with_control(after).add_one("StackPopV2", {stack}, {{"elem_type", type}});
  }
  std::vector<float> run(const std::vector<Output>& fetches) {
    std::vector<float> values;
    for (const Tensor& tensor : value_or_throw(runtime.run(graph, {}, fetches)))
      values.push_back(tensor.as<float>()[0]);
    return values;
  }
};

using Values = std::vector<float>;

BOOST_FIXTURE_TEST_SUITE(stacks, Fixture)

BOOST_AUTO_TEST_CASE(what_was_pushed_last_is_popped_first) {
  const Output s = stack(-1), one = push(s, number(1)), two = push(s, number(2), {one});
  const Output last = pop(s, {two}), first = pop(s, {last});
  for (int step = 0; step < 2; ++step)
    BOOST_TEST(run({one, last, first}) == (Values{1, 2, 1}), boost::test_tools::per_element());
}

// for i = 0 to 3: push(i);   then while i > 0: total = 10 * total + pop(), i = i - 1
BOOST_AUTO_TEST_CASE(a_loop_pops_values_that_another_loop_pushed) {
  const Output kept_in = stack(-1);
  const auto number_in = [](const Scope& s, float value) { return s.constant(Tensor::scalar(value)); };
  const auto counted = while_loop(
      g, {number(0)},
      [&](const Scope& s, std::span<const Output> i) {
        return s.add_one("Less", {i[0], number_in(s, 4)});
      },
      [&](const Scope& s, std::span<const Output> i) {
        return std::vector{s.add_one("Add", {s.add_one("StackPushV2", {kept_in, i[0]}), number_in(s, 1)})};
      });
  const auto taken = while_loop(
      g, {counted[0], number(0)},
      [&](const Scope& s, std::span<const Output> v) {
        return s.add_one("Less", {number_in(s, 0), v[0]});
      },
      [&](const Scope& s, std::span<const Output> v) {
        const Output popped =
            s.with_control({v[0], v[1]}).add_one("StackPopV2", {kept_in}, {{"elem_type", f32}});
        return std::vector{s.add_one("Sub", {v[0], number_in(s, 1)}),
                           s.add_one("Add", {s.add_one("Mul", {v[1], number_in(s, 10)}), popped})};
      },
      {.shape_invariants = {PartialShape::scalar(), PartialShape()}});
  BOOST_TEST(run({taken[1]}) == Values{3210}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(misuse_is_refused) {
  const Output s = stack(1), one = push(s, number(1));
  const auto says = [&](Output fetch, const std::string& what) {
    const Status status = failure(fetch);
    BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
    BOOST_TEST(status.text().find(what) != std::string::npos, status.message());
  };
  says(pop(s, {}), "the stack is empty");
  says(push(s, number(2), {one}), "the stack is full: its max_size is 1");
  says(pop(s, {one}, f64), "the last tensor of the stack is float[], but elem_type is double");
  const Output closed{g.with_control({one}).add("StackCloseV2", {s}), Output::control};
  says(push(s, number(2), {closed}), "closed");
  const Output variable = g.add_one("VarHandleOp", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});
  says(push(variable, number(1)), "not the handle of a stack");
}

// The handle of a stack is not that of a variable, wherever it comes from.
BOOST_AUTO_TEST_CASE(a_stack_is_no_variable) {
  const Output s = stack(1), passed = g.add_one("Identity", {s});
  for (const Output handle : {s, passed}) {
    const Output read = g.add_one("ReadVariableOp", {handle}, {{"dtype", f32}});
    const Output assign{g.add("AssignVariableOp", {handle, number(1)}), Output::control};
    for (const Output fetch : {read, assign}) {
      const Status status = failure(fetch);
      BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
      BOOST_TEST(status.text().find("the handle of a stack or a TensorArray") != std::string::npos,
                 status.message());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::stacks_test
