#include "devices/cuda/cuda_libraries.h"

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace troupe {
namespace {

/// A shared library of the system, found as the dynamic linker does or in the folder of the CUDA Toolkit.
class Library {
 public:
  static Result<Library> open(const char* name) {
    for (const std::string folder : {"", "/usr/local/cuda/lib64/"})
      if (void* const handle = ::dlopen((folder + name).c_str(), RTLD_NOW | RTLD_GLOBAL))
        return Library(name, handle);
    const char* const why = ::dlerror();
    return unavailable(std::string("the library ") + name + " cannot be loaded: " + (why ? why : "unknown"));
  }

  template <class Function>
  Status find(const char* symbol, Function& function) const {
    function = reinterpret_cast<Function>(::dlsym(handle_, symbol));
    if (function) return {};
    return unavailable("the library " + name_ + " has no function " + symbol +
                       ": its version is not supported");
  }

 private:
  Library(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  std::string name_;
  void* handle_;
};

}  // namespace

Result<std::unique_ptr<CudaBlas>> load_blas() {
  TROUPE_ASSIGN(const Library library, Library::open("libcublasLt.so.13"));
  auto blas = std::make_unique<CudaBlas>();
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtMatmul", blas->matmul));
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtMatmulDescCreate", blas->desc_create));
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtMatmulDescDestroy", blas->desc_destroy));
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtMatmulDescSetAttribute", blas->desc_set));
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtMatrixLayoutCreate", blas->layout_create));
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtMatrixLayoutDestroy", blas->layout_destroy));
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtMatrixLayoutSetAttribute", blas->layout_set));
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtMatmulPreferenceCreate", blas->preference_create));
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtMatmulPreferenceDestroy", blas->preference_destroy));
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtMatmulPreferenceSetAttribute", blas->preference_set));
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtMatmulAlgoGetHeuristic", blas->heuristic));
  decltype(&cublasLtCreate) create = nullptr;
  TROUPE_RETURN_IF_FAILED(library.find("cublasLtCreate", create));
  if (const cublasStatus_t made = create(&blas->handle); made != CUBLAS_STATUS_SUCCESS)
    return unavailable("cuBLASLt cannot be used: its error is " + std::to_string(made));
  return blas;
}

Result<std::unique_ptr<CudaDnn>> load_dnn() {
  TROUPE_ASSIGN(const Library library, Library::open("libcudnn.so.9"));
  auto dnn = std::make_unique<CudaDnn>();
  TROUPE_RETURN_IF_FAILED(library.find("cudnnGetErrorString", dnn->error_string));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnCreateTensorDescriptor", dnn->tensor_create));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnSetTensorNdDescriptor", dnn->tensor_set));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnDestroyTensorDescriptor", dnn->tensor_destroy));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnCreateFilterDescriptor", dnn->filter_create));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnSetFilterNdDescriptor", dnn->filter_set));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnDestroyFilterDescriptor", dnn->filter_destroy));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnCreateConvolutionDescriptor", dnn->convolution_create));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnSetConvolutionNdDescriptor", dnn->convolution_set));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnSetConvolutionMathType", dnn->convolution_set_math));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnSetConvolutionGroupCount", dnn->convolution_set_groups));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnDestroyConvolutionDescriptor", dnn->convolution_destroy));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnGetConvolutionForwardAlgorithm_v7", dnn->forward_algorithms));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnConvolutionForward", dnn->forward));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnGetConvolutionBackwardDataAlgorithm_v7", dnn->data_algorithms));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnConvolutionBackwardData", dnn->backward_data));
  TROUPE_RETURN_IF_FAILED(
      library.find("cudnnGetConvolutionBackwardFilterAlgorithm_v7", dnn->filter_algorithms));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnConvolutionBackwardFilter", dnn->backward_filter));
  decltype(&cudnnCreate) create = nullptr;
  TROUPE_RETURN_IF_FAILED(library.find("cudnnCreate", create));
  TROUPE_RETURN_IF_FAILED(library.find("cudnnSetStream", dnn->set_stream));
  if (const cudnnStatus_t made = create(&dnn->handle); made != CUDNN_STATUS_SUCCESS)
    return unavailable(std::string("cuDNN cannot be used: ") + dnn->error_string(made));
  return dnn;
}

Result<CudaCompiler> load_compiler() {
  TROUPE_ASSIGN(const Library library, Library::open("libnvrtc.so.13"));
  CudaCompiler compiler;
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcGetErrorString", compiler.error_string));
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcGetNumSupportedArchs", compiler.architecture_count));
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcGetSupportedArchs", compiler.architectures));
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcCreateProgram", compiler.create));
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcDestroyProgram", compiler.destroy));
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcCompileProgram", compiler.compile));
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcGetProgramLogSize", compiler.log_size));
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcGetProgramLog", compiler.log));
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcGetCUBINSize", compiler.cubin_size));
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcGetCUBIN", compiler.cubin));
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcGetPTXSize", compiler.ptx_size));
  TROUPE_RETURN_IF_FAILED(library.find("nvrtcGetPTX", compiler.ptx));
  return compiler;
}

Result<CudaNccl> load_nccl() {
  TROUPE_ASSIGN(const Library library, Library::open("libnccl.so.2"));
  CudaNccl nccl;
  TROUPE_RETURN_IF_FAILED(library.find("ncclGetErrorString", nccl.error_string));
  TROUPE_RETURN_IF_FAILED(library.find("ncclGetLastError", nccl.last_error));
  TROUPE_RETURN_IF_FAILED(library.find("ncclGetUniqueId", nccl.unique_id));
  TROUPE_RETURN_IF_FAILED(library.find("ncclCommInitRankConfig", nccl.init));
  TROUPE_RETURN_IF_FAILED(library.find("ncclCommGetAsyncError", nccl.async_error));
  TROUPE_RETURN_IF_FAILED(library.find("ncclCommAbort", nccl.abort));
  TROUPE_RETURN_IF_FAILED(library.find("ncclRedOpCreatePreMulSum", nccl.weighted_sum_create));
  TROUPE_RETURN_IF_FAILED(library.find("ncclRedOpDestroy", nccl.reduction_destroy));
  TROUPE_RETURN_IF_FAILED(library.find("ncclGroupStart", nccl.group_start));
  TROUPE_RETURN_IF_FAILED(library.find("ncclGroupEnd", nccl.group_end));
  TROUPE_RETURN_IF_FAILED(library.find("ncclAllReduce", nccl.all_reduce));
  TROUPE_RETURN_IF_FAILED(library.find("ncclReduce", nccl.reduce));
  decltype(&ncclGetVersion) get_version = nullptr;
  TROUPE_RETURN_IF_FAILED(library.find("ncclGetVersion", get_version));
  (void)get_version(&nccl.version);
  return nccl;
}

}  // namespace troupe
