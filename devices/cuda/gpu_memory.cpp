#include "devices/cuda/gpu_memory.h"

#include <cuda.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "devices/cuda/cuda_status.h"
#include "devices/range_allocator.h"
#include "devices/replay_memory.h"

namespace troupe {
namespace {

/// The functions of the driver that map memory. The library of the driver is loaded by CUDA's runtime.
struct Driver {
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) free = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;

  Status load() {
    const auto find = [](const char* name, auto& function) {
      void* entry = nullptr;
      cudaDriverEntryPointQueryResult found{};
      const cudaError_t error =
          cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found);
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(entry);
      if (error == cudaSuccess && found == cudaDriverEntryPointSuccess) return Status();
      return unavailable(std::string("the driver of the GPU is too old: it has no function ") + name);
    };
    TROUPE_RETURN_IF_FAILED(find("cuMemAddressReserve", reserve));
    TROUPE_RETURN_IF_FAILED(find("cuMemAddressFree", free));
    TROUPE_RETURN_IF_FAILED(find("cuMemCreate", create));
    TROUPE_RETURN_IF_FAILED(find("cuMemRelease", release));
    TROUPE_RETURN_IF_FAILED(find("cuMemMap", map));
    TROUPE_RETURN_IF_FAILED(find("cuMemUnmap", unmap));
    return find("cuMemSetAccess", set_access);
  }
};

constexpr uint64_t granule = uint64_t{2} << 20;   // the unit of memory that the driver maps
constexpr uint64_t growth = uint64_t{128} << 20;  // the least memory that is mapped at a time

