// MemoryClaims: the interface of an allocator that can also count memory which it did not allocate. The contents of strings lie on
// the heap, and are counted in this way, so that strings and tensors share one cap. Any thread. Units: bytes.
#pragma once

#include "messages/values/tensor.h"

namespace troupe {

class MemoryClaims {
 public:
  /// Returns a buffer without memory. It counts as `bytes` until its last reference is dropped. Fails with ResourceExhausted, as
  /// Allocator::allocate() does.
  virtual Result<BufferRef> claim(size_t bytes) = 0;

 protected:
  ~MemoryClaims() = default;
};

/// Call before strings are written into a newly allocated tensor: claims `max_bytes` for their contents. Has no effect if
/// `allocator` has no MemoryClaims. Fails with ResourceExhausted.
Status claim_contents(Tensor& strings, size_t max_bytes, Allocator& allocator);
/// Call after the strings were written: reduces the claim of claim_contents() to the memory that they really take.
void settle_contents(Tensor& strings, Allocator& allocator);
/// Returns how much heap memory a string of this length takes, beside its std::string object.
inline size_t contents_of(size_t length) { return length < sizeof(std::string) / 2 ? 0 : length + 1; }

}  // namespace troupe
