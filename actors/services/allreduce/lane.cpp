#include "actors/services/allreduce/lane.h"

#include <algorithm>
#include <tuple>

#include "messages/schemas/allreduce.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// The order in which a rank sends contributions.
auto place_of(const Contribution& message) {
  const auto instance = message->getInstance();
  return std::tuple(instance.getNumber(), instance.getAttempt());
}

}  // namespace

std::string lane_name(std::string_view group, std::string_view key, bool training) {
  std::string name(training ? "round of " : "run of ");
  name += group;
  name += '/';
  name += key;
  return name;
}

AnyMessage past_answer(uint64_t over) {
  Draft<wire::Contributed> draft;
  draft->setPast(true);
  draft->setOver(over);
  return draft.finish();
}

bool Lane::is_past(const Contribution& message) const {
  const uint32_t rank = message->getRank();
  return message->getInstance().getNumber() <= over && rank < sessions.size() &&
         sessions[rank] == message->getSession();
}

AnyMessage failed_answer(uint64_t attempt) {
  Draft<wire::Contributed> draft;
  draft->setFailed(attempt);
  return draft.finish();
}

uint64_t Lane::number_of(uint64_t round, uint32_t rank, uint64_t session) {
  if (sessions.size() <= rank) sessions.resize(rank + 1, 0);
  if (std::exchange(sessions[rank], session) != session) over = 0;
  if (round != 0) over = std::min(over, round - 1);
  return round != 0 ? round : over + 1;
}

uint64_t Lane::attempt_of(uint64_t number) const {
  uint64_t attempt = failed_number == number ? failed_attempt + 1 : 1;
  for (const Kept& one : kept)
    if (one.message->getInstance().getNumber() == number)
      attempt = std::max(attempt, one.message->getInstance().getAttempt());
  return attempt;
}

bool Lane::record_failure(uint64_t number, uint64_t attempt) {
  if (failed_number == number && failed_attempt >= attempt) return false;
  failed_number = number;
  failed_attempt = attempt;
  return true;
}

void Lane::keep(Kept contribution) {
  const auto place = place_of(contribution.message);
  const uint32_t rank = contribution.message->getRank();
  const auto refuse = [&](Kept& one) {
    one.reply(aborted("rank " + std::to_string(rank) + " has begun another instance or attempt"));
  };
  for (const Kept& one : kept)
    if (one.message->getRank() == rank && place_of(one.message) > place) return refuse(contribution);
  std::erase_if(kept, [&](Kept& one) {
    if (one.message->getRank() != rank || place_of(one.message) == place) return false;
    refuse(one);
    return true;
  });
  kept.push_back(std::move(contribution));
}

std::vector<Lane::Kept> Lane::take(uint64_t number, uint64_t attempt) {
  std::vector<Kept> result, later;
  for (Kept& one : kept) {
    const auto instance = one.message->getInstance();
    if (instance.getNumber() == number && instance.getAttempt() == attempt)
      result.push_back(std::move(one));
    else if (instance.getNumber() > number)
      later.push_back(std::move(one));
    else if (instance.getNumber() == number)
      one.reply(failed_answer(attempt - 1));
    else
      one.reply(past_answer(number - 1));
  }
  kept = std::move(later);
  return result;
}

}  // namespace troupe
