// GPUs for tests on machines without one, in place of devices/no_gpus.cpp: programs that link this file have one GPU, or as many
// as TROUPE_EMULATED_GPUS in the environment says, whose kernels run on the host (kernels/gpu/launch.h), in memory that nothing
// else reaches (emulated_memory.h). Recorded kernels are closures that run when they are issued. Sources are compiled by the C++
// compiler of the system.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "devices/caching_allocator.h"
#include "devices/gpu_recorder.h"
#include "devices/gpus.h"
#include "tests/support/gpu/emulated_communicator.h"
#include "tests/support/gpu/emulated_memory.h"
#include "tests/support/temporary_folder.h"

namespace troupe {
namespace {

using Work = std::vector<std::function<void()>>;

struct EmulatedPiece final : RecordedPiece {
  explicit EmulatedPiece(Work given) : work(std::move(given)) {}
  bool empty() const override { return work.empty(); }
  const Work work;
};

struct EmulatedGroup final : RecordedGroup {
  std::vector<const EmulatedPiece*> pieces;
};

/// Compiles a source to a shared library, and returns its function `run`.
Result<void*> compile(const std::string& source) {
  const test::TemporaryFolder folder;
  const std::string base = folder.path() + "/kernel", errors = base + ".txt";
  const std::string file = folder.write("kernel.cpp", source);
  const std::string command =
      "c++ -std=c++20 -O1 -ffp-contract=off -shared -fPIC -o " + base + ".so " + file + " 2> " + errors;
  if (std::system(command.c_str()) != 0) {
    std::ifstream in(errors);
    return internal("the C++ compiler: " + std::string(std::istreambuf_iterator<char>(in), {}));
  }
  void* const library = ::dlopen((base + ".so").c_str(), RTLD_NOW);
  void* const run = library ? ::dlsym(library, "run") : nullptr;
  if (!run) return internal(std::string("a compiled kernel cannot be loaded: ") + ::dlerror());
  return run;
}

class EmulatedQueue : public GpuQueue {
 public:
  /// `device` is the name of the GPU.
  explicit EmulatedQueue(std::string device = {}) : name_(std::move(device)) {}

  void* stream() const override { return nullptr; }
  GpuFaults& faults() override { return faults_; }
  size_t max_blocks() const override { return 1; }
  Status launched() override { return {}; }
  Result<void*> blas() override { return unavailable("an emulated GPU has no cuBLAS"); }
  Result<void*> dnn() override { return unavailable("an emulated GPU has no cuDNN"); }
  Result<void*> compiled(const std::string& source) override {
    const std::lock_guard lock(compiling_);
    void*& kernel = kernels_[source];
    if (!kernel) {
      TROUPE_ASSIGN(kernel, compile(source));
    }
    return kernel;
  }
  void* mark() override {
    using Clock = std::chrono::steady_clock;
    return new int64_t(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
  }
  int64_t elapsed(void* from, void* to) override {
    const std::unique_ptr<int64_t> begin(static_cast<int64_t*>(from)), end(static_cast<int64_t*>(to));
    return *end - *begin;
  }
  void poll() override {}
  void issue_on_host(std::function<void()> work) override {
    const GpuWork issued;
    GpuQueue::issue_on_host(std::move(work));
  }
  bool tf32() const override { return false; }
  std::unique_ptr<GpuRecorder> make_recorder() override;
  Result<std::string> exchange_name() override {
    return "emulated/" + std::to_string(::getpid()) + '/' + name_;
  }
  Result<std::string> new_communicator_id() override { return EmulatedCommunicator::new_id(); }
  Result<std::unique_ptr<GpuCommunicator>> make_communicator(const std::string& id, int rank,
                                                             int members) override {
    return std::unique_ptr<GpuCommunicator>(
        std::make_unique<EmulatedCommunicator>(id, rank, members, faults_));
  }

 private:
  const std::string name_;
  std::array<GpuFault, 16> fault_places_;
  GpuFaults faults_{fault_places_};
  std::mutex compiling_;
  std::map<std::string, void*> kernels_;
};

class EmulatedRecorder final : public GpuRecorder {
 public:
  explicit EmulatedRecorder(GpuQueue& device) : queue_(device) {}
  GpuQueue& queue() override { return queue_; }
  Status begin() override {
    queue_.work.clear();
    return {};
  }
  Result<std::unique_ptr<RecordedPiece>> end() override {
    return std::unique_ptr<RecordedPiece>(std::make_unique<EmulatedPiece>(std::exchange(queue_.work, {})));
  }
  Result<std::unique_ptr<RecordedGroup>> join(std::span<const RecordedPiece* const> pieces) override {
    auto group = std::make_unique<EmulatedGroup>();
    for (const RecordedPiece* const piece : pieces)
      group->pieces.push_back(static_cast<const EmulatedPiece*>(piece));
    return std::unique_ptr<RecordedGroup>(std::move(group));
  }
  Status issue(RecordedGroup& group) override {
    const GpuWork issued;
    for (const EmulatedPiece* const piece : static_cast<EmulatedGroup&>(group).pieces)
      for (const auto& work : piece->work) work();
    return {};
  }

