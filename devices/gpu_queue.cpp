#include "devices/gpu_queue.h"

#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "devices/gpu_communicator.h"
#include "devices/gpu_recorder.h"

namespace troupe {
namespace {

thread_local GpuRange* innermost_range = nullptr;

struct SourceOrder {
  bool operator()(const GpuFaultSource& a, const GpuFaultSource& b) const {
    return std::tie(a.node, a.op, a.text) < std::tie(b.node, b.op, b.text);
  }
};

}  // namespace

std::unique_ptr<GpuRecorder> GpuQueue::make_recorder() { return nullptr; }
const void* GpuQueue::kept(const void* bytes, size_t) { return bytes; }
Result<void*> GpuQueue::compiled(const std::string&) { return nullptr; }
Result<std::string> GpuQueue::exchange_name() {
  return unavailable("this GPU exchanges no tensors with other GPUs");
}
Result<std::string> GpuQueue::new_communicator_id() { return exchange_name().status(); }
Result<std::unique_ptr<GpuCommunicator>> GpuQueue::make_communicator(const std::string&, int, int) {
  return exchange_name().status();
}
void GpuQueue::issue_on_host(std::function<void()> work) {
  const std::function<void()> now = std::move(work);
  now();
}

GpuRange::GpuRange(GpuQueue* queue, const char* name, const char* op, GpuFault* place)
    : queue_(queue), name_(name), op_(op), place_(place), outer_(innermost_range) {
  if (!queue_) return;
  queue_->begin_range(name);
  innermost_range = this;
}

GpuRange::~GpuRange() {
  if (!queue_) return;
  innermost_range = outer_;
  queue_->end_range();
}

const GpuFaultSource* fault_source(const char* text) {
  constexpr size_t max_sources = 100'000;
  static std::mutex mutex;
  static auto& sources =
      *new std::set<GpuFaultSource, SourceOrder>;  // kernels may report until the process ends
  GpuFaultSource source{"", "", text};
  const std::lock_guard lock(mutex);
  if (const GpuRange* const range = innermost_range; range && sources.size() < max_sources) {
    source.op = range->op_;
    source.node = range->name_;
  }
  return &*sources.insert(std::move(source)).first;
}

GpuFault& fault_place(GpuQueue& queue) {
  GpuFault* const place = innermost_range ? innermost_range->place_ : nullptr;
  return place ? *place : queue.faults().common();
}

}  // namespace troupe
