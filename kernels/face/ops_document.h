// Writes docs/ops.md: the op table as a document for people. A free function without state.
#pragma once

#include <string>

#include "kernels/core/kernel.h"

namespace troupe {

/// Returns the document in Markdown, with the ops in order of their names. It shows the constructors of each op, its arguments,
/// attributes and dtypes, whether gradients pass it, and what computes it on which types of device.
std::string ops_document(const OpLibrary& library);

/// Returns the entry of one op of the library.
std::string op_document(const OpDef& op, const OpLibrary& library);

}  // namespace troupe
