// Tensors whose rows consist of the rows of parts, on GPUs: for Concat, Pack, Split and similar ops. Several parts are moved by one
// launch. Any thread may call these functions.
#pragma once

#include <span>

#include "devices/device.h"

namespace troupe::gpu {

/// A tensor with as many rows as the whole; each has `row` elements.
struct Part {
  std::byte* data;
  size_t row;
};

/// Copies each row of the parts, in their order, to the same row of the whole. `element` is the size of an element in bytes.
Status join_parts(DeviceContext& device, size_t element, size_t rows, std::span<const Part> parts,
                  std::byte* whole);
/// The inverse.
Status split_parts(DeviceContext& device, size_t element, size_t rows, std::span<const Part> parts,
                   const std::byte* whole);

/// Moves tensors to the rows of a tensor that they become. Row i has as many elements as tensors[i], or is set to zero if that is
/// invalid. The rows lie one behind the other.
Status join_tensors(DeviceContext& device, std::span<const Tensor> tensors, std::span<const Tensor> rows);

}  // namespace troupe::gpu
