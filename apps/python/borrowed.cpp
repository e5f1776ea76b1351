#include "apps/python/borrowed.h"

#include <atomic>

namespace troupe::python {
namespace {

struct BorrowedBuffer : Buffer {
  PyObject* array = nullptr;
  BorrowedBuffer* next = nullptr;  ///< in the list of dropped buffers
};

std::atomic<BorrowedBuffer*> dropped{nullptr};

int release_later(void* /*unused*/) {
  release_arrays();
  return 0;
}

/// Puts the buffer into the list. Whoever puts the first one there asks Python to empty it soon; if that fails, the next call of
/// release_arrays() does so.
void drop(Buffer* buffer) {
  auto* const borrowed = static_cast<BorrowedBuffer*>(buffer);
  BorrowedBuffer* first = dropped.load(std::memory_order_relaxed);
  do {
    borrowed->next = first;
  } while (
      !dropped.compare_exchange_weak(first, borrowed, std::memory_order_release, std::memory_order_relaxed));
  if (!first && Py_IsInitialized()) (void)Py_AddPendingCall(release_later, nullptr);
}

}  // namespace

BufferRef borrow(pybind11::object array, void* data, size_t bytes) {
  auto* const buffer = new BorrowedBuffer;
  buffer->data = static_cast<std::byte*>(data);
  buffer->bytes = bytes;
  buffer->release = drop;
  buffer->array = array.release().ptr();
  return BufferRef::adopt(buffer);
}

bool is_borrowed(const BufferRef& buffer) { return buffer && buffer->release == drop; }

void release_arrays() {
  if (!dropped.load(std::memory_order_relaxed)) return;
  BorrowedBuffer* buffer = dropped.exchange(nullptr, std::memory_order_acquire);
  while (buffer) {
    BorrowedBuffer* const next = buffer->next;
    Py_DECREF(buffer->array);
    delete buffer;
    buffer = next;
  }
}

}  // namespace troupe::python