 private:
  struct Queue final : EmulatedQueue {
    explicit Queue(GpuQueue& given) : device(given) {}
    GpuFaults& faults() override { return device.faults(); }
    Result<void*> compiled(const std::string& source) override { return device.compiled(source); }
    void issue_on_host(std::function<void()> given) override { work.push_back(std::move(given)); }
    GpuQueue& device;
    Work work;
  } queue_;
};

std::unique_ptr<GpuRecorder> EmulatedQueue::make_recorder() {
  return std::make_unique<EmulatedRecorder>(*this);
}

class EmulatedGpu final : public Device {
 public:
  EmulatedGpu(DeviceName name, uint64_t incarnation, Pool& pool, uint16_t ordinal, uint64_t cap,
              std::shared_ptr<SharedArenas> shared)
      : name_(std::move(name)), incarnation_(incarnation), ordinal_(ordinal), memory_(ordinal, cap, shared),
        host_memory_({.cap = cap, .shared = std::move(shared)}), queue_(name_.text()),
        context_(memory_, host_memory_, pool, &queue_) {}

  const DeviceName& name() const override { return name_; }
  std::string_view type() const override { return "GPU"; }
  uint64_t incarnation() const override { return incarnation_; }
  MemoryKind memory_kind() const override { return MemoryKind::Device; }
  uint16_t ordinal() const override { return ordinal_; }
  MemoryStatistics memory_statistics() const override { return memory_.statistics(); }
  DeviceContext& context() override { return context_; }
  bool in_order() const override { return true; }
  Completion run(std::function<Status(DeviceContext&)> work) override { return Completion(work(context_)); }
  Completion copy(const Tensor& from, Tensor& to) override {
    if (Status valid = check_copy(*this, from, to); !valid.ok()) return Completion(std::move(valid));
    {
      const GpuWork copying;
      std::memcpy(to.mutable_data(), from.data(), from.bytes());
    }
    return to.memory() == MemoryKind::Device ? Completion()
                                             : Completion(take_fault(queue_.faults().common()));
  }

 private:
  const DeviceName name_;
  const uint64_t incarnation_;
  const uint16_t ordinal_;
  EmulatedMemory memory_;
  CachingAllocator host_memory_;
  EmulatedQueue queue_;
  DeviceContext context_;
};

}  // namespace

Result<int> count_gpus() {
  const char* const count = std::getenv("TROUPE_EMULATED_GPUS");
  return count ? std::atoi(count) : 1;
}

Result<std::shared_ptr<Device>> make_gpu(DeviceName name, uint64_t incarnation, Pool& pool,
                                         const GpuOptions& options) {
  const uint64_t cap = options.memory_cap != 0 ? options.memory_cap
                                               : (uint64_t{1} << 34) / static_cast<uint64_t>(options.sharers);
  const auto ordinal = static_cast<uint16_t>(options.index + 1);
  return std::shared_ptr<Device>(
      std::make_shared<EmulatedGpu>(std::move(name), incarnation, pool, ordinal, cap, options.shared));
}

}  // namespace troupe
