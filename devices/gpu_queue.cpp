#include "devices/gpu_queue.h"

#include <mutex>
#include <string>
#include <utility>

#include "devices/gpu_communicator.h"
#include "devices/gpu_recorder.h"

namespace troupe {

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

Status take_fault(GpuFault& fault) {
  if (fault.set == 0) return {};
  static std::mutex taking;  // threads that copy and those that exchange may find the same report
  const std::lock_guard lock(taking);
  if (fault.set == 0) return {};
  std::string text = fault.what;
  for (const int64_t number : {fault.value, fault.limit})
    if (const size_t at = text.find("{}"); at != std::string::npos)
      text.replace(at, 2, std::to_string(number));
  fault = {};
  return invalid_argument(std::move(text));
}

GpuFault& host_fault() {
  static thread_local GpuFault fault;
  return fault;
}

}  // namespace troupe
