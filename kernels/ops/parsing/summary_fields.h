// What the ops that write summaries share. Pure functions; any thread may call them.
#pragma once

#include "kernels/core/kernel.h"
#include "messages/protobuf/fields.h"

namespace troupe::summaries {

/// Fields of Summary and Summary.Value.
enum Number : uint32_t {
  SummaryValue = 1,
  Tag = 1,
  SimpleValue = 2,
  Image = 4,
  Histogram = 5,
  Audio = 6,
  NodeName = 7,
  TensorValue = 8,
  Metadata = 9,
};

/// TensorFlow takes a vector of one element for a scalar, too.
inline Result<std::string_view> tag_of(const Tensor& tag) {
  if (tag.elements() == 1 && tag.shape().rank() <= 1) return std::string_view(tag.as<std::string>()[0]);
  return invalid_argument("tag has shape " + tag.shape().text() + "; it must be a scalar");
}

/// Returns the tag of one of several values.
inline std::string numbered_tag(std::string_view tag, std::string_view kind, bool has_number, size_t i) {
  std::string result(tag);
  result += kind;
  if (has_number) result += '/' + std::to_string(i);
  return result;
}

/// Appends a string that protocol buffers leave out if it is empty.
inline void append_text(std::string& message, uint32_t number, std::string_view text) {
  if (!text.empty()) protobuf::append_bytes_field(message, number, text);
}

inline Result<Tensor*> summary_output(KernelContext& context) { return context.output(0, Shape{}); }

inline OpDefBuilder summary(const char* name) {
  return OpDefBuilder(name).output("summary: string").shape(scalar_shape).not_differentiable();
}

}  // namespace troupe::summaries
