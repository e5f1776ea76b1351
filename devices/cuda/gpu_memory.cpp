#include "devices/cuda/gpu_memory.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "devices/cuda/cuda_status.h"
#include "devices/cuda/memory_driver.h"
#include "devices/range_allocator.h"
#include "devices/replay_memory.h"

namespace troupe {
namespace {

constexpr uint64_t granule = MemoryDriver::granule;
constexpr uint64_t growth = uint64_t{128} << 20;  // the least memory that is mapped at a time

uint64_t rounded(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

/// What the buffers share: it lives until the last of them is released.
class GpuMemory::Core final : public std::enable_shared_from_this<Core>, private GpuArena {
 public:
  Core(uint16_t ordinal, uint64_t cap, const GpuOptions& options)
      : index_(options.index), ordinal_(ordinal), shared_(options.shared) {
    for (const int peer : options.peers)
      if (int can = 0; cudaDeviceCanAccessPeer(&can, peer, index_) == cudaSuccess && can)
        peers_.push_back(peer);
    statistics_.cap = rounded(cap, granule);
  }
  ~Core() {
    if (id_ != 0) shared_->remove(id_);
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
    if (driver_.reserve(&base_, statistics_.cap, granule, 0, 0) == CUDA_SUCCESS) {
      if (shared_ && can_export()) id_ = shared_->add_gpu(index_, *this);
      return {};
    }
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
    buffer->arena = id_;
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

  // GpuArena

  std::span<const std::byte> addresses() const override {
    return {reinterpret_cast<const std::byte*>(base_), statistics_.cap};
  }
  uint32_t parts_of(uint64_t bytes) const override {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find_if(
        pieces_, [&](const Piece& piece) { return bytes <= piece.offset + piece.bytes; });
    return at == pieces_.end() ? 0 : static_cast<uint32_t>(at - pieces_.begin()) + 1;
  }
  Result<ArenaPart> part(uint32_t index) const override {
    const std::lock_guard lock(mutex_);
    if (index >= pieces_.size()) return unavailable("a GPU has no such part of memory");
    const Piece& piece = pieces_[index];
    Descriptor file = exported(piece.handle);
    if (!file) return unavailable("memory of a GPU could not be exported");
    return ArenaPart{true, piece.offset, piece.bytes, statistics_.cap, std::move(file)};
  }

  Descriptor exported(CUmemGenericAllocationHandle handle) const {
    int file = -1;
    const CUresult done = driver_.export_handle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    return Descriptor(done == CUDA_SUCCESS ? file : -1);
  }
  /// Returns whether memory of this GPU can be exported to other processes.
  bool can_export() {
    CUmemGenericAllocationHandle handle{};
    const CUmemAllocationProp kind = kind_of_memory(true);
    if (driver_.create(&handle, granule, &kind, 0) != CUDA_SUCCESS) return false;
    const Descriptor file = exported(handle);
    (void)driver_.release(handle);
    return static_cast<bool>(file);
  }
  CUmemAllocationProp kind_of_memory(bool exported) const {
    CUmemAllocationProp kind{};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location = {CU_MEM_LOCATION_TYPE_DEVICE, {index_}};
    if (exported) kind.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return kind;
  }

  /// Maps more memory at the end, so that a range of `wanted` bytes becomes free there.
  Status grow(uint64_t wanted) {
    const uint64_t missing = wanted - std::min(wanted, ranges_.free_at_end());
    const uint64_t room = statistics_.cap - ranges_.size();
    if (missing > room) return resource_exhausted("the cap would be exceeded");
    const uint64_t least = rounded(missing, granule);
    uint64_t bytes = std::min(rounded(std::max(missing, growth), granule), room);
    const CUmemAllocationProp kind = kind_of_memory(id_ != 0);
    Piece piece{ranges_.size(), bytes, {}};
    while (driver_.create(&piece.handle, bytes, &kind, 0) != CUDA_SUCCESS) {
      if (bytes <= least) return resource_exhausted("the GPU has no more memory");
      piece.bytes = bytes = std::max(least, rounded(bytes / 2, granule));
    }
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
  std::vector<int> peers_;  ///< the GPUs of the task that can reach the memory
  const std::shared_ptr<SharedArenas> shared_;
  uint32_t id_ = 0;  ///< among `shared_`; 0 if other processes cannot map the memory
  MemoryDriver driver_;
  CUdeviceptr base_ = 0;
  mutable std::mutex mutex_;  ///< guards the members below
  RangeAllocator ranges_;
  std::vector<Piece> pieces_;
  MemoryStatistics statistics_;
};

Result<std::unique_ptr<GpuMemory>> GpuMemory::make(uint16_t ordinal, uint64_t cap,
                                                   const GpuOptions& options) {
  auto core = std::make_shared<Core>(ordinal, cap, options);
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
