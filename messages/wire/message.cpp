#include "messages/wire/message.h"

#include <cstring>
#include <new>

namespace troupe {

AnyMessage::Unfilled AnyMessage::allocate(uint64_t schema_id, size_t words, std::vector<Tensor> attachments) {
  void* block = ::operator new(sizeof(Body) + words * sizeof(uint64_t));
  Body* body = new (block) Body{.schema_id = schema_id, .size = words, .attachments = std::move(attachments)};
  std::memset(body->words(), 0, words * sizeof(uint64_t));
  Unfilled unfilled;
  unfilled.message.body_ = body;
  unfilled.words = {body->words(), words};
  return unfilled;
}

void AnyMessage::destroy(Body* body) {
  body->~Body();
  ::operator delete(body);
}

Result<Tensor> AnyMessage::attachment(uint32_t index) const {
  const auto all = attachments();
  if (index >= all.size())
    return invalid_argument("attachment " + std::to_string(index) + " does not exist: the message has " +
                            std::to_string(all.size()) + " attachments");
  return all[index];
}

size_t AnyMessage::bytes() const {
  size_t total = words().size_bytes();
  for (const Tensor& tensor : attachments()) total += tensor.bytes();
  return total;
}

}  // namespace troupe
