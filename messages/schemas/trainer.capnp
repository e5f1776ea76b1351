# Trainer: one per node that takes part in runs of `troupe train`. It carries out one worker's part of a run (between-graph
# replication): it builds the graph of its own logical shards, runs it in its own session over its devices and the parameter
# servers, and feeds it from data files that it reads itself.
#
#   client                              trainer (of each worker)
#     | NameGpu ------------------------->| without parameter servers
#     |<------------------------ GpuNamed |
#     | BeginTraining ------------------->| reads the data, builds the graph, opens the session
#     |<------------------ TrainingBegun  |
#     | AssignShards -------------------->| fetches the variables, if it has no shards yet
#     |<----------------- ShardsAssigned  |
#     | RunRounds (first, rounds) ------->| one step per shard and round: feeds variables, pushes gradients; the last step of a
#     |<---------------------- RoundsRun  | round also fetches the next variables
#     | Relocate ------------------------>| after the loss of a server: rebuilds the graph with the variables at their new places
#     |<----------------------- Relocated |
#     | EndTraining --------------------->| the running step ends with Cancelled, and the session is closed
#
#   client, while it waits              trainer (of each node that takes part)
#     | ReportActivity ------------------>|
#     |<------------------------ Activity |
#     | InterruptRound ------------------>| the running step ends with Cancelled; the round will be repeated
#
#   another client                      trainer                                              client
#     | ControlTraining ----------------->| ControlTraining ---------------------------------->|
#     |<-------------- TrainingControlled |<-------------------------------- TrainingControlled |
#
#   client that was started anew
#     | ResumeTraining ------------------>| waits until the rounds that are requested have ended or failed
#     |<--------------- TrainingResumed   |
#     | Relocate, RunRounds ... --------->|
#
# The client initializes the variables before, and changes them only between two RunRounds. In synchronous mode a round ends for
# all workers when all shards have pushed that count, so the client sends every trainer the same rounds. A trainer carries out one
# run at a time. When its client is lost, the trainer keeps the run for a while: it finishes the rounds that are requested, and
# waits for ResumeTraining. A BeginTraining of another client ends a run that has no client. Trainers also receive RoundFixed
# (rounds.capnp): a round goes on without their shards, so that they cancel their step and wait for the round. When a worker is
# lost, the client assigns its shards to others, which push them for the round in progress, too.
@0xbddf0029980d96d3;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;

struct NameGpu {
  # Request, answered by GpuNamed. Fails with NotFound if the node has no GPU, and with Unavailable if its GPU can exchange no
  # tensors with others.
}

struct GpuNamed {
  name @0 :Text;              # of the GPU that the worker uses, as GpuQueue::exchange_name (devices/gpu_queue.h) returns it
}

struct BeginTraining {
  # Request, answered by TrainingBegun. Fails with FailedPrecondition if another run is active, and with any failure of reading the
  # run file or the data and of opening the session.

  config @0 :Text;            # the effective run file, with absolute paths
  jobs @1 :List(JobSize);     # the jobs of the cluster
  training @2 :UInt64;        # chosen at random by the client; never 0
  client @3 :Address;         # an actor of the client
  coordinator @4 :Address;    # of the rounds (rounds.capnp); not set in asynchronous mode
  # The tasks that own the variables, which are assigned to them in turn. Empty: the parameter servers or, if there are none, the
  # first worker.
  owners @5 :List(Text);
  # Chosen at random by the client, which keeps it where it finds the number when it is started anew; 0: none.
  run @6 :UInt64;
  patience @7 :UInt64;        # for how many nanoseconds the run is kept when its client has been lost
  exchangesOnGpus @8 :Bool;   # whether the workers add tensors up on their GPUs
  samples @9 :Int64;          # how many samples the client has to train on; those of the workers must be the same
  checksum @10 :UInt32;       # of these samples (data::Fingerprint)
}

struct JobSize {
  name @0 :Text;
  tasks @1 :UInt32;
}

struct TrainingBegun {
  pushes @0 :UInt32;          # how many pushes a shard makes per round; 0 in asynchronous mode
  readsInPlace @1 :Bool;      # whether steps read some variables where they are: then a round is applied to all of them at once
}

struct AssignShards {
  # Request, answered by ShardsAssigned. From now on the trainer computes these shards instead of those before. If a round is in
  # progress, it pushes the new ones for this round before it answers. Fails with FailedPrecondition if no training has begun.

  shards @0 :List(UInt32);
  # How many rounds have been applied, if none is in progress: the trainer fetches the values of the variables. -1: a round may be
  # in progress, for which the trainer has the values.
  applied @1 :Int64 = -1;
}

struct ShardsAssigned {}

struct RunRounds {
  # Request, answered by RoundsRun. Runs the rounds first, first + 1, ..., counted from 1. Fails with InvalidArgument if they do not
  # follow the rounds that were run before. A trainer without shards only waits until the last round has been applied.

