#include "actors/net/peer_messages.h"

#include <algorithm>
#include <array>

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

struct Receiver {
  uint64_t schema_id = 0;
  Result<AnyMessage> (*receive)(Frame&& frame) = nullptr;
};

template <class T>
Receiver receiver_of() {
  return {schema_id_of<T>, [](Frame&& frame) -> Result<AnyMessage> {
            TROUPE_ASSIGN(auto message, receive<T>(frame.words, std::move(frame.attachments)));
            return AnyMessage(std::move(message));
          }};
}

template <class... T>
auto receivers_of() {
  std::array<Receiver, sizeof...(T)> all = {receiver_of<T>()...};
  std::ranges::sort(all, {}, &Receiver::schema_id);
  return all;
}

const auto& receivers() {
  using namespace wire;
  static const auto all = receivers_of<
      wire::Status, Hello, Goodbye, Bind, Down, Heartbeat, Audit, Audited,         // link
      Extend, Extended, PrepareStep, StepPrepared, RunStep, StepDone, CancelStep,  // session
      BeginPartialRun, PartialRunBegun, ContinuePartialRun, PartialRunContinued, EndPartialRun, ResetSession,
      CloseSession, SessionClosed,                                   //
      OpenSession, SessionOpened, ResetContainers, ContainersReset,  // sessions
      DropContainers, ContainersDropped, ListDevices, DevicesListed, RegisterPartition, PartitionRegistered,
      RunPartition, PartitionDone, PartitionBroken, ConfirmStep,
      StepConfirmed,                                                               // worker
      AbortStep, DeregisterPartition,                                              //
      TensorsArrived, TakeTensor, TensorTaken, ReadDone, FindTokens, TokensFound,  // executor
      Contribute, Contributed, Withdraw, Withdrawn, Compare,
      Compared,                                           // allreduce
      GetTensor, TensorGot, DeleteTensor, TensorDeleted,  // session tensors
      HoldState, StateHeld, HoldShard, ShardHeld, SaveCheckpoint, CheckpointSaved, RestoreCheckpoint,
      CheckpointRestored, SaveShard, ShardSaved, ReadShards, ShardsRead, ApplyShards, ShardsApplied,
      DropShards,                         // checkpoint
      DescribeCluster, ClusterDescribed,  // registrar
      NameGpu, GpuNamed, BeginTraining, TrainingBegun, AssignShards, ShardsAssigned, RunRounds, RoundsRun,
      Relocate, Relocated, ReportActivity, Activity, InterruptRound, ResumeTraining, TrainingResumed,
      EndTraining, ControlTraining,
      TrainingControlled,           // trainer
      DescribeNode, NodeDescribed,  // monitor
      BeginRounds, RoundsBegun, SetTrainers, FollowRounds, Following, ShardsArrived, RoundFixed, FinishRound,
      RoundFinished, RequireShards, EndRounds, RoundsEnded,
      StopFollowing,  // rounds
      ClaimVariables, VariablesClaimed, BeginMirror, MirrorBegun, AwaitMirrorEnd, EndMirror, MirrorEnded,
      OpenMirror, MirrorOpened, MirrorChange, ChangeMirrored, AdoptMirror, MirrorAdopted, DropMirror,
      MirrorDropped>();  // mirror
  return all;
}

template <class Request, class... Answer>
bool goes_with(uint64_t request, uint64_t answer) {
  return request == schema_id_of<Request> && ((answer == schema_id_of<Answer>) || ...);
}

}  // namespace

