// The samples of ops on lookup tables, staging areas and barriers, a part of the samples of kernels/ops/state. Test code; one
// thread.
#pragma once

#include "tests/support/ops/op_case.h"

namespace troupe::test {

void add_keyed_state_cases(OpCases& cases);

}  // namespace troupe::test
