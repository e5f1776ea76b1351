#include "devices/caching_allocator.h"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "devices/range_allocator.h"
#include "devices/spin_lock.h"

namespace troupe {
namespace {

constexpr size_t unit = 64;       // the step between sizes of small blocks; the alignment of all memory
constexpr size_t max_units = 64;  // the largest small block, with its header: 4 KiB
constexpr size_t slab_bytes = 16 << 10;   // a slab is cut into small blocks of one size, once and for all
constexpr uint64_t min_growth = 2 << 20;  // the arena doubles its size, within these limits
constexpr uint64_t max_growth = 64 << 20;

// How many blocks of a size move between a thread's cache and the shared list at once. A cache has at most twice as many.
constexpr size_t batch(size_t units) { return std::clamp<size_t>(128 / units, 2, 32); }

struct LargeBuffer : Buffer {
  RangeAllocator::Range* range = nullptr;
};

/// The buffer of a claim: it counts against the budget, but has no memory.
struct ClaimBuffer : Buffer {
  std::shared_ptr<MemoryBudget> budget;
};

}  // namespace

// The header of a small buffer, which its data follow. It fills one
// cache line. While the block is free, only the last member changes.
struct CachingAllocator::Block : Buffer {
  union {
    size_t units;  // while in use: the size of the whole block
    Block* next;   // while free: the next block in its list
  };
};
static_assert(sizeof(Buffer) + sizeof(size_t) == unit);

// The blocks that one thread has at hand. The cache serves the allocator that its thread used first, until that allocator ends;
// for other allocators the thread goes to their cores. Only its own thread writes the cache; other threads read the counters.
struct CachingAllocator::ThreadCache {
  Core* core = nullptr;
  bool ended = false;  // true if the thread is ending, so that nothing may be cached any more
  std::array<uint8_t, max_units + 1> count{};
  std::array<Block*, max_units + 1> free{};
  std::atomic<size_t> bytes{0};
  std::atomic<uint64_t> allocations{0};
  ThreadCache* next = nullptr;  // the next cache bound to the same core

  template <class T>
  static void add(std::atomic<T>& value, T change) {
    value.store(value.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }
  Block* pop(size_t units) {
    Block* const block = free[units];
    if (!block) return nullptr;
    free[units] = block->next;
    --count[units];
    add<size_t>(bytes, 0 - units * unit);
    return block;
  }
  void push(Block* block, size_t units) {
    block->next = free[units];
    free[units] = block;
    ++count[units];
    add<size_t>(bytes, units * unit);
  }
};

// What the allocator shares with its buffers and with the caches bound to it. Whichever ends last deletes it.
struct CachingAllocator::Core final : MemoryBudget::Member {
  Core(Arena::Options options, std::shared_ptr<MemoryBudget> budget)
      : budget_(std::move(budget)), arena_(std::move(options)) {
    if (budget_) budget_->add(*this);
  }
  ~Core() {
    if (budget_) budget_->remove(*this);
    if (budget_) budget_->give(paid_);
    ASAN_UNPOISON_MEMORY_REGION(arena_.data(), arena_.committed());
  }

  Result<BufferRef> allocate_small(size_t units, size_t bytes);
  Result<BufferRef> allocate_large(size_t bytes);
  Result<BufferRef> claim(size_t bytes);
  MemoryStatistics statistics();
  void return_free_memory() override;
  void close();
  void bind(ThreadCache& cache);
  void unbind(ThreadCache& cache);

  static BufferRef use(Block* block, size_t units, size_t bytes);
  static void release_small(Buffer* buffer);
  static void release_large(Buffer* buffer);

  bool closed() const { return closed_.load(std::memory_order_relaxed); }

 private:
  using Lock = std::unique_lock<SpinLock>;

  Result<RangeAllocator::Range*> take_range(uint64_t bytes, Lock& held);
  Result<RangeAllocator::Range*> find_range(uint64_t bytes);
  Status grow(uint64_t bytes);
  Status refused(uint64_t bytes, const std::string& why) const;
  bool pay(uint64_t bytes);
  void return_to_system(RangeAllocator::Range& range);
  Status cut_slab(size_t units, Lock& held);
  Block* hand_out(size_t units);
  void take_back(Block* block, size_t units);
  void count_out(size_t bytes);
  void spill(ThreadCache& cache, size_t units);
  void drop(size_t count, Lock held);

