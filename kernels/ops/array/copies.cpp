#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

/// Returns the number of elements of a row of a tensor with this number of rows.
int64_t row_of(const Tensor& tensor, size_t rows) { return tensor.elements() / static_cast<int64_t>(rows); }

}  // namespace

void compute_box_copy(const BoxCopyArguments& arguments, DeviceContext& device) {
  const auto& [from, to, box, fills, background] = arguments;
  if (!to) return;
  if (fills) fill(device.pool(), *to, background);
  strided_copy(device.pool(), box, *from, *to);
}

void compute_concat(const ConcatArguments& arguments, DeviceContext& device) {
  const auto& [values, output, rows] = arguments;
  if (output.elements() == 0) return;
  Layout to{0, Dims{row_of(output, rows), 1}};
  for (const Slot& value : values) {
    const int64_t row = row_of(value.tensor, rows);
    const Dims dims{static_cast<int64_t>(rows), row};
    strided_copy(device.pool(), dims, value.tensor, {0, Dims{row, 1}}, output, to);
    to.offset += row;
  }
}

void compute_split(const SplitArguments& arguments, DeviceContext& device) {
  const auto& [value, parts, rows] = arguments;
  if (value.elements() == 0) return;
  Layout from{0, Dims{row_of(value, rows), 1}};
  for (Tensor& part : parts) {
    const int64_t row = row_of(part, rows);
    const Dims dims{static_cast<int64_t>(rows), row};
    strided_copy(device.pool(), dims, value, from, part, {0, Dims{row, 1}});
    from.offset += row;
  }
}

}  // namespace troupe
