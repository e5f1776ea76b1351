#include "actors/net/peer_messages.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "messages/schemas/allreduce.capnp.h"
#include "messages/schemas/checkpoint.capnp.h"
#include "messages/schemas/executor.capnp.h"
#include "messages/schemas/link.capnp.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/schemas/monitor.capnp.h"
#include "messages/schemas/registrar.capnp.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/schemas/session.capnp.h"
#include "messages/schemas/session_tensors.capnp.h"
#include "messages/schemas/sessions.capnp.h"
#include "messages/schemas/status.capnp.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/wire/message_reader.h"

namespace troupe {
namespace {

/// A type of message that peers exchange.
struct Exchanged {
  Result<AnyMessage> (*receive)(Frame&& frame);
  std::vector<uint64_t> answers;  ///< the types of messages that may answer it
};

class PeerMessages {
 public:
  PeerMessages() {
    add_links();
    add_steps();
    add_state();
    add_training();
    add_mirrors();
  }

  /// Returns null if peers do not exchange messages of this type.
  const Exchanged* find(uint64_t schema_id) const {
    const auto found = types_.find(schema_id);
    return found == types_.end() ? nullptr : &found->second;
  }

 private:
  template <class T>
  static Result<AnyMessage> receive_as(Frame&& frame) {
    TROUPE_ASSIGN(auto message, receive<T>(frame.words, std::move(frame.attachments)));
    return AnyMessage(std::move(message));
  }
  /// Adds messages that need no answer, and answers.
  template <class... T>
  void messages() {
    (types_.try_emplace(schema_id_of<T>, Exchanged{receive_as<T>, {}}), ...);
  }
  template <class Request, class... Answers>
  void request() {
    messages<Request, Answers...>();
    types_.at(schema_id_of<Request>).answers = {schema_id_of<Answers>...};
  }

  void add_links() {
    using namespace wire;
    messages<wire::Status, Hello, Goodbye, Bind, Down, Heartbeat, Audit, Audited>();
    request<DescribeCluster, ClusterDescribed>();
    request<DescribeNode, NodeDescribed>();
  }
  /// Sessions, workers and executors.
  void add_steps() {
    using namespace wire;
    request<OpenSession, SessionOpened>();
    request<ResetContainers, ContainersReset>();
    request<DropContainers, ContainersDropped>();
    request<ListDevices, DevicesListed>();
    request<Extend, Extended>();
    request<PrepareStep, StepPrepared>();
    request<DescribeStep, StepDescribed>();
    request<RunStep, StepDone>();
    request<BeginPartialRun, PartialRunBegun>();
    request<ContinuePartialRun, PartialRunContinued>();
    request<CloseSession, SessionClosed>();
    messages<CancelStep, EndPartialRun, ResetSession>();
    request<RegisterPartition, PartitionRegistered>();
    request<RunPartition, PartitionDone>();
    request<ConfirmStep, StepConfirmed>();
    messages<PartitionBroken, AbortStep, DeregisterPartition>();
    request<TakeTensor, TensorTaken, ReadDone>();
    request<FindTokens, TokensFound>();
    messages<TensorsArrived>();
  }
  /// Collectives, session tensors and checkpoints.
  void add_state() {
    using namespace wire;
    request<Contribute, Contributed>();
    request<Withdraw, Withdrawn>();
    request<Compare, Compared>();
    request<GetTensor, TensorGot>();
    request<DeleteTensor, TensorDeleted>();
    request<HoldState, StateHeld>();
    request<HoldShard, ShardHeld>();
    request<SaveCheckpoint, CheckpointSaved>();
    request<RestoreCheckpoint, CheckpointRestored>();
    request<SaveShard, ShardSaved>();
    request<ReadShards, ShardsRead>();
    request<ApplyShards, ShardsApplied>();
    messages<DropShards>();
  }
  /// Trainers and rounds.
  void add_training() {
    using namespace wire;
    request<NameGpu, GpuNamed>();
    request<BeginTraining, TrainingBegun>();
    request<AssignShards, ShardsAssigned>();
    request<RunRounds, RoundsRun>();
    request<Relocate, Relocated>();
    request<ResumeTraining, TrainingResumed>();
    request<ReportActivity, Activity>();
    request<ControlTraining, TrainingControlled>();
    messages<InterruptRound, EndTraining>();
    request<BeginRounds, RoundsBegun>();
    request<FollowRounds, Following>();
    request<FinishRound, RoundFinished>();
    request<RequireShards, RoundsBegun>();
    request<EndRounds, RoundsEnded>();
    messages<SetTrainers, ShardsArrived, RoundFixed, StopFollowing>();
  }
  void add_mirrors() {
    using namespace wire;
    request<ClaimVariables, VariablesClaimed>();
    request<BeginMirror, MirrorBegun>();
    request<AwaitMirrorEnd, MirrorEnded>();
    request<EndMirror, MirrorEnded>();
    request<OpenMirror, MirrorOpened>();
    request<MirrorChange, ChangeMirrored>();
    request<AdoptMirror, MirrorAdopted>();
    request<DropMirror, MirrorDropped>();
  }

  std::unordered_map<uint64_t, Exchanged> types_;
};

const Exchanged* exchanged(uint64_t schema_id) {
  static const PeerMessages all;
  return all.find(schema_id);
}

bool may_lie_on_gpu(uint64_t schema_id) {
  return schema_id == schema_id_of<wire::TensorsArrived> || schema_id == schema_id_of<wire::TensorTaken>;
}

bool lies_on_gpu(const Tensor& tensor) { return tensor.valid() && tensor.memory() == MemoryKind::Device; }

}  // namespace

bool may_answer(uint64_t request, uint64_t answer) {
  const Exchanged* const type = exchanged(request);
  return type && std::ranges::find(type->answers, answer) != type->answers.end();
}

Result<AnyMessage> receive_from_peer(Frame&& frame) {
  const Exchanged* const type = exchanged(frame.schema_id);
  if (!type)
    return invalid_argument("a peer sent a message of type " + std::to_string(frame.schema_id) +
                            ", which nodes do not exchange");
  if (!may_lie_on_gpu(frame.schema_id) && std::ranges::any_of(frame.attachments, lies_on_gpu))
    return invalid_argument("a peer sent a tensor in device memory in a message of type " +
                            std::to_string(frame.schema_id) + ", whose receiver could not read it");
  return type->receive(std::move(frame));
}

}  // namespace troupe
