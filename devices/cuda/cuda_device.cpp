#include "devices/cuda/cuda_device.h"

#include <nvtx3/nvToolsExt.h>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "devices/cuda/cuda_recorder.h"
#include "devices/cuda/cuda_status.h"
#include "devices/cuda/nccl_communicator.h"

namespace troupe {
namespace {

/// Copies of so few bytes from memory that is not pinned do not make the host wait: the driver keeps the bytes.
constexpr size_t small_copy = size_t{32} << 10;
constexpr size_t copy_block = size_t{256} << 10;

/// Returns whether a variable of the environment is 1.
bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value && std::string_view(value) == "1";
}

Result<uint64_t> memory_cap(const GpuOptions& options) {
  if (options.memory_cap != 0) return options.memory_cap;
  size_t free = 0, total = 0;
  TROUPE_RETURN_IF_FAILED(cuda_status(cudaMemGetInfo(&free, &total), "reading how much memory a GPU has"));
  return uint64_t{free} / 100 * 95 / static_cast<uint64_t>(options.sharers);
}

}  // namespace

Result<int> count_gpus() {
  int count = 0;
  TROUPE_RETURN_IF_FAILED(cuda_status(cudaGetDeviceCount(&count), "looking for GPUs"));
  return count;
}

Result<std::shared_ptr<Device>> make_gpu(DeviceName name, uint64_t incarnation, Pool& pool,
                                         const GpuOptions& options) {
  TROUPE_ASSIGN(auto device, CudaDevice::make(std::move(name), incarnation, pool, options));
  return std::shared_ptr<Device>(std::move(device));
}

Result<std::shared_ptr<CudaDevice>> CudaDevice::make(DeviceName name, uint64_t incarnation, Pool& pool,
                                                     const GpuOptions& options) {
  TROUPE_ASSIGN(const int count, count_gpus());
  if (options.index < 0 || options.index >= count)
    return unavailable("there is no GPU " + std::to_string(options.index) + "; this process can use " +
                       std::to_string(count));
  TROUPE_RETURN_IF_FAILED(cuda_status(cudaSetDevice(options.index), "using a GPU"));
  TROUPE_ASSIGN(const uint64_t cap, memory_cap(options));
  const auto ordinal = static_cast<uint16_t>(options.index + 1);
  TROUPE_ASSIGN(auto memory, GpuMemory::make(ordinal, cap, options));
  std::shared_ptr<CudaDevice> device(
      new CudaDevice(std::move(name), incarnation, pool, options, std::move(memory)));
  TROUPE_RETURN_IF_FAILED(device->start());
  return device;
}

CudaDevice::CudaDevice(DeviceName name, uint64_t incarnation, Pool& pool, const GpuOptions& options,
                       std::unique_ptr<GpuMemory> memory)
    : name_(std::move(name)), incarnation_(incarnation), options_(options),
      ordinal_(static_cast<uint16_t>(options.index + 1)), memory_(std::move(memory)),
      host_memory_(options.shared), context_(*memory_, host_memory_, pool, this),
      waits_for_kernels_(is_set("TROUPE_WAIT_FOR_KERNELS")) {}

CudaDevice::~CudaDevice() {
  (void)cudaSetDevice(options_.index);
  waiter_.reset();
  if (stream_) (void)cudaStreamSynchronize(stream_);
  for (const cudaLibrary_t library : compiled_) (void)cudaLibraryUnload(library);
  if (computed_) (void)cudaEventDestroy(computed_);
  if (to_host_) (void)cudaStreamDestroy(to_host_);
  if (stream_) (void)cudaStreamDestroy(stream_);
  if (fault_places_) (void)cudaFreeHost(fault_places_);
}

Status CudaDevice::start() {
  const auto made = [](cudaError_t error) { return cuda_status(error, "starting a GPU"); };
  TROUPE_RETURN_IF_FAILED(made(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)));
  TROUPE_RETURN_IF_FAILED(made(cudaStreamCreateWithFlags(&to_host_, cudaStreamNonBlocking)));
  TROUPE_RETURN_IF_FAILED(made(cudaEventCreateWithFlags(&computed_, cudaEventDisableTiming)));
  constexpr size_t places = 256;
  TROUPE_RETURN_IF_FAILED(
      made(cudaHostAlloc(&fault_places_, places * sizeof(GpuFault), cudaHostAllocMapped)));
  auto* const first = static_cast<GpuFault*>(fault_places_);
  std::uninitialized_value_construct_n(first, places);
  faults_.emplace(std::span(first, places));
  int processors = 0;
  TROUPE_RETURN_IF_FAILED(
      made(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, options_.index)));
  max_blocks_ = static_cast<size_t>(processors) * 16;
  waiter_ = std::make_unique<EventWaiter>(options_.index);
  return {};
}

Completion CudaDevice::run(std::function<Status(DeviceContext&)> work) { return Completion(work(context_)); }

