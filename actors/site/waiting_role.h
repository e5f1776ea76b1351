// WaitingRole: a role at which requests of steps wait, in lines (waiting_line.h), until they can be answered, their step ends,
// or their timeout has passed. Messages: messages/schemas/waiting.capnp.
#pragma once

#include <functional>
#include <string>

#include "actors/engine/node.h"
#include "actors/site/waiting_line.h"
#include "kernels/core/kernel.h"

namespace troupe {

class WaitingRole : public Role {
 protected:
  /// `what` names the state in errors: "queue 'q'".
  WaitingRole(ActorNode& node, std::string what);

  using Concerned = std::function<bool(const WaitingRequest&)>;
  /// Answers every waiting request for which `concerned` is true with `reason`, through finish(), and carries on with the
  /// others.
  virtual void end_waiting(const Concerned& concerned, const Status& reason) = 0;

  /// Makes the entry of a request, which names its step.
  template <class Entry, class Reader>
  Entry waiting(Reader request, Reply reply) {
    Entry entry;
    entry.number = ++last_number_;
    entry.step = {request.getStep().getSession(), request.getStep().getOrdinal(), 0};
    entry.reply = std::move(reply);
    return entry;
  }
  /// Adds a request to a line and calls `advance()`. If the request then still waits, it may wait for `timeout` nanoseconds;
  /// negative: for any time.
  template <class Entry, class Advance>
  void wait_in(WaitingLine<Entry>& line, Entry entry, int64_t timeout, Advance advance) {
    const uint64_t number = entry.number;
    line.push_back(std::move(entry));
    advance();
    if (timeout < 0) return;
    if (Entry* const still = line.find(number)) still->timer = expire_after(number, timeout);
  }
  /// Answers a request that is leaving its line.
  void finish(WaitingRequest& request, Result<AnyMessage> answer);
  /// Drops the timer of a request that has been answered.
  void stop_timer(const WaitingRequest& request) const;
  const std::string& what() const { return what_; }

  ActorNode& node_;

 private:
  TimerId expire_after(uint64_t number, int64_t timeout);

  const std::string what_;
  uint64_t last_number_ = 0;
};

/// Returns the message that makes a WaitingRole answer the requests of a step that ends early.
AnyMessage cancellation_of(const StepInfo& step);

}  // namespace troupe
