// transfer: brings a tensor to another device. Any thread.
#pragma once

#include "devices/device.h"

namespace troupe {

/// The same value where `to` computes. A tensor that already lies there is shared; otherwise memory is
/// allocated there and filled; completion() of the result tells when, and whether it went well. The copy is
/// issued on the device of the two that is not the host; between two devices it goes by way of from's host
/// memory. `from_device` matters only when `from` is in its memory. ResourceExhausted as the allocator of
/// `to` says; InvalidArgument for strings ("Non-DMA-safe").
Result<Tensor> transfer(const Tensor& from, Device& from_device, Device& to_device);
/// The same value in host memory.
Result<Tensor> to_host(const Tensor& from, Device& from_device);

}  // namespace troupe
