// GpuRecorder: records the work of kernels instead of issuing it, so that the work of many kernels is issued again and again in
// one call. Recorded work keeps the addresses and values that its kernels had. Made by a GpuQueue; it belongs to the running
// step, whose driving thread alone may use it. Pieces and groups may be destroyed on any thread, and before their recorder.
#pragma once

#include <memory>
#include <span>

#include "devices/gpu_queue.h"

namespace troupe {

/// The recorded work of one kernel.
class RecordedPiece {
 public:
  virtual ~RecordedPiece() = default;
  virtual bool empty() const = 0;  ///< the kernel issued nothing
};

/// Pieces that are issued together, in order.
class RecordedGroup {
 public:
  virtual ~RecordedGroup() = default;
};

class GpuRecorder {
 public:
  virtual ~GpuRecorder() = default;
  /// Returns the queue for kernels whose work is to be recorded, between begin() and end().
  virtual GpuQueue& queue() = 0;
  virtual Status begin() = 0;
  /// Fails with the failure of a call that cannot be recorded. Called after each begin() that succeeded.
  virtual Result<std::unique_ptr<RecordedPiece>> end() = 0;
  /// The pieces must outlive the group, and none may be empty.
  virtual Result<std::unique_ptr<RecordedGroup>> join(std::span<const RecordedPiece* const> pieces) = 0;
  /// Issues the work to the stream of the device.
  virtual Status issue(RecordedGroup& group) = 0;
};

}  // namespace troupe
