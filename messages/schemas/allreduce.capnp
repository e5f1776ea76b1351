# Allreduce: the collectives of one device. A collective has members, numbered by rank; each member runs the op once per
# instance, with its own tensors, in a step of its own or in one that it shares with others. Several ranks may be on one device.
# A device that has ranks is a site. All sites carry out an instance together:
#
#   all-reduce, reduce-scatter: the elements are cut into blocks, and each block is owned by one site. Every other site asks the
#     owner for the block, once for each of its ranks, and the question carries that rank's elements. The owner reduces a block in
#     rank order when it has the elements of all ranks, and answers with the result. If the root alone wants the mean, its site owns
#     all blocks, and the answers are empty.
#   all-gather, broadcast: every site asks the site of each other rank (broadcast: of the root) for that rank's tensor.
#   all-reduce whose members are GPUs: there is one block without elements, which the first site owns. When all ranks are there,
#     that site decides which communicator of the GPUs carries the instance out, and in which turn; the answers say so. Then the
#     GPUs exchange the tensors (devices/gpu_communicator.h), and an instance that ends early ends for all sites as any other does.
#
#   executor          allreduce of site A                    allreduce of site B                executor
#     | RunCollective --->| Contribute (block of B) ------------->|  kept until B's op runs         |
#     |                   |                                       |<---------------- RunCollective  |
#     |                   |<------------- Contribute (block of A) |                                 |
#     |                   | Contributed ------------------------->|  reduced as soon as all ranks are there
#     |                   |<------------------------- Contributed |                                 |
#     |<-- CollectiveDone |                                       | CollectiveDone ---------------->|
#
# An instance is named by (group, key, training, number). In a training step the number is the training round, otherwise one
# more than that of the last instance of the session which has ended well. When an instance fails at one site, that site tells
# all others (Withdraw), and it fails there too; when it is repeated, all sites take the next attempt, so that nothing of the
# attempt before gets into it. A site cannot be more than one instance ahead of another.
#
# Cost of an all-reduce of S bytes at n sites with one rank each: up to `small` bytes (actors/services/allreduce/layout.h) one
# site owns the only block, n - 1 questions and n - 1 answers of S bytes; above, each site sends and receives 2 S (n - 1) / n
# bytes, in blocks of bounded size of which a bounded number is under way between two sites. All-gather: each site receives what
# the others have, once. When a site is lost, the questions that it has not answered are answered with Unavailable, and the
# instance fails.
@0xd1f2c7e09b43a685;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;
using Address = import "cluster.capnp".Address;
using Status = import "status.capnp".Status;

struct RunCollective {
  # Request, answered by CollectiveDone when the instance has ended. Sent by an executor to the allreduce role of its own device.
  # Attachments: the tensors of this rank. Fails with AlreadyExists if the rank runs already.

  step @0 :StepId;
  collective @1 :UInt64;      # the number that the device gave the op when the partition was registered
  round @2 :UInt64;           # the training round; 0 outside training
  samples @3 :Int64;          # the weight of the rank in a weighted mean
}

struct CollectiveDone {
  # Attachments: the results. Fails with Aborted if another member has ended the instance, with Unavailable if a site is lost,
  # with InvalidArgument if the members disagree, with Cancelled if the step of this member ended. The texts name the member.
}

struct CancelCollectives {
  # Not a request. Sent by an executor to the allreduce role of its own device when a step ends early. The instances in which the
  # step takes part fail at all sites.

  step @0 :StepId;
}

struct Instance {
  group @0 :Text;
  key @1 :Text;
  number @2 :UInt64;
  attempt @3 :UInt64;         # counted from 1
  training @4 :Bool;
}

struct Contribute {
  # Request, answered by Contributed. Sent by the allreduce role of a site to that of another. Attachments, for reductions: the
  # elements of the block, a tensor for each tensor that the block touches. It may arrive before the receiver runs the instance.
  # Then it is kept; a rank that is at another instance meanwhile replaces what it has sent. Costs the bytes of the block.

  instance @0 :Instance;
  sender @1 :Address;
  rank @2 :UInt32;            # a rank of the sender
  block @3 :UInt32;           # the number of a block, or the rank whose tensor is wanted
  samples @4 :Int64;
  wanted @5 :Bool;            # the answer is to have the result
  signature @6 :Text;         # operation, shapes and members: equal for all members
  session @7 :UInt64;         # the session of the rank: a new one may begin at an earlier instance than the last one has ended
  broken @8 :UInt64;          # the last communicator of GPUs that has failed at the sender; 0: none
}

struct Contributed {
  # Fails as CollectiveDone does. Attachments, if wanted: the results in the form of
  # the elements, or the tensor of the rank.

  past @0 :Bool;              # nothing was done, because the receiver is past this instance
  over @1 :UInt64;            # if past: the last instance that has ended there
  failed @2 :UInt64;          # not 0: nothing was done, because this attempt has failed, and all up to this number have
  turn @3 :GpuTurn;           # set if the members are GPUs
}

struct GpuTurn {
  communicator @0 :UInt64;    # a number that the first site gives to this one alone
  id @1 :Data;                # what the members need to connect
  place @2 :UInt64;           # among the instances that this communicator carries out, counted from 1
  samples @3 :List(Int64);    # the weights of all ranks
}

struct Withdraw {
  # Request, answered by Withdrawn. Sent to all other sites by one at which an instance has failed. Ends the instance there too,
  # unless it is over.

  instance @0 :Instance;
  sender @1 :Address;
  reason @2 :Status;
}

struct Withdrawn {}

struct Compare {
  # Request, answered by Compared. Sent to all other sites when an instance has waited for ten heartbeats, and again after as
  # many: members that disagree may have nothing to send to each other. Fails with InvalidArgument, and so does the instance on
  # both sides, if the receiver runs something else under this name.

  instance @0 :Instance;
  sender @1 :Address;
  rank @2 :UInt32;
  signature @3 :Text;
}

struct Compared {
  past @0 :Bool;              # as in Contributed
  over @1 :UInt64;
}

struct CompareOverdue {
  # Not a request. Sent by the clock to the role in its own process while instances run.
}

struct BlockReady {
  # Not a request. Sent by the compute pool to the role in its own process: a block has been reduced, or what other sites have
  # sent has been copied.

  name @0 :Text;              # of the instance's lane: group, key, training
  serial @1 :UInt64;          # the number that the role gave the instance
  block @2 :UInt32;
  received @3 :Bool;          # copied, or exchanged between GPUs
  failure @4 :Status;         # set if the exchange has failed
}
