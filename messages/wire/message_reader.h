// Building and reading messages: the one header that joins Message<T> and Cap'n Proto. For .cpp files.
// Draft<T> builds one; *message reads it, without checks and from any thread, because every message is either
// built by a Draft or passed through receive(), which copies and checks bytes from outside once.
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

/// Gives Message<T> a pointer to its reader, for ->.
template <class Reader>
struct Arrow {
  Reader reader;
  Reader* operator->() { return &reader; }
};

}  // namespace detail

/// The id by which frames and messages name the type T.
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

/// A message being built:
///   Draft<wire::RunStep> draft;
///   draft->setHandle(handle);
///   return draft.finish(std::move(feeds));
template <class T>
class Draft {
 public:
  Draft() : root_(builder_.template initRoot<T>()) {}

  typename T::Builder& operator*() { return root_; }
  typename T::Builder* operator->() { return &root_; }
  /// The message; the draft is done with.
  Message<T> finish(std::vector<Tensor>&& attachments = {}) {
    return Message<T>(detail::seal(builder_, schema_id_of<T>, std::move(attachments)));
  }

 private:
  // Most structs fit here and are then copied once, into a message of exactly their size.
  static constexpr size_t scratch_words = 64;
  uint64_t scratch_[scratch_words] = {};
  capnp::MallocMessageBuilder builder_{kj::arrayPtr(reinterpret_cast<capnp::word*>(scratch_), scratch_words)};
  typename T::Builder root_;
};

/// A message from the words of a frame, copied once under the limits of limits.h. InvalidArgument unless all
/// of it, read as a T, is well formed: after that no read of the message throws.
template <class T>
Result<Message<T>> receive(std::span<const uint64_t> words, std::vector<Tensor>&& attachments = {}) {
  static const auto check = detail::make_schema_check(capnp::Schema::from<T>());
  TROUPE_ASSIGN(auto message, detail::receive(*check, words, std::move(attachments)));
  return Message<T>(std::move(message));
}

}  // namespace troupe
#pragma GCC visibility pop
