#include "devices/replay_memory.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <list>
#include <mutex>

#include "devices/range_allocator.h"
#include "devices/spin_lock.h"

namespace troupe {

/// What the buffers share: it lives until the last of them is released.
class ReplayMemory::Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(Allocator& memory) : memory_(memory) {}

  Result<BufferRef> allocate(size_t bytes) {
    const uint64_t wanted = std::max<uint64_t>((bytes + unit - 1) / unit * unit, unit);
    uint64_t more = 0;
    {
      const std::lock_guard lock(lock_);
      ++in_use_;  // first, so that this memory is not idle for release_idle()
      if (BufferRef buffer = allocate_locked(wanted, bytes)) return buffer;
      more = block_bytes(wanted);
    }
    auto memory = memory_.allocate(more);  // takes long, while other threads may release
    const std::lock_guard lock(lock_);
    if (!memory) {
      --in_use_;
      return memory.status();
    }
    add_block(std::move(*memory), more);
    return allocate_locked(wanted, bytes);
  }

  bool empty() const { return in_use_ == 0; }
  const Allocator& memory() const { return memory_; }
  bool release_idle() {
    if (in_use_ != 0) return false;
    const std::lock_guard lock(lock_);
    if (in_use_ != 0 || blocks_.empty()) return false;
    blocks_.clear();
    size_ = 0;
    return true;
  }
  bool owns(const Buffer& buffer) const {
    return buffer.release == &release && static_cast<const ReplayBuffer&>(buffer).core.get() == this;
  }

  void begin_notes() {
    const std::lock_guard lock(lock_);
    ++notebook_;
    notes_.clear();
    noted_ = 0;
    takes_notes_ = true;
  }
  std::vector<Event> end_notes() {
    const std::lock_guard lock(lock_);
    takes_notes_ = false;
    return std::move(notes_);
  }

 private:
  static constexpr uint64_t unit = 256;  // as the memory of GPUs
  static constexpr uint64_t least_block = uint64_t{4} << 20;
  struct Block {
    BufferRef memory;
    RangeAllocator ranges;
  };
  struct ReplayBuffer : Buffer {
    std::shared_ptr<Core> core;
    Block* block = nullptr;
    RangeAllocator::Range* range = nullptr;
    uint64_t notebook = 0;    ///< in which the allocation was noted; 0: in none
    uint32_t allocation = 0;  ///< its number there
  };

  /// Returns nothing if the blocks have no such range.
  BufferRef allocate_locked(uint64_t wanted, size_t requested) {
    for (Block& block : blocks_)
      if (RangeAllocator::Range* const range = block.ranges.allocate(wanted))
        return buffer(block, range, requested);
    return {};
  }

  /// Returns the size of the next block. Blocks become larger with the memory that there is, so that there are few of them.
  uint64_t block_bytes(uint64_t wanted) const {
    return std::max({wanted, least_block, size_ / 4 / unit * unit});
  }
  void add_block(BufferRef memory, uint64_t bytes) {
    Block& block = blocks_.emplace_back();
    block.memory = std::move(memory);
    block.ranges.grow(bytes);
    size_ += bytes;
  }

  BufferRef buffer(Block& block, RangeAllocator::Range* range, size_t requested) {
    auto* const buffer = new ReplayBuffer;
    buffer->kind = block.memory->kind;
    buffer->device = block.memory->device;
    buffer->data = block.memory->data + range->offset;
    buffer->bytes = range->bytes;
    buffer->core = shared_from_this();
    buffer->block = &block;
    buffer->range = range;
    buffer->release = &release;
    if (takes_notes_) {
      buffer->notebook = notebook_;
      buffer->allocation = noted_++;
      notes_.push_back({buffer->allocation, false, requested, buffer->data});
    }
    return BufferRef::adopt(buffer);
  }

  static void release(Buffer* self) {
    const std::unique_ptr<ReplayBuffer> gone(static_cast<ReplayBuffer*>(self));
    Core& core = *gone->core;
    const std::lock_guard lock(core.lock_);
    gone->block->ranges.release(gone->range);
    --core.in_use_;
    if (core.takes_notes_ && gone->notebook == core.notebook_)
      core.notes_.push_back({gone->allocation, true, 0, nullptr});
  }

  Allocator& memory_;
  std::atomic<size_t> in_use_{0};  ///< a number of buffers; changed under the lock
  SpinLock lock_;                  ///< guards the members below
  std::deque<Block> blocks_;
  uint64_t size_ = 0;
  bool takes_notes_ = false;
  uint64_t notebook_ = 0;
  uint32_t noted_ = 0;
  std::vector<Event> notes_;
};

struct ReplayMemory::All {
  static All& instance() {
    static All all;
    return all;
  }
  std::mutex mutex;
  std::list<std::weak_ptr<Core>> cores;
};

ReplayMemory::ReplayMemory(Allocator& memory) : core_(std::make_shared<Core>(memory)) {
  All& all = All::instance();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.cores, [](const auto& core) { return core.expired(); });
  all.cores.push_back(core_);
}
ReplayMemory::~ReplayMemory() = default;

bool ReplayMemory::release_idle(const Allocator& memory) {
  std::vector<std::shared_ptr<Core>> cores;
  {
    All& all = All::instance();
    const std::lock_guard lock(all.mutex);
    for (const auto& weak : all.cores)
      if (auto core = weak.lock(); core && &core->memory() == &memory) cores.push_back(std::move(core));
  }
  bool any = false;
  for (const auto& core : cores) any |= core->release_idle();
  return any;
}

Result<BufferRef> ReplayMemory::allocate(size_t bytes) { return core_->allocate(bytes); }
bool ReplayMemory::empty() const { return core_->empty(); }
bool ReplayMemory::owns(const Buffer& buffer) const { return core_->owns(buffer); }
void ReplayMemory::begin_notes() { core_->begin_notes(); }
std::vector<ReplayMemory::Event> ReplayMemory::end_notes() { return core_->end_notes(); }

bool ReplayMemory::replay(std::span<const Event> events, std::vector<BufferRef>& buffers) {
  buffers.clear();
  for (const Event& event : events) {
    if (event.releases) {
      buffers[event.allocation] = {};
      continue;
    }
    auto buffer = core_->allocate(event.bytes);
    if (!buffer || (*buffer)->data != event.data) {
      buffers.clear();
      return false;
    }
    buffers.push_back(std::move(*buffer));
  }
  return true;
}

}  // namespace troupe
