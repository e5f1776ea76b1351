#include "actors/net/transport/offers.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace troupe {
namespace {

constexpr size_t max_offers = 1024;

}  // namespace

std::string random_bytes(size_t count) {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < count) bytes.push_back(static_cast<char>(random()));
  return bytes;
}

std::string Offers::add(const std::optional<std::string>& proven_task) {
  if (all_.size() >= max_offers) all_.pop_front();
  return all_.emplace_back(Offer{random_bytes(token_bytes), proven_task}).token;
}

std::optional<Offers::Offer> Offers::take(std::span<const std::byte> token) {
  const auto at = std::ranges::find_if(all_, [&](const Offer& offer) {
    return offer.token.size() == token.size() &&
           std::memcmp(offer.token.data(), token.data(), token.size()) == 0;
  });
  if (at == all_.end()) return std::nullopt;
  Offer offer = std::move(*at);
  all_.erase(at);
  return offer;
}

}  // namespace troupe
