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

constexpr int64_t pause = 100'000'000;  // nanoseconds until who could not be reached is called again

uint64_t random_id() {
  std::random_device random;
  return (uint64_t{random()} << 32) | random() | 1;
}

/// The link to whoever is at an endpoint, for one question. On the control thread, but for settled() and what may follow it.
class DiscoveryClient final : private Channel::Owner, private Link::Owner {
 public:
  DiscoveryClient(ActorNode& node, NodeIdentity self) : node_(node), self_(std::move(self)) {}
  ~DiscoveryClient() {
    *alive_ = nullptr;
    if (const auto link = std::exchange(link_, nullptr))
      link->close(unavailable("the question was answered"));
    if (channel_) channel_->close(unavailable("the question is not asked any more"));
  }
  DiscoveryClient(const DiscoveryClient&) = delete;
  DiscoveryClient& operator=(const DiscoveryClient&) = delete;

  void connect(const std::string& endpoint, int64_t deadline) {
    node_.env.network->connect(
        endpoint, deadline, [alive = alive_](Result<std::unique_ptr<Connection>> connection) {
          DiscoveryClient* const asker = *alive;
          if (!asker) return;
          if (!connection) return asker->settle(connection.status());
          asker->channel_ = std::make_unique<Channel>(asker->node_, static_cast<Channel::Owner&>(*asker),
                                                      asker->self_, FrameLimits{}, std::move(*connection),
                                                      ChannelName{random_id(), false});
        });
  }
  /// Whether it is known if there is a link.
  bool settled() const { return settled_.load(std::memory_order_acquire); }
  /// Once settled: Ok when there was one.
  const Status& outcome() const { return outcome_; }
  /// Once there is a link: whose it is.
  const NodeIdentity& member() const { return member_; }
  /// Of an actor there; null when the link is gone again.
  ActorRef actor(const Address& address) const {
    const auto link = met_.lock();
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
    met_ = link_;
    settle({});
    return {};
  }
  Status received(Channel&, Frame) override {
    return internal("a frame arrived before the peer had said who it is");
  }
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
  std::weak_ptr<Link> met_;  ///< what who asks may read, whose thread is not that of link_
  NodeIdentity member_;
  Status outcome_;
  std::atomic<bool> settled_{false};
};

/// What a process needs to ask: no task, no device.
class AskingNode {
 public:
  static Result<std::unique_ptr<AskingNode>> make(const InquiryOptions& options) {
    if (options.cluster.tls) TROUPE_RETURN_IF_FAILED(check_valid(*options.cluster.tls));
    std::unique_ptr<AskingNode> asking(new AskingNode);
    TROUPE_ASSIGN(asking->pool_, ThreadPool::make(1));
    asking->loop_ = std::make_unique<ControlThread>(*asking->pool_);
    TROUPE_ASSIGN(asking->network_,
                  TcpNetwork::make(asking->loop_->io(), {.tls = options.cluster.tls,
                                                         .plain_anywhere = options.cluster.plain_anywhere}));
    asking->node_ =
        std::make_unique<ActorNode>(Env{*asking->loop_, asking->disk_, asking->network_.get(), random_id()},
                                    *asking->loop_, *asking->pool_, make_op_library());
    return asking;
  }
  ~AskingNode() {
    run_on_control(*loop_, [this] {
      asker_.reset();
      network_.reset();
    });
  }
  AskingNode(const AskingNode&) = delete;
  AskingNode& operator=(const AskingNode&) = delete;

  Result<FoundPlace> ask(const InquiryOptions& options, const std::string& self) {
    const int64_t deadline = loop_->now() + options.timeout.count();
    Status met = meet(options, self, deadline);
    while (met.code() == Code::Unavailable && loop_->now() + pause < deadline) {
      loop_->wait([] { return false; }, loop_->now() + pause);
      const Status again = meet(options, self, deadline);
      if (again.code() == Code::DeadlineExceeded) break;  // what went wrong before tells more
      met = again;
    }
    TROUPE_RETURN_IF_FAILED(met);
    const NodeIdentity& member = asker_->member();
    const ActorRef registrar = asker_->actor(registrar_address({member.task, member.incarnation, {}, {}}));
    if (!registrar) return unavailable(member.task + " closed the connection");
    TROUPE_ASSIGN(const auto answer, node_->engine.call(registrar, question(options), deadline));
    return place_in(options, *Message<wire::ClusterDescribed>(answer), member.task);
  }

 private:
  AskingNode() = default;

  /// One attempt to have a link.
  Status meet(const InquiryOptions& options, const std::string& self, int64_t deadline) {
    run_on_control(*loop_, [&] {
      asker_ = std::make_unique<DiscoveryClient>(
          *node_,
          NodeIdentity{
              .cluster = options.cluster.name, .task = self, .incarnation = random_id(), .asking = true});
      asker_->connect(options.endpoint, deadline);
    });
    if (!loop_->wait([this] { return asker_->settled(); }, deadline))
      return deadline_exceeded(options.endpoint + " does not say who it is");
    return asker_->outcome();
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
  std::unique_ptr<DiscoveryClient> asker_;
};

/// Who asks: whoever the certificate says; without one nobody in particular.
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
  TROUPE_ASSIGN(const auto node, AskingNode::make(own));
  return node->ask(own, self.text());
}

}  // namespace troupe
