#include "devices/cuda/nccl_communicator.h"

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "devices/cuda/cuda_status.h"

namespace troupe {
namespace {

using Clock = std::chrono::steady_clock;
/// Exchanges and what they wait for are looked at all the time at first, because most end soon, and then at intervals.
constexpr auto patience = std::chrono::microseconds(200);
constexpr auto interval = std::chrono::microseconds(50);

void pause_since(Clock::time_point begin) {
  if (Clock::now() - begin < patience)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(interval);
}

Result<ncclDataType_t> type_of(DType dtype) {
  switch (dtype) {
    case DType::Float: return ncclFloat32;
    case DType::Double: return ncclFloat64;
    case DType::Half: return ncclFloat16;
    case DType::BFloat16: return ncclBfloat16;
    case DType::Int8: return ncclInt8;
    case DType::UInt8: return ncclUint8;
    case DType::Int32: return ncclInt32;
    case DType::Int64: return ncclInt64;
    default: return unimplemented("NCCL does not exchange tensors of " + std::string(name(dtype)));
  }
}

ncclRedOp_t reduction_of(GpuReduction reduction) {
  switch (reduction) {
    case GpuReduction::Mean: return ncclAvg;
    case GpuReduction::Max: return ncclMax;
    case GpuReduction::Min: return ncclMin;
    case GpuReduction::Product: return ncclProd;
    default: return ncclSum;
  }
}

/// Returns whether the tensors of this member have a weight. Zeros need none.
bool is_weighted(const GpuExchange& what) {
  return what.reduction == GpuReduction::WeightedSum && !what.adds_nothing;
}

}  // namespace

Result<ncclUniqueId> new_nccl_id(const CudaNccl& nccl) {
  ncclUniqueId id;
  if (const ncclResult_t result = nccl.unique_id(&id); result != ncclSuccess)
    return unavailable(std::string("NCCL cannot open a communicator: ") + nccl.error_string(result));
  return id;
}

NcclCommunicator::NcclCommunicator(Place place, ncclUniqueId id, int rank, int members)
    : place_(place), connection_(*this, place),
      thread_([this, id, rank, members] { return connection_.open(id, rank, members); }) {}

Completion NcclCommunicator::run(GpuExchange exchange) {
  (void)cudaSetDevice(place_.index);
  cudaEvent_t computed = nullptr;
  cudaError_t error = cudaEventCreateWithFlags(&computed, cudaEventDisableTiming);
  if (error == cudaSuccess) error = cudaEventRecord(computed, place_.computing);
  const std::shared_ptr<CUevent_st> event(computed, [](cudaEvent_t owned) {
    if (owned) (void)cudaEventDestroy(owned);
  });
  if (error != cudaSuccess) return Completion(cuda_status(error, "an exchange between GPUs"));
  return thread_.add(
      [this, what = std::move(exchange), event] { return connection_.exchange(what, event.get()); });
}

// ---- The connection

NcclCommunicator::Connection::~Connection() {
  (void)cudaSetDevice(place_.index);
  close();
  if (exchanged_) (void)cudaEventDestroy(exchanged_);
  if (stream_) (void)cudaStreamDestroy(stream_);
}

Status NcclCommunicator::Connection::open(const ncclUniqueId& id, int rank, int members) {
  const auto made = [](cudaError_t error) { return cuda_status(error, "connecting GPUs"); };
  TROUPE_RETURN_IF_FAILED(made(cudaSetDevice(place_.index)));
  TROUPE_RETURN_IF_FAILED(made(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)));
  TROUPE_RETURN_IF_FAILED(made(cudaEventCreateWithFlags(&exchanged_, cudaEventDisableTiming)));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return settled(place_.nccl.init(&handle_, members, id, rank, &config), "connecting GPUs");
}

Status NcclCommunicator::Connection::exchange(const GpuExchange& what, cudaEvent_t computed) {
  const Status status = run(what, computed);
  if (!status.ok()) close();
  return status;
}

Status NcclCommunicator::Connection::run(const GpuExchange& what, cudaEvent_t computed) {
  TROUPE_RETURN_IF_FAILED(reached(computed));
  TROUPE_RETURN_IF_FAILED(place_.faults.take(what.step));
  if (what.from.empty()) return {};
  if (what.adds_nothing) TROUPE_RETURN_IF_FAILED(clear(what.from));
  if (is_weighted(what)) {
    TROUPE_ASSIGN(const ncclRedOp_t sum, weighted_sum(what));
    const Status issued = issue(what, sum);
    (void)place_.nccl.reduction_destroy(sum, handle_);
    TROUPE_RETURN_IF_FAILED(issued);
  } else {
    TROUPE_RETURN_IF_FAILED(issue(what, reduction_of(what.reduction)));
  }
  TROUPE_RETURN_IF_FAILED(cuda_status(cudaEventRecord(exchanged_, stream_), "an exchange between GPUs"));
  return reached(exchanged_);
}