void* CudaDevice::stream() const {
  (void)cudaSetDevice(options_.index);
  return stream_;
}

Status CudaDevice::launched() {
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess && waits_for_kernels_) error = cudaStreamSynchronize(stream_);
  return error == cudaSuccess ? Status() : cuda_status(error, "a kernel");
}

Result<void*> CudaDevice::blas() {
  (void)cudaSetDevice(options_.index);
  const std::lock_guard lock(loading_);
  if (!blas_) {
    TROUPE_ASSIGN(blas_, load_blas());
  }
  return static_cast<void*>(blas_.get());
}

Result<void*> CudaDevice::dnn() {
  (void)cudaSetDevice(options_.index);
  const std::lock_guard lock(loading_);
  if (!dnn_) {
    TROUPE_ASSIGN(dnn_, load_dnn());
    dnn_->times_algorithms = is_set("TROUPE_TIME_CONVOLUTIONS");
  }
  return static_cast<void*>(dnn_.get());
}

Result<void*> CudaDevice::compiled(const std::string& source) {
  (void)cudaSetDevice(options_.index);
  const std::lock_guard lock(loading_);
  if (!compiler_) compiler_ = load_compiler();
  if (!*compiler_) return nullptr;
  const auto [kernel, is_new] = kernels_.try_emplace(source);
  if (is_new) {
    auto loaded = load_kernel(source);
    if (!loaded) {
      kernels_.erase(kernel);
      return loaded.status();
    }
    kernel->second = *loaded;
  }
  return static_cast<void*>(kernel->second);
}

Result<cudaKernel_t> CudaDevice::load_kernel(const std::string& source) {
  const auto made = [](cudaError_t error) { return cuda_status(error, "loading a compiled kernel"); };
  int major = 0, minor = 0;
  TROUPE_RETURN_IF_FAILED(
      made(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, options_.index)));
  TROUPE_RETURN_IF_FAILED(
      made(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, options_.index)));
  TROUPE_ASSIGN(const std::string code, compile_source(**compiler_, source, major * 10 + minor));
  cudaLibrary_t library = nullptr;
  TROUPE_RETURN_IF_FAILED(
      made(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0)));
  compiled_.push_back(library);
  cudaKernel_t kernel = nullptr;
  TROUPE_RETURN_IF_FAILED(made(cudaLibraryGetKernel(&kernel, library, "run")));
  return kernel;
}

void* CudaDevice::mark() {
  cudaEvent_t event = nullptr;
  if (cudaEventCreate(&event) != cudaSuccess) return nullptr;
  (void)cudaEventRecord(event, static_cast<cudaStream_t>(stream()));
  return event;
}

int64_t CudaDevice::elapsed(void* from, void* to) {
  float milliseconds = 0;
  const auto begin = static_cast<cudaEvent_t>(from), end = static_cast<cudaEvent_t>(to);
  if (begin && end && cudaEventSynchronize(end) == cudaSuccess)
    (void)cudaEventElapsedTime(&milliseconds, begin, end);
  for (const cudaEvent_t event : {begin, end})
    if (event) (void)cudaEventDestroy(event);
  return static_cast<int64_t>(double{milliseconds} * 1e6);
}

std::unique_ptr<GpuRecorder> CudaDevice::make_recorder() {
  if (waits_for_kernels_) return nullptr;
  auto recorder = CudaRecorder::make(*this, options_.index, host_memory_);
  if (!recorder) return nullptr;
  return std::move(*recorder);
}

void CudaDevice::begin_range(const char* name) { nvtxRangePushA(name); }

void CudaDevice::end_range() { nvtxRangePop(); }

// ---- Exchanges with other GPUs

Result<const CudaNccl*> CudaDevice::nccl() {
  const std::lock_guard lock(loading_);
  if (!nccl_) nccl_ = load_nccl();
  if (!*nccl_) return nccl_->status();
  return &**nccl_;
}

Result<std::string> CudaDevice::exchange_name() {
  TROUPE_ASSIGN(const CudaNccl* const library, nccl());
  cudaDeviceProp properties{};
  TROUPE_RETURN_IF_FAILED(
      cuda_status(cudaGetDeviceProperties(&properties, options_.index), "reading the name of a GPU"));
  std::string name = "nccl-" + std::to_string(library->version) + '/';
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char byte : properties.uuid.bytes) {
    name += digits[static_cast<uint8_t>(byte) / 16];
    name += digits[static_cast<uint8_t>(byte) % 16];
  }
  return name;
}

Result<std::string> CudaDevice::new_communicator_id() {
  TROUPE_ASSIGN(const CudaNccl* const library, nccl());
  TROUPE_ASSIGN(const ncclUniqueId id, new_nccl_id(*library));
  return std::string(id.internal, sizeof id.internal);
}

