// Stands for devices/cuda in programs built without CUDA.
#include "devices/gpus.h"

namespace troupe {
namespace {

Status without_cuda() {
  return unavailable("this program cannot use GPUs: it was built without CUDA (TROUPE_CUDA=ON)");
}

}  // namespace

Result<int> count_gpus() { return without_cuda(); }

Result<std::shared_ptr<Device>> make_gpu(DeviceName, uint64_t, Pool&,  // NOLINT: by value, as with CUDA
                                         const GpuOptions&) {
  return without_cuda();
}

Result<std::unique_ptr<PeerGpuMemory>> map_peer_gpu_memory(std::span<const int>, uint64_t) {
  return without_cuda();
}

}  // namespace troupe
