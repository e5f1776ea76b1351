#include "tests/support/delayed_device.h"

#include "devices/flush_denormals.h"

#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <set>

namespace troupe {
namespace {

constexpr size_t page = 4096;
constexpr size_t guard_bytes = 64;                     // follow each buffer, filled with poison
constexpr size_t quarantine_bytes = size_t{16} << 20;  // the limit of released memory that is not reused yet

void fill(std::byte* data, size_t bytes) {
  std::memset(data, std::to_integer<int>(DelayedDevice::poison), bytes);
}

bool untouched(const std::byte* data, size_t bytes) {
  return std::all_of(data, data + bytes, [](std::byte b) { return b == DelayedDevice::poison; });
}

}  // namespace

class DelayedDevice::Memory final : public Allocator, public std::enable_shared_from_this<Memory> {
 public:
  Memory(uint16_t ordinal, size_t cap, bool guarded) : ordinal_(ordinal), guarded_(guarded) {
    statistics_.cap = cap;
  }
  ~Memory() override {
    for (const Block& block : quarantine_) ::munmap(block.data, mapped(block));
  }

  /// Call when the device begins or stops executing work: only its work may reach the buffers.
  void set_executing(bool executing) {
    if (!guarded_) return;
    std::lock_guard lock(mutex_);
    executing_ = executing;
    for (const Block& block : in_use_) protect(block, executing);
  }

  Result<BufferRef> allocate(size_t bytes) override {
    std::lock_guard lock(mutex_);
    if (bytes > statistics_.cap - statistics_.in_use)
      return resource_exhausted("an allocation of " + std::to_string(bytes) +
                                " bytes: " + std::to_string(statistics_.in_use) + " of the memory cap of " +
                                std::to_string(statistics_.cap) + " bytes are in use");
    statistics_.in_use += bytes;
    statistics_.peak = std::max(statistics_.peak, statistics_.in_use);
    ++statistics_.allocations;
    auto* const buffer = new DeviceBuffer;
    buffer->kind = MemoryKind::Device;
    buffer->device = ordinal_;
    const Block block{map(bytes), bytes};
    buffer->data = block.data;
    buffer->bytes = bytes;
    buffer->release = [](Buffer* self) {
      const std::unique_ptr<DeviceBuffer> gone(static_cast<DeviceBuffer*>(self));
      gone->memory->take_back({gone->data, gone->bytes});
    };
    buffer->memory = shared_from_this();
    fill(block.data, bytes + guard_bytes);
    if (guarded_) {
      in_use_.insert(block);
      protect(block, executing_);
    }
    return BufferRef::adopt(buffer);
  }

  MemoryStatistics statistics() const {
    std::lock_guard lock(mutex_);
    MemoryStatistics out = statistics_;
    out.reserved = out.in_use + quarantined_;
    return out;
  }

  Status check() const {
    std::lock_guard lock(mutex_);
    TROUPE_RETURN_IF_FAILED(damage_);
    for (const Block& block : quarantine_) TROUPE_RETURN_IF_FAILED(check_released(block));
    return {};
  }

 private:
  struct Block {
    std::byte* data;
    size_t bytes;
    auto operator<=>(const Block&) const = default;
  };
  struct DeviceBuffer : Buffer {
    std::shared_ptr<Memory> memory;
  };

  static size_t mapped(const Block& block) { return (block.bytes + guard_bytes + page - 1) / page * page; }
  static std::byte* map(size_t bytes) {
    void* const data =
        ::mmap(nullptr, mapped({nullptr, bytes}), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    return static_cast<std::byte*>(data);
  }
  static void protect(const Block& block, bool reachable) {
    ::mprotect(block.data, mapped(block), reachable ? PROT_READ | PROT_WRITE : PROT_NONE);
  }

  void take_back(Block block) {
    std::lock_guard lock(mutex_);
    if (in_use_.erase(block) != 0) protect(block, true);
    statistics_.in_use -= block.bytes;
    if (!untouched(block.data + block.bytes, guard_bytes))
      note(internal("a device buffer of " + std::to_string(block.bytes) + " bytes was written past its end"));
    fill(block.data, block.bytes + guard_bytes);
    quarantine_.push_back(block);
    quarantined_ += block.bytes;
    for (; quarantined_ > quarantine_bytes; quarantine_.pop_front()) {
      const Block oldest = quarantine_.front();
      note(check_released(oldest));
      quarantined_ -= oldest.bytes;
      ::munmap(oldest.data, mapped(oldest));
    }
  }

  static Status check_released(const Block& block) {
    if (untouched(block.data, block.bytes + guard_bytes)) return {};
    return internal("a device buffer of " + std::to_string(block.bytes) +
                    " bytes was written after its release");
  }

  void note(Status status) {
    if (damage_.ok()) damage_ = std::move(status);
  }

  const uint16_t ordinal_;
  const bool guarded_;
  mutable std::mutex mutex_;
  bool executing_ = false;
  std::set<Block> in_use_;  ///< for a guarded device only
  MemoryStatistics statistics_;
  std::deque<Block> quarantine_;
  size_t quarantined_ = 0;
  Status damage_;  // the first damage that was found
};

struct DelayedDevice::Stream {
  struct Item {
    Completion after;
    std::function<Status(DeviceContext&)> work;
    Completion done;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Item> items;
  bool ending = false;

