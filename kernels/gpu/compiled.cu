#include "kernels/gpu/compiled.h"

#include "kernels/gpu/launch.h"
#include "kernels/gpu/source_files.h"

namespace troupe::gpu {
namespace {

constexpr unsigned threads_of_block = 256;  // as the launch bounds of `entry` say

/// What GpuQueue::compiled() looks for.
constexpr std::string_view entry = R"(
#if defined(__CUDACC__)
extern "C" __global__ void __launch_bounds__(256) run(troupe::gpu::FourArguments given) {
  const size_t threads = size_t{gridDim.x} * blockDim.x;
  for (size_t call = size_t{blockIdx.x} * blockDim.x + threadIdx.x; call < given.calls(); call += threads)
    troupe::gpu::program(given, call);
}
#else
extern "C" void run(const troupe::gpu::FourArguments& given) {
  for (size_t call = 0; call < given.calls(); ++call) troupe::gpu::program(given, call);
}
#endif
)";

/// Returns the text of a header without the lines that include other headers of Troupe.
std::string without_includes(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    if (!line.starts_with("#include \"") && !line.starts_with("#pragma once")) result += line;
    text.remove_prefix(line.size());
  }
  return result;
}

std::string headers() {
  std::string result;
  for (const SourceFile& file : source_files()) result += without_includes(file.text);
  return result;
}

}  // namespace

std::string compiled_source(const std::string& program) {
  static const std::string before = headers();
  return before + "namespace troupe::gpu {\n" + program + "}\n" + std::string(entry);
}

Result<bool> run_compiled(DeviceContext& device, const std::string& source, const FourArguments& arguments) {
  GpuQueue* const queue = device.queue();
  if (!queue) return false;
  TROUPE_ASSIGN(void* const function, queue->compiled(source));
  if (!function) return false;
#if defined(__CUDACC__)
  FourArguments copied = arguments;
  void* parameters[] = {&copied};
  const size_t blocks = (arguments.calls() + threads_of_block - 1) / threads_of_block;
  const auto grid = static_cast<unsigned>(std::min<size_t>(blocks, queue->max_blocks()));
  (void)cudaLaunchKernel(function, dim3(grid), dim3(threads_of_block), parameters, 0,
                         static_cast<cudaStream_t>(queue->stream()));
  TROUPE_RETURN_IF_FAILED(queue->launched());
#else
  const auto run = reinterpret_cast<void (*)(const FourArguments&)>(function);
  TROUPE_RETURN_IF_FAILED(on_host(device, [run, arguments] { run(arguments); }));
#endif
  return true;
}

}  // namespace troupe::gpu
