// Link: the connections of this node to one other node (messages/schemas/link.capnp). It makes stubs of the peer's actors, sends
// the messages that the stubs receive, and delivers the messages of the peer to actors of this node. Owned by Peers. Any thread
// may call actor() and unsent(); the other functions are for the control thread only. Times in nanoseconds.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/net/channel.h"
#include "messages/values/address.h"

namespace troupe {

struct LinkOptions {
  int64_t hello = 5'000'000'000;  ///< time limit for connecting, and for the Hello of a new peer
  size_t actors = 1 << 16;        ///< how many actors a peer may address
  size_t requests = 1 << 20;      ///< how many requests of a peer may be without an answer
  /// Links that cannot go through the transport that the network offers are refused.
  bool offered_only = false;
  FrameLimits frames;
};

class Link final : public std::enable_shared_from_this<Link>, private Channel::Owner {
 public:
  class Owner {
   public:
    /// Called when the peer addresses this actor. The owner must call actor_ended() when the actor ends.
    virtual void watch(const ActorRef& actor) = 0;
    /// The last call. It may happen within a call to the link.
    virtual void closed(Link& link, const Status& reason) = 0;

   protected:
    ~Owner() = default;
  };

  /// Opens a link over a control channel whose Hellos have been exchanged. Node and owner must outlive the link.
  static std::shared_ptr<Link> open(ActorNode& node, Owner& owner, const LinkOptions& options,
                                    std::unique_ptr<Channel> control);
  /// Adds the second channel, whose Hellos have been exchanged, and sends the frames that have waited for it.
  void adopt_bulk(std::unique_ptr<Channel> bulk);
  /// Sends the reason to the peer, and whether this node ends. Ends every stub with the reason, and answers every pending request
  /// with it.
  void close(const Status& reason, bool node_ends = false);

  const NodeIdentity& peer() const { return peer_; }
  /// Whether the peer has sent something within the last two heartbeat intervals.
  bool is_responsive() const;
  /// Whether the peer has said that its node ends.
  bool peer_ends() const { return peer_ends_; }
  uint64_t id() const { return control_->name().link; }
  const Channel& control_channel() const { return *control_; }

  /// Returns the stub of an actor of the peer.
  ActorRef actor(const Address& address);
  /// Tells the peer that an actor of this node, which it may have addressed, has ended.
  void actor_ended(const ActorRef& actor, const Status& reason);

  /// How many bytes waited to be sent at the last tick, which comes once per heartbeat. Any thread.
  uint64_t unsent() const { return unsent_.load(std::memory_order_relaxed); }
  /// How many frames were dropped: those that arrived twice, and those for unknown actors and requests.
  uint64_t dropped() const;

 private:
  Link(ActorNode& node, Owner& owner, const LinkOptions& options, std::unique_ptr<Channel> control);

  /// A frame to be sent.
  struct Outgoing {
    FrameHeader header;
    AnyMessage message;
    Reply reply;  ///< expected if the message is a request
  };

  /// A request of this node that has no answer yet.
  struct Pending {
    Reply reply;
    uint64_t schema_id = 0;
    uint64_t since = 0;  ///< the tick at which it was sent
    int missed = 0;      ///< in how many audits in a row the peer did not know it
  };
  /// The latest audit.
  struct AuditRound {
    uint64_t number = 0;
    size_t unanswered = 0, channels = 0;
    /// By sequence: on how many channels the peer did not know the request.
    std::map<uint64_t, size_t> unknown;
  };

  Status greeted(Channel& channel) override;
  Status received(Channel& channel, Frame frame) override;
  void closed(Channel& channel, const Status& reason) override;

  void post(Outgoing outgoing);
  void flush();
  void send(Outgoing outgoing);
  void send_on(Channel& channel, Outgoing outgoing);
  /// Sends Bind when the number is used on the channel for the first time. Returns false if the actor has ended.
  bool bound(Channel& channel, uint64_t number);
  void tick();
  void start_timer();
  int64_t silence() const;
  /// Fails if the peer has sent nothing, or read nothing of what waits for it, for too long.
  Status check_peer_lives();
  int64_t interval() const;

  Status control(Channel& channel, const AnyMessage& message);
  void answered(Frame frame);
  Status deliver(Frame frame);
  Status bind(uint64_t number, const Address& address);
  void stub_ended(uint64_t number, const Status& reason);
  void send_down(uint64_t number, const Status& reason);
  /// Returns the failure of what lacks tensors that this process has no memory for.
  Status without_memory(const Status& shortage) const;
  void abandon_all(const Status& reason);
  void begin_audit();
  void audit(Channel& channel, const AnyMessage& message);
  void audited(const AnyMessage& message);
  void end_audit();

  ActorNode& node_;
  Owner& owner_;
  const LinkOptions options_;

  // On the control thread.
  std::unique_ptr<Channel> control_, bulk_;
  /// Whether the second channel carries all frames for actors, not only large ones: if it results from an offer.
  bool all_by_bulk_ = false;
  const NodeIdentity peer_;
  TimerId timer_ = 0;
  int64_t next_tick_ = 0;  ///< when the timer is due
  int64_t resumed_ = 0;    ///< when this process ran again after it had not run for a while
  bool idle_ = false;      ///< nothing was sent on the control channel since the last tick
  bool ended_ = false;
  bool node_ends_ = false, peer_ends_ = false;  ///< whether the node of this side, and that of the peer, end
  uint64_t undeliverable_ = 0;                  ///< frames for unknown actors and requests
  std::vector<Outgoing> waiting_;               ///< frames that wait for the second channel
  std::map<uint64_t, Pending> pending_;         ///< requests of this node, by the sequence of their frame
  std::set<uint64_t> owed_;                     ///< requests of the peer that have no answer yet, by sequence
  AuditRound audit_;
  uint64_t ticks_ = 0;
  std::atomic<uint64_t> unsent_{0};
  /// Actors of this node, by the number that the peer bound.
  std::unordered_map<uint64_t, ActorRef> exports_;
  /// By stub number: whether bound on control, on bulk.
  std::unordered_map<uint64_t, std::array<bool, 2>> bindings_;

  mutable std::mutex mutex_;  ///< guards the members below
  std::vector<Outgoing> outgoing_;
  bool flushing_ = false;
  std::unordered_map<Address, ActorRef> stubs_;
  std::map<uint64_t, Address> addresses_;  ///< by stub number
  uint64_t last_number_ = 0;
  std::optional<Status> closed_;
};

}  // namespace troupe
