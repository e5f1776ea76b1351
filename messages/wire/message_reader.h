// Building and reading messages: the one header that joins Message<T> with Cap'n Proto, for .cpp files. Draft<T> builds a message.
// *message reads it without checks, from any thread; that is safe, because every message was built by a Draft or checked by
// receive().
#pragma once

#include <capnp/message.h>
#include <capnp/schema.h>

#include <memory>

#include "messages/wire/message.h"

#pragma GCC visibility push(default)
namespace troupe {

namespace detail {

AnyMessage seal(capnp::MessageBuilder& builder, uint64_t schema_id, std::vector<Tensor> attachments);

class SchemaCheck;
std::shared_ptr<const SchemaCheck> make_schema_check(capnp::StructSchema schema);
Result<AnyMessage> receive(const SchemaCheck& check, std::span<const uint64_t> words,
                           std::vector<Tensor> attachments);

/// Lets Message<T>::operator-> return a reader, which is a temporary object.
template <class Reader>
struct Arrow {
  Reader reader;
  Reader* operator->() { return &reader; }
};

}  // namespace detail

/// The id that names the type T in messages and frames.
template <class T>
inline constexpr uint64_t schema_id_of = capnp::typeId<T>();

template <class T>
auto Message<T>::operator*() const {
  assert(schema_id() == schema_id_of<T>);
  return capnp::readMessageUnchecked<T>(reinterpret_cast<const capnp::word*>(words().data()));
}

template <class T>
auto Message<T>::operator->() const {
  return detail::Arrow<typename T::Reader>{**this};
}

/// Builds a message:
///   Draft<wire::RunStep> draft;
///   draft->setHandle(handle);
///   return draft.finish(std::move(feeds));
template <class T>
class Draft {
 public:
  Draft() : root_(builder_.template initRoot<T>()) {}

  typename T::Builder& operator*() { return root_; }
  typename T::Builder* operator->() { return &root_; }
  /// Returns the message. The draft must not be used afterwards.
  Message<T> finish(std::vector<Tensor>&& attachments = {}) {
    return Message<T>(detail::seal(builder_, schema_id_of<T>, std::move(attachments)));
  }

 private:
  // Most structs fit into this memory, and are then copied once, into a message of exactly their size.
  static constexpr size_t scratch_words = 64;
  uint64_t scratch_[scratch_words] = {};
  capnp::MallocMessageBuilder builder_{kj::arrayPtr(reinterpret_cast<capnp::word*>(scratch_), scratch_words)};
  typename T::Builder root_;
};

/// Makes a message from the words of a frame, which are copied once, within the limits of limits.h. Fails with InvalidArgument
/// unless all of the words are a well-formed T; so reading the message never throws.
template <class T>
Result<Message<T>> receive(std::span<const uint64_t> words, std::vector<Tensor>&& attachments = {}) {
  static const auto check = detail::make_schema_check(capnp::Schema::from<T>());
  TROUPE_ASSIGN(auto message, detail::receive(*check, words, std::move(attachments)));
  return Message<T>(std::move(message));
}

}  // namespace troupe
#pragma GCC visibility pop
