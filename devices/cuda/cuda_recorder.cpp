#include "devices/cuda/cuda_recorder.h"

#include <cstring>
#include <utility>

#include "devices/cuda/cuda_status.h"

namespace troupe {
namespace {

class CudaPiece final : public RecordedPiece {
 public:
  CudaPiece(cudaGraph_t graph, size_t nodes, std::vector<BufferRef> kept)
      : graph_(graph), nodes_(nodes), kept_(std::move(kept)) {}
  ~CudaPiece() override { (void)cudaGraphDestroy(graph_); }
  bool empty() const override { return nodes_ == 0; }
  cudaGraph_t graph() const { return graph_; }

 private:
  const cudaGraph_t graph_;
  const size_t nodes_;
  const std::vector<BufferRef> kept_;
};

class CudaGroup final : public RecordedGroup {
 public:
  explicit CudaGroup(cudaGraphExec_t graph) : graph_(graph) {}
  ~CudaGroup() override { (void)cudaGraphExecDestroy(graph_); }
  cudaGraphExec_t graph() const { return graph_; }

 private:
  const cudaGraphExec_t graph_;
};

}  // namespace

Result<std::unique_ptr<CudaRecorder>> CudaRecorder::make(GpuQueue& device, int index, Allocator& pinned) {
  TROUPE_RETURN_IF_FAILED(cuda_status(cudaSetDevice(index), "using a GPU"));
  cudaStream_t stream = nullptr;
  TROUPE_RETURN_IF_FAILED(
      cuda_status(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "recording kernels"));
  return std::unique_ptr<CudaRecorder>(new CudaRecorder(device, index, pinned, stream));
}

CudaRecorder::~CudaRecorder() { (void)cudaStreamDestroy(stream_); }

void* CudaRecorder::stream() const {
  (void)cudaSetDevice(index_);
  return stream_;
}

Status CudaRecorder::launched() { return cuda_status(cudaGetLastError(), "recording a kernel"); }

// Libraries may load kernels while they are captured, so the capture is relaxed.
Status CudaRecorder::begin() {
  kept_.clear();
  return cuda_status(
      cudaStreamBeginCapture(static_cast<cudaStream_t>(stream()), cudaStreamCaptureModeRelaxed),
      "recording a kernel");
}

Result<std::unique_ptr<RecordedPiece>> CudaRecorder::end() {
  cudaGraph_t graph = nullptr;
  if (const cudaError_t error = cudaStreamEndCapture(stream_, &graph); error != cudaSuccess || !graph) {
    (void)cudaGetLastError();
    return cuda_status(error == cudaSuccess ? cudaErrorStreamCaptureInvalidated : error,
                       "recording a kernel");
  }
  size_t nodes = 0;
  const cudaError_t error = cudaGraphGetNodes(graph, nullptr, &nodes);
  auto piece = std::make_unique<CudaPiece>(graph, nodes, std::exchange(kept_, {}));
  TROUPE_RETURN_IF_FAILED(cuda_status(error, "recording a kernel"));
  return std::unique_ptr<RecordedPiece>(std::move(piece));
}

Result<std::unique_ptr<RecordedGroup>> CudaRecorder::join(std::span<const RecordedPiece* const> pieces) {
  cudaGraph_t graph = nullptr;
  TROUPE_RETURN_IF_FAILED(cuda_status(cudaGraphCreate(&graph, 0), "joining recorded kernels"));
  cudaGraphNode_t last = nullptr;
  cudaError_t error = cudaSuccess;
  for (const RecordedPiece* const piece : pieces) {
    cudaGraphNode_t node = nullptr;
    if (error == cudaSuccess)
      error = cudaGraphAddChildGraphNode(&node, graph, last ? &last : nullptr, last ? 1 : 0,
                                         static_cast<const CudaPiece*>(piece)->graph());
    last = node;
  }
  cudaGraphExec_t executable = nullptr;
  if (error == cudaSuccess) error = cudaGraphInstantiate(&executable, graph, 0);
  (void)cudaGraphDestroy(graph);
  TROUPE_RETURN_IF_FAILED(cuda_status(error, "joining recorded kernels"));
  return std::unique_ptr<RecordedGroup>(std::make_unique<CudaGroup>(executable));
}

Status CudaRecorder::issue(RecordedGroup& group) {
  return cuda_status(
      cudaGraphLaunch(static_cast<CudaGroup&>(group).graph(), static_cast<cudaStream_t>(device_.stream())),
      "issuing recorded kernels");
}

const void* CudaRecorder::kept(const void* bytes, size_t count) {
  auto copy = pinned_.allocate(count);
  if (!copy) return nullptr;
  std::memcpy((*copy)->data, bytes, count);
  return kept_.emplace_back(std::move(*copy))->data;
}

}  // namespace troupe
