// Address: the name of an actor, valid in every process of a cluster. Messages carry addresses, never handles of actors.
// A message to an address whose incarnation is not that of the running process is refused, because the process was restarted and
// its actors are others. A plain value.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#pragma GCC visibility push(default)
namespace troupe {

struct Address {
  std::string task;          ///< for example "/job:ps/replica:0/task:0"
  uint64_t incarnation = 0;  ///< a random number that each process draws when it starts
  std::string role;  ///< one of the role names in messages/schemas: "variable", "queue", "executor", ...
  std::string key;   ///< distinguishes actors of one role; empty for the only one

  /// For people: "/job:ps/replica:0/task:0#1f2e variable layer1/w".
  std::string text() const;

  friend bool operator==(const Address&, const Address&) = default;
  friend auto operator<=>(const Address&, const Address&) = default;
};

}  // namespace troupe

template <>
struct std::hash<troupe::Address> {
  size_t operator()(const troupe::Address& address) const noexcept;
};
#pragma GCC visibility pop
