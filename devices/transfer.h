// transfer(): makes a tensor available on another device. Any thread may call these functions.
#pragma once

#include "devices/device.h"

namespace troupe {

/// Returns the same value in memory where `to_device` computes. A tensor that lies there already is shared.
/// Else memory is allocated there, and a copy is issued on whichever of the two devices is not the host;
/// the completion() of the result says when it has ended. A GPU copies from another one, whose work on
/// `from` must have ended; between other devices the copy goes through host memory of `from_device`, which
/// matters only if `from` lies in its memory. Fails with ResourceExhausted if the allocator of `to_device`
/// does, and with InvalidArgument for strings ("Non-DMA-safe").
Result<Tensor> transfer(const Tensor& from, Device& from_device, Device& to_device);
/// Returns the same value in host memory.
Result<Tensor> to_host(const Tensor& from, Device& from_device);

}  // namespace troupe
