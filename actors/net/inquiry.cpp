#include "actors/net/inquiry.h"

#include "actors/engine/control_thread.h"
#include "actors/net/discovery.h"
#include "actors/net/registrar.h"
#include "actors/net/transport/certificate_files.h"
#include "actors/net/transport/tcp_network.h"
#include "messages/env/random_id.h"
#include "messages/env/real_disk.h"
#include "messages/schemas/registrar.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

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
    discovery_.reset();
    run_on_control(*loop_, [this] { network_.reset(); });
  }
  InquiringNode(const InquiringNode&) = delete;
  InquiringNode& operator=(const InquiringNode&) = delete;

  Result<FoundPlace> ask(const InquiryOptions& options, const std::string& self) {
    const int64_t deadline = deadline_after(*loop_, options.timeout);
    TROUPE_ASSIGN(
        discovery_,
        Discovery::find_member(
            *node_,
            {.cluster = options.cluster.name, .task = self, .incarnation = random_id(), .asking = true},
            options.endpoint, deadline));
    const NodeIdentity& member = discovery_->member();
    const ActorRef registrar =
        discovery_->actor(registrar_address({member.task, member.incarnation, {}, {}}));
    if (!registrar) return unavailable(member.task + " closed the connection");
    TROUPE_ASSIGN(const auto answer, node_->engine.call(registrar, question(options), deadline));
    return place_in(options, *Message<wire::ClusterDescribed>(answer), member.task);
  }

 private:
  InquiringNode() = default;

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
  std::unique_ptr<Discovery> discovery_;
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
