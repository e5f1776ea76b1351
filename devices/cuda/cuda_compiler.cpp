#include "devices/cuda/cuda_compiler.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace troupe {
namespace {

Status status_of(const CudaCompiler& compiler, nvrtcResult result, const char* what) {
  if (result == NVRTC_SUCCESS) return {};
  return internal(std::string("NVRTC: ") + what + " failed: " + compiler.error_string(result));
}

/// Returns the latest capability up to this one that NVRTC knows, or 0.
Result<int> known_capability(const CudaCompiler& compiler, int capability) {
  int count = 0;
  TROUPE_RETURN_IF_FAILED(
      status_of(compiler, compiler.architecture_count(&count), "counting the architectures"));
  std::vector<int> known(static_cast<size_t>(count));
  TROUPE_RETURN_IF_FAILED(
      status_of(compiler, compiler.architectures(known.data()), "listing the architectures"));
  int latest = 0;
  for (const int each : known)
    if (each <= capability) latest = std::max(latest, each);
  return latest;
}

/// Returns the text or code whose size and bytes two functions of NVRTC give.
Result<std::string> bytes_of(const CudaCompiler& compiler, nvrtcProgram program,
                             nvrtcResult (*size_of)(nvrtcProgram, size_t*),
                             nvrtcResult (*copy)(nvrtcProgram, char*)) {
  size_t size = 0;
  TROUPE_RETURN_IF_FAILED(status_of(compiler, size_of(program, &size), "reading a result"));
  std::string bytes(size, '\0');
  TROUPE_RETURN_IF_FAILED(status_of(compiler, copy(program, bytes.data()), "reading a result"));
  return bytes;
}

}  // namespace

Result<std::string> compile_source(const CudaCompiler& compiler, const std::string& source, int capability) {
  TROUPE_ASSIGN(const int known, known_capability(compiler, capability));
  const bool is_exact = known == capability;
  nvrtcProgram program = nullptr;
  TROUPE_RETURN_IF_FAILED(
      status_of(compiler, compiler.create(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr),
                "taking a source"));
  const auto destroy = [&](nvrtcProgram* owned) { (void)compiler.destroy(owned); };
  const std::unique_ptr<nvrtcProgram, decltype(destroy)> owner(&program, destroy);
  const std::string architecture =
      (is_exact ? "--gpu-architecture=sm_" : "--gpu-architecture=compute_") + std::to_string(known);
  const char* const options[] = {architecture.c_str(), "--std=c++20", "--fmad=false"};
  if (const nvrtcResult compiled = compiler.compile(program, std::size(options), options);
      compiled != NVRTC_SUCCESS) {
    const auto log = bytes_of(compiler, program, compiler.log_size, compiler.log);
    return internal(std::string("NVRTC: ") + compiler.error_string(compiled) +
                    (log ? ": " + *log : std::string()));
  }
  return is_exact ? bytes_of(compiler, program, compiler.cubin_size, compiler.cubin)
                  : bytes_of(compiler, program, compiler.ptx_size, compiler.ptx);
}

}  // namespace troupe
