// Discovery: finds out which member of a cluster answers at an endpoint, over a link for one question: this node does not become a
// member by it (messages/schemas/link.capnp). Made and destroyed on a thread that may wait; actor() may be called from any thread.
#pragma once

#include <memory>
#include <string>

#include "actors/net/channel.h"
#include "messages/values/address.h"

namespace troupe {

class Discovery {
 public:
  /// Opens a link to the member at `endpoint`, and tries again while it cannot be reached. `self` must say that it is asking. Fails
  /// with DeadlineExceeded or Unavailable if no member can be reached there, or with the code of the refusal of one of the sides.
  static Result<std::unique_ptr<Discovery>> find_member(ActorNode& node, const NodeIdentity& self,
                                                        const std::string& endpoint, int64_t deadline);
  /// Closes the link.
  ~Discovery();

  const NodeIdentity& member() const;
  /// Returns the stub of an actor of the member; null if the link has been closed.
  ActorRef actor(const Address& address) const;

 private:
  class Attempt;
  explicit Discovery(ActorNode& node);
  Status connect(const NodeIdentity& self, const std::string& endpoint, int64_t deadline);

  ActorNode& node_;
  std::unique_ptr<Attempt> attempt_;  ///< destroyed on the control thread
};

}  // namespace troupe