/// Returns the sum in which the tensors of this member have their weight. The caller destroys it.
Result<ncclRedOp_t> NcclCommunicator::Connection::weighted_sum(const GpuExchange& what) const {
  TROUPE_ASSIGN(const ncclDataType_t type, type_of(what.from[0].dtype()));
  double weight = what.weight;
  auto narrow = static_cast<float>(weight);
  void* const scalar = type == ncclFloat64 ? static_cast<void*>(&weight) : &narrow;
  ncclRedOp_t sum = ncclSum;
  const ncclResult_t made =
      place_.nccl.weighted_sum_create(&sum, scalar, type, ncclScalarHostImmediate, handle_);
  TROUPE_RETURN_IF_FAILED(status_of(made, "weighing tensors"));
  return sum;
}

Status NcclCommunicator::Connection::clear(std::span<const Tensor> tensors) const {
  for (Tensor tensor : tensors)
    TROUPE_RETURN_IF_FAILED(cuda_status(cudaMemsetAsync(tensor.mutable_data(), 0, tensor.bytes(), stream_),
                                        "an exchange between GPUs"));
  return {};
}

Status NcclCommunicator::Connection::issue(const GpuExchange& what, ncclRedOp_t reduction) {
  const CudaNccl& nccl = place_.nccl;
  TROUPE_RETURN_IF_FAILED(status_of(nccl.group_start(), "an exchange"));
  ncclResult_t result = ncclSuccess;
  Status status;
  for (size_t i = 0; i < what.from.size() && result == ncclSuccess && status.ok(); ++i) {
    const auto type = type_of(what.from[i].dtype());
    if (!type) {
      status = type.status();
      continue;
    }
    const auto count = static_cast<size_t>(what.from[i].elements());
    const void* const from = what.from[i].data();
    void* const to = what.to.empty() ? nullptr : Tensor(what.to[i]).mutable_data();
    result = what.root == GpuExchange::no_root
                 ? nccl.all_reduce(from, to, count, *type, reduction, handle_, stream_)
                 : nccl.reduce(from, to, count, *type, reduction, what.root, handle_, stream_);
    if (result == ncclInProgress) result = ncclSuccess;
  }
  const ncclResult_t ended = nccl.group_end();
  TROUPE_RETURN_IF_FAILED(std::move(status));
  TROUPE_RETURN_IF_FAILED(status_of(result, "an exchange"));
  return settled(ended, "an exchange");
}

/// Waits until NCCL has done what it has begun.
Status NcclCommunicator::Connection::settled(ncclResult_t result, const char* what) const {
  for (const auto begin = Clock::now(); result == ncclInProgress; pause_since(begin)) {
    TROUPE_RETURN_IF_FAILED(owner_.thread_.failure());
    ncclResult_t state = ncclSuccess;
    result = place_.nccl.async_error(handle_, &state);
    if (result == ncclSuccess) result = state;
  }
  return status_of(result, what);
}

/// Waits for an event. Fails when the communicator is aborted or NCCL has failed.
Status NcclCommunicator::Connection::reached(cudaEvent_t event) const {
  for (const auto begin = Clock::now();; pause_since(begin)) {
    const cudaError_t state = cudaEventQuery(event);
    if (state != cudaErrorNotReady) return cuda_status(state, "an exchange between GPUs");
    TROUPE_RETURN_IF_FAILED(owner_.thread_.failure());
    ncclResult_t failure = ncclSuccess;
    TROUPE_RETURN_IF_FAILED(status_of(place_.nccl.async_error(handle_, &failure), "an exchange"));
    if (failure != ncclInProgress) TROUPE_RETURN_IF_FAILED(status_of(failure, "an exchange"));
  }
}

Status NcclCommunicator::Connection::status_of(ncclResult_t result, const char* what) const {
  if (result == ncclSuccess) return {};
  const char* const more = place_.nccl.last_error(handle_);
  return unavailable(std::string("NCCL: ") + what + " failed: " + place_.nccl.error_string(result) +
                     (more && *more ? std::string(" (") + more + ')' : std::string()));
}

/// Ends what NCCL runs, and waits until the GPU uses none of its tensors any more.
void NcclCommunicator::Connection::close() {
  if (handle_) (void)place_.nccl.abort(std::exchange(handle_, nullptr));
  if (stream_) (void)cudaStreamSynchronize(stream_);
}

}  // namespace troupe