  const std::shared_ptr<MemoryBudget> budget_;  // may be null
  std::atomic<bool> closed_{false};             // true once the allocator has ended
  SpinLock lock_;                               // guards all members below
  Arena arena_;
  RangeAllocator ranges_;
  std::array<Block*, max_units + 1> free_{};
  ThreadCache* caches_ = nullptr;
  uint64_t allocations_ = 0;  // without those that bound caches count
  size_t handed_out_ = 0;     // bytes in buffers and in caches
  size_t peak_ = 0;
  uint64_t paid_ = 0;  // what counts against the budget: memory committed and not returned since
  // From the allocator, bound caches, large buffers, and small blocks in buffers or caches.
  size_t references_ = 1;
};

CachingAllocator::ThreadCache& CachingAllocator::this_thread() {
  static constinit thread_local ThreadCache cache;
  return cache;
}

BufferRef CachingAllocator::Core::use(Block* block, size_t units, size_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(block->data, bytes);
  block->refs.store(1, std::memory_order_relaxed);
  block->bytes = bytes;
  block->units = units;
  return BufferRef::adopt(block);
}

// Used if the thread's cache has no such block, or serves another allocator.
Result<BufferRef> CachingAllocator::Core::allocate_small(size_t units, size_t bytes) {
  ThreadCache& cache = this_thread();
  if (!cache.ended && (!cache.core || cache.core->closed())) bind(cache);
  Lock held(lock_);
  if (!free_[units]) TROUPE_RETURN_IF_FAILED(cut_slab(units, held));
  Block* const block = hand_out(units);
  if (cache.core == this)
    for (size_t more = batch(units); more > 1 && free_[units]; --more) cache.push(hand_out(units), units);
  ++allocations_;
  return use(block, units, bytes);
}

void CachingAllocator::Core::release_small(Buffer* buffer) {
  auto* const block = static_cast<Block*>(buffer);
  auto& core = *static_cast<Core*>(block->owner);
  const size_t units = block->units;
  ASAN_POISON_MEMORY_REGION(block->data, (units - 1) * unit);
  ThreadCache& cache = this_thread();
  if (cache.core == &core) {
    if (!core.closed()) {
      cache.push(block, units);
      if (cache.count[units] > 2 * batch(units)) core.spill(cache, units);
      return;
    }
    core.unbind(cache);
  }
  Lock held(core.lock_);
  core.take_back(block, units);
  core.drop(1, std::move(held));
}

CachingAllocator::Block* CachingAllocator::Core::hand_out(size_t units) {
  Block* const block = free_[units];
  free_[units] = block->next;
  ++references_;
  count_out(units * unit);
  return block;
}

void CachingAllocator::Core::take_back(Block* block, size_t units) {
  block->next = free_[units];
  free_[units] = block;
  handed_out_ -= units * unit;
}

void CachingAllocator::Core::count_out(size_t bytes) {
  handed_out_ += bytes;
  peak_ = std::max(peak_, handed_out_);
}

void CachingAllocator::Core::spill(ThreadCache& cache, size_t units) {
  Lock held(lock_);
  for (size_t i = 0; i < batch(units); ++i) take_back(cache.pop(units), units);
  drop(batch(units), std::move(held));
}

Status CachingAllocator::Core::cut_slab(size_t units, Lock& held) {
  TROUPE_ASSIGN(auto* slab, take_range(slab_bytes, held));
  for (size_t at = 0; at + units * unit <= slab_bytes; at += units * unit) {
    std::byte* const place = arena_.data() + slab->offset + at;
    ASAN_UNPOISON_MEMORY_REGION(place, sizeof(Block));
    auto* const block = new (place) Block;
    block->data = place + sizeof(Block);
    block->release = release_small;
    block->owner = this;
    block->arena = arena_.id();
    block->offset = slab->offset + at + sizeof(Block);
    block->next = free_[units];
    free_[units] = block;
  }
  return {};
}

Result<BufferRef> CachingAllocator::Core::allocate_large(size_t bytes) {
  auto buffer = std::make_unique<LargeBuffer>();
  {
    Lock held(lock_);
    TROUPE_ASSIGN(buffer->range, take_range(bytes, held));
    count_out(buffer->range->bytes);
    ++references_;
    ++allocations_;
  }
  buffer->offset = buffer->range->offset;
  buffer->data = arena_.data() + buffer->offset;
  buffer->bytes = bytes;
  buffer->release = release_large;
  buffer->owner = this;
  buffer->arena = arena_.id();
  ASAN_UNPOISON_MEMORY_REGION(buffer->data, bytes);
  return BufferRef::adopt(buffer.release());
}

void CachingAllocator::Core::release_large(Buffer* buffer) {
  const std::unique_ptr<LargeBuffer> large(static_cast<LargeBuffer*>(buffer));
  auto& core = *static_cast<Core*>(large->owner);
  RangeAllocator::Range* const range = large->range;
  ASAN_POISON_MEMORY_REGION(large->data, range->bytes);
  Lock held(core.lock_);
  if (core.closed() && !core.arena_.was_lent()) core.return_to_system(*range);
  core.handed_out_ -= range->bytes;
  core.ranges_.release(range);
  core.drop(1, std::move(held));
}

// Tries once more if the budget refused, after all that share the budget have returned their free memory. Unlocks meanwhile.
Result<RangeAllocator::Range*> CachingAllocator::Core::take_range(uint64_t bytes, Lock& held) {
  auto range = find_range(bytes);
  if (range || !budget_ || bytes > budget_->cap()) return range;
  held.unlock();
  budget_->reclaim();
  held.lock();
  return find_range(bytes);
}

Result<RangeAllocator::Range*> CachingAllocator::Core::find_range(uint64_t bytes) {
  const uint64_t rounded = (bytes + unit - 1) / unit * unit;
  if (budget_ && bytes > budget_->cap()) return past_memory_cap(bytes, *budget_);
  if (bytes > arena_.cap())
    return refused(bytes, "the memory cap is " + std::to_string(arena_.cap()) + " bytes");
  auto* range = ranges_.allocate(rounded);
  if (!range) {
    TROUPE_RETURN_IF_FAILED(grow(rounded));
    range = ranges_.allocate(rounded);
  }
  if (!pay(range->returned)) {
    ranges_.release(range);
    return past_memory_cap(bytes, *budget_);
  }
  range->returned = 0;
  return range;
}

/// Grows the arena until the free range at its end has so many bytes. Grows it by more if cap and budget allow that.
Status CachingAllocator::Core::grow(uint64_t bytes) {
  const uint64_t committed = arena_.committed();
  const uint64_t needed = committed + bytes - ranges_.free_at_end();
  const uint64_t ample = std::min(committed + std::clamp(committed, min_growth, max_growth), arena_.cap());
  uint64_t wanted = std::max(needed, ample);
  if (!pay(arena_.growth(wanted))) {
    wanted = needed;
    if (!pay(arena_.growth(wanted))) return past_memory_cap(bytes, *budget_);
  }
  const uint64_t more = arena_.growth(wanted);
  if (Status grown = arena_.commit(wanted); !grown.ok()) {
    paid_ -= more;
    if (budget_) budget_->give(more);
    return refused(bytes, grown.text());
  }
  ASAN_POISON_MEMORY_REGION(arena_.data() + committed, more);
  ranges_.grow(more);
  return {};
}

Status CachingAllocator::Core::refused(uint64_t bytes, const std::string& why) const {
  return resource_exhausted("an allocation of " + std::to_string(bytes) + " bytes: " + why + "; " +
                            std::to_string(handed_out_) + " bytes are in use, the largest free piece has " +
                            std::to_string(ranges_.largest_free()));
}

bool CachingAllocator::Core::pay(uint64_t bytes) {
  if (budget_ && bytes != 0 && !budget_->take(bytes)) return false;
  paid_ += bytes;
  return true;
}

void CachingAllocator::Core::return_to_system(RangeAllocator::Range& range) {
  const uint64_t gone = arena_.discard(range.offset, range.bytes);
  if (gone <= range.returned) return;
  const uint64_t more = gone - std::exchange(range.returned, gone);
  paid_ -= more;
  if (budget_) budget_->give(more);
}

void CachingAllocator::Core::return_free_memory() {
  const Lock held(lock_);
  for (auto* range = ranges_.first(); range; range = range->after)
    if (range->free) return_to_system(*range);
}

Result<BufferRef> CachingAllocator::Core::claim(size_t bytes) {
  auto buffer = std::make_unique<ClaimBuffer>();
  if (budget_ && !budget_->take(bytes)) {
    budget_->reclaim();
    if (!budget_->take(bytes)) return past_memory_cap(bytes, *budget_);
  }
  buffer->bytes = bytes;
  buffer->budget = budget_;
  buffer->release = [](Buffer* self) {
    const std::unique_ptr<ClaimBuffer> claim(static_cast<ClaimBuffer*>(self));
    if (claim->budget) claim->budget->give(claim->bytes);
  };
  return BufferRef::adopt(buffer.release());
}

void CachingAllocator::Core::bind(ThreadCache& cache) {
  struct ThreadEnd {
    ThreadCache& cache;
    ~ThreadEnd() {
      cache.ended = true;
      if (cache.core) cache.core->unbind(cache);
    }
  };
  static thread_local const ThreadEnd at_thread_end{cache};
  if (cache.core) cache.core->unbind(cache);
  Lock held(lock_);
  ++references_;
  cache.core = this;
  cache.next = std::exchange(caches_, &cache);
}

void CachingAllocator::Core::unbind(ThreadCache& cache) {
  Lock held(lock_);
  size_t blocks = 0;
  for (size_t units = 1; units <= max_units; ++units)
    for (Block* block; (block = cache.pop(units)); ++blocks) take_back(block, units);
  allocations_ += cache.allocations.exchange(0, std::memory_order_relaxed);
  ThreadCache** link = &caches_;
  while (*link != &cache) link = &(*link)->next;
  *link = cache.next;
  cache.core = nullptr;
  drop(blocks + 1, std::move(held));
}

void CachingAllocator::Core::drop(size_t count, Lock held) {
  references_ -= count;
  const bool last = references_ == 0;
  held.unlock();
  if (last) delete this;
}

MemoryStatistics CachingAllocator::Core::statistics() {
  Lock held(lock_);
  MemoryStatistics out{handed_out_, peak_, arena_.committed(), arena_.cap(), allocations_};
  for (const ThreadCache* cache = caches_; cache; cache = cache->next) {
    out.in_use -= std::min(out.in_use, cache->bytes.load(std::memory_order_relaxed));
    out.allocations += cache->allocations.load(std::memory_order_relaxed);
  }
  return out;
}

void CachingAllocator::Core::close() {
  if (ThreadCache& cache = this_thread(); cache.core == this) unbind(cache);
  Lock held(lock_);
  closed_ = true;
  // What was lent stays as it is for those who still read it; the memory file goes when its last user does.
  for (auto* range = arena_.was_lent() ? nullptr : ranges_.first(); range; range = range->after)
    if (range->free) return_to_system(*range);
  drop(1, std::move(held));
}

CachingAllocator::CachingAllocator(Arena::Options options, std::shared_ptr<MemoryBudget> budget)
    : core_(new Core(std::move(options), std::move(budget))) {}
CachingAllocator::~CachingAllocator() { core_->close(); }

Result<BufferRef> CachingAllocator::allocate(size_t bytes) {
  if (bytes > (max_units - 1) * unit) return core_->allocate_large(bytes);
  const size_t units = (bytes + unit - 1) / unit + 1;
  ThreadCache& cache = this_thread();
  if (cache.core == core_)
    if (Block* block = cache.pop(units)) {
      ThreadCache::add<uint64_t>(cache.allocations, 1);
      return Core::use(block, units, bytes);
    }
  return core_->allocate_small(units, bytes);
}

Result<BufferRef> CachingAllocator::claim(size_t bytes) { return core_->claim(bytes); }

MemoryStatistics CachingAllocator::statistics() const { return core_->statistics(); }

}  // namespace troupe
