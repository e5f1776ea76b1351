// A part of a graph that takes long to prepare does not keep the other sessions of its task waiting.
#include <boost/test/unit_test.hpp>

#include <future>
#include <thread>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"

namespace troupe::preparing_test {
namespace {

using namespace std::chrono_literals;

/// Adds an op whose kernel is prepared when `opened` is ready.
void add_gated_op(OpLibrary& library, const std::shared_future<void>& opened) {
  library.op(OpDefBuilder("Gated").input("x: float").output("y: float").shape(unchanged_shape));
  const auto check = [](KernelContext& context) -> Result<int> {
    context.set_output(0, context.input(0));
    return 0;
  };
  library.kernel(
      kernel_on("CPU", "Gated", [opened, check](const PrepareContext&) -> Result<std::unique_ptr<Kernel>> {
        if (opened.wait_for(10s) != std::future_status::ready)
          return deadline_exceeded("nobody has opened the gate");
        return make_kernel(check, [](int, DeviceContext&) {});
      }));
}

RuntimeOptions options_with(const std::shared_future<void>& opened) {
  RuntimeOptions options{.threads = 2};
  options.extensions.ops = [opened](OpLibrary& library) { add_gated_op(library, opened); };
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(preparing)

BOOST_AUTO_TEST_CASE(sessions_do_not_wait_for_each_others_preparation) {
  std::promise<void> gate;
  Runtime runtime(options_with(gate.get_future().share()));
  Graph slow_graph(runtime.ops()), graph(runtime.ops());
  const Scope slow_scope(slow_graph), scope(graph);
  const Output gated = slow_scope.add_one("Gated", {slow_scope.constant(Tensor::scalar(3.0f))});
  const Output five = scope.constant(Tensor::scalar(5.0f));

  auto slow = std::async(std::launch::async, [&] {
    Session session = runtime.session(slow_graph, {.simplify = false});
    return session.run({gated})[0].as<float>()[0];
  });
  Session session = runtime.session(graph);
  BOOST_TEST(session.run({five})[0].as<float>()[0] == 5.0f);
  BOOST_TEST((slow.wait_for(0s) == std::future_status::timeout));
  gate.set_value();
  BOOST_TEST(slow.get() == 3.0f);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::preparing_test
