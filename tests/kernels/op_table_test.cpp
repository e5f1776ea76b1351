// Walks the op table: every op that a kernel serves must have samples, and what each promises is checked on them. Ops that other
// roles serve (variables, queues, control flow, Send and Recv) have tests of their own. And the constructors in C++.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/kernels/all_cases.h"
#include "tests/support/gradient_check.h"

namespace troupe::test {
namespace {

const OpCases& all_cases() {
  static const OpCases cases = [] {
    OpCases result;
    add_activation_cases(result);
    add_array_cases(result);
    add_elementwise_binary_cases(result);
    add_elementwise_unary_cases(result);
    add_loss_cases(result);
    add_reduction_cases(result);
    add_selection_cases(result);
    return result;
  }();
  return cases;
}

bool served_by_kernel(const OpDef& op) {
  return op.served_by == ServedBy::Kernel && op.effect != Effect::Step;
}

template <class Visit>
void for_each_op(const Visit& visit) {
  for (const auto& [name, op] : op_library()->ops->ops())
    if (served_by_kernel(*op)) visit(*op);
}

bool has_double(const std::vector<OpCase>& samples) {
  return std::ranges::any_of(samples, [](const OpCase& sample) {
    return std::ranges::any_of(sample.inputs,
                               [](const Tensor& input) { return input.dtype() == DType::Double; });
  });
}

/// Some ops are for complex numbers alone; their gradients are compared with TensorFlow's.
bool takes_double(const OpDef& op) {
  const AttrDef* type = op.find_attr("T");
  return !type || type->allowed.empty() || std::ranges::any_of(type->allowed, [](const AttrValue& allowed) {
    return equal(allowed, AttrValue(DType::Double));
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(op_table)

BOOST_AUTO_TEST_CASE(every_definition_is_sound) { BOOST_TEST(op_library()->status.message() == "Ok"); }

BOOST_AUTO_TEST_CASE(every_op_has_samples_and_says_whether_it_is_differentiable) {
  for_each_op([](const OpDef& op) {
    BOOST_TEST(!all_cases().good(op.name).empty(), op.name << " has no sample inputs");
    BOOST_TEST(!all_cases().bad(op.name).empty(), op.name << " has no inputs that it must refuse");
    BOOST_TEST((op.gradient != nullptr) != op.not_differentiable,
               op.name << " has a gradient or is not differentiable");
  });
}

BOOST_AUTO_TEST_CASE(samples_give_equal_bits_however_they_run) {
  for_each_op([](const OpDef& op) {
    for (const OpCase& sample : all_cases().good(op.name)) check_case(sample);
  });
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_finite_differences) {
  for_each_op([](const OpDef& op) {
    if (!op.gradient || !takes_double(op) || op.name == "PreventGradient")
      return;  // whose gradient is an error
    BOOST_TEST(has_double(all_cases().good(op.name)),
               op.name << " has a gradient, and no sample of dtype double");
    for (const OpCase& sample : all_cases().good(op.name))
      for (const Known known : {Known::Values, Known::Shapes, Known::Nothing}) {
        const std::string mismatch = gradient_mismatch(sample, known);
        BOOST_TEST(mismatch.empty(), op.name << ", known " << static_cast<int>(known) << ": " << mismatch);
      }
  });
}

BOOST_AUTO_TEST_CASE(bad_inputs_are_refused_by_name) {
  for_each_op([](const OpDef& op) {
    for (const BadCase& bad : all_cases().bad(op.name)) check_bad_case(bad);
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test
