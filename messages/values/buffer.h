// Buffer: a reference-counted block of memory. Allocator: the interface of everything that allocates buffers.
// Any thread may share and release a buffer. Its bytes may be written only while there is one reference. Units: bytes.
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
  uint16_t device = 0;  ///< the ordinal of the device that owns the memory, if `kind` is Device
  std::byte* data = nullptr;
  size_t bytes = 0;  ///< the usable size
  /// Called once, when the last reference is dropped. It frees the memory and this Buffer itself.
  void (*release)(Buffer*) = nullptr;
  void* owner = nullptr;  ///< for use by `release`: whatever keeps the memory alive, such as its allocator
  uint32_t arena = 0;   ///< the id of the shared arena that holds the bytes; 0: no other process can map them
  uint64_t offset = 0;  ///< the position of the bytes in that arena
};

/// A counted reference to a Buffer, one pointer wide.
class BufferRef {
 public:
  BufferRef() = default;
  /// Takes over a reference that the caller holds: does not increment the count.
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
    // The only owner needs no atomic read-modify-write, because no other thread can add a reference.
    if (buffer_ && (unique() || buffer_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1))
      buffer_->release(buffer_);
  }

  /// Returns true if this is the only reference, so that the bytes may be overwritten.
  bool unique() const { return buffer_ && buffer_->refs.load(std::memory_order_acquire) == 1; }
  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }

 private:
  Buffer* buffer_ = nullptr;
};

/// Allocates buffers, aligned to 64 bytes. Each implementation says which threads may call it; the allocators of devices
/// may be called from any thread.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// Returns a buffer of at least `bytes` bytes, which may be 0. Fails with ResourceExhausted, naming the cap, if the cap would
  /// be exceeded or the system has no more memory.
  virtual Result<BufferRef> allocate(size_t bytes) = 0;
};

/// Returns the allocator of plain heap memory, without cap or cache, for tensors that belong to no device (a client's feeds,
/// tests). Any thread may call it.
Allocator& heap_allocator();

}  // namespace troupe
#pragma GCC visibility pop
