// Peers: the other nodes of the cluster, as this one sees them: who is linked, under which incarnation, and how their actors are
// found. One per node that has others, owned beside the ActorNode and gone before it. On the control thread, from construction to the
// end, but for what says otherwise.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "actors/net/link.h"
#include "actors/net/refusal.h"

namespace troupe {

struct PeersOptions {
  NodeIdentity self;
  std::set<std::string> members = {};  ///< the tasks of the cluster: whoever is none of them is a client
  LinkOptions link = {};
  int64_t retry = 100'000'000;  ///< nanoseconds from a failed or lost connection to the next attempt
  /// Told why when peers say that another process is the task of this one, and do so longer than they would miss one that is gone.
  std::function<void(const Status&)> displaced = {};
};

/// What is known of a task.
struct Presence {
  bool linked = false;
  uint64_t links = 0;  ///< opened so far
};

class Peers final : private Link::Owner, private Channel::Owner {
 public:
  /// From now on the node's directory finds the actors of peers.
  Peers(ActorNode& node, PeersOptions options);
  /// Closes every link.
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  /// Takes peers in; the endpoint really used.
  Result<std::string> listen(const std::string& endpoint);
  /// Keeps a link to that task from now on, connecting again whenever it is lost. Of two nodes one connects.
  void connect(const std::string& task, const std::string& endpoint);

  /// Of a linked task. When it is not linked, what went wrong last: Unavailable, or a code that is permanent. Any thread.
  Result<uint64_t> incarnation_of(const std::string& task) const;
  Presence presence_of(const std::string& task) const;  ///< any thread

 private:
  /// A connection whose peer has not said yet who it is.
  struct PendingConnection {
    std::unique_ptr<Channel> channel;
    std::string expected;  ///< the task that this node called; empty when it was called
    uint64_t number = 0;
  };
  using PendingConnections = std::vector<PendingConnection>;

  Status admits(const NodeIdentity& peer) override;
  bool is_client(const std::string& task) const override { return !options_.members.contains(task); }
  Status greeted(Channel& channel) override;
  void watch(const ActorRef& actor) override;
  void closed(Link& link, const Status& reason) override;
  Status received(Channel& channel, Frame frame) override;
  void closed(Channel& channel, const Status& reason) override;

  void meet(std::unique_ptr<Connection> connection, std::string expected, std::optional<ChannelName> name);
  void hello_expired(uint64_t number);
  PendingConnections::iterator find(const Channel& channel);
  Status open_link(PendingConnection pending);
  Status adopt_bulk(PendingConnection pending);
  void dial(const std::string& task);
  void dial_bulk(const std::shared_ptr<Link>& link);
  void dial_later(const std::string& task);
  void note(const std::string& task, const Status& reason);
  void refused(const std::string& task, const Status& reason);
  Result<std::shared_ptr<Link>> link_to(const std::string& task) const;
  Result<ActorRef> find(const Address& address) const;
  void ended(const ActorRef& actor, const Status& reason);

  ActorNode& node_;
  const PeersOptions options_;
  const std::shared_ptr<Peers*> alive_;  ///< for callbacks that may come when this is gone
  std::mt19937_64 random_;
  std::unique_ptr<Network::Listener> listener_;
  std::map<std::string, std::string> endpoints_;  ///< of the tasks that this node connects to
  PendingConnections pending_;
  uint64_t last_pending_ = 0;
  std::vector<std::shared_ptr<Link>> links_;      ///< in the order they opened
  std::set<ActorRef> watched_;                    ///< actors of this node that peers address
  std::map<std::string, int64_t> refused_since_;  ///< by peers that say that another is this task

  mutable std::mutex mutex_;                              ///< guards what follows
  std::map<std::string, std::shared_ptr<Link>> by_task_;  ///< of members and clients
  std::map<std::string, uint64_t> opened_;
  std::map<std::string, Status> last_failure_;
};

}  // namespace troupe
