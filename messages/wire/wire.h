// Conversions between values and the structs generated from schemas (namespace troupe::wire), for .cpp files. write() fills a
// builder. read() accepts whatever a peer may have written. Pure functions; any thread may call them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/schemas/cluster.capnp.h"
#include "messages/schemas/status.capnp.h"
#include "messages/values/address.h"
#include "messages/wire/message_reader.h"

namespace troupe {

/// Text fields may hold any bytes. The view of a reader must not outlive its message.
inline std::string_view view(capnp::Text::Reader text) { return {text.begin(), text.size()}; }
inline std::string_view view(capnp::Data::Reader data) {
  return {reinterpret_cast<const char*>(data.begin()), data.size()};
}
inline capnp::Text::Reader as_text(const std::string& text) { return {text.c_str(), text.size()}; }
inline capnp::Data::Reader as_data(std::string_view bytes) {
  return {reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()};
}

/// Returns the elements of a list of numbers.
template <class T, class List>
std::vector<T> vector_of(List list) {
  std::vector<T> values;
  values.reserve(list.size());
  for (const T value : list) values.push_back(value);
  return values;
}

/// Fills in a StepId.
template <class Builder>
void set_step(Builder step, uint64_t session, uint64_t ordinal) {
  step.setSession(session);
  step.setOrdinal(ordinal);
}

void write(const Status& status, wire::Status::Builder builder);
Status read(wire::Status::Reader reader);

void write(const Address& address, wire::Address::Builder builder);
Address read(wire::Address::Reader reader);

}  // namespace troupe