  bool front_is_ready() const { return !items.empty() && items.front().after.ready(); }
  void notify() {
    { std::lock_guard lock(mutex); }
    changed.notify_all();
  }
};

DelayedDevice::DelayedDevice(DeviceName name, Pool& pool, Options options)
    : name_(std::move(name)), options_(std::move(options)),
      memory_(std::make_shared<Memory>(options_.ordinal, options_.memory_cap, options_.guarded)),
      stream_(std::make_shared<Stream>()), context_(*memory_, heap_allocator(), pool) {
  if (options_.drive == Drive::Thread) thread_ = std::thread([this] { serve(); });
}

DelayedDevice::~DelayedDevice() {
  {
    std::lock_guard lock(stream_->mutex);
    stream_->ending = true;
  }
  stream_->changed.notify_all();
  if (thread_.joinable())
    thread_.join();
  else
    serve();
}

MemoryStatistics DelayedDevice::memory_statistics() const { return memory_->statistics(); }
Status DelayedDevice::check_memory() const { return memory_->check(); }

Completion DelayedDevice::run(std::function<Status(DeviceContext&)> work) {
  return issue({}, std::move(work));
}

Completion DelayedDevice::copy(const Tensor& from, Tensor& to) {
  if (Status valid = check_copy(*this, from, to); !valid.ok()) return Completion(std::move(valid));
  return issue(from.completion(), [from, to](DeviceContext&) mutable -> Status {
    std::memcpy(to.mutable_data(), from.data(), from.bytes());
    return {};
  });
}

Completion DelayedDevice::issue(Completion after, std::function<Status(DeviceContext&)> work) {
  auto done = Completion::pending();
  {
    std::lock_guard lock(stream_->mutex);
    stream_->items.push_back({after, std::move(work), done});
  }
  after.then([stream = stream_](const Status&) { stream->notify(); });
  return done;
}

// Returns false if there is no work, or the first piece of work still
// waits. Releases what the work holds before the work counts as done.
bool DelayedDevice::execute_front(std::unique_lock<std::mutex>& lock) {
  if (!stream_->front_is_ready()) return false;
  Stream::Item item = std::move(stream_->items.front());
  stream_->items.pop_front();
  lock.unlock();
  Status status = item.after.status();
  memory_->set_executing(true);
  if (status.ok()) status = item.work(context_);
  memory_->set_executing(false);
  item.work = nullptr;
  item.done.complete(std::move(status));
  lock.lock();
  return true;
}

void DelayedDevice::serve() {
  const FlushDenormals flush;  // like the threads of a pool
  std::unique_lock lock(stream_->mutex);
  for (;;) {
    stream_->changed.wait(lock, [&] { return stream_->ending || stream_->front_is_ready(); });
    if (execute_front(lock)) continue;
    if (stream_->items.empty()) return;
    Stream::Item item = std::move(stream_->items.front());
    stream_->items.pop_front();
    lock.unlock();
    item.done.complete(
        cancelled("the device ended before a tensor it waited for was there").at_device(name_.text()));
    lock.lock();
  }
}

size_t DelayedDevice::advance(size_t max_items) {
  std::unique_lock lock(stream_->mutex);
  size_t executed = 0;
  while (executed < max_items && execute_front(lock)) ++executed;
  return executed;
}

Status DelayedDevice::wait(const Completion& completion) {
  if (options_.drive == Drive::Manual) {
    while (!completion.ready())
      if (advance(1) == 0)
        return failed_precondition("the device has no more work, but the completion is not ready");
    return completion.status();
  }
  completion.then([stream = stream_](const Status&) { stream->notify(); });
  std::unique_lock lock(stream_->mutex);
  stream_->changed.wait(lock, [&] { return completion.ready(); });
  return completion.status();
}

}  // namespace troupe
