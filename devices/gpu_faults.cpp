#include "devices/gpu_faults.h"

#include <atomic>
#include <utility>

namespace troupe {

Status take_fault(GpuFault& fault) {
  const std::atomic_ref state(fault.state);
  if (state.load(std::memory_order_acquire) != GpuFault::Complete) return {};
  static std::mutex taking;  // several threads may find the same report
  const std::lock_guard lock(taking);
  if (state.load(std::memory_order_acquire) != GpuFault::Complete) return {};
  const GpuFaultSource& source = *fault.source;
  std::string text = source.text;
  for (const int64_t number : {fault.value, fault.limit})
    if (const size_t at = text.find("{}"); at != std::string::npos)
      text.replace(at, 2, std::to_string(number));
  state.store(GpuFault::Clear, std::memory_order_release);
  return invalid_argument(std::move(text)).at_node(source.op, source.node);
}

GpuFault& host_fault() {
  static thread_local GpuFault fault;
  return fault;
}

GpuFaults::GpuFaults(std::span<GpuFault> places) : places_(places), steps_(places.size()) {
  for (size_t place = 1; place < places.size(); ++place) unused_.push_back(place);
}

size_t GpuFaults::borrow() {
  const std::lock_guard lock(mutex_);
  if (unused_.empty()) return 0;
  const size_t place = unused_.front();
  unused_.pop_front();
  return place;
}

void GpuFaults::give_back(size_t place) {
  if (place == 0) return;
  const std::lock_guard lock(mutex_);
  steps_[place] = {};
  unused_.push_back(place);
}

void GpuFaults::begin_step(size_t place, const StepId& step) {
  if (place == 0) return;
  const std::lock_guard lock(mutex_);
  steps_[place] = step;
}

Status GpuFaults::take(const StepId& step) {
  const std::lock_guard lock(mutex_);
  for (size_t place = 1; place < places_.size(); ++place)
    if (steps_[place] == step)
      if (Status fault = take_fault(places_[place]); !fault.ok()) return fault;
  return take_fault(common());
}

}  // namespace troupe