Result<std::unique_ptr<GpuCommunicator>> CudaDevice::make_communicator(const std::string& id, int rank,
                                                                       int members) {
  TROUPE_ASSIGN(const CudaNccl* const library, nccl());
  ncclUniqueId named;
  if (id.size() != sizeof named.internal)
    return invalid_argument("the id of a communicator of NCCL has " + std::to_string(id.size()) +
                            " bytes; allowed: " + std::to_string(sizeof named.internal));
  std::memcpy(named.internal, id.data(), id.size());
  return std::unique_ptr<GpuCommunicator>(std::make_unique<NcclCommunicator>(
      NcclCommunicator::Place{*library, options_.index, stream_, *faults_}, named, rank, members));
}

// ---- Copies

Completion CudaDevice::copy(const Tensor& from, Tensor& to) {
  if (Status valid = check_copy(*this, from, to); !valid.ok()) return Completion(std::move(valid));
  if (from.completion().ready()) {
    if (!from.completion().status().ok()) return Completion(from.completion().status());
    return copy_now(from, to);
  }
  auto done = Completion::pending();
  from.completion().then([this, from, to, done](const Status& status) mutable {
    if (!status.ok()) return done.complete(status);
    copy_now(from, to).then([done](Status copied) { done.complete(std::move(copied)); });
  });
  return done;
}

Completion CudaDevice::copy_now(const Tensor& from, Tensor& to) {
  (void)cudaSetDevice(options_.index);
  if (to.memory() != MemoryKind::Device) return copy_to_host(from, to);
  if (from.bytes() == 0) return {};
  if (from.memory() != MemoryKind::Device) return copy_to_device(from, to);
  if (!holds(from)) return copy_from_peer(from, to);
  return Completion(cuda_status(
      cudaMemcpyAsync(to.mutable_data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice, stream_),
      "copying a tensor on a GPU"));
}

// The driver takes the way through the host where GPUs of this process cannot reach each other. Memory of another process is
// reached where it is mapped.
Completion CudaDevice::copy_from_peer(const Tensor& from, Tensor& to) {
  const int peer = from.buffer()->device - 1;
  const cudaError_t error =
      from.buffer()->device == PeerGpuMemory::ordinal
          ? cudaMemcpyAsync(to.mutable_data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice, stream_)
          : cudaMemcpyPeerAsync(to.mutable_data(), options_.index, from.data(), peer, from.bytes(), stream_);
  if (error != cudaSuccess) return Completion(cuda_status(error, "copying a tensor from another GPU"));
  waiter_->after(stream_, [source = from](const Status&) {});
  return {};
}

/// Returns a copy in pinned memory.
Result<Tensor> CudaDevice::staged(const Tensor& from) {
  TROUPE_ASSIGN(Tensor copy, Tensor::allocate(from.dtype(), from.shape(), host_memory_));
  context_.pool().blocks(from.bytes(), copy_block, [&](size_t begin, size_t end) {
    std::memcpy(copy.mutable_data() + begin, from.data() + begin, end - begin);
  });
  return copy;
}

// The copy is in the order of the stream, so the tensor can be used at once by what is issued later.
Completion CudaDevice::copy_to_device(const Tensor& from, Tensor& to) {
  Tensor source = from;
  if (from.memory() != MemoryKind::Pinned && from.bytes() > small_copy) {
    auto copy = staged(from);
    if (!copy) return Completion(copy.status());
    source = std::move(*copy);
  }
  const cudaError_t error =
      cudaMemcpyAsync(to.mutable_data(), source.data(), source.bytes(), cudaMemcpyHostToDevice, stream_);
  if (error != cudaSuccess) return Completion(cuda_status(error, "copying a tensor to a GPU"));
  if (source.memory() == MemoryKind::Pinned) waiter_->after(stream_, [source](const Status&) {});
  return {};
}

// Also a tensor without elements is waited for, because the kernels before it may report a wrong value.
Completion CudaDevice::copy_to_host(const Tensor& from, Tensor& to) {
  Tensor target = to;
  if (to.memory() != MemoryKind::Pinned) {
    auto pinned = Tensor::allocate(from.dtype(), from.shape(), host_memory_);
    if (!pinned) return Completion(pinned.status());
    target = std::move(*pinned);
  }
  auto done = Completion::pending();
  const std::lock_guard lock(copying_);
  cudaError_t error = cudaEventRecord(computed_, stream_);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(to_host_, computed_, 0);
  if (error == cudaSuccess)
    error =
        cudaMemcpyAsync(target.mutable_data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost, to_host_);
  if (error != cudaSuccess) return Completion(cuda_status(error, "copying a tensor from a GPU"));
  waiter_->after(to_host_, [this, source = from, target, to, done](Status status) mutable {
    source.reset();  // before the step goes on, so that the next step finds its memory free
    if (status.ok()) status = take_fault(faults_->common());
    if (status.ok() && !target.shares_buffer_with(to))
      std::memcpy(to.mutable_data(), target.data(), target.bytes());
    done.complete(std::move(status));
  });
  return done;
}

}  // namespace troupe
