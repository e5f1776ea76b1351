#include "actors/net/inquiry.h"

#include <atomic>
#include <random>

#include "actors/engine/control_thread.h"
#include "actors/net/certificate_files.h"
#include "actors/net/link.h"
#include "actors/net/registrar.h"
#include "actors/net/tcp_network.h"
#include "messages/env/real_disk.h"
#include "messages/schemas/registrar.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr int64_t pause = 100'000'000;  // nanoseconds between two attempts to connect

uint64_t random_id() {
  std::random_device random;
  return (uint64_t{random()} << 32) | random() | 1;
}

/// A link to the member at an endpoint, for one question. Used on the control thread, except settled() and, once that is true, the
/// const functions.
class DiscoveryClient final : private Channel::Owner, private Link::Owner {
 public:
  DiscoveryClient(ActorNode& node, NodeIdentity self) : node_(node), self_(std::move(self)) {}
  ~DiscoveryClient() {
    *alive_ = nullptr;
    if (const auto link = std::exchange(link_, nullptr)) link->close(unavailable("the inquiry is over"));
    if (channel_) channel_->close(unavailable("the inquiry was given up"));
  }
  DiscoveryClient(const DiscoveryClient&) = delete;
  DiscoveryClient& operator=(const DiscoveryClient&) = delete;

  void connect(const std::string& endpoint, int64_t deadline) {
    node_.env.network->connect(
        endpoint, deadline, [alive = alive_](Result<std::unique_ptr<Connection>> connection) {
          DiscoveryClient* const client = *alive;
          if (!client) return;
          if (!connection) return client->settle(connection.status());
          client->channel_ = std::make_unique<Channel>(client->node_, static_cast<Channel::Owner&>(*client),
                                                       client->self_, FrameLimits{}, std::move(*connection),
                                                       ChannelName{random_id(), false});
        });
  }
  /// Whether the attempt to open the link has succeeded or failed.
  bool settled() const { return settled_.load(std::memory_order_acquire); }
  /// Ok if the link was opened, otherwise why not.
  const Status& outcome() const { return outcome_; }
  /// The identity of the member, if the link was opened.
  const NodeIdentity& member() const { return member_; }
  /// Returns the stub of an actor of the member; null if the link has been closed.
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
  const std::shared_ptr<DiscoveryClient*> alive_ = std::make_shared<DiscoveryClient*>(this);
  std::unique_ptr<Channel> channel_;
  std::shared_ptr<Link> link_;
  std::weak_ptr<Link> shared_link_;  ///< the same link, for the thread that waits for the answer
  NodeIdentity member_;
  Status outcome_;
  std::atomic<bool> settled_{false};
};

/// A node for one inquiry: it has no task and no device.
class InquiringNode {
 public:
  static Result<std::unique_ptr<InquiringNode>> make(const InquiryOptions& options) {
    if (options.cluster.tls) TROUPE_RETURN_IF_FAILED(check_valid(*options.cluster.tls));
    std::unique_ptr<InquiringNode> made(new InquiringNode);
    TROUPE_ASSIGN(made->pool_, ThreadPool::make(1));
    made->loop_ = std::make_unique<ControlThread>(*made->pool_);
    TROUPE_ASSIGN(made->network_,
                  TcpNetwork::make(made->loop_->io(), {.tls = options.cluster.tls,
                                                       .plain_anywhere = options.cluster.plain_anywhere}));
    made->node_ =
        std::make_unique<ActorNode>(Env{*made->loop_, made->disk_, made->network_.get(), random_id()},
                                    *made->loop_, *made->pool_, make_op_library());
    return made;
  }
  ~InquiringNode() {
    run_on_control(*loop_, [this] {
      client_.reset();
      network_.reset();
    });
  }
  InquiringNode(const InquiringNode&) = delete;
  InquiringNode& operator=(const InquiringNode&) = delete;

  Result<FoundPlace> ask(const InquiryOptions& options, const std::string& self) {
    const int64_t deadline = loop_->now() + options.timeout.count();
    Status connected = connect(options, self, deadline);
    while (connected.code() == Code::Unavailable && loop_->now() + pause < deadline) {
      loop_->wait([] { return false; }, loop_->now() + pause);
      const Status again = connect(options, self, deadline);
      if (again.code() == Code::DeadlineExceeded) break;  // the earlier failure says more
      connected = again;
    }
    TROUPE_RETURN_IF_FAILED(connected);
    const NodeIdentity& member = client_->member();
    const ActorRef registrar = client_->actor(registrar_address({member.task, member.incarnation, {}, {}}));
    if (!registrar) return unavailable(member.task + " closed the connection");
    TROUPE_ASSIGN(const auto answer, node_->engine.call(registrar, question(options), deadline));
    return place_in(options, *Message<wire::ClusterDescribed>(answer), member.task);
  }

 private:
  InquiringNode() = default;

  /// Tries once to open a link to the member.
  Status connect(const InquiryOptions& options, const std::string& self, int64_t deadline) {
    run_on_control(*loop_, [&] {
      client_ = std::make_unique<DiscoveryClient>(
          *node_,
          NodeIdentity{
              .cluster = options.cluster.name, .task = self, .incarnation = random_id(), .asking = true});
      client_->connect(options.endpoint, deadline);
    });
    if (!loop_->wait([this] { return client_->settled(); }, deadline))
      return deadline_exceeded(options.endpoint + " did not send its Hello in time");
    return client_->outcome();
  }
  static AnyMessage question(const InquiryOptions& options) {
    Draft<wire::DescribeCluster> draft;
    draft->setJob(as_text(options.job));
    draft->setTask(options.task);
    draft->setTake(options.take);
    return draft.finish();
  }
  static FoundPlace place_in(const InquiryOptions& options, wire::ClusterDescribed::Reader answer,
                             const std::string& member) {
    FoundPlace place{options.cluster, options.job, answer.getTask(), member};
    for (const auto task : answer.getTasks())
      place.cluster.jobs[std::string(view(task.getJob()))][task.getTask()] = view(task.getEndpoint());
    return place;
  }

  RealDisk disk_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<ControlThread> loop_;
  std::unique_ptr<TcpNetwork> network_;
  std::unique_ptr<ActorNode> node_;
  std::unique_ptr<DiscoveryClient> client_;
};

/// Returns the task that this process claims to be: the task in its certificate; without a certificate a name that is no member's.
Result<DeviceName> identity(const InquiryOptions& options) {
  if (!options.cluster.tls) return DeviceName{"asking", 0, 0, "", DeviceName::unset};
  TROUPE_ASSIGN(const auto task, certified_task(*options.cluster.tls));
  return DeviceName::parse(task);
}

}  // namespace

Result<FoundPlace> inquire(const InquiryOptions& options) {
  TROUPE_ASSIGN(const auto self, identity(options));
  InquiryOptions own = options;
  if (options.cluster.tls) {
    own.job = self.job;
    own.task = self.task;
  }
  TROUPE_ASSIGN(const auto node, InquiringNode::make(own));
  return node->ask(own, self.text());
}

}  // namespace troupe
