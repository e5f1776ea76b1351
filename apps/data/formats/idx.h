// IDX files, the format of MNIST: a magic number with element type and rank, big-endian sizes, then the
// elements. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "messages/values/tensor.h"

namespace troupe::data {

/// Samples [n, elements of one], as float and multiplied by `scale`. DataLoss when the header is wrong or the
/// file is longer or shorter than its sizes say; says so when it is compressed.
Result<Tensor> parse_idx_features(std::string_view bytes, const std::string& file, double scale);

/// Labels [n] as int32; the file must be of rank 1 and of an integer type.
Result<Tensor> parse_idx_labels(std::string_view bytes, const std::string& file);

}  // namespace troupe::data
