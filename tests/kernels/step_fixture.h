// Shared by the tests of the step runner: a host that keeps the requests of a step, so that the test replies when it likes, and
// a fixture with two additional ops: Probe, whose kernel calls a hook of the test, and Ask, which the host carries out.
#pragma once

#include <boost/test/unit_test.hpp>

#include "graph/build/control_flow.h"
#include "kernels/runtime/step_runner.h"
#include "tests/support/net/local_host.h"

namespace troupe::test {

using Hook = std::function<Status(KernelContext&)>;

/// Returns a library with all ops, Probe and Ask. Probe adds one to its input, a float tensor, after `hook` has returned; if
/// the hook fails, the kernel fails.
std::shared_ptr<const OpLibrary> library_with_probes(const Hook& hook);

/// A host that keeps the requests of a step; the test replies to them.
struct ScriptedHost : StepHost {
  explicit ScriptedHost(std::shared_ptr<const PreparedPlan> plan) : runner(std::move(plan), *this) {}

  struct PendingRequest {
    Activation activation;
    std::string node;
    Where where;
    bool dead;
    std::vector<Slot> inputs;
  };

  void start(std::vector<Tensor> feeds = {}, uint64_t ordinal = 7) {
    StepInfo info;
    info.ordinal = ordinal;
    runner.start(info, feeds);
    runner.drive();
  }
  /// Replies to the oldest request of this node and drives the step.
  void reply_to(const std::string& node, StepReply reply) {
    const auto at = std::find_if(requests.begin(), requests.end(),
                                 [&](const PendingRequest& request) { return request.node == node; });
    BOOST_REQUIRE(at != requests.end());
    const Activation activation = at->activation;
    requests.erase(at);
    const bool awaited = runner.arrived(activation, std::move(reply));
    BOOST_TEST(awaited);
    runner.drive();
  }
  void reply_to(const std::string& node, float value) {
    reply_to(node, {{}, {Tensor::scalar(value)}, false});
  }

  void request(StepRequest request) override {
    requests.push_back({request.activation, request.node.name, request.where, request.dead, {}});
    for (Slot& slot : request.inputs) requests.back().inputs.push_back(std::move(slot));
  }
  void read(Activation, uint32_t, StateCell&) override { BOOST_ERROR("no variable is being changed"); }
  void flush(FlushReason what) override { flushes.push_back(what); }
  void failing(const Status& status) override { failures.push_back(status); }
  void wake() override { ++wakes; }
  void ended(Status status) override { outcome.push_back(std::move(status)); }

  float fetched(size_t i = 0) { return runner.fetched()[i].as<float>()[0]; }

  StepRunner runner;
  std::vector<PendingRequest> requests;
  std::vector<Status> failures, outcome;
  std::vector<FlushReason> flushes;
  int wakes = 0;
};

struct StepFixture {
  Hook hook;
  std::shared_ptr<const OpLibrary> library = library_with_probes(hook);
  LocalRuntime runtime{library};
  Graph graph{library->ops};
  Scope g{graph};
  std::vector<std::string> ran;  ///< names of the probes, once record() was called

  void record() {
    hook = [this](KernelContext& context) {
      ran.push_back(context.node().name);
      return Status{};
    };
  }
  Output number(float value) { return g.constant(Tensor::scalar(value)); }
  Output input(const std::string& name, PartialShape shape = PartialShape::scalar()) {
    return g.with_name(name).add_one("Placeholder", {}, {{"dtype", f32}, {"shape", std::move(shape)}});
  }
  Output probe(const std::string& name, Output x) { return g.with_name(name).add_one("Probe", {x}); }
  Output ask(const std::string& name, Output x) { return g.with_name(name).add_one("Ask", {x}); }

  std::shared_ptr<const PreparedPlan> prepare(std::vector<Output> feeds, std::vector<Output> fetches,
                                              std::vector<NodeId> targets = {}) {
    return value_or_throw(runtime.prepare(graph, {std::move(feeds), std::move(fetches), std::move(targets)}));
  }
  size_t in_use() { return runtime.device().memory_statistics().in_use; }
};

/// Checks that a step has ended once, with this failure.
void check_failure(const std::vector<Status>& outcome, Code code, std::string_view text);

/// Returns the sum of the `n` numbers x, x + 1, ..., computed in a loop.
Output sum_of(const Scope& g, Output x, int32_t n);

}  // namespace troupe::test
