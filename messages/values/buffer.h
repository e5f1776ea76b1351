// Buffer: reference-counted memory of some kind, and the interface of what
// allocates it. `arena` and `offset` say where another process or a NIC finds
// the bytes (arena 0: nowhere but here). Buffers are shared by reference count
// across threads; their bytes are immutable once anyone else holds a reference.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "messages/values/status.h"

#pragma GCC visibility push(default)
namespace troupe {

enum class MemoryKind : uint8_t { Host, Pinned, Device };

struct Buffer {
  std::atomic<uint32_t> refs{1};
  MemoryKind kind = MemoryKind::Host;
  uint16_t device = 0;  ///< ordinal of the device whose memory this is, when kind is Device
  std::byte* data = nullptr;
  size_t bytes = 0;  ///< usable size
  void (*release)(Buffer*) =
      nullptr;  ///< called once, by whoever drops the last reference; gives back the Buffer itself too
  void* owner = nullptr;  ///< for `release`: the allocator or what else keeps the memory
  uint32_t arena = 0;
  uint64_t offset = 0;
};

/// A counted reference to a Buffer, one pointer wide.
class BufferRef {
 public:
  BufferRef() = default;
  /// Takes over one reference that the caller holds.
  static BufferRef adopt(Buffer* buffer) {
    BufferRef ref;
    ref.buffer_ = buffer;
    return ref;
  }
  BufferRef(const BufferRef& other) : buffer_(other.buffer_) {
    if (buffer_) buffer_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    // A sole owner needs no atomic read-modify-write: nobody else can be taking a reference.
    if (buffer_ && (unique() || buffer_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1))
      buffer_->release(buffer_);
  }

  /// True when this is the only reference: the bytes may be overwritten.
  bool unique() const { return buffer_ && buffer_->refs.load(std::memory_order_acquire) == 1; }
  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }

 private:
  Buffer* buffer_ = nullptr;
};

/// Gives out buffers, 64-byte aligned. Implementations (devices/)
/// say which threads may call; the ones of a device: any.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// `bytes` may be 0. ResourceExhausted when the cap is reached or the system gives no more; names the cap.
  virtual Result<BufferRef> allocate(size_t bytes) = 0;
};

/// Plain heap memory without cap or cache, for what lives
/// outside any device (feeds of a client, tests). Thread-safe.
Allocator& heap_allocator();

}  // namespace troupe
#pragma GCC visibility pop
