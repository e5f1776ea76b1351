// Tests of nodes of one device that run side by side: which nodes another thread runs, and that a step ends like on one thread.
// A node counts as long only after it has been measured in an earlier step.
#include <chrono>
#include <condition_variable>
#include <future>
#include <set>

#include "tests/kernels/step_fixture.h"

namespace troupe::test::parallel_nodes_test {
namespace {

using namespace std::chrono_literals;

/// A host that lets threads of a pool help its step.
class SharingHost final : public StepHost, public std::enable_shared_from_this<SharingHost> {
 public:
  SharingHost(const std::shared_ptr<const PreparedPlan>& plan, Pool& pool)
      : pool_(pool), feeds_(plan->plan().feeds().size()), runner_(plan, *this) {}

  /// Runs a step with `x` fed to every input.
  Status run(float x) {
    std::vector<Tensor> feeds;
    for (size_t i = 0; i < feeds_; ++i) feeds.push_back(Tensor::scalar(x));
    runner_.start({}, feeds);
    runner_.drive();
    auto ended = ended_.get_future();
    return ended.wait_for(60s) == std::future_status::ready ? ended.get()
                                                            : deadline_exceeded("the step does not end");
  }
  float fetched(size_t i) { return runner_.fetched()[i].as<float>()[0]; }
  size_t invitations() const { return invitations_; }

  void request(StepRequest) override { BOOST_ERROR("nothing is to be requested"); }
  void read(Activation, uint32_t, StateCell&) override { BOOST_ERROR("no variable is being changed"); }
  void failing(const Status&) override {}
  bool invite_helper() override {
    ++invitations_;
    return pool_.try_submit([self = shared_from_this()] { self->runner_.help(); });
  }
  void wake() override {}
  void ended(Status status) override { ended_.set_value(std::move(status)); }

 private:
  Pool& pool_;
  const size_t feeds_;
  StepRunner runner_;
  size_t invitations_ = 0;
  std::promise<Status> ended_;
};

/// A host whose helper is always about to come; the test calls help().
struct LateHelperHost final : ScriptedHost {
  using ScriptedHost::ScriptedHost;
  bool invite_helper() override {
    ++invitations;
    return true;
  }
  size_t invitations = 0;
};

/// Nodes that wait for each other inside their kernels, so that they end only if they run side by side.
class Meeting {
 public:
  explicit Meeting(size_t expected) : expected_(expected) {}
  Status attend(const std::string& name) {
    std::unique_lock lock(mutex_);
    present_.insert(name);
    changed_.notify_all();
    return changed_.wait_for(lock, 30s, [&] { return present_.size() >= expected_; })
               ? Status{}
               : deadline_exceeded("nobody else came");
  }

