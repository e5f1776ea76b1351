// Channel: one connection to a peer (messages/schemas/link.capnp). It exchanges the Hellos, so that the identity of the peer is
// known, and delivers each frame once. Owned by Peers until the peer is known, then by the Link that it belongs to. Used on the
// control thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/engine/node.h"
#include "actors/net/traffic.h"
#include "messages/env/network.h"

namespace troupe {

/// What a node says about itself in its Hello.
struct NodeIdentity {
  std::string cluster;
  std::string task;  ///< "/job:ps/replica:0/task:0"
  uint64_t incarnation = 0;
  int64_t heartbeat = 200'000'000;  ///< nanoseconds; it sends on the control connection at least this often
  bool asking = false;              ///< it only has a question about the cluster and is not a member
};

/// The version of this program. Only nodes with equal versions can be linked.
const char* build_id();

/// Identifies a connection: its link, and which of the two connections of the link it is.
struct ChannelName {
  uint64_t link = 0;
  bool bulk = false;
};

class Channel final : private Connection::Events {
 public:
  class Owner {
   public:
    /// Called when the Hello of a peer that opens a link has arrived, before it is answered. A failure refuses the peer.
    virtual Status admits(const NodeIdentity&) { return {}; }
    /// Returns whether a task is a client, not a member of the cluster. A peer whose certificate names no task, or that of another
    /// client of the same job, must be a client.
    virtual bool is_client(const std::string&) const { return false; }
    /// Called when the Hellos have been exchanged. A failure refuses the peer. May call set_owner().
    virtual Status greeted(Channel& channel) = 0;
    /// Called for each frame of the peer after its Hello. A failure closes the channel.
    virtual Status received(Channel& channel, Frame frame) = 0;
    /// The last call. The owner may destroy the channel in it.
    virtual void closed(Channel& channel, const Status& reason) = 0;

   protected:
    ~Owner() = default;
  };

  /// If this node made the connection, `name` is its name, and the channel sends Hello at once. If the peer made it, `name` is
  /// empty: the peer's Hello contains the name.
  Channel(ActorNode& node, Owner& owner, NodeIdentity self, const FrameLimits& limits,
          std::unique_ptr<Connection> connection, std::optional<ChannelName> name);

  void set_owner(Owner& owner) { owner_ = &owner; }
  /// The messages from now on are counted there.
  void count(std::shared_ptr<Traffic> traffic) { traffic_ = std::move(traffic); }
  /// The identity of the peer; empty before its Hello has been accepted.
  const std::optional<NodeIdentity>& peer() const { return peer_; }
  const ChannelName& name() const { return *name_; }
  const NodeIdentity& self() const { return self_; }

  /// Sends a frame and returns its sequence, which is unique on the link. Fails if the message cannot be sent as a frame; then
  /// nothing was sent. The channel must be open.
  Result<uint64_t> send(FrameHeader header, AnyMessage message);
  /// Sends Goodbye with the reason, which also says whether this node ends, and calls closed() of the owner with the reason.
  void close(const Status& reason, bool node_ends = false);

  bool open() const { return connection_ != nullptr; }
  /// Whether its connection results from an offer, see Connection.
  bool is_offered() const { return is_offered_; }
  /// What one side has offered to the other in its Hello.
  const std::optional<TransportOffer>& offer() const { return offer_; }
  /// The task that the peer's certificate names, see Connection. The channel must be open.
  std::optional<std::string> proven_task() const { return connection_->proven_task(); }
  int64_t opened() const { return opened_; }
  /// See Lender. The channel must be open.
  bool lends_gpu_memory() const { return connection_->lender() && connection_->lender()->lends_gpu_memory(); }
  /// How many bytes the connection has not sent yet. The channel must be open.
  size_t unsent() const { return connection_->unsent(); }
  /// Returns for how long the peer has read nothing although bytes wait for it, as far as the calls of this function tell. The
  /// channel must be open.
  int64_t unread_for();
  /// When the last bytes arrived.
  int64_t last_received() const { return last_received_; }
  /// How many frames were dropped because they arrived twice.
  uint64_t repeated() const { return repeated_; }

 private:
  void say_hello();
  void send_own(AnyMessage message);
  void received(Frame frame) override;
  void receiving() override;
  void closed(Status reason) override;
  Status take(Frame frame);
  Status greet(Frame frame);
  /// Checks that the peer may claim to be this task, if the transport proves the peer's identity.
  Status check_identity(const std::string& task) const;

  ActorNode& node_;
  Owner* owner_;
  const NodeIdentity self_;
  const FrameLimits limits_;
  std::unique_ptr<Connection> connection_;
  std::optional<ChannelName> name_;
  std::optional<NodeIdentity> peer_;
  std::optional<TransportOffer> offer_;
  const bool is_offered_;
  int64_t opened_ = 0, last_received_ = 0;  ///< times
  uint64_t sent_ = 0, received_ = 0;        ///< the sequence of the last frame; 0: none
  uint64_t repeated_ = 0;
  uint64_t queued_ = 0;    ///< the bytes that were handed to the connection
  uint64_t read_ = 0;      ///< those that it had sent at last_read_
  int64_t last_read_ = 0;  ///< when unread_for() last saw that the peer reads, or that nothing waits for it
  std::shared_ptr<Traffic> traffic_;  ///< null: nobody counts
};

}  // namespace troupe
