// Link: the connections of this node to one other, as its actors see them: it makes stubs of the other's actors, carries what they
// are told, and hands in what the other says (messages/schemas/link.capnp). Owned by Peers. actor() from any thread; the rest on the control
// thread. Times in nanoseconds.
#pragma once

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
  int64_t hello = 5'000'000'000;  ///< within which a new peer must have said who it is
  size_t actors = 1 << 16;        ///< that a peer may address
  FrameLimits frames;
};

class Link final : public std::enable_shared_from_this<Link>, private Channel::Owner {
 public:
  class Owner {
   public:
    /// The peer addresses this actor: tell actor_ended() when it ends.
    virtual void watch(const ActorRef& actor) = 0;
    /// The last call; from within a call to the link as well.
    virtual void closed(Link& link, const Status& reason) = 0;

   protected:
    ~Owner() = default;
  };

  /// Over a control channel that was greeted. Node and owner outlive the link.
  static std::shared_ptr<Link> open(ActorNode& node, Owner& owner, const LinkOptions& options,
                                    std::unique_ptr<Channel> control);
  /// The other channel, greeted too; what must go there has waited.
  void adopt_bulk(std::unique_ptr<Channel> bulk);
  /// Tells the peer why; then every stub goes down and every pending request is answered with it.
  void close(const Status& reason);

  const NodeIdentity& peer() const { return peer_; }
  /// Whether it was heard of within the time in which it says something at least, and as much again.
  bool is_fresh() const;
  uint64_t id() const { return control_->name().link; }

  /// The stub of an actor of the peer.
  ActorRef actor(const Address& address);
  void actor_ended(const ActorRef& actor, const Status& reason);

  /// Frames that came twice, or for an actor that is not there.
  uint64_t dropped() const;

 private:
  Link(ActorNode& node, Owner& owner, const LinkOptions& options, std::unique_ptr<Channel> control);

  /// A frame to be sent.
  struct Outgoing {
    FrameHeader header;
    AnyMessage message;
    Reply reply;  ///< of a request
  };

  /// A request without an answer yet.
  struct Pending {
    Reply reply;
    uint64_t schema_id = 0;
    uint64_t since = 0;  ///< the tick at which it was sent
    int missed = 0;      ///< audits in a row in which the peer did not know it
  };
  /// What was asked last, and how often the peer did not know each of it.
  struct AuditRound {
    uint64_t number = 0;
    size_t unanswered = 0, channels = 0;
    std::map<uint64_t, size_t> unknown;  ///< by sequence
  };

  Status greeted(Channel& channel) override;
  Status received(Channel& channel, Frame frame) override;
  void closed(Channel& channel, const Status& reason) override;

  void post(Outgoing outgoing);
  void flush();
  void send(Outgoing outgoing);
  void send_on(Channel& channel, Outgoing outgoing);
  void send_control(AnyMessage message);
  /// Tells the peer which actor the number means, the first time it is used on the channel; false when it is down.
  bool bound(Channel& channel, uint64_t number);
  void tick();
  void start_timer();
  int64_t silence() const;
  int64_t interval() const;

  Status control(Channel& channel, const AnyMessage& message);
  void answered(Frame frame);
  Status deliver(Frame frame);
  Status bind(uint64_t number, const Address& address);
  void stub_ended(uint64_t number, const Status& reason);
  void send_down(uint64_t number, const Status& reason);
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
  const NodeIdentity peer_;
  TimerId timer_ = 0;
  bool quiet_ = false;  ///< nothing went by control since the last tick
  bool over_ = false;
  uint64_t nobodys_ = 0;                 ///< frames for actors that are not there
  std::vector<Outgoing> waiting_;        ///< for the bulk channel to be there
  std::map<uint64_t, Pending> pending_;  ///< requests, by the sequence of their frame
  std::set<uint64_t> owed_;              ///< requests of the peer without an answer yet
  AuditRound audit_;
  uint64_t ticks_ = 0;
  std::unordered_map<uint64_t, ActorRef> exports_;              ///< by the number that the peer bound
  std::unordered_map<uint64_t, std::array<bool, 2>> bindings_;  ///< of stubs: told by control, in bulk

  mutable std::mutex mutex_;  ///< guards what follows
  std::vector<Outgoing> outgoing_;
  bool flushing_ = false;
  std::unordered_map<Address, ActorRef> stubs_;
  std::map<uint64_t, Address> addresses_;  ///< of the stubs, by their number
  uint64_t last_number_ = 0;
  std::optional<Status> closed_;
};

}  // namespace troupe