 private:
  const size_t expected_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> present_;
};

void spend(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

struct ParallelFixture : StepFixture {
  const std::unique_ptr<ThreadPool> pool_of_device = value_or_throw(ThreadPool::make(2));
  CpuDevice device{DeviceName{"test", 0, 0, "CPU", 0}, 1, *pool_of_device};
  LocalRuntime runtime_of_two{library, device};
  std::unique_ptr<ThreadPool> pool = value_or_throw(ThreadPool::make(2));  // the threads that help
  Output x = input("x"), y = input("y"), left = probe("left", x), right = probe("right", y);

  std::shared_ptr<const PreparedPlan> prepare(std::vector<Output> feeds, std::vector<Output> fetches) {
    return value_or_throw(runtime_of_two.prepare(graph, {std::move(feeds), std::move(fetches), {}}));
  }

  std::shared_ptr<SharingHost> host(const std::shared_ptr<const PreparedPlan>& plan) {
    return std::make_shared<SharingHost>(plan, *pool);
  }
  /// Runs a step in which every kernel takes long.
  void measure(const std::shared_ptr<const PreparedPlan>& plan) {
    hook = [](KernelContext&) {
      spend(1ms);
      return Status{};
    };
    BOOST_TEST(host(plan)->run(0).ok());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(parallel_nodes, ParallelFixture)

BOOST_AUTO_TEST_CASE(independent_nodes_that_take_long_run_side_by_side) {
  const auto plan = prepare({x, y}, {probe("left_end", left), probe("right_end", right)});
  measure(plan);
  for (int i = 0; i < 20; ++i) {
    pool = value_or_throw(ThreadPool::make(2));  // an idle pool
    Meeting begin(2), end(2);
    hook = [&](KernelContext& context) {
      const std::string& name = context.node().name;
      spend(100us);  // so that the node still counts as long
      return (name.ends_with("_end") ? end : begin).attend(name);
    };
    const auto step = host(plan);
    const Status status = step->run(1);
    BOOST_TEST_REQUIRE(status.ok(), status.message());
    BOOST_TEST(step->fetched(0) == 3);
    BOOST_TEST(step->fetched(1) == 3);
    BOOST_TEST(step->invitations() == 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_chain_and_nodes_that_are_over_soon_stay_on_one_thread) {
  const auto chain = prepare({x}, {probe("second", left)});
  measure(chain);
  const auto one_behind_the_other = host(chain);
  BOOST_TEST(one_behind_the_other->run(1).ok());
  BOOST_TEST(one_behind_the_other->invitations() == 0u);

  hook = nullptr;
  const auto both = prepare({x, y}, {left, right});
  for (int i = 0; i < 40; ++i) {
    const auto step = host(both);
    BOOST_TEST(step->run(1).ok());
    BOOST_TEST(step->invitations() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_step_that_a_late_helper_has_ended_does_not_end_again) {
  const auto plan = prepare({x, y}, {left, right, ask("asked", x)});
  hook = [](KernelContext&) {
    spend(1ms);
    return Status{};
  };
  ScriptedHost measured(plan);
  measured.start({Tensor::scalar(1.0f), Tensor::scalar(1.0f)});
  measured.reply_to("asked", 5);

  LateHelperHost step(plan);
  step.start({Tensor::scalar(1.0f), Tensor::scalar(1.0f)});
  BOOST_TEST_REQUIRE(step.invitations == 1u);
  BOOST_TEST_REQUIRE(step.requests.size() == 1u);
  const bool awaits_driver =
      step.runner.arrived(step.requests[0].activation, {{}, {Tensor::scalar(5.0f)}, false});
  BOOST_TEST(awaits_driver);
  step.runner.help();
  BOOST_TEST(step.outcome.size() == 1u);
  step.runner.drive();
  BOOST_TEST(step.outcome.size() == 1u);
  BOOST_TEST(step.fetched(2) == 5);
}

BOOST_AUTO_TEST_CASE(a_failure_ends_the_step_after_what_runs_beside_it) {
  const auto plan = prepare({x, y}, {probe("after_left", left), probe("after_right", right)});
  measure(plan);
  Meeting begin(2);
  std::atomic<bool> left_is_over{false}, more{false};
  hook = [&](KernelContext& context) -> Status {
    const std::string& name = context.node().name;
    if (name.starts_with("after")) more = true;
    TROUPE_RETURN_IF_FAILED(begin.attend(name));
    if (name == "right") return aborted("enough");
    while (!context.step().cancelled->load()) std::this_thread::yield();
    left_is_over = true;
    return {};
  };
  const Status status = host(plan)->run(1);
  BOOST_TEST((status.code() == Code::Aborted), status.message());
  BOOST_TEST(status.message().find("[Probe] right") != std::string::npos);
  BOOST_TEST(left_is_over.load());
  BOOST_TEST(!more.load());
  pool.reset();
  BOOST_TEST(device.memory_statistics().in_use == 0u);
}

BOOST_AUTO_TEST_CASE(many_nodes_give_the_same_results_as_on_one_thread) {
  std::vector<Output> layer(8, x);
  for (int depth = 0; depth < 6; ++depth) {
    std::vector<Output> next;
    for (size_t i = 0; i < layer.size(); ++i)
      next.push_back(
          probe("node_" + std::to_string(depth) + '_' + std::to_string(i), layer[(i + 1) % layer.size()]));
    layer = std::move(next);
  }
  const auto plan = prepare({x}, {g.add_one("AddN", layer)});
  measure(plan);
  hook = [](KernelContext&) {
    spend(20us);
    return Status{};
  };
  for (int i = 0; i < 50; ++i) {
    const auto step = host(plan);
    BOOST_TEST(step->run(1).ok());
    BOOST_TEST(step->fetched(0) == 8 * 7);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::parallel_nodes_test
