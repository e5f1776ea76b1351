#include "messages/values/memory_claims.h"

#include "messages/values/object_buffer.h"

namespace troupe {
namespace {

/// Returns the buffer of a tensor of strings to which nobody else refers yet.
ObjectBuffer& buffer_of(Tensor& strings) { return *static_cast<ObjectBuffer*>(strings.buffer().get()); }

}  // namespace

Status claim_contents(Tensor& strings, size_t max_bytes, Allocator& allocator) {
  auto* const claims = max_bytes == 0 ? nullptr : dynamic_cast<MemoryClaims*>(&allocator);
  if (!claims) return {};
  TROUPE_ASSIGN(buffer_of(strings).contents, claims->claim(max_bytes));
  return {};
}

void settle_contents(Tensor& strings, Allocator& allocator) {
  if (strings.dtype() != DType::String || !strings.unique()) return;
  ObjectBuffer& buffer = buffer_of(strings);
  if (!buffer.contents || std::exchange(buffer.is_settled, true)) return;
  size_t bytes = 0;
  for (const std::string& text : strings.as<std::string>()) bytes += contents_of(text.capacity());
  if (bytes >= buffer.contents->bytes) return;
  auto less = dynamic_cast<MemoryClaims&>(allocator).claim(bytes);
  if (less) buffer.contents = std::move(*less);  // if the smaller claim is refused, the larger one stays
}

}  // namespace troupe
