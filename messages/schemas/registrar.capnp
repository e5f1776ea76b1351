# Registrar: one per process of a cluster, member or client. A node that knows only one process of the cluster asks its registrar
# which members the cluster has, and which task it may become (`troupe node --join`).
#
#   node that joins                           registrar
#     | Hello (asking) ------------------------->|   a link that does not make the node a member: link.capnp
#     |<-------------------------------- Hello   |
#     | DescribeCluster ------------------------>|   reserves the task for this node for ten seconds
#     |<---------------------- ClusterDescribed  |
#     | Hello, as the task that it has become -->|   to all members
#
# A registrar knows only what its own process knows: it considers a task free if its own process has no link to it, even if other
# processes have one. So two processes may become the same task. The later one is refused by every member that is linked to the
# earlier one, and ends.
@0xa4c6b2ee7d0f9135;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct DescribeCluster {
  # Request, answered by ClusterDescribed. Fails with NotFound if the cluster has no such job or task; a cluster does not grow while
  # it runs. Fails with AlreadyExists if the task, or every task of the job, is running or reserved. Sent once per node. If the
  # answer is lost, the task is free again soon.

  job @0 :Text;
  task @1 :Int32;            # -1: the lowest free task of the job
  take @2 :Bool;             # false: only a question; nothing is reserved
}

struct ClusterDescribed {
  tasks @0 :List(Member);
  task @1 :Int32;            # the task of the job that the sender of the request may become
}

struct Member {
  job @0 :Text;
  task @1 :Int32;
  endpoint @2 :Text;
}
