#include "actors/services/session_tensors/tensor_handle.h"

#include <array>
#include <charconv>
#include <string_view>

namespace troupe {

std::string TensorHandle::text() const {
  return node + ';' + std::to_string(session) + '.' + std::to_string(incarnation) + '.' +
         std::to_string(number) + ';' + device;
}

Result<TensorHandle> TensorHandle::parse(const std::string& text) {
  const auto bad = [&] {
    return invalid_argument("'" + text.substr(0, 200) + "' is not the handle of a session tensor");
  };
  const size_t first = text.find(';'), last = text.rfind(';');
  if (first == std::string::npos || first == last) return bad();
  TensorHandle handle;
  handle.node = text.substr(0, first);
  handle.device = text.substr(last + 1);
  const std::string_view numbers = std::string_view(text).substr(first + 1, last - first - 1);
  const char* at = numbers.data();
  const char* const end = at + numbers.size();
  const std::array<uint64_t*, 3> parts{&handle.session, &handle.incarnation, &handle.number};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return bad();
    const auto [next, error] = std::from_chars(at, end, *parts[i]);
    if (error != std::errc()) return bad();
    at = next;
  }
  if (at != end || handle.text() != text) return bad();
  return handle;
}

}  // namespace troupe
