// Message<T>: what actors exchange: one immutable Cap'n Proto struct T and the tensors attached to it, shared
// by reference. A copy costs one reference count, so local delivery copies no byte of either. Any thread may
// read; nobody can write. A struct refers to a tensor by its index among the attachments. This header is free
// of Cap'n Proto: T may be incomplete; who builds or reads a message includes messages/wire/message_reader.h.
#pragma once

#include <atomic>
#include <cassert>
#include <span>
#include <utility>
#include <vector>

#include "messages/values/tensor.h"

#pragma GCC visibility push(default)
namespace troupe {

/// A message whose type is known only by its schema's id. Default constructed it holds nothing.
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
    // A sole owner needs no atomic read-modify-write: nobody else can be taking a reference.
    if (body_ && (body_->references.load(std::memory_order_acquire) == 1 ||
                  body_->references.fetch_sub(1, std::memory_order_acq_rel) == 1))
      destroy(body_);
  }

  /// A new message and its words, all zero, for its maker to
  /// fill with a valid segment before anyone else sees it.
  struct Unfilled;
  static Unfilled allocate(uint64_t schema_id, size_t words, std::vector<Tensor> attachments);

  explicit operator bool() const { return body_ != nullptr; }
  /// The id of T in its schema; 0 when this holds nothing.
  uint64_t schema_id() const { return body_ ? body_->schema_id : 0; }
  /// The struct as one Cap'n Proto segment, known to be valid.
  std::span<const uint64_t> words() const {
    return body_ ? std::span<const uint64_t>(body_->words(), body_->size) : std::span<const uint64_t>();
  }
  std::span<const Tensor> attachments() const {
    return body_ ? std::span<const Tensor>(body_->attachments) : std::span<const Tensor>();
  }
  /// The attachment that a field of the struct names; InvalidArgument
  /// when there is none. Holds for local senders too.
  Result<Tensor> attachment(uint32_t index) const;
  /// Bytes of struct and tensors: what the message would cost to send.
  size_t bytes() const;
  /// Whether both are the same message, not merely equal ones.
  bool same_as(const AnyMessage& other) const { return body_ == other.body_; }

 private:
  struct Body {
    std::atomic<uint32_t> references{1};
    uint64_t schema_id;
    size_t size;  // in words, which follow the body
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

/// A message holding a T, the struct that a schema generates.
template <class T>
class Message : public AnyMessage {
 public:
  Message() = default;
  /// `message` must hold a T.
  explicit Message(AnyMessage message) : AnyMessage(std::move(message)) {}

  /// T::Reader, which lives no longer than the message; must not be empty. Both are in message_reader.h.
  auto operator*() const;
  auto operator->() const;
};

}  // namespace troupe
#pragma GCC visibility pop
