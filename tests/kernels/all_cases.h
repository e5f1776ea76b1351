// The samples of every family, for tests that walk the op table. Test code; one thread.
#pragma once

#include "tests/support/op_case.h"

namespace troupe::test {

/// All of them, made once.
const OpCases& all_cases();

void add_activation_cases(OpCases& cases);
void add_array_cases(OpCases& cases);
void add_elementwise_binary_cases(OpCases& cases);
void add_elementwise_unary_cases(OpCases& cases);
void add_loss_cases(OpCases& cases);
void add_reduction_cases(OpCases& cases);
void add_row_cases(OpCases& cases);
void add_selection_cases(OpCases& cases);
void add_served_cases(OpCases& cases);
void add_source_cases(OpCases& cases);
void add_variable_cases(OpCases& cases);

}  // namespace troupe::test
