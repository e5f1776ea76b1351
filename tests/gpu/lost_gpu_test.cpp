// A kernel that reads memory that is not there, after which no kernel can run on the GPU in this process. So this is a program of
// its own; it needs a GPU of NVIDIA.
#include <boost/test/unit_test.hpp>

#include "graph/build/scope.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/checked_kernel.h"
#include "tests/support/failure_of.h"
#include "tests/support/gpu/gpu_runtime.h"

namespace troupe::test::lost_gpu_test {
namespace {

constexpr const char* gpu_name = "/job:localhost/replica:0/task:0/device:GPU:0";

/// Returns a tensor that is said to lie in the memory of the device of another one, where there is no memory.
Tensor misplaced(const Tensor& tensor) {
  auto* const buffer = new Buffer;
  buffer->kind = MemoryKind::Device;
  buffer->device = tensor.buffer()->device;
  buffer->data = reinterpret_cast<std::byte*>(uintptr_t{1} << 20);
  buffer->bytes = tensor.bytes();
  buffer->release = [](Buffer* self) { delete self; };
  return {tensor.dtype(), tensor.shape(), BufferRef::adopt(buffer), 0};
}

/// Adds Misplaced(x), whose output has the shape of x and no memory.
void add_misplaced(OpLibrary& library) {
  struct Nothing {};
  library.op(OpDefBuilder("Misplaced").input("x: float").output("y: float").shape(unchanged_shape));
  library.kernel(kernel_on(
      "GPU", "Misplaced",
      [](KernelContext& context) -> Result<Nothing> {
        context.set_output(0, misplaced(context.input(0)));
        return Nothing{};
      },
      [](const Nothing&, DeviceContext&) {}));
}

BOOST_AUTO_TEST_SUITE(lost_gpu, *boost::unit_test::precondition(needs_gpu))

BOOST_AUTO_TEST_CASE(all_steps_on_it_fail_and_others_go_on) {
  RuntimeOptions options = with_gpus(1);
  options.extensions.ops = add_misplaced;
  Runtime runtime(options);
  Graph graph(runtime.ops());
  const Scope scope(graph), there = scope.with_device(gpu_name), here = scope.with_device("/device:CPU:0");
  const Output x = placeholder(scope, f32, {3});
  const Output good = neg(there, x), bad = neg(there, there.add_one("Misplaced", {x}));
  const Output on_cpu = exp(here, x);
  Session session = runtime.session(graph);
  const auto run = [&](const Output& output) {
    return session.run({{x, Tensor::vector<float>({0, 1, 2})}}, {output})[0];
  };
  BOOST_TEST(run(good).as<float>()[2] == -2);
  for (const Output& output : {bad, good, bad}) {
    const Status failure = failure_of([&] { run(output); });
    BOOST_TEST((failure.code() == Code::Unavailable), failure.message());
    BOOST_TEST(failure.message().find("the GPU is lost for this process") != std::string::npos,
               failure.message());
  }
  BOOST_TEST(run(on_cpu).as<float>()[0] == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::lost_gpu_test
