#include "tests/support/gpu/emulated_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "devices/arena.h"
#include "devices/range_allocator.h"
#include "devices/replay_memory.h"

namespace troupe {
namespace {

/// Addresses that only GPUs reach.
struct Region {
  std::byte* data = nullptr;
  uint64_t bytes = 0;
  int access = PROT_NONE;  ///< that of GPUs
};

/// All memory of emulated GPUs that this process has mapped.
class Regions {
 public:
  static Regions& all() {
    static Regions* const regions = new Regions;  // outlives the buffers of static objects
    return *regions;
  }

  void begin_work() {
    const std::lock_guard lock(mutex_);
    if (working_++ == 0)
      for (const Region* const region : regions_) protect(*region, region->access);
  }
  void end_work() {
    const std::lock_guard lock(mutex_);
    if (--working_ == 0)
      for (const Region* const region : regions_) protect(*region, PROT_NONE);
  }
  void add(Region& region) {
    const std::lock_guard lock(mutex_);
    regions_.push_back(&region);
    protect(region, working_ != 0 ? region.access : PROT_NONE);
  }
  void remove(Region& region) {
    const std::lock_guard lock(mutex_);
    std::erase(regions_, &region);
  }
  /// Makes a region as long as `bytes`, of which the last ones are new.
  void grow(Region& region, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    region.bytes = bytes;
    protect(region, working_ != 0 ? region.access : PROT_NONE);
  }

 private:
  static void protect(const Region& region, int access) {
    if (region.bytes != 0) ::mprotect(region.data, region.bytes, access);
  }

  std::mutex mutex_;
  std::vector<Region*> regions_;
  int working_ = 0;
};

constexpr uint64_t part_bytes = uint64_t{4} << 20;

/// Memory of an emulated GPU of another process.
class MappedMemory final : public PeerGpuMemory {
 public:
  explicit MappedMemory(uint64_t bytes)
      : bytes_(bytes), region_{static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_NONE,
                                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                                                              0)),
                               0, PROT_READ} {
    Regions::all().add(region_);
  }
  ~MappedMemory() override {
    Regions::all().remove(region_);
    ::munmap(region_.data, bytes_);
  }

  Status add(const ArenaPart& part) override {
    struct stat file {};
    const bool exists = ::fstat(part.descriptor.number(), &file) == 0 &&
                        static_cast<uint64_t>(file.st_size) >= part.offset + part.bytes;
    if (!exists || part.offset != region_.bytes || part.bytes > bytes_ - region_.bytes)
      return invalid_argument("a part of an emulated GPU does not follow the one before");
    if (::mmap(region_.data + part.offset, part.bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
               part.descriptor.number(), static_cast<off_t>(part.offset)) == MAP_FAILED)
      return unavailable("a part of an emulated GPU cannot be mapped");
    Regions::all().grow(region_, region_.bytes + part.bytes);
    return {};
  }
  Result<std::byte*> find(uint64_t offset, uint64_t bytes) const override {
    if (offset <= region_.bytes && bytes <= region_.bytes - offset) return region_.data + offset;
    return invalid_argument("bytes of an emulated GPU are lent that are not mapped");
  }

 private:
  const uint64_t bytes_;
  Region region_;
};

}  // namespace

GpuWork::GpuWork() { Regions::all().begin_work(); }
GpuWork::~GpuWork() { Regions::all().end_work(); }

/// What the buffers share: it lives until the last of them is released.
class EmulatedMemory::Core final : public std::enable_shared_from_this<Core>, private GpuArena {
 public:
  Core(uint16_t ordinal, uint64_t cap, std::shared_ptr<SharedArenas> shared)
      : ordinal_(ordinal), arena_({.cap = cap, .shared = file_}), shared_(std::move(shared)) {
    throw_if_failed(arena_.commit(Arena::granule));  // chooses the addresses
    region_ = {arena_.data(), Arena::granule, PROT_READ | PROT_WRITE};
    Regions::all().add(region_);
    ranges_.grow(Arena::granule);
    if (shared_) id_ = shared_->add_gpu(ordinal_ - 1, *this);
  }
  ~Core() {
    if (shared_) shared_->remove(id_);
    Regions::all().remove(region_);
  }

