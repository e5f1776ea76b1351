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

}  // namespace troupe::gpu
