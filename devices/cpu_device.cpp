#include "devices/cpu_device.h"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

constexpr size_t copy_block = size_t{64} << 10;

Status copy_bytes(const Tensor& from, Tensor& to, Pool& pool) {
  if (from.dtype() != to.dtype() || !(from.shape() == to.shape()))
    return internal("a copy of " + from.signature() + " into " + to.signature());
  if (from.dtype() == DType::String) {
    const auto source = from.as<std::string>();
    std::copy(source.begin(), source.end(), to.write<std::string>().begin());
    return {};
  }
  pool.blocks(from.bytes(), copy_block, [&](size_t begin, size_t end) {
    std::memcpy(to.mutable_data() + begin, from.data() + begin, end - begin);
  });
  return {};
}

}  // namespace

CpuDevice::CpuDevice(DeviceName name, uint64_t incarnation, Pool& pool)
    : name_(std::move(name)), incarnation_(incarnation), context_(heap_allocator(), pool) {}
CpuDevice::~CpuDevice() = default;

Completion CpuDevice::run(std::function<Status(DeviceContext&)> work) { return Completion(work(context_)); }

Completion CpuDevice::copy(const Tensor& from, Tensor& to) {
  if (from.completion().ready()) {
    const Status produced = from.completion().status();
    return Completion(produced.ok() ? copy_bytes(from, to, context_.pool()) : produced);
  }
  auto done = Completion::pending();
  from.completion().then([from, to, done, &pool = context_.pool()](Status status) mutable {
    done.complete(status.ok() ? copy_bytes(from, to, pool) : status);
  });
  return done;
}

}  // namespace troupe
