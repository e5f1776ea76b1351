// Messages can carry every schema: an empty message of each type can be built, sent and received.
#include <boost/test/unit_test.hpp>

#include <set>

#include "messages/schemas/accumulator.capnp.h"
#include "messages/schemas/allreduce.capnp.h"
#include "messages/schemas/barrier.capnp.h"
#include "messages/schemas/batch.capnp.h"
#include "messages/schemas/checkpoint.capnp.h"
#include "messages/schemas/executor.capnp.h"
#include "messages/schemas/files.capnp.h"
#include "messages/schemas/graph.capnp.h"
#include "messages/schemas/link.capnp.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/schemas/monitor.capnp.h"
#include "messages/schemas/mutex.capnp.h"
#include "messages/schemas/queue.capnp.h"
#include "messages/schemas/queue_runners.capnp.h"
#include "messages/schemas/reader.capnp.h"
#include "messages/schemas/replicas.capnp.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/schemas/saver.capnp.h"
#include "messages/schemas/session.capnp.h"
#include "messages/schemas/session_tensors.capnp.h"
#include "messages/schemas/sessions.capnp.h"
#include "messages/schemas/sparse_map.capnp.h"
#include "messages/schemas/staging.capnp.h"
#include "messages/schemas/status.capnp.h"
#include "messages/schemas/supervisor.capnp.h"
#include "messages/schemas/table.capnp.h"
#include "messages/schemas/tensor.capnp.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/schemas/waiting.capnp.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/wire/message_reader.h"

namespace troupe::schema_test {
namespace {

template <class... T>
void check_each() {
  std::set<uint64_t> ids;
  const auto check = [&](const AnyMessage& built, const auto& received) {
    BOOST_TEST_REQUIRE(received.ok());
    BOOST_TEST(received->schema_id() == built.schema_id());
    BOOST_TEST(ids.insert(built.schema_id()).second);
  };
  (
      [&] {
        const Message<T> built = Draft<T>().finish();
        check(built, receive<T>(built.words()));
      }(),
      ...);
}

BOOST_AUTO_TEST_CASE(every_message_can_be_received) {
  using namespace wire;
  check_each<Hello, Goodbye, Bind, Down, Heartbeat>();
  check_each<Extend, Extended, PrepareStep, StepPrepared, DescribeStep, StepDescribed, RunStep, StepDone,
             BeginPartialRun, PartialRunBegun, ContinuePartialRun, PartialRunContinued, EndPartialRun,
             CancelStep, ResetSession, CloseSession, SessionClosed>();
  check_each<RunCollective, CollectiveDone, CancelCollectives, Contribute, Contributed, Withdraw, Withdrawn,
             Compare, Compared, CompareOverdue, BlockReady>();
  check_each<OpenSession, SessionOpened, ResetContainers, ContainersReset, AskAgain>();
  check_each<ListDevices, DevicesListed, DropContainers, ContainersDropped, RegisterPartition,
             PartitionRegistered, RunPartition, PartitionDone, PartitionBroken, AbortStep,
             DeregisterPartition>();
  check_each<KeepTensor, TensorKept, GetTensor, TensorGot, DeleteTensor, TensorDeleted, EndSession>();
  check_each<StepExecuted, TensorsArrived, TakeTensor, TensorTaken>();
  check_each<GroupChanged, Release, Released, Update, Updated, Assign, Read, ReadDone>();
  check_each<Enqueue, EnqueueMany, Enqueued, Dequeue, DequeueMany, Dequeued, CloseQueue, QueueClosed,
             BatchSeparated, GetQueueSize, QueueSize>();
  check_each<ApplyGradient, GradientApplied, TakeGradient, GradientTaken, SetGlobalStep, GlobalStepSet,
             GradientAdded, GetAccumulated, Accumulated>();
  check_each<CancelRequests, RequestExpired>();
  check_each<PushGradient, Committed, AwaitRound, CancelPushes, ReportArrivals, GradientMade>();
  check_each<BeginRounds, RoundsBegun, SetTrainers, FollowRounds, Following, ShardsArrived, RoundFixed,
             FinishRound, RoundFinished, RequireShards, EndRounds, RoundsEnded, StopFollowing>();
  check_each<ClaimVariables, VariablesClaimed, BeginMirror, MirrorBegun, AwaitMirrorEnd, EndMirror,
             MirrorEnded, MirrorLost, MirrorExpired, OpenMirror, MirrorOpened, MirrorChange, ChangeMirrored,
             AdoptMirror, MirrorAdopted, DropMirror, MirrorDropped, MirrorChanged, GroupMirrored>();
  check_each<HoldState, StateHeld, HoldShard, ShardHeld, SaveCheckpoint, CheckpointSaved, RestoreCheckpoint,
             CheckpointRestored, SaveShard, ShardSaved, ReadShards, ShardsRead, ApplyShards, ShardsApplied,
             DropShards>();
  check_each<StopQueueRunners, QueueRunnersEnded>();
  check_each<ReadFile, FileRead, WriteFile, FileWritten, FindFiles, FilesFound>();
  check_each<ReadRecords, RecordsRead, GetReaderCounts, ReaderCounts, SaveReader, ReaderSaved, RestoreReader,
             ReaderRestored, ResetReader, ReaderReset>();
  check_each<AddSparseTensors, SparseTensorsAdded, TakeSparseTensors, SparseTensorsTaken>();
  check_each<ReserveKeys, FindValues, ValuesFound, InsertValues, TableChanged, RemoveKeys, InitializeTable,
             InitializeTableFromFile, ExportTable, TableExported, GetTableSize, TableSize, TableWorked>();
  check_each<StageTuple, StagePart, TupleStaged, TakeTuple, TakePart, TupleTaken, ClearStaging,
             StagingCleared, GetStagingSize, StagingSize>();
  check_each<InsertComponents, ComponentsInserted, TakeElements, ElementsTaken, CloseBarrier, BarrierClosed,
             GetBarrierSize, BarrierSize>();
  check_each<JoinBatch, BatchJoined, BatchDue, TakeBatchPart, BatchPartTaken, JoinGradients,
             GradientsJoined>();
  check_each<LockMutex, MutexLocked, UnlockMutex>();
  check_each<SaveTensors, TensorsSaved, RestoreTensors, TensorsRestored, MergeCheckpoints, CheckpointsMerged,
             LoadMatrix, MatrixLoaded, RemapVocabulary, VocabularyRemapped, CancelFiles>();
  check_each<ListActors, ActorsListed, ChildEnded>();
  check_each<NameGpu, GpuNamed, BeginTraining, TrainingBegun, AssignShards, ShardsAssigned, RunRounds,
             RoundsRun, Relocate, Relocated, ReportActivity, Activity, InterruptRound, ResumeTraining,
             TrainingResumed, EndTraining, TrainingExpired, ControlTraining, TrainingControlled>();
  check_each<DescribeNode, NodeDescribed>();
}

}  // namespace
}  // namespace troupe::schema_test
