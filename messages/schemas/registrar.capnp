# Registrar: one per process of a cluster, member or client. It tells a node that knows one process only who else there is, and gives
# it a place (`troupe node --join`).
#
#   node to be                                registrar
#     | Hello (asking) ------------------------->|   a link that is no membership: link.capnp
#     |<-------------------------------- Hello   |
#     | DescribeCluster ------------------------>|   promises the place, for ten seconds, to nobody else
#     |<---------------------- ClusterDescribed  |
#     | Hello, as the task that it now is ------>|   to all members
#
# What one process does not know it cannot answer: a task that is linked to others and not to the one asked counts as missing. Then two
# processes may come to be one task; the later of them is refused by every member that is linked to the earlier, and ends.
@0xa4c6b2ee7d0f9135;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct DescribeCluster {
  # Request -> ClusterDescribed. NotFound: no such task, or job, in the cluster, which does not grow at run time. AlreadyExists: the
  # task, or every task of the job, is there already or promised. Once per node; if its answer is lost the place is free again soon.

  job @0 :Text;
  task @1 :Int32;            # -1: the lowest of the job that is not there
  take @2 :Bool;             # false: only to see; nothing is promised
}

struct ClusterDescribed {
  tasks @0 :List(Member);
  task @1 :Int32;            # which of the job the asker may be
}

struct Member {
  job @0 :Text;
  task @1 :Int32;
  endpoint @2 :Text;
}