uint64_t rounded(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

/// What the buffers share: it lives until the last of them is released.
class GpuMemory::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(int index, uint16_t ordinal, uint64_t cap, std::span<const int> peers)
      : index_(index), ordinal_(ordinal) {
    for (const int peer : peers)
      if (int can = 0; cudaDeviceCanAccessPeer(&can, peer, index) == cudaSuccess && can)
        peers_.push_back(peer);
    statistics_.cap = rounded(cap, granule);
  }
  ~Core() {
    if (base_ == 0) return;
    (void)cudaSetDevice(index_);
    for (const Piece& piece : pieces_) {
      (void)driver_.unmap(base_ + piece.offset, piece.bytes);
      (void)driver_.release(piece.handle);
    }
    (void)driver_.free(base_, statistics_.cap);
  }

  Status reserve() {
    TROUPE_RETURN_IF_FAILED(driver_.load());
    TROUPE_RETURN_IF_FAILED(cuda_status(cudaSetDevice(index_), "using a GPU"));
    TROUPE_RETURN_IF_FAILED(cuda_status(cudaFree(nullptr), "starting a GPU"));
    if (driver_.reserve(&base_, statistics_.cap, granule, 0, 0) == CUDA_SUCCESS) return {};
    base_ = 0;
    return resource_exhausted("addresses for " + std::to_string(statistics_.cap) +
                              " bytes of a GPU could not be reserved");
  }

  Result<BufferRef> allocate(size_t bytes) {
    const uint64_t wanted = std::max<uint64_t>(rounded(bytes, unit), unit);
    const std::lock_guard lock(mutex_);
    RangeAllocator::Range* range = ranges_.allocate(wanted);
    if (!range) {
      if (Status grown = grow(wanted); !grown.ok()) return exhausted(bytes, grown);
      range = ranges_.allocate(wanted);
    }
    statistics_.in_use += range->bytes;
    statistics_.peak = std::max(statistics_.peak, statistics_.in_use);
    ++statistics_.allocations;
    auto* const buffer = new DeviceBuffer;
    buffer->kind = MemoryKind::Device;
    buffer->device = ordinal_;
    buffer->data = reinterpret_cast<std::byte*>(base_ + range->offset);
    buffer->bytes = range->bytes;
    buffer->range = range;
    buffer->core = shared_from_this();
    buffer->release = [](Buffer* self) {
      const std::unique_ptr<DeviceBuffer> gone(static_cast<DeviceBuffer*>(self));
      gone->core->take_back(gone->range);
    };
    return BufferRef::adopt(buffer);
  }

  MemoryStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  static constexpr uint64_t unit =
      256;  // kernels read and write up to 16 bytes at a time; libraries like more
  struct DeviceBuffer : Buffer {
    std::shared_ptr<Core> core;
    RangeAllocator::Range* range = nullptr;
  };
  struct Piece {
    uint64_t offset, bytes;
    CUmemGenericAllocationHandle handle;
  };

  /// Maps more memory at the end, so that a range of `wanted` bytes becomes free there.
  Status grow(uint64_t wanted) {
    const uint64_t missing = wanted - std::min(wanted, ranges_.free_at_end());
    const uint64_t room = statistics_.cap - ranges_.size();
    if (missing > room) return resource_exhausted("the cap would be exceeded");
    const uint64_t bytes = std::min(rounded(std::max(missing, growth), granule), room);
    CUmemAllocationProp kind{};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location = {CU_MEM_LOCATION_TYPE_DEVICE, {index_}};
    Piece piece{ranges_.size(), bytes, {}};
    if (driver_.create(&piece.handle, bytes, &kind, 0) != CUDA_SUCCESS)
      return resource_exhausted("the GPU has no more memory");
    const CUdeviceptr at = base_ + piece.offset;
    if (driver_.map(at, bytes, 0, piece.handle, 0) != CUDA_SUCCESS || !make_reachable(at, bytes)) {
      (void)driver_.unmap(at, bytes);
      (void)driver_.release(piece.handle);
      return resource_exhausted("memory of the GPU could not be mapped");
    }
    pieces_.push_back(piece);
    ranges_.grow(bytes);
    statistics_.reserved += bytes;
    return {};
  }

  bool make_reachable(CUdeviceptr at, uint64_t bytes) const {
    std::vector<CUmemAccessDesc> all;
    for (const int gpu : peers_) all.push_back(access_of(gpu));
    all.push_back(access_of(index_));
    return driver_.set_access(at, bytes, all.data(), all.size()) == CUDA_SUCCESS ||
           driver_.set_access(at, bytes, &all.back(), 1) == CUDA_SUCCESS;
  }
  static CUmemAccessDesc access_of(int gpu) {
    CUmemAccessDesc access{};
    access.location = {CU_MEM_LOCATION_TYPE_DEVICE, {gpu}};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return access;
  }

  Status exhausted(size_t bytes, const Status& why) const {
    return resource_exhausted("an allocation of " + std::to_string(bytes) + " bytes on a GPU: " + why.text() +
                              "; " + std::to_string(statistics_.in_use) + " bytes are in use, " +
                              std::to_string(ranges_.largest_free()) + " are free in one piece, the cap is " +
                              std::to_string(statistics_.cap));
  }

  void take_back(RangeAllocator::Range* range) {
    const std::lock_guard lock(mutex_);
    statistics_.in_use -= range->bytes;
    ranges_.release(range);
  }

  const int index_;
  const uint16_t ordinal_;
  std::vector<int> peers_;  ///< the GPUs that can reach the memory
  Driver driver_;
  CUdeviceptr base_ = 0;
  mutable std::mutex mutex_;  ///< guards the members below
  RangeAllocator ranges_;
  std::vector<Piece> pieces_;
  MemoryStatistics statistics_;
};

Result<std::unique_ptr<GpuMemory>> GpuMemory::make(int index, uint16_t ordinal, uint64_t cap,
                                                   std::span<const int> peers) {
  auto core = std::make_shared<Core>(index, ordinal, cap, peers);
  TROUPE_RETURN_IF_FAILED(core->reserve());
  return std::unique_ptr<GpuMemory>(new GpuMemory(std::move(core)));
}

GpuMemory::~GpuMemory() = default;
Result<BufferRef> GpuMemory::allocate(size_t bytes) {
  auto buffer = core_->allocate(bytes);
  if (!buffer && ReplayMemory::release_idle(*this)) buffer = core_->allocate(bytes);
  return buffer;
}
MemoryStatistics GpuMemory::statistics() const { return core_->statistics(); }

}  // namespace troupe
