// What a StepContext does on devices with memory of their own, beside kernels: feeds and received tensors are copied to the
// device, sent and fetched ones to the host. What the device computes is issued in order, so only copies to the host are waited
// for.
#include <utility>

#include "devices/gpu_queue.h"
#include "devices/transfer.h"
#include "kernels/runtime/step_values.h"

namespace troupe {

bool StepContext::lies_on_device(Activation activation, const PreparedNode& node) {
  if (!node.crosses_memory || activation.dead() || input_count(activation) == 0) return false;
  const Slot& slot = *inputs(activation);
  return slot.kind == Slot::Kind::Value && slot.tensor.memory() == MemoryKind::Device;
}

// Replaces input 0 by a copy on the host. The node goes on when the copy has ended.
void StepContext::bring_to_host(Activation activation) {
  ++under_way_;
  ++copies_;
  Tensor& tensor = inputs(activation)->tensor;
  auto copy = to_host(tensor, prepared_.device());
  Completion copied(copy.status());
  if (copy) {
    copied = copy->completion();
    copy->set_completion({});
    tensor = std::move(*copy);
  }
  copied.then([this, activation](Status status) {
    StepHost* const host = host_;
    if (inbox_.put({activation, StepArrival::copy_to_host, {std::move(status), {}, false}})) host->wake();
  });
}

// Waits a little for copies to the host: most end within some microseconds, and waking a thread takes longer.
void StepContext::await_copies() {
  constexpr int64_t patience = 100'000;  // nanoseconds
  GpuQueue* const queue = device_.queue();
  if (copies_ == 0 || !queue) return;
  for (const int64_t begin = StepProfile::now(); !inbox_.has_news() && StepProfile::now() - begin < patience;)
    queue->poll();
}

// Runs a kernel between two marks in the stream of a GPU.
void StepContext::run_timed(Activation activation, uint64_t bytes) {
  GpuQueue& queue = *device_.queue();
  GpuRun run{activation.node, queue.mark(), nullptr, StepProfile::now(), bytes};
  carry_out(activation);
  run.end = queue.mark();
  gpu_runs_.push_back(run);
}

// A span begins when the host issued the kernel, and lasts as long as the kernel ran on the GPU.
void StepContext::read_gpu_times() {
  for (const GpuRun& run : gpu_runs_) {
    const int64_t time = device_.queue()->elapsed(run.begin, run.end);
    StepProfile::NodeWork& work = profile_.nodes[run.node];
    ++work.runs;
    work.nanoseconds += time;
    profile_.add({run.node, false, run.issued, run.issued + time, run.bytes});
  }
  gpu_runs_.clear();
}

// Goes on with a fetch, or a request, whose inputs are where they are expected.
void StepContext::leave(Activation activation) {
  const PreparedNode& node = nodes_[activation.node];
  if (node.action == Action::Fetch)
    fetch(activation);
  else
    request(activation, node);
}

// The tensor can be used at once by what is issued to the device.
Status StepContext::bring_to_device(Tensor& tensor) {
  TROUPE_ASSIGN(tensor, transfer(tensor, prepared_.device(), prepared_.device()));
  return tensor.completion().ready() ? tensor.completion().status() : Status();
}

}  // namespace troupe
