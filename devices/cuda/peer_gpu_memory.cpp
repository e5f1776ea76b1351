// Memory of a GPU of another process, mapped at addresses of this one (devices/gpu_sharing.h).
#include <algorithm>
#include <vector>

#include "devices/cuda/cuda_status.h"
#include "devices/cuda/memory_driver.h"
#include "devices/gpu_sharing.h"

namespace troupe {
namespace {

class MappedGpuMemory final : public PeerGpuMemory {
 public:
  MappedGpuMemory(std::span<const int> gpus, uint64_t bytes)
      : gpus_(gpus.begin(), gpus.end()), bytes_(bytes) {}
  ~MappedGpuMemory() override {
    if (base_ == 0) return;
    (void)cudaSetDevice(gpus_[0]);
    for (const Part& part : parts_) {
      (void)driver_.unmap(base_ + part.offset, part.bytes);
      (void)driver_.release(part.handle);
    }
    (void)driver_.free(base_, bytes_);
  }

  Status reserve() {
    constexpr uint64_t granule = MemoryDriver::granule;
    if (bytes_ == 0 || bytes_ % granule != 0)
      return invalid_argument("the memory of a GPU of a peer has " + std::to_string(bytes_) +
                              " bytes, which is no multiple of " + std::to_string(granule));
    TROUPE_RETURN_IF_FAILED(driver_.load());
    TROUPE_RETURN_IF_FAILED(cuda_status(cudaSetDevice(gpus_[0]), "using a GPU"));
    if (driver_.reserve(&base_, bytes_, granule, 0, 0) == CUDA_SUCCESS) return {};
    base_ = 0;
    return resource_exhausted("addresses for " + std::to_string(bytes_) +
                              " bytes of a GPU of a peer could not be reserved");
  }

  Status add(const ArenaPart& part) override {
    if (part.offset != mapped_ || part.bytes == 0 || part.bytes % MemoryDriver::granule != 0 ||
        part.bytes > bytes_ - mapped_)
      return invalid_argument("a part of " + std::to_string(part.bytes) + " bytes at offset " +
                              std::to_string(part.offset) + " cannot follow " + std::to_string(mapped_) +
                              " bytes of an arena of " + std::to_string(bytes_));
    (void)cudaSetDevice(gpus_[0]);
    Part mapped{part.offset, part.bytes, {}};
    void* const file = reinterpret_cast<void*>(static_cast<intptr_t>(part.descriptor.number()));
    if (driver_.import_handle(&mapped.handle, file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != CUDA_SUCCESS)
      return unavailable("memory of a GPU of a peer could not be imported");
    if (!map(mapped)) {
      (void)driver_.release(mapped.handle);
      return unavailable("a GPU of this process cannot reach the memory of a GPU of a peer");
    }
    parts_.push_back(mapped);
    mapped_ += part.bytes;
    return {};
  }

  Result<std::byte*> find(uint64_t offset, uint64_t bytes) const override {
    if (offset <= mapped_ && bytes <= mapped_ - offset) return reinterpret_cast<std::byte*>(base_ + offset);
    return invalid_argument("a tensor of " + std::to_string(bytes) + " bytes is lent at offset " +
                            std::to_string(offset) + " of a GPU's memory, of which " +
                            std::to_string(mapped_) + " bytes are mapped");
  }

 private:
  struct Part {
    uint64_t offset, bytes;
    CUmemGenericAllocationHandle handle;
  };

  bool map(const Part& part) const {
    const CUdeviceptr at = base_ + part.offset;
    if (driver_.map(at, part.bytes, 0, part.handle, 0) != CUDA_SUCCESS) return false;
    std::vector<CUmemAccessDesc> all;
    for (const int gpu : gpus_) all.push_back(access_of(gpu));
    if (driver_.set_access(at, part.bytes, all.data(), all.size()) == CUDA_SUCCESS) return true;
    (void)driver_.unmap(at, part.bytes);
    return false;
  }

  const std::vector<int> gpus_;
  const uint64_t bytes_;
  MemoryDriver driver_;
  CUdeviceptr base_ = 0;
  std::vector<Part> parts_;
  uint64_t mapped_ = 0;  ///< the bytes of all parts
};

}  // namespace

Result<std::unique_ptr<PeerGpuMemory>> map_peer_gpu_memory(std::span<const int> gpus, uint64_t bytes) {
  auto memory = std::make_unique<MappedGpuMemory>(gpus, bytes);
  TROUPE_RETURN_IF_FAILED(memory->reserve());
  return std::unique_ptr<PeerGpuMemory>(std::move(memory));
}

}  // namespace troupe
