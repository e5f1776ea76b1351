// What the samples of an op do not cover of its definition and kernels: types, values of attributes, shapes. Pure functions.
#pragma once

#include "tests/support/ops/op_case.h"

namespace troupe::test {

/// Returns, for each type attribute of the op, the allowed types that a kernel for CPUs serves.
std::map<std::string, std::vector<DType>> served_types(const OpDef& op);

/// Returns what no sample covers, as texts: a type that is served, a value of a bool attribute, a tensor
/// without elements, a scalar (or that it is refused), a size that is no multiple of a vector register.
std::vector<std::string> left_out(const OpDef& op, const OpCases& cases);

/// Returns true if the op takes or returns tensor lists. Samples cannot have lists; tests/golden/list_graphs.py tests such ops.
bool deals_in_lists(const OpDef& op);

}  // namespace troupe::test
