#include "devices/cpu_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace troupe {
namespace {

constexpr size_t copy_block = size_t{64} << 10;

void copy_elements(const Tensor& from, Tensor& to, Pool& pool) {
  if (from.dtype() == DType::String) {
    const auto source = from.as<std::string>();
    std::copy(source.begin(), source.end(), to.write<std::string>().begin());
    return;
  }
  pool.blocks(from.bytes(), copy_block, [&](size_t begin, size_t end) {
    std::memcpy(to.mutable_data() + begin, from.data() + begin, end - begin);
  });
}

}  // namespace

CpuDevice::CpuDevice(DeviceName name, uint64_t incarnation, Pool& pool, Arena::Options memory,
                     std::shared_ptr<MemoryBudget> budget)
    : name_(std::move(name)), incarnation_(incarnation), memory_(std::move(memory), std::move(budget)),
      context_(memory_, pool) {}

Completion CpuDevice::run(std::function<Status(DeviceContext&)> work) { return Completion(work(context_)); }

Completion CpuDevice::copy(const Tensor& from, Tensor& to) {
  if (Status valid = check_copy(*this, from, to); !valid.ok()) return Completion(std::move(valid));
  Pool& pool = context_.pool();
  if (from.completion().ready()) {
    if (from.completion().status().ok()) copy_elements(from, to, pool);
    return Completion(from.completion().status());
  }
  auto done = Completion::pending();
  from.completion().then([from, to, done, &pool](const Status& status) mutable {
    if (!status.ok()) return done.complete(status);
    auto finish = [from, to, done, &pool]() mutable {
      copy_elements(from, to, pool);
      done.complete({});
    };
    if (from.bytes() > copy_block)
      pool.submit(std::move(finish));
    else
      finish();
  });
  return done;
}

}  // namespace troupe
