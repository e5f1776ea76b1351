// What a StepContext does on devices with memory of their own, beside kernels: feeds and received tensors are copied to the
// device, sent and fetched ones to the host. What the device computes is issued in order, so only copies to the host are waited
// for.
#include <algorithm>
#include <utility>

#include "devices/gpu_queue.h"
#include "devices/transfer.h"
#include "kernels/runtime/step_values.h"

namespace troupe {
namespace {

bool has_device_memory(const Slot& slot) {
  return slot.kind == Slot::Kind::Value && slot.tensor.memory() == MemoryKind::Device;
}

}  // namespace

bool StepContext::lies_on_device(Activation activation, const PreparedNode& node) {
  return node.crosses_memory && !activation.dead() && input_count(activation) != 0 &&
         has_device_memory(*inputs(activation));
}

// ---- Records

void StepContext::run_recorded(Activation activation, const PreparedNode& node) {
  const Status status =
      recorded_->run(activation.node, {inputs(activation), input_count(activation)},
                     {outputs_.data(), plan_.nodes()[activation.node].outputs}, info_, frame_key(activation));
  if (!status.ok()) return fail(node, status);
  finish_kernel(activation, node);
}

// Issues the work that is held back. Returns false if that has failed, and with it the step.
bool StepContext::issue_records() {
  Status issued = recorded_->flush();
  if (issued.ok()) return true;
  fail(std::move(issued).at_device(prepared_.device_name()));
  return false;
}

void StepContext::keep_inputs(Activation activation) {
  for (uint32_t i = 0; i < input_count(activation); ++i)
    if (const Slot& slot = inputs(activation)[i]; has_device_memory(slot)) recorded_->keep(slot.tensor);
}

// Returns whether the node uses results of the device that need not leave it soon. What is sent to others does need to.
bool StepContext::waits_for_others(Activation activation, const PreparedNode& node) const {
  if (node.action == Action::Request && node.crosses_memory) return false;
  const Slot* const first = slots_.data() + state_.first_slot(activation);
  return !activation.dead() && std::any_of(first, first + input_count(activation), has_device_memory);
}

// ---- What leaves the device

void StepContext::leave_device(Activation activation, const PreparedNode& node) {
  if (uses_records_ && waits_for_others(activation, node)) return leaving_.push_back(activation);
  if (!lies_on_device(activation, node)) return leave(activation);
  if (uses_records_) {
    if (!issue_records()) return;
    keep_inputs(activation);
  }
  bring_to_host(activation);
}

// Goes on with all nodes that have waited, after the work of the kernels before them has been issued in one call.
void StepContext::leave_together() {
  if (!issue_records()) return;
  for (const Activation activation : std::exchange(leaving_, {})) {
    if (!status_.ok()) return;
    const PreparedNode& node = nodes_[activation.node];
    if (node.keeps_inputs && !node.crosses_memory) {
      if (Status copied = copy_inputs(activation); !copied.ok()) return fail(node, std::move(copied));
    } else {
      keep_inputs(activation);
    }
    if (lies_on_device(activation, node))
      bring_to_host(activation);
    else
      leave(activation);
  }
}

// Replaces tensors in the memory of the records, which must be free for the next step, by copies in that of the device.
Status StepContext::copy_inputs(Activation activation) {
  for (uint32_t i = 0; i < input_count(activation); ++i) {
    Slot& slot = inputs(activation)[i];
    if (!has_device_memory(slot) || !recorded_->owns(slot.tensor)) continue;
    TROUPE_ASSIGN(Tensor copy, Tensor::allocate(slot.tensor.dtype(), slot.tensor.shape(), device_.memory()));
    const Completion copied = prepared_.device().copy(slot.tensor, copy);
    if (copied.ready() && !copied.status().ok()) return copied.status();
    recorded_->keep(std::exchange(slot.tensor, std::move(copy)));
  }
  return {};
}

// Replaces input 0 by a copy on the host. The node goes on when the copy has ended. What another GPU copies stays where it is; the
// copy of nothing ends when the tensor has been computed. A GPU of another task may read the tensor longer than the step lasts.
void StepContext::bring_to_host(Activation activation) {
  const PreparedNode& node = nodes_[activation.node];
  const bool is_lent = node.to_gpu == ToGpu::OtherTask && host_->lends_memory(activation);
  if (is_lent && uses_records_)
    if (Status copied = copy_inputs(activation); !copied.ok()) return fail(node, std::move(copied));
  ++under_way_;
  ++copies_;
  Tensor& tensor = inputs(activation)->tensor;
  const bool stays = is_lent || node.to_gpu == ToGpu::SameTask;
  auto copy = to_host(stays ? Tensor(tensor.dtype(), Shape{0}, tensor.buffer()) : tensor, prepared_.device());
  Completion copied(copy.status());
  if (copy) {
    copied = copy->completion();
    copy->set_completion({});
    if (!stays) tensor = std::move(*copy);
  }
  copied.then([this, activation](Status status) {
    StepHost* const host = host_;
    StepArrival arrival{activation, StepArrival::copy_to_host, {with_reports(std::move(status)), {}, false}};
    if (inbox_.put(std::move(arrival))) host->wake();
  });
}

// Returns the status of a copy to the host or, if that has ended well, what kernels of the step before it have reported.
Status StepContext::with_reports(Status copied) const {
  GpuQueue* const queue = device_.queue();
  return queue && copied.ok() ? queue->faults().take({info_.session, info_.ordinal}) : std::move(copied);
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
  Device& device = prepared_.device();
  if (!uses_records_ || device.holds(tensor)) {
    TROUPE_ASSIGN(tensor, transfer(tensor, device, device));
    return tensor.completion().ready() ? tensor.completion().status() : Status();
  }
  if (Status issued = recorded_->flush(); !issued.ok()) return issued;
  TROUPE_ASSIGN(Tensor there, Tensor::allocate(tensor.dtype(), tensor.shape(), recorded_->memory()));
  const Completion copied = device.copy(tensor, there);
  tensor = std::move(there);
  return copied.ready() ? copied.status() : Status();
}

}  // namespace troupe
