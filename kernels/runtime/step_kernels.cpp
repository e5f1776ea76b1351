// How a StepContext runs kernels: on the driving thread, beside other threads, or on a device that computes later.
#include <utility>

#include "devices/gpu_queue.h"
#include "devices/transfer.h"
#include "kernels/core/read_back.h"
#include "kernels/runtime/step_values.h"
#include "messages/values/memory_claims.h"

namespace troupe {

void StepContext::run_kernel(Activation activation, const PreparedNode& node) {
  if (!in_order_ || node.reads_back) return run_on_device(activation, node);
  if (uses_records_) return run_recorded(activation, node);
  flush_before(activation, node);
  if (runs_beside(activation)) return run_beside(activation, node);
  KernelContext context(*node.node, inputs(activation), input_count(activation), outputs_.data(),
                        prepared_.context_of(node), info_, frame_key(activation));
  const int64_t begin = measures_ ? StepProfile::now() : 0;
  const Status status = call_guarded([&] { return node.kernel->run(context); });
  if (measures_) prepared_.record_cost(activation.node, StepProfile::now() - begin);
  if (!status.ok()) return fail(node, status);
  finish_kernel(activation, node);
}

// Returns whether another thread may drive the step while this kernel runs.
bool StepContext::runs_beside(Activation activation) const {
  constexpr int64_t beside_a_driver = 10'000;  // nanoseconds
  return drivers_ > 1 ? prepared_.cost(activation.node) >= beside_a_driver
                      : takes_long(activation) && worth_waking();
}

bool StepContext::takes_long(Activation activation) const {
  constexpr int64_t nanoseconds = 20'000;
  return prepared_.cost(activation.node) >= nanoseconds;
}

// Returns whether the ready nodes have enough work for another thread. A thread that has to be woken starts 50 us later, and
// waking it takes 12 us of this thread's time.
bool StepContext::worth_waking() const {
  constexpr int64_t least = 60'000;  // nanoseconds
  int64_t work = 0;
  for (const Activation& activation : long_ready_)
    if ((work += prepared_.cost(activation.node)) >= least) return true;
  return false;
}

// Runs the kernel without the lock, so that another thread may drive the step meanwhile; invites one if there is work for it.
void StepContext::run_beside(Activation activation, const PreparedNode& node) {
  KernelRun* const run = new_run(activation, node);
  if (invited_ < long_ready_.size() && worth_waking() && host_->invite_helper()) ++invited_;
  driving_.unlock();
  const int64_t begin = StepProfile::now();
  Status status = call_guarded([&] { return node.kernel->run(*run->context); });
  const int64_t end = StepProfile::now();
  driving_.lock();
  prepared_.record_cost(activation.node, end - begin);
  StepArrival arrival{activation, StepArrival::whole_node, {std::move(status), {}, false}, run};
  settle(arrival);
}

void StepContext::flush_before(Activation activation, const PreparedNode& node) {
  // Numbers of elements. A cheap kernel ends at once on up to `few` elements.
  constexpr int64_t few = 4096, many = 32768;
  const Slot* const first = inputs(activation);
  if (node.cheap && first->tensor.elements() <= few) return;
  int64_t elements = 0;
  for (const Slot* slot = first; slot != first + input_count(activation); ++slot)
    elements += slot->tensor.elements();
  host_->flush(elements > many ? FlushReason::LongKernel : FlushReason::Kernel);
}

void StepContext::finish_kernel(Activation activation, const PreparedNode& node) {
  const uint32_t outputs = plan_.nodes()[activation.node].outputs;
  for (uint32_t i = 0; i < outputs; ++i)
    if (!outputs_[i].buffer())
      return fail(node, internal("the kernel produced no value for output " + std::to_string(i)));
  if (node.makes_strings)
    for (uint32_t i = 0; i < outputs; ++i) settle_contents(outputs_[i], device_.memory());
  clear_inputs(activation);
  state_.done(activation, KernelValues{{*this}, outputs});
}

KernelRun* StepContext::new_run(Activation activation, const PreparedNode& node) {
  if (idle_runs_.empty()) idle_runs_.push_back(runs_.emplace_back(new KernelRun).get());
  KernelRun* const run = idle_runs_.back();
  idle_runs_.pop_back();
  Slot* const first = inputs(activation);
  run->inputs.assign(std::move_iterator(first), std::move_iterator(first + input_count(activation)));
  run->outputs.resize(plan_.nodes()[activation.node].outputs);
  run->step = info_;
  run->context.emplace(*node.node, run->inputs.data(), run->inputs.size(), run->outputs.data(),
                       uses_records_ ? recorded_->device() : prepared_.context_of(node), run->step,
                       frame_key(activation));
  clear_inputs(activation);
  ++under_way_;
  return run;
}

// Runs the check on this thread; the device computes in its own time.
void StepContext::run_on_device(Activation activation, const PreparedNode& node) {
  if (uses_records_) {
    if (!issue_records()) return;
    keep_inputs(activation);
  }
  KernelRun* const run = new_run(activation, node);
  leave_to_device(activation, run, call_guarded([&] { return node.kernel->check(*run->context); }));
}

void StepContext::leave_to_device(Activation activation, KernelRun* run,
                                  Result<std::unique_ptr<DeviceWork>> work) {
  if (!work || !*work) {
    StepArrival arrival{activation, StepArrival::whole_node, {work.status(), {}, false}, run};
    return settle(arrival);
  }
  run->work = std::move(*work);
  Completion done = prepared_.device().run(
      [run](DeviceContext& device) { return call_guarded([&] { return run->work->compute(device); }); });
  if (auto* const reading = dynamic_cast<ReadBackWork*>(run->work.get()))
    done = read_back(*reading, run, done);
  done.then([this, activation, run](Status status) { announce(activation, run, std::move(status)); });
}

// Copies the result of the work to the host. The Completion says when it is there.
Completion StepContext::read_back(ReadBackWork& work, KernelRun* run, const Completion& computed) {
  ++copies_;
  auto copy = to_host(work.result(), prepared_.device());
  const Completion copied = copy ? copy->completion() : Completion(copy.status());
  if (copy) {
    copy->set_completion({});
    run->read_back = std::move(*copy);
  }
  auto both = Completion::pending();
  computed.then([this, copied, both](const Status& status) {
    if (!status.ok()) return both.complete(status);
    copied.then([this, both](Status ended) { both.complete(with_reports(std::move(ended))); });
  });
  return both;
}

void StepContext::announce(Activation activation, KernelRun* run, Status status) {
  StepHost* const host = host_;
  StepArrival arrival{activation, StepArrival::whole_node, {std::move(status), {}, false}, run};
  if (inbox_.put(std::move(arrival))) host->wake();
}

// Returns false if the kernel has more to compute: the second part of a measured kernel.
bool StepContext::end_run(StepArrival& arrival) {
  KernelRun* const run = arrival.run;
  const std::unique_ptr<DeviceWork> ended = std::move(run->work);
  auto* const reading = dynamic_cast<ReadBackWork*>(ended.get());
  if (reading) --copies_;
  if (ended && status_.ok() && arrival.reply.status.ok() && (!uses_records_ || issue_records())) {
    if (reading) {
      if (uses_records_) recorded_->keep(reading->result());
      reading->result() = std::move(run->read_back);
    }
    const GpuRange range = range_of(nodes_[arrival.activation.node]);
    auto next = call_guarded([&] { return ended->next(*run->context); });
    if (!next || *next) {
      leave_to_device(arrival.activation, run, std::move(next));
      return false;
    }
  }
  run->inputs.clear();
  arrival.reply.outputs = std::move(run->outputs);
  idle_runs_.push_back(run);
  return true;
}

}  // namespace troupe
