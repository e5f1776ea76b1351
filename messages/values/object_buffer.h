// ObjectBuffer: the buffer of a tensor whose elements are objects, strings or variants: an array of them, made and destroyed with the
// buffer. Their memory comes from the tensor's allocator where that gives host memory, so that a cap counts it, and never lies in an
// arena for others, who could do nothing with it. Used by tensor.cpp alone.
#pragma once

#include <memory>
#include <new>

#include "messages/values/buffer.h"

namespace troupe {

struct ObjectBuffer : Buffer {
  BufferRef memory;         ///< where the objects lie
  BufferRef contents;       ///< what counts for the memory that they own; may be null
  bool is_settled = false;  ///< that is what it is, and not the most that it may be
};

template <class T>
Result<BufferRef> allocate_objects(size_t count, Allocator& allocator) {
  if (count > SIZE_MAX / sizeof(T))
    return resource_exhausted("the bytes of " + std::to_string(count) + " elements cannot be counted");
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
