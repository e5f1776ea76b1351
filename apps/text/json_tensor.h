// Tensors as JSON: numbers, text and nested lists. A pure function; any thread.
#pragma once

#include <string>

#include "messages/values/tensor.h"

namespace troupe {

/// Appends a tensor: a scalar as a number, text, true or false, others as nested lists. Numbers are as short as they can be and
/// still be read as the same number; those that JSON lacks (NaN, infinities) become null, and bytes that are not UTF-8 become
/// U+FFFD. Fails with Unimplemented for types that JSON lacks.
Status append_json(const Tensor& tensor, std::string& to);

/// Appends row `row` of a tensor [rows, ...] in the same way.
Status append_json_row(const Tensor& tensor, int64_t row, std::string& to);

/// Returns whether append_json() takes tensors of a type.
bool has_json(DType dtype);

}  // namespace troupe
