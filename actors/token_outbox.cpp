#include "actors/token_outbox.h"

#include <algorithm>

#include "messages/executor.capnp.h"
#include "messages/message_reader.h"

namespace troupe {
namespace {

constexpr size_t large =
    16 << 10;  // bytes: worth a message of its own, so that it overlaps with what is computed next

}  // namespace

void TokenOutbox::add(const ActorRef& peer, const Token& token, std::optional<Tensor> tensor) {
  auto parcel = std::ranges::find(parcels_, peer, &Parcel::peer);
  if (parcel == parcels_.end()) parcel = parcels_.insert(parcel, {peer, {}, {}});
  parcel->tokens.push_back(token);
  if (!tensor) return;
  const bool now = tensor->bytes() >= large;
  parcel->tensors.push_back(std::move(*tensor));
  if (now) send(*parcel);
}

void TokenOutbox::flush() {
  for (Parcel& parcel : parcels_)
    if (!parcel.tokens.empty()) send(parcel);
}

void TokenOutbox::send(Parcel& parcel) {
  Draft<wire::TensorsArrived> draft;
  auto step = draft->initStep();
  step.setSession(info_.session);
  step.setOrdinal(info_.ordinal);
  auto arrivals = draft->initArrivals(static_cast<uint32_t>(parcel.tokens.size()));
  for (uint32_t i = 0; i < parcel.tokens.size(); ++i) {
    const Token& token = parcel.tokens[i];
    arrivals[i].setEdge(token.edge);
    arrivals[i].setFrame(token.frame);
    arrivals[i].setIteration(token.iteration);
    arrivals[i].setDead(token.dead);
    arrivals[i].setAnnounced(token.announced);
  }
  parcel.tokens.clear();
  engine_.send(parcel.peer, draft.finish(std::exchange(parcel.tensors, {})));
}

}  // namespace troupe
