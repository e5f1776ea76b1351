// ObjectBuffer: the buffer of a tensor whose elements are objects (strings or variants). It constructs and destroys them. The array
// comes from the tensor's allocator if that gives host memory, so that the cap counts it, and else from the heap. The buffer never
// names an arena, because other processes cannot use these objects. Used by the tensor functions of this folder only.
#pragma once

#include <memory>
#include <new>

#include "messages/values/buffer.h"

namespace troupe {

struct ObjectBuffer : Buffer {
  BufferRef memory;    ///< the memory of the array of objects
  BufferRef contents;  ///< the claim for memory that the objects own (MemoryClaims); may be null
  /// True once `contents` is what the objects really take, and no longer an upper bound.
  bool is_settled = false;
};

template <class T>
Result<BufferRef> allocate_objects(size_t count, Allocator& allocator) {
  if (count > SIZE_MAX / sizeof(T))
    return resource_exhausted(std::to_string(count) + " elements of " + std::to_string(sizeof(T)) +
                              " bytes exceed the address space");
  TROUPE_ASSIGN(BufferRef memory, allocator.allocate(count * sizeof(T)));
  if (memory->kind == MemoryKind::Device) {
    TROUPE_ASSIGN(memory, heap_allocator().allocate(count * sizeof(T)));
  }
  auto buffer = std::make_unique<ObjectBuffer>();
  T* const objects = reinterpret_cast<T*>(memory->data);
  std::uninitialized_value_construct_n(objects, count);
  buffer->data = memory->data;
  buffer->bytes = count * sizeof(T);
  buffer->memory = std::move(memory);
  buffer->release = [](Buffer* self) {
    const std::unique_ptr<ObjectBuffer> own(static_cast<ObjectBuffer*>(self));
    std::destroy_n(reinterpret_cast<T*>(own->data), own->bytes / sizeof(T));
  };
  return BufferRef::adopt(buffer.release());
}

}  // namespace troupe
