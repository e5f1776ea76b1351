// Tensors as JSON: numbers, text and nested lists. A pure function; any thread.
#pragma once

#include <string>

#include "messages/values/tensor.h"

namespace troupe {

/// What the elements of a tensor of strings are.
enum class Texts : uint8_t { Text, Bytes };

/// Appends a tensor: a scalar as a number, text, true or false, others as nested lists. Numbers are as short as they can be and
/// still be read as the same number; those that JSON lacks (NaN, infinities) become null. Text that is not UTF-8, and all text with
/// Texts::Bytes, becomes {"b64": "..."}, the bytes in base64. Fails with Unimplemented for types that JSON lacks.
Status append_json(const Tensor& tensor, std::string& to, Texts texts = Texts::Text);

/// Appends row `row` of a tensor [rows, ...] in the same way.
Status append_json_row(const Tensor& tensor, int64_t row, std::string& to, Texts texts = Texts::Text);

/// Returns whether append_json() takes tensors of a type.
bool has_json(DType dtype);

}  // namespace troupe
