// What the samples of an op leave out of what its definition and kernels promise: types, settings of attributes, shapes. Test
// code; one thread.
#pragma once

#include "tests/support/op_case.h"

namespace troupe::test {

/// For each type attribute of the op, the types it may take that a kernel on the CPU serves.
std::map<std::string, std::vector<DType>> served_types(const OpDef& op);

/// What no sample has, each as a text: a type that is served, a value of a bool attribute, a tensor without elements, a scalar (or
/// that it is refused), a size that no vector register divides.
std::vector<std::string> left_out(const OpDef& op, const OpCases& cases);

/// Whether the op takes or yields lists. Samples are tensors that anybody can make, so it has none: tests/golden/list_graphs.py does.
bool deals_in_lists(const OpDef& op);

}  // namespace troupe::test