  Result<BufferRef> allocate(size_t bytes) {
    constexpr uint64_t unit = RangeAllocator::alignment;
    const uint64_t wanted = std::max<uint64_t>((bytes + unit - 1) / unit * unit, unit);
    const std::lock_guard lock(mutex_);
    RangeAllocator::Range* range = ranges_.allocate(wanted);
    if (!range) {
      TROUPE_RETURN_IF_FAILED(grow(wanted - std::min(wanted, ranges_.free_at_end())));
      range = ranges_.allocate(wanted);
    }
    statistics_.in_use += range->bytes;
    statistics_.peak = std::max(statistics_.peak, statistics_.in_use);
    auto* const buffer = new GpuBuffer;
    buffer->kind = MemoryKind::Device;
    buffer->device = ordinal_;
    buffer->data = arena_.data() + range->offset;
    buffer->bytes = range->bytes;
    buffer->arena = id_;
    buffer->core = shared_from_this();
    buffer->range = range;
    buffer->release = [](Buffer* self) {
      const std::unique_ptr<GpuBuffer> gone(static_cast<GpuBuffer*>(self));
      gone->core->take_back(gone->range);
    };
    return BufferRef::adopt(buffer);
  }

  MemoryStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  struct GpuBuffer : Buffer {
    std::shared_ptr<Core> core;
    RangeAllocator::Range* range = nullptr;
  };

  Status grow(uint64_t missing) {
    const uint64_t before = arena_.committed();
    TROUPE_RETURN_IF_FAILED(arena_.commit(before + missing));
    ranges_.grow(arena_.committed() - before);
    Regions::all().grow(region_, arena_.committed());
    return {};
  }
  void take_back(RangeAllocator::Range* range) {
    const std::lock_guard lock(mutex_);
    statistics_.in_use -= range->bytes;
    ranges_.release(range);
  }

  // GpuArena

  std::span<const std::byte> addresses() const override { return {arena_.data(), arena_.cap()}; }
  uint32_t parts_of(uint64_t bytes) const override {
    return static_cast<uint32_t>((std::max<uint64_t>(bytes, 1) + part_bytes - 1) / part_bytes);
  }
  Result<ArenaPart> part(uint32_t index) const override {
    TROUPE_ASSIGN(ArenaPart part, file_->part(arena_.id(), 0));
    part.on_gpu = true;
    part.offset = index * part_bytes;
    part.bytes = std::min(part_bytes, arena_.cap() - part.offset);
    return part;
  }

  const uint16_t ordinal_;
  const std::shared_ptr<SharedArenas> file_ = std::make_shared<SharedArenas>();
  Arena arena_;
  const std::shared_ptr<SharedArenas> shared_;
  uint32_t id_ = 0;
  Region region_;
  mutable std::mutex mutex_;  ///< guards the members below
  RangeAllocator ranges_;
  MemoryStatistics statistics_;
};

EmulatedMemory::EmulatedMemory(uint16_t ordinal, uint64_t cap, std::shared_ptr<SharedArenas> shared)
    : core_(std::make_shared<Core>(ordinal, cap, std::move(shared))) {}
EmulatedMemory::~EmulatedMemory() = default;

Result<BufferRef> EmulatedMemory::allocate(size_t bytes) {
  auto buffer = core_->allocate(bytes);
  if (!buffer && ReplayMemory::release_idle(*this)) buffer = core_->allocate(bytes);
  return buffer;
}
MemoryStatistics EmulatedMemory::statistics() const { return core_->statistics(); }

Result<std::unique_ptr<PeerGpuMemory>> map_peer_gpu_memory(std::span<const int>, uint64_t bytes) {
  return std::unique_ptr<PeerGpuMemory>(std::make_unique<MappedMemory>(bytes));
}

}  // namespace troupe
