#include "actors/step/executor/token_outbox.h"

#include <algorithm>
#include <mutex>

#include "messages/schemas/executor.capnp.h"
#include "messages/wire/limits.h"
#include "messages/wire/message_reader.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

// A parcel with this many bytes (for this or another process) or tokens is sent at once.
constexpr size_t full_bytes_here = 16 << 10, full_bytes_remote = 256 << 10, full_tokens = 64;

}  // namespace

Result<bool> TokenOutbox::add(const Address& to, const Token& token, std::optional<Tensor> tensor) {
  TROUPE_ASSIGN(Parcel* const parcel, parcel_for(to));
  parcel->tokens.push_back(token);
  if (tensor) {
    parcel->bytes += tensor->bytes();
    parcel->tensors.push_back(std::move(*tensor));
  }
  return is_full(*parcel);
}

bool TokenOutbox::is_full(const Parcel& parcel) {
  return parcel.bytes >= (parcel.here ? full_bytes_here : full_bytes_remote) ||
         parcel.tokens.size() >= full_tokens;
}

Result<TokenOutbox::Parcel*> TokenOutbox::parcel_for(const Address& to) {
  const auto known = std::ranges::find(parcels_, &to, &Parcel::to);
  if (known != parcels_.end()) return &*known;
  TROUPE_ASSIGN(ActorRef peer, node_.directory.find(to));
  parcels_.push_back({&to, std::move(peer), node_.directory.find_local(to).ok(), 0, 0, {}, {}});
  return &parcels_.back();
}

bool TokenOutbox::may_push(const Address& to, size_t bytes) {
  const auto parcel = parcel_for(to);
  if (!parcel || (*parcel)->here) return true;  // if the address has no actor, add() fails
  const size_t counts = std::max(bytes, limits::token_bytes);
  if ((*parcel)->pushed + counts > limits::pushed_bytes) return false;
  (*parcel)->pushed += counts;
  return true;
}

void TokenOutbox::renew(const Address& to) {
  if (const auto parcel = parcel_for(to)) (*parcel)->pushed = 0;
}

void TokenOutbox::flush(FlushReason what) {
  for (Parcel& parcel : parcels_)
    if (!parcel.tokens.empty() && (parcel.here || what != FlushReason::Kernel || is_full(parcel)))
      send(parcel);
}

void TokenOutbox::send(Parcel& parcel) {
  Draft<wire::TensorsArrived> draft;
  set_step(draft->initStep(), info_.session, info_.ordinal);
  auto arrivals = draft->initArrivals(static_cast<uint32_t>(parcel.tokens.size()));
  for (uint32_t i = 0; i < parcel.tokens.size(); ++i) {
    const Token& token = parcel.tokens[i];
    auto arrival = arrivals[i];
    arrival.setEdge(token.key.edge);
    arrival.setFrame(token.key.frame);
    arrival.setIteration(token.key.iteration);
    arrival.setDead(token.dead);
    arrival.setAnnounced(token.announced);
  }
  parcel.bytes = 0;
  node_.engine.send(parcel.peer, draft.finish(std::exchange(parcel.tensors, {})));
  if (!parcel.here) {  // after sending, so that the token travels before an answer that says it was sent
    const std::lock_guard lock(lock_);
    for (const Token& token : parcel.tokens) sent_.insert(token.key);
  }
  parcel.tokens.clear();
}

bool TokenOutbox::has_sent(const TokenKey& key) const {
  const std::lock_guard lock(lock_);
  return sent_.contains(key);
}

}  // namespace troupe
