#include "devices/cuda/pinned_memory.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <string>

#include "devices/arena.h"
#include "devices/cuda/cuda_status.h"
#include "devices/range_allocator.h"

namespace troupe {

/// What the buffers share: it lives until the last of them is released.
class PinnedMemory::Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(std::shared_ptr<SharedArenas> shared) : shared_(std::move(shared)) {}
  ~Core() {
    for (const Slab& slab : slabs_) (void)cudaHostUnregister(slab.arena.data());
  }

  Result<BufferRef> allocate(size_t bytes) {
    const uint64_t wanted = std::max<uint64_t>((bytes + unit - 1) / unit * unit, unit);
    const std::lock_guard lock(mutex_);
    for (Slab& slab : slabs_)
      if (RangeAllocator::Range* const range = slab.ranges.allocate(wanted)) return buffer(slab, range);
    TROUPE_ASSIGN(Slab* const slab, add_slab(wanted));
    return buffer(*slab, slab->ranges.allocate(wanted));
  }

 private:
  static constexpr uint64_t unit = RangeAllocator::alignment;
  static constexpr uint64_t least_slab = uint64_t{16} << 20;
  struct Slab {
    explicit Slab(Arena::Options options) : arena(std::move(options)) {}
    Arena arena;
    RangeAllocator ranges;
  };
  struct PinnedBuffer : Buffer {
    std::shared_ptr<Core> core;
    Slab* slab = nullptr;
    RangeAllocator::Range* range = nullptr;
  };

  Result<Slab*> add_slab(uint64_t wanted) {
    const uint64_t bytes =
        (std::max(wanted, least_slab) + Arena::granule - 1) / Arena::granule * Arena::granule;
    Slab& slab = slabs_.emplace_back(Arena::Options{.cap = bytes, .shared = shared_});
    Status made = slab.arena.commit(bytes);
    if (made.ok()) made = pin(slab.arena.data(), bytes);
    if (!made.ok()) {
      slabs_.pop_back();
      return made;
    }
    slab.ranges.grow(bytes);
    return &slab;
  }

  static Status pin(std::byte* data, uint64_t bytes) {
    const cudaError_t error = cudaHostRegister(data, bytes, cudaHostRegisterPortable);
    if (error == cudaSuccess) return {};
    (void)cudaGetLastError();
    return resource_exhausted("pinning " + std::to_string(bytes) +
                              " bytes of host memory failed: " + cudaGetErrorString(error));
  }

  BufferRef buffer(Slab& slab, RangeAllocator::Range* range) {
    auto* const buffer = new PinnedBuffer;
    buffer->kind = MemoryKind::Pinned;
    buffer->data = slab.arena.data() + range->offset;
    buffer->arena = slab.arena.id();
    buffer->bytes = range->bytes;
    buffer->core = shared_from_this();
    buffer->slab = &slab;
    buffer->range = range;
    buffer->release = [](Buffer* self) {
      const std::unique_ptr<PinnedBuffer> gone(static_cast<PinnedBuffer*>(self));
      const std::lock_guard lock(gone->core->mutex_);
      gone->slab->ranges.release(gone->range);
    };
    return BufferRef::adopt(buffer);
  }

  const std::shared_ptr<SharedArenas> shared_;
  std::mutex mutex_;  ///< guards the slabs
  std::deque<Slab> slabs_;
};

PinnedMemory::PinnedMemory(std::shared_ptr<SharedArenas> shared)
    : core_(std::make_shared<Core>(std::move(shared))) {}
PinnedMemory::~PinnedMemory() = default;
Result<BufferRef> PinnedMemory::allocate(size_t bytes) { return core_->allocate(bytes); }

}  // namespace troupe
