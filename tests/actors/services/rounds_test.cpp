// Synchronous trainings with a coordinator: which shards count in a round, what becomes of the others, and of pushes that do not
// wait.
//
//   ps/0: a, a/round    ps/1: b, b/round    one session per worker: SyncReplicasApply of the step's shard on both
#include <boost/test/unit_test.hpp>

#include <future>
#include <thread>

#include "actors/runtime.h"
#include "actors/services/replicas/round_set.h"
#include "actors/services/replicas/staleness_gate.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"
#include "tests/support/round_coordinator.h"

namespace troupe::rounds_test {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t training_id = 77;
constexpr uint32_t shards = 3;

struct Fixture {
  Runtime runtime{{.threads = 2, .tasks = {{"ps", 0, 1}, {"ps", 1, 1}, {"worker", 0, 1}}}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  std::vector<Output> variables, rounds, initializers;
  Output gradient = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape{1}}});
  Output one = g.constant(Tensor::scalar<int64_t>(1));
  std::optional<Session> main;

  Fixture() {
    for (const std::string name : {"a", "b"}) {
      const Scope there = g.with_device(name == "a" ? "/job:ps/task:0" : "/job:ps/task:1");
      variables.push_back(variable(there, name, Tensor::vector<float>({0})));
      rounds.push_back(variable(there, name + "/round", Tensor::scalar<int64_t>(0)));
    }
    main.emplace(session());
    main->run(initializers);
  }

  Output variable(const Scope& there, const std::string& name, const Tensor& initial) {
    const Output v = there.with_name(name).add_one(
        "VariableV2", {}, {{"dtype", initial.dtype()}, {"shape", PartialShape(initial.shape())}});
    initializers.push_back({there.add("Assign", {v, g.constant(initial)}), Output::control});
    return v;
  }
  Session session() { return runtime.session(graph, {.share_state = true}); }

  /// The push for variable i -= mean, by the shard of the step.
  Output push(size_t i, bool wait = true, const std::vector<Output>& after = {}) {
    std::vector<Output> inputs{rounds[i], variables[i], g.constant(Tensor::scalar(1.0f)), gradient, one};
    inputs.insert(inputs.end(), after.begin(), after.end());
    return {g.add("SyncReplicasApply", inputs,
                  {{"N", int64_t{1}},
                   {"M", static_cast<int64_t>(after.size())},
                   {"rule", std::string("ApplyGradientDescent")},
                   {"gradient", std::string("delta")},
                   {"shard", int64_t{-1}},
                   {"shards", int64_t{shards}},
                   {"training", static_cast<int64_t>(training_id)},
                   {"wait", wait}}),
            Output::control};
  }

  /// Begins the training with the variables of both servers.
  test::RoundCoordinator begin(uint32_t required, bool backups = true) {
    return {
        runtime,
        {.training = training_id, .shards = shards, .required = required, .pushes = 2, .backups = backups}};
  }

  static StepOptions step(uint64_t round, int64_t shard) {
    return {.timeout = 20s, .training = true, .round = round, .shard = shard};
  }
  void run(Session& in, const std::vector<Output>& targets, float value, const StepOptions& options) {
    in.run({{gradient, Tensor::vector<float>({value})}}, targets, options);
  }
  /// Runs a step in a session and a thread of its own.
  std::future<Status> run_apart(const std::vector<Output>& targets, float value, StepOptions options) {
    return std::async(std::launch::async, [this, targets, value, options] {
      Session own = session();
      try {
        run(own, targets, value, options);
      } catch (const Error& error) {
        return error.status();
      }
      return Status();
    });
  }
  float value_of(size_t i) { return main->run({variables[i]})[0].as<float>()[0]; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(round_sets)

BOOST_AUTO_TEST_CASE(the_first_complete_shards_count) {
  RoundSet set(4, 2, 3, 10);
  set.arrived(11, 3, 2);
  set.arrived(11, 1, 3);
  set.arrived(11, 0, 1);
  BOOST_TEST(!set.fix());
  set.arrived(11, 3, 1);
  const auto fixed = set.fix();
  BOOST_TEST_REQUIRE(fixed.has_value());
  BOOST_TEST(*fixed == (std::vector<uint32_t>{1, 3}), boost::test_tools::per_element());
  BOOST_TEST(set.fixed() == 11u);
  set.arrived(11, 0, 2);
  BOOST_TEST(set.late() == 3u);
  BOOST_TEST(set.left_out() == (std::vector<uint64_t>{1, 0, 1, 0}), boost::test_tools::per_element());
  set.require(4);
  for (uint32_t shard = 0; shard < 3; ++shard) set.arrived(12, shard, 3);
  BOOST_TEST(!set.fix());
  set.require(3);
  BOOST_TEST(set.fix().has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(staleness_gates)

BOOST_AUTO_TEST_CASE(a_worker_waits_until_the_slowest_one_is_near_enough) {
  StalenessGate gate(2);
  gate.set_workers({true, true, false}, 10);
  std::vector<int> opened(8);
  const auto finish = [&](uint32_t worker, uint64_t round) {
    gate.finished(worker, round, Reply([&opened, worker](const Result<AnyMessage>& answer) {
                    opened[worker] += answer.ok() ? 1 : 100;
                  }));
  };
  finish(0, 11);
  finish(0, 12);
  BOOST_TEST(opened[0] == 2);
  finish(0, 13);  // round 14 must wait until worker 1 has finished round 11
  BOOST_TEST(opened[0] == 2);
  finish(1, 11);
  BOOST_TEST(opened[0] == 3);
  BOOST_TEST(opened[1] == 1);
  finish(0, 14);
  gate.set_workers({true, false, true}, -1);  // the slow worker is lost; another one begins where it was
  BOOST_TEST(opened[0] == 3);
  gate.set_workers({true, false, false}, -1);
  BOOST_TEST(opened[0] == 4);
  finish(7, 1);
  BOOST_TEST(opened[7] == 100);  // there is no such worker
  gate.set_workers({true, true, false}, -1);
  finish(1, 18);
  gate.end(aborted("over"));
  BOOST_TEST(opened[1] == 101);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(rounds_of_trainings, Fixture)

// Shard 1 pushes to a first, but not to b: it is not complete when shards 2 and 0 are, so neither variable gets its gradient.
BOOST_AUTO_TEST_CASE(all_variables_get_exactly_the_shards_of_the_round) {
  const Output a = push(0), b = push(1), a_kept = push(0, false);
  const auto coordinator = begin(2);
  run(*main, {a_kept}, -100, step(1, 1));
  auto second = run_apart({a, b}, -2, step(1, 2));
  run(*main, {a, b}, -4, step(1, 0));
  BOOST_TEST((second.get().ok()));
  BOOST_TEST(value_of(0) == 3.0f);
  BOOST_TEST(value_of(1) == 3.0f);
  run(*main, {b}, -100, step(1, 1));  // ends at once and changes nothing
  BOOST_TEST(value_of(1) == 3.0f);
  const auto ended = coordinator.end();
  BOOST_TEST(vector_of<uint64_t>(ended->getLeftOut()) == (std::vector<uint64_t>{0, 1, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(ended->getLate() == 2u);
}

BOOST_AUTO_TEST_CASE(without_backup_workers_all_shards_count_and_one_worker_may_push_several) {
  const Output a = push(0), kept = push(0, false);
  const auto coordinator = begin(3, false);
  run(*main, {kept}, -1, step(1, 0));
  run(*main, {kept}, -2, step(1, 2));
  BOOST_TEST(value_of(0) == 0.0f);
  run(*main, {a}, -6, step(1, 1));
  BOOST_TEST(value_of(0) == 3.0f);
}

BOOST_AUTO_TEST_CASE(the_number_of_shards_that_count_may_change) {
  const Output a = push(0), b = push(1);
  const auto coordinator = begin(3);
  auto first = run_apart({a, b}, -2, step(1, 0)), second = run_apart({a, b}, -4, step(1, 1));
  const Status refused = test::failure_of([&] { coordinator.require(4); });
  BOOST_TEST((refused.code() == Code::InvalidArgument));
  coordinator.require(2);
  BOOST_TEST((first.get().ok()));
  BOOST_TEST((second.get().ok()));
  BOOST_TEST(value_of(0) == 3.0f);
}

BOOST_AUTO_TEST_CASE(the_gradient_of_a_step_that_was_cancelled_still_counts) {
  const Output a = push(0);
  const auto coordinator = begin(3, false);
  StepOptions short_time = step(1, 0);
  short_time.timeout = 50ms;
  const Status expired = test::failure_of([&] { run(*main, {a}, -3, short_time); });
  BOOST_TEST((expired.code() == Code::DeadlineExceeded));
  auto second = run_apart({a}, -3, step(1, 1));
  run(*main, {a}, -3, step(1, 2));
  BOOST_TEST((second.get().ok()));
  BOOST_TEST(value_of(0) == 3.0f);
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_the_step_of_another_thread) {
  const Output a = push(0);
  const auto coordinator = begin(3, false);
  Cancellation cancellation;
  StepOptions options = step(1, 0);
  options.cancellation = &cancellation;
  auto waiting = run_apart({a}, -3, options);
  cancellation.cancel();
  BOOST_TEST((waiting.get().code() == Code::Cancelled));
  const Status later = test::failure_of([&] { run(*main, {a}, -3, options); });
  BOOST_TEST((later.code() == Code::Cancelled));
}

BOOST_AUTO_TEST_CASE(a_worker_that_pushes_nothing_can_await_the_round) {
  const Output a = push(0);
  const Output awaited{
      g.add("SyncReplicasAwait", {rounds[0]}, {{"training", static_cast<int64_t>(training_id)}}),
      Output::control};
  const auto coordinator = begin(3, false);
  const Output unwaited = push(0, false);  // before another thread reads the graph
  auto waiting = run_apart({awaited}, 0, step(1, -1));
  for (const int64_t shard : {0, 1}) run(*main, {unwaited}, -3, step(1, shard));
  run(*main, {a}, -3, step(1, 2));
  BOOST_TEST((waiting.get().ok()));
  StepOptions second = step(2, -1);
  second.timeout = 50ms;
  const Status expired = test::failure_of([&] { main->run({awaited}, second); });
  BOOST_TEST((expired.code() == Code::DeadlineExceeded));
}

BOOST_AUTO_TEST_CASE(the_counter_of_an_awaited_round_may_be_a_resource) {
  const Scope there = g.with_device("/job:ps/task:0");
  const Output counter =
      there.add_one("VarHandleOp", {}, {{"dtype", DType::Int64}, {"shape", PartialShape{}}});
  const Output three{there.add("AssignVariableOp", {counter, g.constant(Tensor::scalar<int64_t>(3))}),
                     Output::control};
  const Output awaited{there.add("ResourceSyncReplicasAwait", {counter}), Output::control};
  main->run({three});
  main->run({awaited}, step(3, -1));
  StepOptions fourth = step(4, -1);
  fourth.timeout = 50ms;
  const Status expired = test::failure_of([&] { main->run({awaited}, fourth); });
  BOOST_TEST((expired.code() == Code::DeadlineExceeded));
}

BOOST_AUTO_TEST_CASE(what_waits_ends_with_the_training) {
  const Output a = push(0);
  const Status before = test::failure_of([&] { run(*main, {a}, -3, step(1, 0)); });
  BOOST_TEST((before.code() == Code::Aborted));
  const auto coordinator = begin(2);
  run(*main, {push(1, false)}, -3, step(1, 0));
  auto waiting = run_apart({a}, -3, step(1, 0));
  coordinator.end();
  BOOST_TEST((waiting.get().code() == Code::Aborted));
  const Status after = test::failure_of([&] { run(*main, {a}, -3, step(1, 0)); });
  BOOST_TEST((after.code() == Code::Aborted));
  BOOST_TEST(value_of(0) == 0.0f);
}

BOOST_AUTO_TEST_CASE(a_push_without_a_training_or_a_shard_is_refused) {
  Attributes attrs = graph.node(push(0, false).node).attrs;
  attrs.set("training", int64_t{0});
  const Output lonely{
      g.add("SyncReplicasApply", {rounds[0], variables[0], g.constant(Tensor::scalar(1.0f)), gradient, one},
            attrs),
      Output::control};
  const Status status = test::failure_of([&] { run(*main, {lonely}, -3, step(1, 0)); });
  BOOST_TEST((status.code() == Code::InvalidArgument));
  BOOST_TEST(status.message().find("must belong to a training") != std::string::npos, status.message());
  const auto coordinator = begin(3);
  const Status none = test::failure_of([&] { run(*main, {push(0)}, -3, step(1, -1)); });
  BOOST_TEST((none.code() == Code::InvalidArgument));
}

// c -= 1 follows the push to a: it is applied after a, whatever comes first.
BOOST_AUTO_TEST_CASE(a_rule_is_applied_after_those_that_it_follows) {
  const Scope there = g.with_device("/job:ps/task:0");
  initializers.clear();
  variables.push_back(variable(there, "average", Tensor::vector<float>({8})));
  rounds.push_back(variable(there, "average/round", Tensor::scalar<int64_t>(0)));
  const auto average = [&](bool wait) {
    return Output{
        g.add("SyncReplicasApply",
              {rounds[2], variables[2], variables[0], g.constant(Tensor::scalar(0.5f)), one, rounds[0]},
              {{"N", int64_t{2}},
               {"M", int64_t{1}},
               {"rule", std::string("ApplyMovingAverage")},
               {"gradient", std::string()},
               {"shard", int64_t{-1}},
               {"shards", int64_t{shards}},
               {"training", static_cast<int64_t>(training_id)},
               {"wait", wait}}),
        Output::control};
  };
  const Output kept = average(false), applied = average(true), a = push(0), unwaited = push(0, false);
  main.emplace(session());
  main->run(initializers);
  const auto coordinator = begin(3, false);
  for (const int64_t shard : {0, 1}) run(*main, {kept}, 0, step(1, shard));
  auto waiting = run_apart({applied}, 0, step(1, 2));
  for (const int64_t shard : {0, 1}) run(*main, {unwaited}, -4, step(1, shard));
  BOOST_TEST(value_of(2) == 8.0f);
  run(*main, {a}, -4, step(1, 2));
  BOOST_TEST((waiting.get().ok()));
  BOOST_TEST(value_of(2) == 6.0f);  // 8 - 0.5 (8 - 4)
  BOOST_TEST(value_of(0) == 4.0f);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::rounds_test