bool may_answer(uint64_t request, uint64_t answer) {
  using namespace wire;
  return goes_with<Extend, Extended>(request, answer) ||
         goes_with<PrepareStep, StepPrepared>(request, answer) ||
         goes_with<RunStep, StepDone>(request, answer) ||
         goes_with<BeginPartialRun, PartialRunBegun>(request, answer) ||
         goes_with<ContinuePartialRun, PartialRunContinued>(request, answer) ||
         goes_with<CloseSession, SessionClosed>(request, answer) ||
         goes_with<OpenSession, SessionOpened>(request, answer) ||
         goes_with<ResetContainers, ContainersReset>(request, answer) ||
         goes_with<ListDevices, DevicesListed>(request, answer) ||
         goes_with<DropContainers, ContainersDropped>(request, answer) ||
         goes_with<RegisterPartition, PartitionRegistered>(request, answer) ||
         goes_with<RunPartition, PartitionDone>(request, answer) ||
         goes_with<ConfirmStep, StepConfirmed>(request, answer) ||
         goes_with<TakeTensor, TensorTaken, ReadDone>(request, answer) ||
         goes_with<FindTokens, TokensFound>(request, answer) ||
         goes_with<Contribute, Contributed>(request, answer) ||
         goes_with<Withdraw, Withdrawn>(request, answer) || goes_with<Compare, Compared>(request, answer) ||
         goes_with<GetTensor, TensorGot>(request, answer) ||
         goes_with<DeleteTensor, TensorDeleted>(request, answer) ||
         goes_with<HoldState, StateHeld>(request, answer) ||
         goes_with<HoldShard, ShardHeld>(request, answer) ||
         goes_with<SaveCheckpoint, CheckpointSaved>(request, answer) ||
         goes_with<RestoreCheckpoint, CheckpointRestored>(request, answer) ||
         goes_with<SaveShard, ShardSaved>(request, answer) ||
         goes_with<ReadShards, ShardsRead>(request, answer) ||
         goes_with<ApplyShards, ShardsApplied>(request, answer) ||
         goes_with<DescribeCluster, ClusterDescribed>(request, answer) ||
         goes_with<NameGpu, GpuNamed>(request, answer) ||
         goes_with<BeginTraining, TrainingBegun>(request, answer) ||
         goes_with<AssignShards, ShardsAssigned>(request, answer) ||
         goes_with<RunRounds, RoundsRun>(request, answer) ||
         goes_with<BeginRounds, RoundsBegun>(request, answer) ||
         goes_with<FollowRounds, Following>(request, answer) ||
         goes_with<FinishRound, RoundFinished>(request, answer) ||
         goes_with<RequireShards, RoundsBegun>(request, answer) ||
         goes_with<EndRounds, RoundsEnded>(request, answer) ||
         goes_with<Relocate, Relocated>(request, answer) ||
         goes_with<ResumeTraining, TrainingResumed>(request, answer) ||
         goes_with<ReportActivity, Activity>(request, answer) ||
         goes_with<ControlTraining, TrainingControlled>(request, answer) ||
         goes_with<DescribeNode, NodeDescribed>(request, answer) ||
         goes_with<ClaimVariables, VariablesClaimed>(request, answer) ||
         goes_with<BeginMirror, MirrorBegun>(request, answer) ||
         goes_with<AwaitMirrorEnd, MirrorEnded>(request, answer) ||
         goes_with<EndMirror, MirrorEnded>(request, answer) ||
         goes_with<OpenMirror, MirrorOpened>(request, answer) ||
         goes_with<MirrorChange, ChangeMirrored>(request, answer) ||
         goes_with<AdoptMirror, MirrorAdopted>(request, answer) ||
         goes_with<DropMirror, MirrorDropped>(request, answer);
}

namespace {

bool may_lie_on_gpu(uint64_t schema_id) {
  return schema_id == schema_id_of<wire::TensorsArrived> || schema_id == schema_id_of<wire::TensorTaken>;
}

bool lies_on_gpu(const Tensor& tensor) { return tensor.valid() && tensor.memory() == MemoryKind::Device; }

}  // namespace

Result<AnyMessage> receive_from_peer(Frame&& frame) {
  const auto at = std::ranges::lower_bound(receivers(), frame.schema_id, {}, &Receiver::schema_id);
  if (at == receivers().end() || at->schema_id != frame.schema_id)
    return invalid_argument("a peer sent a message of type " + std::to_string(frame.schema_id) +
                            ", which nodes do not exchange");
  if (!may_lie_on_gpu(frame.schema_id) && std::ranges::any_of(frame.attachments, lies_on_gpu))
    return invalid_argument("a peer sent a tensor in device memory in a message of type " +
                            std::to_string(frame.schema_id) + ", whose receiver could not read it");
  return at->receive(std::move(frame));
}

}  // namespace troupe
