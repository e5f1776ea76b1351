#include "messages/values/buffer.h"

#include <new>
#include <string>

namespace troupe {
namespace {

constexpr std::align_val_t alignment{64};
constexpr size_t header = (sizeof(Buffer) + 63) / 64 * 64;

void release_heap(Buffer* buffer) {
  buffer->~Buffer();
  ::operator delete(static_cast<void*>(buffer), alignment);
}

// Puts the Buffer and its bytes into one block, which takes one call to the heap.
class HeapAllocator final : public Allocator {
 public:
  Result<BufferRef> allocate(size_t bytes) override {
    if (bytes > SIZE_MAX - header)
      return resource_exhausted("an allocation of " + std::to_string(bytes) +
                                " bytes exceeds the address space");
    void* block = ::operator new(header + bytes, alignment, std::nothrow);
    if (!block)
      return resource_exhausted("the system could not allocate " + std::to_string(bytes) + " bytes");
    auto* buffer = new (block) Buffer;
    buffer->data = static_cast<std::byte*>(block) + header;
    buffer->bytes = bytes;
    buffer->release = release_heap;
    return BufferRef::adopt(buffer);
  }
};

}  // namespace

Allocator& heap_allocator() {
  static HeapAllocator allocator;
  return allocator;
}

}  // namespace troupe