  first @0 :UInt64;
  rounds @1 :UInt32;
  last @2 :UInt64;            # first + rounds - 1; a worker that ran other rounds than the others would leave them waiting
}

struct RoundsRun {
  # The lists have one entry per round.

  losses @0 :List(Float64);   # synchronous mode: of the batch; otherwise of the part that this trainer computed
  samples @1 :List(Int64);    # how many samples the loss is the mean of; 0: not known to this trainer
  waited @2 :Float64;         # for how many seconds the rounds waited for their batches
  steps @3 :UInt64;           # asynchronous mode and bounded staleness: how many gradients were applied
  staleness @4 :UInt64;       # how many updates by others came between the values of these gradients and their own updates, in sum
  mostStale @5 :UInt64;       # the largest of these numbers
  # Where the time of the trainer's steps goes on its devices. A trainer profiles a step every few seconds; the list is empty if it
  # has profiled none since its last answer.
  costs @6 :List(DeviceCosts);
}

struct DeviceCosts {
  # Means over the profiled steps of a training, in microseconds.

  device @0 :Text;            # full name
  step @1 :Float64;           # the time of the whole step
  ops @2 :List(OpCosts);      # the most expensive first
  between @3 :Float64;        # the time that the thread driving the step spends between its nodes
  waiting @4 :Float64;        # the time spent waiting for other devices, variables and queues
  outside @5 :Float64;        # the time before the part of the device begins and after it has ended
}

struct OpCosts {
  op @0 :Text;
  runs @1 :Float64;
  time @2 :Float64;           # in microseconds
}

struct Relocate {
  # Request, answered by Relocated. Sent when no other request to the trainer is pending, after a server was lost whose variables
  # another task has taken over (mirror.capnp). The training goes on under another number. The round in which the trainer failed, if
  # any, is its next round; it pushes the same gradients again.

  training @0 :UInt64;
  coordinator @1 :Address;    # as in BeginTraining
  owners @2 :List(Text);
}

struct Relocated {
  next @0 :UInt64;            # the next round of this trainer
  least @1 :UInt64;           # synchronous mode: how many rounds have been applied to every variable
  most @2 :UInt64;            # and to some
}

struct ReportActivity {
  # Request, answered by Activity at once. When no node of the training has done anything for ten heartbeats, something has been
  # lost that a round waits for, and the client has the round repeated.
}

struct Activity {
  cpu @0 :UInt64;             # for how many nanoseconds the process has used processors since its start
  works @1 :Bool;             # whether the trainer does something else than wait for a step, such as reading data
  steps @2 :UInt64;           # how many steps of the training have begun
  training @3 :UInt64;        # its number; 0: none has begun
}

struct ControlTraining {
  # Request, answered by TrainingControlled. Another client of the cluster sends it to the trainer of a worker (`troupe ctl
  # --cluster`), which passes it on to the actor with the role "control" of the client of its training. Fails with NotFound if no
  # training runs on the worker, and with FailedPrecondition if the client does not run rounds at the moment.

  # "pause" (between two rounds), "resume", "checkpoint" (which is answered when it is saved), "stop", "drain" (which is answered
  # when a task has no shards and variables any more, and gets none), "add" (such a task may get them again) or "backups" (how many
  # shards a round does not wait for). Fails with NotFound for another one.
  action @0 :Text;
  argument @1 :Text;          # "drain" and "add": the task, as its user names it; "backups": the number; otherwise empty
}

struct TrainingControlled {
  checkpoint @0 :Text;        # the folder of the checkpoint that was asked for
}

struct InterruptRound {
  # Not a request. The round in progress fails; the trainer has the values to repeat it. Without effect on another training.

  training @0 :UInt64;
}

struct ResumeTraining {
  # Request, answered by TrainingResumed when no round is in progress any more. The sender becomes the client of the run. Fails with
  # NotFound if there is no such run, or it cannot go on from where it is.

  run @0 :UInt64;             # as in BeginTraining
  config @1 :Text;            # as in BeginTraining: a run whose file has changed begins anew
  client @2 :Address;
}

struct TrainingResumed {
  training @0 :UInt64;
  owners @1 :List(Text);
  shards @2 :List(UInt32);    # those that the trainer computes
  next @3 :UInt64;            # its next round; one that failed is repeated
  loss @4 :Float64;           # of its last round, as in RoundsRun
  samples @5 :Int64;
  begun @6 :TrainingBegun;
}

struct EndTraining {
  # Not a request. Without effect on another training.

  training @0 :UInt64;
}

struct TrainingExpired {
  # Not a request. Sent by a trainer to itself when it has waited for a new client for as long as it does.

  client @0 :UInt64;          # the number of the client that it has lost
}
