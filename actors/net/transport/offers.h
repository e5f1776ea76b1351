// Offers: the offers of a transport that no peer has accepted yet (Network::make_offer). A token opens one connection, and nobody
// else can guess it. Owned by the network that makes them; on its thread.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>

namespace troupe {

std::string random_bytes(size_t count);

class Offers {
 public:
  static constexpr size_t token_bytes = 16;

  struct Offer {
    std::string token;
    std::optional<std::string> proven_task;  ///< of the connection over which the offer was made
  };

  /// Makes an offer and returns its token. If there are too many, the oldest one is withdrawn.
  std::string add(const std::optional<std::string>& proven_task);
  /// Returns the offer with this token and withdraws it; nothing if there is none.
  std::optional<Offer> take(std::span<const std::byte> token);
  void clear() { all_.clear(); }

 private:
  std::deque<Offer> all_;  ///< the oldest first
};

}  // namespace troupe
