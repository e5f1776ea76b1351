// Link: the connection of this node to one other, as its actors see it: it makes stubs of the other's actors, carries what they
// are told, and hands in what the other says (messages/link.capnp). Owned by Peers. actor() from any thread; the rest, like the
// Connection below, on the control thread. Times in nanoseconds.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/node.h"
#include "messages/address.h"
#include "messages/network.h"

namespace troupe {

/// Who a node is to its peers.
struct NodeIdentity {
  std::string cluster;
  std::string task;  ///< "/job:ps/replica:0/task:0"
  uint64_t incarnation = 0;
};

struct LinkOptions {
  int64_t heartbeat = 200'000'000;  ///< something is sent at least this often
  int64_t silence = 1'000'000'000;  ///< after so long without a byte the peer counts as dead
  int64_t hello = 5'000'000'000;    ///< within which a new peer must have said who it is
  size_t actors = 1 << 16;          ///< that a peer may address
  FrameLimits frames;
};

class Link final : public std::enable_shared_from_this<Link>, private Connection::Events {
 public:
  class Owner {
   public:
    /// The peer has said who it is; Ok, or why it is refused.
    virtual Status greeted(Link& link) = 0;
    /// The peer addresses this actor: tell actor_ended() when it ends.
    virtual void watch(const ActorRef& actor) = 0;
    /// The last call; from within a call to the link as well.
    virtual void closed(Link& link, const Status& reason) = 0;

   protected:
    ~Owner() = default;
  };

  /// Both outlive the link.
  Link(ActorNode& node, Owner& owner, NodeIdentity self, const LinkOptions& options);

  void open(std::unique_ptr<Connection> connection);
  /// Tells the peer why, when it still can be told; then every stub goes down and every pending request is answered with it.
  void close(const Status& reason);
  /// Who the peer is; nothing before it was greeted.
  const std::optional<NodeIdentity>& peer() const { return peer_; }

  /// The stub of an actor of the peer.
  ActorRef actor(const Address& address);
  void actor_ended(const ActorRef& actor, const Status& reason);

  /// Frames that came twice, or for an actor that is not there.
  uint64_t dropped() const { return dropped_; }

 private:
  /// A frame to be sent.
  struct Outgoing {
    FrameHeader header;
    AnyMessage message;
    Reply reply;  ///< of a request
  };

  void received(Frame frame) override;
  void closed(Status reason) override;

  void post(Outgoing outgoing);
  void flush_soon();
  void flush();
  void send(Outgoing outgoing);
  void send_control(AnyMessage message);
  void tick();
  void start_timer();

  Status take(Frame frame);
  Status greet(Frame frame);
  Status control(Frame frame);
  void answered(Frame frame);
  Status deliver(Frame frame);
  Status bind(uint64_t number, const Address& address);
  void stub_ended(uint64_t number, const Status& reason);
  void send_down(uint64_t number, const Status& reason);
  void abandon_all(const Status& reason);

  ActorNode& node_;
  Owner& owner_;
  const NodeIdentity self_;
  const LinkOptions options_;

  // On the control thread.
  std::unique_ptr<Connection> connection_;
  std::optional<NodeIdentity> peer_;
  TimerId timer_ = 0;
  int64_t opened_ = 0, heard_ = 0;
  bool quiet_ = false, over_ = false;
  uint64_t sent_ = 0, received_ = 0, dropped_ = 0;
  std::map<uint64_t, Reply> pending_;               ///< requests, by the sequence of their frame
  std::unordered_map<uint64_t, ActorRef> exports_;  ///< by the number that the peer bound

  std::mutex mutex_;  ///< guards what follows
  std::vector<Outgoing> outgoing_;
  bool flushing_ = false;
  std::unordered_map<Address, ActorRef> stubs_;
  std::map<uint64_t, Address> addresses_;  ///< of the stubs, by the number bound to each
  uint64_t last_number_ = 0;
  std::optional<Status> closed_;
};

}  // namespace troupe
