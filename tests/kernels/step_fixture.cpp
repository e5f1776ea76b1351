#include "tests/kernels/step_fixture.h"

#include <algorithm>

#include "graph/build/shape_context.h"
#include "kernels/ops/all_ops.h"

namespace troupe::test {
namespace {

/// Adds one to a float tensor, after whatever the hook does.
class ProbeKernel final : public Kernel {
 public:
  explicit ProbeKernel(const Hook& hook) : hook_(hook) {}
  Outcome run(KernelContext& context) const override {
    Outcome outcome = hook_ ? hook_(context) : Status{};
    if (const auto* status = std::get_if<Status>(&outcome); status && !status->ok()) return outcome;
    auto y = context.output(0, context.input(0).shape());
    if (!y) return y.status();
    const auto from = context.input(0).as<float>();
    std::transform(from.begin(), from.end(), (*y)->write<float>().begin(), [](float x) { return x + 1; });
    return outcome;
  }

 private:
  const Hook& hook_;
};

}  // namespace

std::shared_ptr<const OpLibrary> library_with_probes(const Hook& hook) {
  // Not op_library(): a copy of it would add to the same table of ops.
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
  const auto prepare = [&hook](const PrepareContext&) -> Result<std::unique_ptr<Kernel>> {
    return std::unique_ptr<Kernel>(std::make_unique<ProbeKernel>(hook));
  };
  library->kernel({"Probe", "CPU", {}, {}, {}, false, prepare});
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
