// Peers: the other nodes of the cluster: which of them are linked, their incarnations, and the lookup of their actors. One per node
// that belongs to a cluster; it is destroyed before the ActorNode. Made, used and destroyed on the control thread, except for the
// functions that say otherwise.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "actors/net/link.h"
#include "actors/net/refusal.h"

namespace troupe {

struct PeersOptions {
  NodeIdentity self;
  std::set<std::string> members = {};  ///< the tasks of the cluster; any other task is a client
  LinkOptions link = {};
  int64_t retry = 100'000'000;  ///< nanoseconds from a failed or lost connection to the next attempt
  /// Called with the reason when a peer has refused this process as a second process of the same task for longer than the peer
  /// would need to notice that the first process is gone.
  std::function<void(const Status&)> displaced = {};
};

/// What this node knows about the presence of a task.
struct Presence {
  bool linked = false;
  uint64_t links = 0;  ///< how many links to it have been opened so far
  /// Whether its node closed the last link because it ended, and no other link has been opened since.
  bool ended = false;
};

class Peers final : private Link::Owner, private Channel::Owner {
 public:
  /// Sets the remote lookup of the node's directory.
  Peers(ActorNode& node, PeersOptions options);
  /// Closes all links.
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  /// Accepts connections at this endpoint. Returns the endpoint with the port that is really used.
  Result<std::string> listen(const std::string& endpoint);
  /// Keeps a link to this task from now on: connects again whenever the link is lost. Only one of two nodes may do this.
  void connect(const std::string& task, const std::string& endpoint);

  /// Returns the incarnation of a linked task. If it is not linked, fails with the last problem: Unavailable, or a permanent code.
  /// Any thread.
  Result<uint64_t> incarnation_of(const std::string& task) const;
  /// Any thread.
  Presence presence_of(const std::string& task) const;
  /// Returns how frames for actors of a linked task travel: by the transport that the network offers, or "TCP", with the reason if
  /// this node tried the other one; ", also that of GPUs" follows if GPUs of the task read the memory of this node's GPUs. Empty
  /// while the link is not complete. Any thread.
  std::string transport_of(const std::string& task) const;
  /// What has been exchanged with all peers so far. Any thread.
  const Traffic& traffic() const { return *traffic_; }
  /// How many bytes waited to be sent to all linked peers at their last heartbeats. Any thread.
  uint64_t unsent() const;

 private:
  /// A connection whose peer has not sent its Hello yet.
  struct PendingConnection {
    std::unique_ptr<Channel> channel;
    std::string expected;  ///< the task that this node connected to; empty if the peer connected
    uint64_t number = 0;
    /// Why this second connection of a link does not go through the offered transport, if that was tried.
    Status unmet = {};
  };
  using PendingConnections = std::vector<PendingConnection>;

  Status admits(const NodeIdentity& peer) override;
  bool is_client(const std::string& task) const override { return !options_.members.contains(task); }
  Status greeted(Channel& channel) override;
  void watch(const ActorRef& actor) override;
  void closed(Link& link, const Status& reason) override;
  Status received(Channel& channel, Frame frame) override;
  void closed(Channel& channel, const Status& reason) override;

  void await_hello(std::unique_ptr<Connection> connection, std::string expected,
                   std::optional<ChannelName> name);
  void hello_expired(uint64_t number);
  PendingConnections::iterator find(const Channel& channel);
  Status cannot_meet(const std::string& task, const Status& reason) const;
  Status open_link(PendingConnection pending);
  Status adopt_bulk(PendingConnection pending);
  void dial(const std::string& task);
  void dial_second(const std::shared_ptr<Link>& link);
  void dial_bulk(const std::shared_ptr<Link>& link, const Status& unmet = {});
  void await_second(const std::shared_ptr<Link>& link, std::unique_ptr<Connection> connection,
                    const Status& unmet = {});
  void dial_later(const std::string& task);
  void record_failure(const std::string& task, const Status& reason);
  void forget_clients();
  void record_refusal(const std::string& task, const Status& reason);
  Result<std::shared_ptr<Link>> link_to(const std::string& task) const;
  Result<ActorRef> find(const Address& address) const;
  void ended(const ActorRef& actor, const Status& reason);

  /// How callbacks that may come after the destructor find this object. It is set on the control thread, with the mutex; it is read
  /// there without the mutex, on any other thread with it.
  struct Present {
    std::shared_mutex mutex;
    Peers* peers = nullptr;
  };

  ActorNode& node_;
  const PeersOptions options_;
  const std::shared_ptr<Present> present_ = std::make_shared<Present>();
  const std::shared_ptr<Traffic> traffic_ = std::make_shared<Traffic>();
  std::mt19937_64 random_;
  std::unique_ptr<Network::Listener> listener_;
  std::map<std::string, std::string> endpoints_;  ///< by task, for the tasks that this node connects to
  PendingConnections pending_;
  uint64_t last_pending_ = 0;
  std::vector<std::shared_ptr<Link>> links_;  ///< in the order in which they were opened
  std::set<ActorRef> watched_;                ///< the actors of this node that peers address
  /// By peer: since when it refuses this process as a second one of its task.
  std::map<std::string, int64_t> refused_since_;

  mutable std::mutex mutex_;                              ///< guards the members below
  std::map<std::string, std::shared_ptr<Link>> by_task_;  ///< the links to members and clients
  std::map<std::string, Presence> seen_;                  ///< by task, of those that have been linked
  std::map<std::string, Status> last_failure_;            ///< by task
  std::map<std::string, std::string> transports_;         ///< by linked task
};

}  // namespace troupe
