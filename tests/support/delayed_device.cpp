#include "tests/support/delayed_device.h"

#include "devices/flush_denormals.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <new>

namespace troupe {
namespace {

constexpr std::align_val_t alignment{64};
constexpr size_t guard_bytes = 64;                     // behind each buffer, filled with poison
constexpr size_t quarantine_bytes = size_t{16} << 20;  // of released memory that is not used again yet

void fill(std::byte* data, size_t bytes) {
  std::memset(data, std::to_integer<int>(DelayedDevice::poison), bytes);
}

bool untouched(const std::byte* data, size_t bytes) {
  return std::all_of(data, data + bytes, [](std::byte b) { return b == DelayedDevice::poison; });
}

}  // namespace

class DelayedDevice::Memory final : public Allocator, public std::enable_shared_from_this<Memory> {
 public:
  Memory(uint16_t ordinal, size_t cap) : ordinal_(ordinal) { statistics_.cap = cap; }
  ~Memory() override {
    for (const Block& block : quarantine_) ::operator delete(block.data, alignment);
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
    buffer->data = static_cast<std::byte*>(::operator new(bytes + guard_bytes, alignment));
    buffer->bytes = bytes;
    buffer->release = [](Buffer* self) {
      const std::unique_ptr<DeviceBuffer> gone(static_cast<DeviceBuffer*>(self));
      gone->memory->take_back({gone->data, gone->bytes});
    };
    buffer->memory = shared_from_this();
    fill(buffer->data, bytes + guard_bytes);
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
  };
  struct DeviceBuffer : Buffer {
    std::shared_ptr<Memory> memory;
  };

  void take_back(Block block) {
    std::lock_guard lock(mutex_);
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
      ::operator delete(oldest.data, alignment);
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

  uint16_t ordinal_;
  mutable std::mutex mutex_;
  MemoryStatistics statistics_;
  std::deque<Block> quarantine_;
  size_t quarantined_ = 0;
  Status damage_;  // the first
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
      memory_(std::make_shared<Memory>(options_.ordinal, options_.memory_cap)),
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

// False when there is nothing, or the first item still waits. What the work held is released before it is
// done.
bool DelayedDevice::execute_front(std::unique_lock<std::mutex>& lock) {
  if (!stream_->front_is_ready()) return false;
  Stream::Item item = std::move(stream_->items.front());
  stream_->items.pop_front();
  lock.unlock();
  Status status = item.after.status();
  if (status.ok()) status = item.work(context_);
  item.work = nullptr;
  item.done.complete(std::move(status));
  lock.lock();
  return true;
}

void DelayedDevice::serve() {
  const FlushDenormals flush;  // as the threads of a pool
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

size_t DelayedDevice::advance(size_t most) {
  std::unique_lock lock(stream_->mutex);
  size_t executed = 0;
  while (executed < most && execute_front(lock)) ++executed;
  return executed;
}

Status DelayedDevice::wait(const Completion& completion) {
  if (options_.drive == Drive::Manual) {
    while (!completion.ready())
      if (advance(1) == 0)
        return failed_precondition("the device has nothing to execute, and it is still not ready");
    return completion.status();
  }
  completion.then([stream = stream_](const Status&) { stream->notify(); });
  std::unique_lock lock(stream_->mutex);
  stream_->changed.wait(lock, [&] { return completion.ready(); });
  return completion.status();
}

}  // namespace troupe
