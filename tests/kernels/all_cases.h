// The samples of every family, for the test that walks the op table.
#pragma once

#include "tests/support/op_case.h"

namespace troupe::test {

void add_activation_cases(OpCases& cases);
void add_array_cases(OpCases& cases);
void add_elementwise_binary_cases(OpCases& cases);
void add_elementwise_unary_cases(OpCases& cases);
void add_loss_cases(OpCases& cases);
void add_reduction_cases(OpCases& cases);
void add_selection_cases(OpCases& cases);
void add_served_cases(OpCases& cases);
void add_source_cases(OpCases& cases);
void add_variable_cases(OpCases& cases);

}  // namespace troupe::test
