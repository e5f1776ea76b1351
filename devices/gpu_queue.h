// GpuQueue: what the kernels of a GPU need beside the DeviceContext: the stream that work is issued to, the handles of the
// vendor's libraries, and the places where kernels report wrong values. Owned by the device; any thread may use it. CUDA's headers
// are not needed to include this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "devices/gpu_faults.h"
#include "messages/values/status.h"

namespace troupe {

class GpuCommunicator;  // devices/gpu_communicator.h
class GpuRecorder;      // devices/gpu_recorder.h

class GpuQueue {
 public:
  virtual ~GpuQueue() = default;
  /// Returns the cudaStream_t of all kernels. The GPU becomes the one that the calling thread uses.
  virtual void* stream() const = 0;
  virtual GpuFaults& faults() = 0;
  virtual size_t max_blocks() const = 0;  ///< a number of blocks that fills the device
  /// Returns the failure of the launch before, if it failed.
  virtual Status launched() = 0;
  /// Return the library and its handle for the stream, pointers to a CudaBlas and a CudaDnn (devices/cuda/), and make the GPU the
  /// one that the calling thread uses. Fail with Unavailable, naming the library, if the system does not have it.
  virtual Result<void*> blas() = 0;
  virtual Result<void*> dnn() = 0;
  /// Compiles a source of which a function is named `run`, unless that has been done, and returns the function: a cudaKernel_t,
  /// or on the host a pointer to a function. Returns null if the system has no compiler. Fails with Internal, and what the
  /// compiler says, if the source has a mistake.
  virtual Result<void*> compiled(const std::string& source);
  /// Marks a point in the stream, for elapsed().
  virtual void* mark() = 0;
  /// Returns the nanoseconds between two marks, when the stream has reached both, and drops the marks. Waits for the stream.
  virtual int64_t elapsed(void* from, void* to) = 0;
  /// Completes the copies to the host that have ended. For callers that would sleep until then; copies complete without it, too.
  virtual void poll() = 0;
  virtual bool tf32() const = 0;  ///< whether products of float may use TF32

  /// Returns a name of this GPU that no other GPU of any machine has: "means/GPU". GPUs with equal means can exchange tensors.
  /// Fails with Unavailable, and the reason, if it can exchange none.
  virtual Result<std::string> exchange_name();
  /// Returns what names a communicator that is to be made: up to 1,024 bytes. Fails with Unavailable.
  virtual Result<std::string> new_communicator_id();
  /// Begins to connect this GPU, as the member `rank`, with those of the other members, which do the same; the first exchange fails
  /// if that fails. The queue must outlive the communicator. Fails with InvalidArgument if the id has a wrong form.
  virtual Result<std::unique_ptr<GpuCommunicator>> make_communicator(const std::string& id, int rank,
                                                                     int members);

  /// Begin and end a range for profilers: what the calling thread issues in between has this name. Ranges may be nested.
  virtual void begin_range(const char* /*name*/) {}
  virtual void end_range() {}

  /// Returns a recorder for the work of kernels; null if every kernel must be issued by itself.
  virtual std::unique_ptr<GpuRecorder> make_recorder();
  /// Returns bytes of the host from which work that is issued next may copy, equal to these: the same ones, unless the work is
  /// recorded. Null if there is no memory for them.
  virtual const void* kept(const void* bytes, size_t count);
  /// For a device whose kernels run on the host: runs the work of a kernel, or records it.
  virtual void issue_on_host(std::function<void()> work);
};

/// A range, from its construction to its destruction on one thread: that of a node, or another name with an empty op. Kernels that
/// are issued in it report wrong values in `place`, if that is not null. Does nothing without a queue. The strings must outlive it.
class GpuRange {
 public:
  GpuRange(GpuQueue* queue, const char* name, const char* op, GpuFault* place = nullptr);
  GpuRange(const GpuRange&) = delete;
  GpuRange& operator=(const GpuRange&) = delete;
  ~GpuRange();

 private:
  friend const GpuFaultSource* fault_source(const char* text);
  friend GpuFault& fault_place(GpuQueue& queue);

  GpuQueue* const queue_;
  const char *const name_, *const op_;
  GpuFault* const place_;
  GpuRange* const outer_;
};

/// Returns the source for reports of the node of the innermost GpuRange of the calling thread: always the same one for a node and a
/// text. The node is empty outside of ranges, and for all further nodes once there are 100,000 sources.
const GpuFaultSource* fault_source(const char* text);
/// Returns where kernels of the queue report that are issued now: the place of that range or, if it has none, the common one.
GpuFault& fault_place(GpuQueue& queue);

}  // namespace troupe
