#include "messages/values/address.h"

#include <charconv>

namespace troupe {

std::string Address::text() const {
  char hex[16];
  const auto end = std::to_chars(hex, hex + sizeof hex, incarnation, 16).ptr;
  std::string out = task + '#' + std::string(hex, end) + ' ' + role;
  return key.empty() ? out : out + ' ' + key;
}

}  // namespace troupe

size_t std::hash<troupe::Address>::operator()(const troupe::Address& address) const noexcept {
  const hash<string> hash_text;
  size_t seed = hash<uint64_t>{}(address.incarnation);
  for (const string* part : {&address.task, &address.role, &address.key})
    seed = (seed ^ hash_text(*part)) * 0x9e3779b97f4a7c15u;
  return seed;
}
