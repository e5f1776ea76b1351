// Walks the op table: every op must have samples, and what it promises is checked on them. An op that no kernel serves names the
// test that runs it.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/kernels/all_cases.h"
#include "tests/support/gradient_check.h"
#include "tests/support/op_coverage.h"

namespace troupe::test {
namespace {

bool has_kernel(const OpDef& op) {
  return op.effect != Effect::Step && !deals_in_lists(op) && !op_library()->kernels.of(op.name).empty();
}

template <class Visit>
void for_each_op(const Visit& visit) {
  for (const auto& [name, op] : op_library()->ops->ops()) visit(*op);
}

/// What leads to its input is a handle, which finite differences cannot change: state_ops_test.cpp looks at such gradients.
bool reads_a_variable(const OpDef& op) {
  return std::ranges::any_of(op.inputs, [](const ArgDef& input) { return input.type == DType::Resource; });
}

/// Functions of |z|: their gradients are those of TensorFlow's formulas for real numbers.
bool has_no_complex_derivative(const OpCase& sample) {
  return (sample.op == "Sign" || sample.op == "SquaredDifference") && is_complex(sample.inputs[0].dtype());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(op_table)

BOOST_AUTO_TEST_CASE(every_definition_is_sound) { BOOST_TEST(op_library()->status.message() == "Ok"); }

BOOST_AUTO_TEST_CASE(every_op_has_samples) {
  for_each_op([](const OpDef& op) {
    BOOST_TEST(has_kernel(op) != all_cases().good(op.name).empty(),
               op.name << " has a kernel and samples, or neither");
    BOOST_TEST(has_kernel(op) == all_cases().served(op.name).empty(),
               op.name << " has a kernel, or a sample that says where it is tested");
    BOOST_TEST(!all_cases().bad(op.name).empty(), op.name << " has no inputs that it must refuse");
  });
}

BOOST_AUTO_TEST_CASE(samples_leave_nothing_out) {
  for_each_op([](const OpDef& op) {
    if (has_kernel(op))
      for (const std::string& what : left_out(op, all_cases()))
        BOOST_TEST(false, op.name << " has no sample of " << what);
  });
}

BOOST_AUTO_TEST_CASE(samples_give_equal_bits_however_they_run) {
  for_each_op([](const OpDef& op) {
    for (const OpCase& sample : all_cases().good(op.name)) check_case(sample);
  });
}

BOOST_AUTO_TEST_CASE(samples_of_what_no_kernel_serves) {
  for_each_op([](const OpDef& op) {
    for (const ServedCase& served : all_cases().served(op.name)) check_served_case(served);
  });
}

// Gradients through control flow are refused: the op has none, and does not say that none flows.
BOOST_AUTO_TEST_CASE(every_op_says_whether_it_is_differentiable) {
  for_each_op([](const OpDef& op) {
    const bool is_control_flow = op.served_by == ServedBy::Executor && op.effect == Effect::Step;
    BOOST_TEST((is_control_flow || (op.gradient != nullptr) != op.not_differentiable),
               op.name << " has a gradient or is not differentiable");
  });
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_finite_differences) {
  for_each_op([](const OpDef& op) {
    if (!op.gradient || !has_kernel(op) || reads_a_variable(op) || op.name == "PreventGradient")
      return;  // the last, whose gradient is an error
    size_t compared = 0;
    for (const OpCase& sample : all_cases().good(op.name)) {
      if (has_no_complex_derivative(sample)) continue;
      for (const Known known : {Known::Values, Known::Shapes, Known::Nothing})
        if (const auto mismatch = gradient_mismatch(sample, known)) {
          BOOST_TEST(mismatch->empty(),
                     op.name << ", known " << static_cast<int>(known) << ": " << *mismatch);
          ++compared;
        }
    }
    BOOST_TEST(compared > 0, op.name << " has a gradient, and no sample of dtype double or complex128");
  });
}

BOOST_AUTO_TEST_CASE(bad_inputs_are_refused_by_name) {
  for_each_op([](const OpDef& op) {
    for (const BadCase& bad : all_cases().bad(op.name)) check_bad_case(bad);
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test
