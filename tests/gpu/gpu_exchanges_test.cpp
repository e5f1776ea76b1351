// GPUs that exchange tensors without the hosts: communicators by themselves, and collectives in steps. An emulated machine has as
// many GPUs as the tests want; on a real one each GPU is one member, so that a single GPU tests how NCCL is called, and no more.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include "devices/gpu_communicator.h"
#include "devices/gpu_queue.h"
#include "graph/build/scope.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/comes_true.h"
#include "tests/support/failure_of.h"

namespace troupe::test::gpu_exchanges_test {
namespace {

using namespace std::chrono_literals;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

std::shared_ptr<Device> gpu(int index) {
  static InlinePool pool;
  return value_or_throw(make_gpu({"worker", 0, index, "GPU", 0}, 1, pool, {.index = index}));
}

/// Returns whether the GPUs are emulated, so that there are as many as are asked for.
bool are_emulated() {
  static const bool emulated =
      value_or_throw(gpu(0)->context().queue()->exchange_name()).starts_with("emulated/");
  return emulated;
}

/// Returns how many GPUs take part if up to `wanted` can.
int members_of(int wanted) { return are_emulated() ? wanted : std::min(wanted, *count_gpus()); }

Tensor on(Device& device, const Tensor& host) {
  Tensor there = value_or_throw(Tensor::allocate(host.dtype(), host.shape(), device.context().memory()));
  throw_if_failed(device.copy(host, there).status());
  return there;
}

Tensor on_host(Device& device, const Tensor& there) {
  Tensor host = value_or_throw(Tensor::allocate(there.dtype(), there.shape()));
  const Completion copied = device.copy(there, host);
  BOOST_TEST_REQUIRE(comes_true([&] { return copied.ready(); }));
  throw_if_failed(copied.status());
  return host;
}

/// Waits for an exchange. Returns how it has ended.
Status ending(const Completion& exchange) {
  BOOST_TEST_REQUIRE(comes_true([&] { return exchange.ready(); }));
  return exchange.status();
}

/// GPUs that one communicator connects.
struct Connected {
  explicit Connected(int count) {
    const std::string id = value_or_throw(gpu(0)->context().queue()->new_communicator_id());
    for (int rank = 0; rank < count; ++rank) {
      devices.push_back(gpu(rank));
      communicators.push_back(
          value_or_throw(devices.back()->context().queue()->make_communicator(id, rank, count)));
    }
  }

  /// Lets all members exchange the tensors value(rank). Returns what each got.
  template <class Value>
  std::vector<Tensor> exchange(GpuExchange what, Value value, const std::vector<double>& weights = {}) {
    std::vector<Completion> ended;
    std::vector<Tensor> results;
    for (size_t rank = 0; rank < devices.size(); ++rank) {
      GpuExchange mine = what;
      mine.from = {on(*devices[rank], value(rank))};
      results.push_back(on(*devices[rank], value(rank)));
      if (what.root == GpuExchange::no_root || what.root == static_cast<int>(rank))
        mine.to = {results.back()};
      if (!weights.empty()) mine.weight = weights[rank];
      ended.push_back(communicators[rank]->run(std::move(mine)));
    }
    for (const Completion& one : ended) throw_if_failed(ending(one));
    for (size_t rank = 0; rank < devices.size(); ++rank)
      results[rank] = on_host(*devices[rank], results[rank]);
    return results;
  }

