# Waiting requests: what all actors do at which requests of steps may wait for long: queues, accumulators, barriers, readers,
# staging areas. A request that waits is kept by its actor and holds no thread. It is answered once: as its own schema says,
# with Cancelled when its step ends, or with DeadlineExceeded when its timeout has passed.
@0xc7a1d5e2904b36f8;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct CancelRequests {
  # Not a request. Sent by an executor when a step ends early, to each actor that may keep a request of the step. These requests
  # are answered with Cancelled; what a request had taken goes back.

  step @0 :StepId;
}

struct RequestExpired {
  # Not a request. Sent by the clock to an actor in its own process when the timeout of a request has passed. Has no effect if
  # the request was answered already.

  request @0 :UInt64;        # the number that the actor gave to the request
}
