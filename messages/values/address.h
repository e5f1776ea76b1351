// Address: the name of an actor, valid in every process: structs carry addresses, never handles.
// `task` says which process, `incarnation` which life of it (random per process start), `role` and `key`
// which actor there. A message to an address of an earlier incarnation is refused: a restarted process is
// someone else. A plain value.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#pragma GCC visibility push(default)
namespace troupe {

struct Address {
  std::string task;  ///< "/job:ps/replica:0/task:0"
  uint64_t incarnation = 0;
  std::string role;  ///< the schema's word: "variable", "queue", "executor"
  std::string key;   ///< among the actors of that role; empty for the only one

  /// "/job:ps/replica:0/task:0#1f2e variable layer1/w".
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
