#include "apps/c/status.h"

#include <cstdlib>

#include "apps/c/calls.h"

namespace troupe::c {
namespace {

struct Failure {
  std::string message, node;
};
thread_local Failure last_failure;

}  // namespace

troupe_code keep(const Status& failure) noexcept {
  try {
    last_failure = {failure.message(), failure.node()};
  } catch (const std::exception&) {
    last_failure.message.clear();
    last_failure.node.clear();
  }
  return static_cast<troupe_code>(failure.code());
}

std::vector<std::string> texts(const char* const* pointers, size_t count, const char* what) {
  std::vector<std::string> result;
  for (const char* const pointer : array(pointers, count, what)) result.push_back(text(pointer, what));
  return result;
}

void hand_over(const std::string& text, char*& bytes, size_t& size) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  bytes = copy;
  size = text.size();
}

}  // namespace troupe::c

const char* troupe_version() { return TROUPE_VERSION; }

const char* troupe_code_name(troupe_code code) {
  const bool known = code >= TROUPE_OK && code <= TROUPE_DATA_LOSS;
  return troupe::name(known ? static_cast<troupe::Code>(code) : troupe::Code::Unknown).data();
}

const char* troupe_error_message() { return troupe::c::last_failure.message.c_str(); }
const char* troupe_error_node() { return troupe::c::last_failure.node.c_str(); }

void troupe_bytes_destroy(char* bytes) { std::free(bytes); }
