# Batch: joins tensors of several steps to one batch, which one of the steps gets, and gives each step its part of what was
# computed of the batch. There are three kinds of actors. A batch joins rows; an unbatch cuts a batch into the parts of its steps;
# a batch gradient joins the gradients of the parts again. Requests come from executors; one that must wait is kept by the actor
# and holds no thread (messages/schemas/waiting.capnp). When the actor's process is lost, the requests fail.
@0xe2519f7ad04c8b63;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct JoinBatch {
  # Request to a batch, answered by BatchJoined when the batch is full, when the next rows do not fit into it, or when its timeout
  # has passed since its first rows came. Attachments: tensors with equal first dimensions.

  step @0 :StepId;
  queue @1 :Text;            # only requests of the same queue are joined
}

struct BatchJoined {
  # Fails with InvalidArgument if the tensors do not fit, with Unavailable if no further batch may be begun, with Cancelled if the
  # step ended. Attachments: the joined tensors; int64[n,3], the id, begin and end of each request in the batch; the id of this
  # request. The request that came last gets the batch; the others get tensors and indices without rows.
}

struct BatchDue {
  # Not a request. Sent by the clock to a batch in its own process when its timeout has passed. Has no effect if that batch was
  # given away already.

  queue @0 :Text;
  batch @1 :UInt64;          # the number that the actor gave to the batch
}

struct TakeBatchPart {
  # Request to an unbatch, answered by BatchPartTaken when the part with this id is there. Attachments: a batch, the index of its
  # parts, an id. A batch that has an index brings the parts of all of its steps, which are kept for the timeout.

  step @0 :StepId;
  timeout @1 :Int64;         # nanoseconds that the request may wait, and that the parts are kept
}

struct BatchPartTaken {
  # Fails with DeadlineExceeded if the part did not come in time, with AlreadyExists if another request waits for it or a part
  # comes twice, with InvalidArgument if the tensors do not fit, with Cancelled if the step ended. Attachment: the part.
}

struct JoinGradients {
  # Request to a batch gradient, answered by GradientsJoined. Attachments: the batch, the index of its parts, the gradient of a
  # part, its id. A request whose batch has elements waits for the gradients of all parts; any other is answered at once.

  step @0 :StepId;
}

struct GradientsJoined {
  # Fails with InvalidArgument if a gradient comes twice or the tensors do not fit, with Cancelled if the step ended. Attachment:
  # the gradients of all parts, joined in the order of the index; no rows if the batch has none.
}
