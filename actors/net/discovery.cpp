#include "actors/net/discovery.h"

#include <atomic>

#include "actors/net/link.h"

namespace troupe {
namespace {

constexpr int64_t attempt_pause = 100'000'000;  // nanoseconds between two attempts to connect

}  // namespace

/// One attempt to open the link. Used on the control thread, except settled() and, once that is true, the const functions.
class Discovery::Attempt final : private Channel::Owner, private Link::Owner {
 public:
  Attempt(ActorNode& node, NodeIdentity self) : node_(node), self_(std::move(self)) {}
  ~Attempt() {
    *alive_ = nullptr;
    if (const auto link = std::exchange(link_, nullptr)) link->close(unavailable("the inquiry is over"));
    if (channel_) channel_->close(unavailable("the inquiry was given up"));
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void connect(const std::string& endpoint, int64_t deadline) {
    node_.env.network->connect(
        endpoint, deadline, [alive = alive_](Result<std::unique_ptr<Connection>> connection) {
          Attempt* const attempt = *alive;
          if (!attempt) return;
          if (!connection) return attempt->settle(connection.status());
          attempt->channel_ = std::make_unique<Channel>(
              attempt->node_, static_cast<Channel::Owner&>(*attempt), attempt->self_, FrameLimits{},
              std::move(*connection), ChannelName{attempt->self_.incarnation, false});
        });
  }
  /// Whether the attempt to open the link has succeeded or failed.
  bool settled() const { return settled_.load(std::memory_order_acquire); }
  /// Ok if the link was opened, otherwise why not.
  const Status& outcome() const { return outcome_; }
  const NodeIdentity& member() const { return member_; }
  ActorRef actor(const Address& address) const {
    const auto link = shared_link_.lock();
    return link ? link->actor(address) : ActorRef();
  }

 private:
  void settle(Status outcome) {
    if (settled()) return;
    outcome_ = std::move(outcome);
    settled_.store(true, std::memory_order_release);
    node_.scheduler.wake();
  }

  Status greeted(Channel&) override {
    link_ = Link::open(node_, *this, {}, std::move(channel_));
    member_ = link_->peer();
    shared_link_ = link_;
    settle({});
    return {};
  }
  Status received(Channel&, Frame) override { return internal("a frame arrived before the peer's Hello"); }
  void closed(Channel& channel, const Status& reason) override {
    if (channel_.get() == &channel) settle(reason);
  }
  void watch(const ActorRef&) override {}
  void closed(Link&, const Status&) override { link_.reset(); }

  ActorNode& node_;
  const NodeIdentity self_;
  const std::shared_ptr<Attempt*> alive_ = std::make_shared<Attempt*>(this);
  std::unique_ptr<Channel> channel_;
  std::shared_ptr<Link> link_;
  std::weak_ptr<Link> shared_link_;  ///< the same link, for the thread that waits for the answer
  NodeIdentity member_;
  Status outcome_;
  std::atomic<bool> settled_{false};
};

Discovery::Discovery(ActorNode& node) : node_(node) {}

Discovery::~Discovery() {
  run_on_control(node_.scheduler, [this] { attempt_.reset(); });
}

Result<std::unique_ptr<Discovery>> Discovery::find_member(ActorNode& node, const NodeIdentity& self,
                                                          const std::string& endpoint, int64_t deadline) {
  std::unique_ptr<Discovery> discovery(new Discovery(node));
  Status connected = discovery->connect(self, endpoint, deadline);
  while (connected.code() == Code::Unavailable && node.env.clock.now() + attempt_pause < deadline) {
    node.scheduler.wait([] { return false; }, node.env.clock.now() + attempt_pause);
    const Status again = discovery->connect(self, endpoint, deadline);
    if (again.code() == Code::DeadlineExceeded) break;  // the earlier failure says more
    connected = again;
  }
  TROUPE_RETURN_IF_FAILED(connected);
  return discovery;
}

/// Tries once to open a link to the member.
Status Discovery::connect(const NodeIdentity& self, const std::string& endpoint, int64_t deadline) {
  run_on_control(node_.scheduler, [&] {
    attempt_ = std::make_unique<Attempt>(node_, self);
    attempt_->connect(endpoint, deadline);
  });
  if (!node_.scheduler.wait([this] { return attempt_->settled(); }, deadline))
    return deadline_exceeded(endpoint + " did not send its Hello in time");
  return attempt_->outcome();
}

const NodeIdentity& Discovery::member() const { return attempt_->member(); }

ActorRef Discovery::actor(const Address& address) const { return attempt_->actor(address); }

}  // namespace troupe
