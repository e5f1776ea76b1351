// MemoryClaims: an allocator that also counts memory which it does not give out itself: the contents of strings, which lie on the
// heap, so that they come under the same cap as tensors. Any thread. Units: bytes.
#pragma once

#include "messages/values/tensor.h"

namespace troupe {

class MemoryClaims {
 public:
  /// A buffer without memory, that counts as so many bytes until its last reference goes. ResourceExhausted as for allocate().
  virtual Result<BufferRef> claim(size_t bytes) = 0;

 protected:
  ~MemoryClaims() = default;
};

/// Before strings are written into a tensor that was just allocated there: claims for their contents the most that they may take.
/// Nothing where the allocator counts no contents.
Status claim_contents(Tensor& strings, size_t most, Allocator& allocator);
/// Once they are written: claims what they take in fact instead, as far as claim_contents() claimed anything.
void settle_contents(Tensor& strings, Allocator& allocator);
/// What one string of so many bytes takes beside itself.
inline size_t contents_of(size_t length) { return length < sizeof(std::string) / 2 ? 0 : length + 1; }

}  // namespace troupe
