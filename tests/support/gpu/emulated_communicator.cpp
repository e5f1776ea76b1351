#include "tests/support/gpu/emulated_communicator.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>
#include <type_traits>

#include "tests/support/gpu/emulated_memory.h"

namespace troupe {
namespace {

constexpr size_t header_bytes = 4096;
constexpr size_t place_bytes = size_t{1} << 26;  ///< the most that a member lays into the file at a time

template <class T>
T reduced(GpuReduction reduction, T a, T b) {
  switch (reduction) {
    case GpuReduction::Max: return std::max(a, b);
    case GpuReduction::Min: return std::min(a, b);
    case GpuReduction::Product: return static_cast<T>(a * b);
    default: return static_cast<T>(a + b);
  }
}

/// Calls `work` with the type of a dtype that emulated GPUs exchange.
template <class Work>
Status for_number(DType dtype, const Work& work) {
  switch (dtype) {
    case DType::Float: work(std::type_identity<float>{}); return {};
    case DType::Double: work(std::type_identity<double>{}); return {};
    case DType::Int32: work(std::type_identity<int32_t>{}); return {};
    case DType::Int64: work(std::type_identity<int64_t>{}); return {};
    default: return unimplemented("emulated GPUs exchange no tensors of " + std::string(name(dtype)));
  }
}

}  // namespace

std::string EmulatedCommunicator::new_id() {
  std::random_device random;
  return "/troupe_gpus_" + std::to_string((uint64_t{random()} << 32) | random());
}

EmulatedCommunicator::EmulatedCommunicator(std::string id, int rank, int members, GpuFaults& faults)
    : id_(std::move(id)), rank_(rank), members_(members), faults_(faults),
      thread_([this] { return open(); }) {}

Completion EmulatedCommunicator::run(GpuExchange exchange) {
  Status reported = faults_.take(exchange.step);
  return thread_.add([this, what = std::move(exchange), reported = std::move(reported)]() -> Status {
    TROUPE_RETURN_IF_FAILED(reported);
    return this->exchange(what);
  });
}

// ---- The file

Status EmulatedCommunicator::File::open(const std::string& name, int members) {
  name_ = name;
  bytes_ = header_bytes + static_cast<size_t>(members) * place_bytes;
  const int descriptor = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return unavailable("an emulated GPU cannot open " + name);
  void* begin = MAP_FAILED;
  if (::ftruncate(descriptor, static_cast<off_t>(bytes_)) == 0)
    begin = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  ::close(descriptor);
  if (begin == MAP_FAILED) return unavailable("an emulated GPU cannot map " + name);
  begin_ = static_cast<std::byte*>(begin);
  return {};
}

EmulatedCommunicator::File::~File() {
  if (begin_) ::munmap(begin_, bytes_);
  if (!name_.empty()) ::shm_unlink(name_.c_str());
}

std::byte* EmulatedCommunicator::File::place(int member) const {
  return begin_ + header_bytes + static_cast<size_t>(member) * place_bytes;
}

// ---- Exchanges

Status EmulatedCommunicator::open() {
  TROUPE_RETURN_IF_FAILED(file_.open(id_, members_));
  return await_all();
}

Status EmulatedCommunicator::await_all() {
  const uint64_t all = ++meetings_ * static_cast<uint64_t>(members_);
  for (file_.header().arrived.fetch_add(1); file_.header().arrived.load() < all;) {
    TROUPE_RETURN_IF_FAILED(thread_.failure());
    std::this_thread::yield();
  }
  return {};
}

Status EmulatedCommunicator::exchange(const GpuExchange& what) {
  for (size_t i = 0; i < what.from.size(); ++i) {
    const Tensor& from = what.from[i];
    if (from.bytes() > place_bytes)
      return unimplemented("emulated GPUs exchange no tensors of " + std::to_string(from.bytes()) + " bytes");
    TROUPE_RETURN_IF_FAILED(lay_down(what, from));
    TROUPE_RETURN_IF_FAILED(await_all());
    if (!what.to.empty()) TROUPE_RETURN_IF_FAILED(reduce(what, i));
    TROUPE_RETURN_IF_FAILED(await_all());
  }
  return {};
}

/// Copies a tensor of this member to its place, multiplied by its weight, as NCCL does.
Status EmulatedCommunicator::lay_down(const GpuExchange& what, const Tensor& from) {
  const GpuWork laying;
  const bool weighted = what.reduction == GpuReduction::WeightedSum;
  return for_number(from.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto weight = static_cast<T>(weighted ? what.weight : 1);
    std::ranges::transform(from.as<T>(), reinterpret_cast<T*>(file_.place(rank_)), [&](T value) {
      return what.adds_nothing ? T(0) : static_cast<T>(value * weight);
    });
  });
}

Status EmulatedCommunicator::reduce(const GpuExchange& what, size_t index) {
  const GpuWork reducing;
  Tensor to = what.to[index];
  return for_number(to.dtype(), [&]<class T>(std::type_identity<T>) {
    for (size_t e = 0; e < static_cast<size_t>(to.elements()); ++e) {
      const auto at = [&](int member) { return reinterpret_cast<const T*>(file_.place(member))[e]; };
      T sum = at(0);
      for (int member = 1; member < members_; ++member) sum = reduced(what.reduction, sum, at(member));
      if (what.reduction == GpuReduction::Mean) sum = static_cast<T>(sum / static_cast<T>(members_));
      to.write<T>()[e] = sum;
    }
  });
}

}  // namespace troupe
