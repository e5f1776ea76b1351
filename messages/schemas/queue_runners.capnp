# Queue runners: steps that fill the queues of a session's graph, beside the steps of its caller. For each call of
# Session::start_queue_runners, one actor runs those of the queue runners that were given, each again and again, until there is
# nothing more to enqueue. It lives in the process of the master.
#
#   session                     queue runners                  master
#     |                           | PrepareStep, RunStep -------->|  (session.capnp) for each step that enqueues, again and again
#     |                           |<------------------- StepDone -|
#     | StopQueueRunners -------->| CancelStep for the steps that run; RunStep for the targets that end the queues
#     |<------ QueueRunnersEnded -|
#
# When the queue runners are lost, nothing is enqueued any more, and StopQueueRunners is answered with Unavailable. When the
# master is lost, their steps fail with Unavailable, as those of the session do.
@0xa2afd05c168a62c1;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct StopQueueRunners {
  # Request, answered by QueueRunnersEnded when the last step has ended. No other step begins. Fails with the first failure of a
  # step that is not an end of its queue runner.
}

struct QueueRunnersEnded {
}
