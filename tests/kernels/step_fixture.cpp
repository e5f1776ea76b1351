#include "tests/kernels/step_fixture.h"

#include <algorithm>

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"

namespace troupe::test {
namespace {

struct ProbeArguments {
  const Tensor& x;
  Tensor& y;
};

/// Adds one to a float tensor.
void compute_probe(const ProbeArguments& arguments, DeviceContext&) {
  const auto from = arguments.x.as<float>();
  std::transform(from.begin(), from.end(), arguments.y.write<float>().begin(), [](float x) { return x + 1; });
}

}  // namespace

std::shared_ptr<const OpLibrary> library_with_probes(const Hook& hook) {
  // This is not op_library(), because a copy of that would add to the same table of ops.
  auto library = std::make_shared<OpLibrary>(*make_op_library());
  library->op(OpDefBuilder("Probe")
                  .input("x: float")
                  .output("y: float")
                  .effect(Effect::State)
                  .shape(unchanged_shape));
  library->op(OpDefBuilder("Ask")
                  .input("x: float")
                  .output("y: float")
                  .served_by("queue")
                  .effect(Effect::State)
                  .shape(unchanged_shape));
  const auto check = [&hook](KernelContext& context) -> Result<ProbeArguments> {
    if (hook) TROUPE_RETURN_IF_FAILED(hook(context));
    TROUPE_ASSIGN(Tensor* const y, context.output(0, context.input(0).shape()));
    return ProbeArguments{context.input(0), *y};
  };
  library->kernel(cpu_kernel("Probe", check, compute_probe));
  throw_if_failed(library->status);
  return library;
}

void check_failure(const std::vector<Status>& outcome, Code code, std::string_view text) {
  BOOST_REQUIRE(outcome.size() == 1);
  BOOST_TEST((outcome[0].code() == code), outcome[0].message());
  BOOST_TEST(outcome[0].message().find(text) != std::string::npos, outcome[0].message() << " lacks " << text);
}

Output sum_of(const Scope& g, Output x, int32_t n) {
  const auto loop = while_loop(
      g, {g.constant(Tensor::scalar<int32_t>(0)), x, g.constant(Tensor::scalar(0.0f))},
      [n](const Scope& s, auto v) {
        return s.add_one("Less", {v[0], s.constant(Tensor::scalar(n))});
      },
      [](const Scope& s, auto v) {
        return std::vector{s.add_one("Add", {v[0], s.constant(Tensor::scalar<int32_t>(1))}),
                           s.add_one("Probe", {v[1]}), s.add_one("Add", {v[2], v[1]})};
      });
  return loop[2];
}

}  // namespace troupe::test
