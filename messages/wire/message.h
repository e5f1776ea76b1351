// Message<T>: what actors exchange, an immutable Cap'n Proto struct T with the tensors attached to it. A struct refers to a tensor
// by its index among the attachments. Copies share one body, so local delivery copies neither struct nor tensors. Any thread may
// read a message. This header does not include Cap'n Proto, and T may be incomplete; code that builds or reads messages includes
// messages/wire/message_reader.h.
#pragma once

#include <atomic>
#include <cassert>
#include <span>
#include <utility>
#include <vector>

#include "messages/values/tensor.h"

#pragma GCC visibility push(default)
namespace troupe {

/// A message whose type is known only by the id of its schema. A default constructed AnyMessage is empty.
class AnyMessage {
 public:
  AnyMessage() = default;
  AnyMessage(const AnyMessage& other) : body_(other.body_) {
    if (body_) body_->references.fetch_add(1, std::memory_order_relaxed);
  }
  AnyMessage(AnyMessage&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  AnyMessage& operator=(AnyMessage other) noexcept {
    std::swap(body_, other.body_);
    return *this;
  }
  ~AnyMessage() {
    // The only owner needs no atomic read-modify-write, because no other thread can add a reference.
    if (body_ && (body_->references.load(std::memory_order_acquire) == 1 ||
                  body_->references.fetch_sub(1, std::memory_order_acq_rel) == 1))
      destroy(body_);
  }

  /// A new message and its words, which are zero. Its maker fills them with a valid segment before anyone else sees the message.
  struct Unfilled;
  static Unfilled allocate(uint64_t schema_id, size_t words, std::vector<Tensor> attachments);

  explicit operator bool() const { return body_ != nullptr; }
  /// The id of T in its schema; 0 if the message is empty.
  uint64_t schema_id() const { return body_ ? body_->schema_id : 0; }
  /// The struct as one Cap'n Proto segment. It was checked before.
  std::span<const uint64_t> words() const {
    return body_ ? std::span<const uint64_t>(body_->words(), body_->size) : std::span<const uint64_t>();
  }
  std::span<const Tensor> attachments() const {
    return body_ ? std::span<const Tensor>(body_->attachments) : std::span<const Tensor>();
  }
  /// Returns the attachment with this index. Fails with InvalidArgument
  /// if there is none, which handlers must check for every sender.
  Result<Tensor> attachment(uint32_t index) const;
  /// The bytes of the struct and of all tensors, which is about what the message takes on a link.
  size_t bytes() const;
  /// Returns true if both are the same message, which equal messages need not be.
  bool same_as(const AnyMessage& other) const { return body_ == other.body_; }

 private:
  struct Body {
    std::atomic<uint32_t> references{1};
    uint64_t schema_id;
    size_t size;  // in words; the words follow the body
    std::vector<Tensor> attachments;
    uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
  };
  static void destroy(Body* body);

  Body* body_ = nullptr;
};

struct AnyMessage::Unfilled {
  AnyMessage message;
  std::span<uint64_t> words;
};

/// A message that holds a T, a struct generated from a schema.
template <class T>
class Message : public AnyMessage {
 public:
  Message() = default;
  /// `message` must hold a T, or be empty.
  explicit Message(AnyMessage message) : AnyMessage(std::move(message)) {}

  /// Return the T::Reader, which must not outlive the message. The message must not be empty. Defined in message_reader.h.
  auto operator*() const;
  auto operator->() const;
};

}  // namespace troupe
#pragma GCC visibility pop
