// The op table as a document for people, docs/ops.md. Free function without state.
#pragma once

#include <string>

#include "kernels/core/kernel.h"

namespace troupe {

/// In Markdown, by name: how each op is called, its arguments, attributes and dtypes, whether gradients pass it, and who computes it
/// on which types of device.
std::string ops_document(const OpLibrary& library);

}  // namespace troupe
