// Mutexes, on which TensorFlow's critical sections are built. The actor of the mutex carries out the first two ops; a MutexLock
// that has to wait is a pending message there and blocks no thread.
//   MutexV2                 the handle of a mutex. Nodes with equal (container, shared_name), or else equal node name, share a
//                           mutex
//   MutexLock(mutex)        waits until nobody holds the mutex; yields its lock, a scalar variant. Locks are given in the order
//                           in which they were requested. The mutex is free again when the last tensor with the lock has gone,
//                           which is when the nodes that take the lock have run, and at the latest when the step ends, however it
//                           ends. Cancelled if the step ends before the lock is given
//   ConsumeMutexLock(lock)  keeps the lock until this node runs. InvalidArgument if the input is no lock
#include "graph/build/shape_context.h"
#include "kernels/core/lock_value.h"

namespace troupe {
namespace {

Status run_consume(KernelContext& context) {
  const Tensor& lock = context.input(0);
  if (lock.dtype() == DType::Variant && lock.shape().is_scalar() &&
      dynamic_cast<const LockValue*>(lock.as<Variant>()[0].get()))
    return {};
  return invalid_argument("mutex_lock is " + lock.signature() +
                          "; it must be the lock that a MutexLock has yielded, variant[]");
}

OpDefBuilder mutex_op(const std::string& name) {
  return OpDefBuilder(name).served_by("mutex").effect(Effect::State).shape(scalar_shape).not_differentiable();
}

}  // namespace

void add_mutex_ops(OpLibrary& library) {
  library.op(mutex_op("MutexV2")
                 .output("resource: resource")
                 .attr("container: string = ''")
                 .attr("shared_name: string = ''"));
  library.op(mutex_op("MutexLock").input("mutex: resource").output("mutex_lock: variant"));
  library.op(OpDefBuilder("ConsumeMutexLock")
                 .input("mutex_lock: variant")
                 .effect(Effect::Step)
                 .shape(no_output_shape)
                 .not_differentiable());
  library.kernel(host_kernel("ConsumeMutexLock", run_consume).inexpensive());
}

}  // namespace troupe
