// Files of arrays that are written batch by batch: the header first, with the number of all samples, then the elements. Functions
// without state; a writer is owned by a conversion, one thread at a time.
#pragma once

#include <string>

#include "apps/data/arrays/npz_writer.h"
#include "messages/values/tensor.h"

namespace troupe::data {

struct ArrayForm {
  /// Returns what precedes the elements of a column with this number of samples. Fails with InvalidArgument, naming the column,
  /// for types that the form lacks and dimensions that are too large.
  Result<std::string> (*header)(const Tensor& column, int64_t samples, const std::string& name);
  /// Returns the elements as they are stored.
  std::string (*elements)(const Tensor& batch);
};

ArrayForm npy_form();
ArrayForm idx_form();

}  // namespace troupe::data