  std::vector<std::shared_ptr<Device>> devices;
  std::vector<std::unique_ptr<GpuCommunicator>> communicators;
};

Tensor value_of(size_t rank) { return Tensor::vector<float>({static_cast<float>(rank) - 1, 2, 3}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu_communicators, *boost::unit_test::precondition(needs_gpu))

BOOST_AUTO_TEST_CASE(members_get_the_reduction_of_all_tensors) {
  Connected group(members_of(3));
  const size_t count = group.devices.size();
  const std::pair<GpuReduction, std::function<float(float, float)>> reductions[] = {
      {GpuReduction::Sum, std::plus()},
      {GpuReduction::Mean, std::plus()},
      {GpuReduction::Max, [](float a, float b) { return std::max(a, b); }},
      {GpuReduction::Min, [](float a, float b) { return std::min(a, b); }},
      {GpuReduction::Product, std::multiplies()}};
  for (const auto& [reduction, combine] : reductions)
    for (const Tensor& result : group.exchange({.reduction = reduction}, value_of))
      for (size_t i = 0; i < 3; ++i) {
        float expected = value_of(0).as<float>()[i];
        for (size_t rank = 1; rank < count; ++rank)
          expected = combine(expected, value_of(rank).as<float>()[i]);
        if (reduction == GpuReduction::Mean) expected /= static_cast<float>(count);
        BOOST_TEST(result.as<float>()[i] == expected, boost::test_tools::tolerance(1e-6f));
      }
}

BOOST_AUTO_TEST_CASE(weights_multiply_the_tensors_of_their_members) {
  Connected group(members_of(3));
  const std::vector<double> weights = {0.5, 0.25, 2};
  float expected = 0;
  for (size_t rank = 0; rank < group.devices.size(); ++rank)
    expected += static_cast<float>(weights[rank]) * value_of(rank).as<float>()[0];
  for (const Tensor& result : group.exchange({.reduction = GpuReduction::WeightedSum}, value_of, weights))
    BOOST_TEST(result.as<float>()[0] == expected, boost::test_tools::tolerance(1e-6f));
}

BOOST_AUTO_TEST_CASE(a_root_alone_gets_the_result) {
  Connected group(members_of(3));
  const auto results = group.exchange({.root = 0}, value_of);
  BOOST_TEST(results[0].as<float>()[1] == 2.0f * static_cast<float>(results.size()));
  for (size_t rank = 1; rank < results.size(); ++rank) BOOST_TEST(identical(results[rank], value_of(rank)));
}

// One member takes no part.
BOOST_AUTO_TEST_CASE(an_exchange_that_is_aborted_fails_with_the_reason_as_do_all_later_ones) {
  Connected group(members_of(2));
  if (group.devices.size() < 2) {
    BOOST_TEST_MESSAGE("skipped: it needs two GPUs");
    return;
  }
  const Tensor tensor = on(*group.devices[0], value_of(0));
  const Completion waits = group.communicators[0]->run({.from = {tensor}, .to = {tensor}});
  BOOST_TEST(!waits.ready());
  group.communicators[0]->abort(unavailable("the other one is lost"));
  BOOST_TEST(ending(waits).text() == "the other one is lost");
  BOOST_TEST(ending(group.communicators[0]->run({.from = {tensor}, .to = {tensor}})).text() ==
             "the other one is lost");
}

BOOST_AUTO_TEST_CASE(a_member_that_never_comes_does_not_keep_a_communicator_from_being_closed) {
  if (!are_emulated() && *count_gpus() < 2) {
    BOOST_TEST_MESSAGE("skipped: it needs two GPUs");
    return;
  }
  const auto device = gpu(0);
  GpuQueue& queue = *device->context().queue();
  auto alone = value_or_throw(queue.make_communicator(value_or_throw(queue.new_communicator_id()), 0, 2));
  const Tensor tensor = on(*device, value_of(0));
  const Completion waits = alone->run({.from = {tensor}, .to = {tensor}});
  alone.reset();
  BOOST_TEST((ending(waits).code() == Code::Cancelled));
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

/// Tasks with a GPU each, and collectives whose members are these GPUs.
struct Tasks {
  explicit Tasks(int wanted) : runtime(options(members_of(wanted))) {
    for (int task = 0; task < members_of(wanted); ++task)
      members.push_back("/job:worker/task:" + std::to_string(task) + "/device:GPU:0");
  }
  static RuntimeOptions options(int count) {
    RuntimeOptions result = with_gpus(1);
    result.tasks.clear();
    for (int task = 0; task < count; ++task)
      result.tasks.push_back(
          {.job = "worker", .task = task, .gpus = 1, .first_gpu = are_emulated() ? 0 : task});
    return result;
  }

  Runtime runtime;
  Strings members;
};

/// The nodes of one member: as many collectives as there are keys, each with a tensor that is fed.
struct Member {
  Member(const Tasks& tasks, size_t rank, const std::string& op, const Strings& keys,
         const Attributes& more = {}, DType dtype = f32)
      : graph(tasks.runtime.ops()) {
    const Scope here = Scope(graph).with_device(tasks.members[rank]);
    for (const std::string& key : keys) {
      Attributes attrs{{"members", tasks.members}, {"rank", static_cast<int64_t>(rank)}, {"key", key}};
      for (const auto& [name, attr] : more) attrs.set(name, attr);
      feeds.push_back(here.add_one("Placeholder", {}, {{"dtype", dtype}, {"shape", PartialShape()}}));
      std::vector<Output> inputs = {here.add_one("Identity", {feeds.back()})};
      if (op == "WeightedAllReduce") {
        feeds.push_back(here.add_one("Placeholder", {}, {{"dtype", i64}, {"shape", PartialShape::scalar()}}));
        inputs.push_back(feeds.back());
        attrs.set("N", int64_t{1});
      }
      fetches.push_back(here.add_one(op, inputs, std::move(attrs)));
    }
  }

  Graph graph;
  std::vector<Output> feeds, fetches;
};

/// Runs `work(rank)` in a thread for each member.
template <class Work>
void each_member(const Tasks& tasks, Work work) {
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < tasks.members.size(); ++rank) threads.emplace_back([&, rank] { work(rank); });
  for (auto& thread : threads) thread.join();
}

/// Runs a step of one member, with these feeds, in a session of its own.
std::vector<Tensor> run(Tasks& tasks, const Member& member, const std::vector<Tensor>& values,
                        const StepOptions& options = {}) {
  std::vector<std::pair<Output, Tensor>> feeds;
  for (size_t i = 0; i < values.size(); ++i) feeds.emplace_back(member.feeds[i], values[i]);
  return tasks.runtime.session(member.graph, {.share_state = true}).run(feeds, member.fetches, options);
}

/// Lets all members run a collective once, with one tensor each. Returns the failure of the first.
Status failure_of_all(Tasks& tasks, const std::string& op, const std::vector<Tensor>& values,
                      const Attributes& attrs = {}) {
  std::vector<Status> failures(tasks.members.size());
  each_member(tasks, [&](size_t rank) {
    std::vector<Tensor> feeds = {values[rank % values.size()]};
    if (op == "WeightedAllReduce") feeds.push_back(Tensor::scalar<int64_t>(1));
    failures[rank] = failure_of([&] {
      const Member member(tasks, rank, op, {"key"}, attrs, feeds[0].dtype());
      run(tasks, member, feeds, {.timeout = 30s});
    });
  });
  return failures[0];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu_exchanges, *boost::unit_test::precondition(needs_gpu))

// The members run several collectives at once, each in an order of its own. One has no samples, and no number as its gradient.
BOOST_AUTO_TEST_CASE(means_are_weighted_by_samples_in_every_round) {
  Tasks tasks(3);
  const Strings keys = {"a", "b", "c", "d"};
  constexpr uint64_t rounds = 20;
  const size_t count = tasks.members.size();
  const auto value = [](uint64_t round, size_t key, size_t rank) {
    return static_cast<float>(round + 10 * key + 100 * rank);
  };
  const auto samples = [&](uint64_t round, size_t rank) {
    return count > 1 && round % 5 == rank ? int64_t{0} : static_cast<int64_t>(1 + rank);
  };
  std::atomic<size_t> wrong = 0;
  each_member(tasks, [&](size_t rank) {
    const Member member(tasks, rank, "WeightedAllReduce", keys);
    Session session = tasks.runtime.session(member.graph, {.share_state = true});
    for (uint64_t round = 1; round <= rounds; ++round) {
      std::vector<std::pair<Output, Tensor>> feeds;
      for (size_t key = 0; key < keys.size(); ++key) {
        const bool none = samples(round, rank) == 0;
        feeds.emplace_back(member.feeds[2 * key],
                           Tensor::vector<float>(Floats(1000, none ? NAN : value(round, key, rank))));
        feeds.emplace_back(member.feeds[2 * key + 1], Tensor::scalar(samples(round, rank)));
      }
      const auto means = session.run(feeds, member.fetches, {.training = true, .round = round});
      for (size_t key = 0; key < keys.size(); ++key) {
        float sum = 0, total = 0;
        for (size_t other = 0; other < count; ++other) {
          sum += value(round, key, other) * static_cast<float>(samples(round, other));
          total += static_cast<float>(samples(round, other));
        }
        for (const float mean : means[key].as<float>())
          if (!(std::abs(mean - sum / total) < 1e-3f)) ++wrong;
      }
    }
  });
  BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_CASE(only_the_root_gets_a_mean_that_no_other_wants) {
  Tasks tasks(3);
  const auto root = static_cast<int64_t>(tasks.members.size() - 1);
  std::vector<float> got(tasks.members.size());
  each_member(tasks, [&](size_t rank) {
    const Member member(tasks, rank, "WeightedAllReduce", {"key"}, {{"root", root}});
    got[rank] =
        run(tasks, member, {Tensor::vector<float>({static_cast<float>(rank)}), Tensor::scalar<int64_t>(2)})[0]
            .as<float>()[0];
  });
  for (size_t rank = 0; rank + 1 < got.size(); ++rank) BOOST_TEST(got[rank] == static_cast<float>(rank));
  BOOST_TEST(got.back() == static_cast<float>(root) / 2, boost::test_tools::tolerance(1e-6f));
}

// After that the GPUs connect anew.
BOOST_AUTO_TEST_CASE(a_member_whose_step_ends_early_ends_the_steps_of_the_others) {
  Tasks tasks(3);
  const size_t count = tasks.members.size();
  if (count < 2) {
    BOOST_TEST_MESSAGE("skipped: it needs two GPUs");
    return;
  }
  std::vector<Member> members;
  for (size_t rank = 0; rank < count; ++rank) members.emplace_back(tasks, rank, "AllReduce", Strings{"key"});
  const auto round = [&](size_t absent) {
    std::vector<Status> failures(count);
    each_member(tasks, [&](size_t rank) {
      if (rank == absent) return;
      const StepOptions options{.timeout = rank == (absent + 1) % count ? 50ms : 30'000ms};
      failures[rank] = failure_of([&] { run(tasks, members[rank], {Tensor::vector<float>({1})}, options); });
    });
    return failures;
  };
  for (size_t absent = 0; absent < count; ++absent) {
    const auto failures = round(absent);
    for (size_t rank = 0; rank < count; ++rank)
      if (rank != absent) BOOST_TEST(!failures[rank].ok());
    std::vector<float> sums(count);
    each_member(tasks, [&](size_t rank) {
      // A member may begin before it hears that the last attempt has failed for others, and so fails once more.
      const auto try_once = [&] {
        sums[rank] =
            run(tasks, members[rank], {Tensor::vector<float>({1})}, {.timeout = 10s})[0].as<float>()[0];
      };
      for (int tries = 0; tries < 20 && !failure_of(try_once).ok(); ++tries) continue;
    });
    for (const float sum : sums) BOOST_TEST(sum == static_cast<float>(count));
  }
}

BOOST_AUTO_TEST_CASE(members_that_disagree_fail) {
  Tasks tasks(2);
  if (tasks.members.size() < 2) {
    BOOST_TEST_MESSAGE("skipped: it needs two GPUs");
    return;
  }
  const Status status =
      failure_of_all(tasks, "AllReduce", {Tensor::vector<float>({1}), Tensor::vector<float>({1, 2})});
  BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
  BOOST_TEST(status.text().find("the members disagree") != std::string::npos, status.message());
}

BOOST_AUTO_TEST_CASE(collectives_that_gpus_cannot_carry_out_are_refused) {
  Tasks tasks(2);
  const auto refusal = [&](const std::string& op, const Tensor& value, const Attributes& attrs = {}) {
    return failure_of_all(tasks, op, {value}, attrs).text();
  };
  const Tensor floats = Tensor::vector<float>({1, 2});
  BOOST_TEST(refusal("AllGather", floats).find("name CPUs as members of others") != std::string::npos);
  Tensor halves = value_or_throw(Tensor::allocate(DType::Half, Shape{2}));
  BOOST_TEST(refusal("WeightedAllReduce", halves).find("GPUs compute no weighted mean of half") !=
             std::string::npos);
  Strings mixed = {tasks.members[0], "/job:worker/task:0"}, twice = {tasks.members[0], tasks.members[0]};
  tasks.members = {tasks.members[0]};
  BOOST_TEST(refusal("AllReduce", floats, {{"members", mixed}}).find("GPUs and other devices") !=
             std::string::npos);
  BOOST_TEST(refusal("AllReduce", floats, {{"members", twice}}).find("a GPU twice") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::gpu_exchanges_test
