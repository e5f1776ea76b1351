#include "tests/kernels/all_cases.h"

namespace troupe::test {

const OpCases& all_cases() {
  static const OpCases cases = [] {
    OpCases result;
    add_activation_cases(result);
    add_array_cases(result);
    add_elementwise_binary_cases(result);
    add_elementwise_unary_cases(result);
    add_loss_cases(result);
    add_reduction_cases(result);
    add_row_cases(result);
    add_selection_cases(result);
    add_served_cases(result);
    add_source_cases(result);
    add_variable_cases(result);
    return result;
  }();
  return cases;
}

}  // namespace troupe::test
