// Channel: one connection to a peer, from its hello on (messages/schemas/link.capnp): who is there, and frames that come once each. Owned by
// Peers until the peer is known, then by the Link it belongs to. On the control thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/engine/node.h"
#include "messages/env/network.h"

namespace troupe {

/// Who a node is to its peers.
struct NodeIdentity {
  std::string cluster;
  std::string task;  ///< "/job:ps/replica:0/task:0"
  uint64_t incarnation = 0;
  int64_t heartbeat = 200'000'000;  ///< nanoseconds: it sends by control at least so often
  bool asking = false;              ///< it is no member, but has a question
};

/// Of this program: only equal ones are linked.
const char* build_id();

/// Which connection of which link.
struct ChannelName {
  uint64_t link = 0;
  bool bulk = false;
};

class Channel final : private Connection::Events {
 public:
  class Owner {
   public:
    /// Whether a peer that would open a link may, before it is answered.
    virtual Status admits(const NodeIdentity&) { return {}; }
    /// Whether that task is of no member of the cluster: a peer whose certificate names no task may only be such a one.
    virtual bool is_client(const std::string&) const { return false; }
    /// The peer has said who it is; Ok, or why it is refused. May make another the owner.
    virtual Status greeted(Channel& channel) = 0;
    /// A frame of the peer. A failure closes the channel.
    virtual Status received(Channel& channel, Frame frame) = 0;
    /// The last call; the owner may end the channel in it.
    virtual void closed(Channel& channel, const Status& reason) = 0;

   protected:
    ~Owner() = default;
  };

  /// Says hello. `name` is of a connection that this node made; nothing: the peer made it and says its name.
  Channel(ActorNode& node, Owner& owner, NodeIdentity self, const FrameLimits& limits,
          std::unique_ptr<Connection> connection, std::optional<ChannelName> name);

  void set_owner(Owner& owner) { owner_ = &owner; }
  /// Who the peer is; nothing before it was greeted.
  const std::optional<NodeIdentity>& peer() const { return peer_; }
  const ChannelName& name() const { return *name_; }
  const NodeIdentity& self() const { return self_; }

  /// Sends a frame; its sequence, which is unique on the link. A failure is the message's own: nothing was sent then. Only while
  /// open.
  Result<uint64_t> send(FrameHeader header, AnyMessage message);
  /// Says goodbye with the reason, which the owner is told too.
  void close(const Status& reason);

  bool open() const { return connection_ != nullptr; }
  int64_t opened() const { return opened_; }
  int64_t heard() const { return heard_; }  ///< when the last frame came
  uint64_t repeated() const { return repeated_; }

 private:
  void say_hello();
  void send_own(AnyMessage message);
  void received(Frame frame) override;
  void closed(Status reason) override;
  Status take(Frame frame);
  Status greet(Frame frame);
  /// Requires that the peer may call itself that, as far as the transport proves who it is.
  Status check_proof(const std::string& task) const;

  ActorNode& node_;
  Owner* owner_;
  const NodeIdentity self_;
  const FrameLimits limits_;
  std::unique_ptr<Connection> connection_;
  std::optional<ChannelName> name_;
  std::optional<NodeIdentity> peer_;
  int64_t opened_ = 0, heard_ = 0;
  uint64_t sent_ = 0, received_ = 0;  ///< the last sequence; 0: none
  uint64_t repeated_ = 0;
};

}  // namespace troupe
