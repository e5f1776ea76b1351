// Collectives in steps: in one graph, in sessions of one process, and over two processes' runtimes and real sockets.
#include <boost/test/unit_test.hpp>

#include <random>
#include <thread>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/gradients.h"
#include "graph/build/scope.h"
#include "kernels/loops/weighted_mean.h"
#include "tests/support/comes_true.h"
#include "tests/support/failure_of.h"
#include "tests/support/net/listening_socket.h"

namespace troupe::allreduce_steps_test {
namespace {

using namespace std::chrono_literals;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

Tensor random_floats(const Shape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  Tensor tensor = value_or_throw(Tensor::allocate(f32, shape));
  for (float& value : tensor.write<float>()) value = normal(random);
  return tensor;
}

Strings workers(size_t count) {
  Strings result;
  for (size_t i = 0; i < count; ++i) result.push_back("/job:worker/task:" + std::to_string(i));
  return result;
}

StepOptions training(uint64_t round) { return {.training = true, .round = round}; }

/// Adds the node of one member on its device. It is fed through placeholders.
struct Member {
  Member(const Scope& g, const std::string& op, const Strings& members, size_t rank, size_t tensors,
         Attributes more = {})
      : Member(g, op, members, rank, tensors, f32, std::move(more)) {}
  Member(const Scope& g, const std::string& op, const Strings& members, size_t rank, size_t tensors,
         DType dtype, Attributes more) {
    const Scope here = g.with_prefix("rank" + std::to_string(rank)).with_device(members[rank]);
    Attributes attrs{{"members", members}, {"rank", static_cast<int64_t>(rank)}, {"key", op}};
    for (const auto& [name, attr] : more) attrs.set(name, attr);
    for (size_t i = 0; i < tensors; ++i)
      inputs.push_back(here.add_one("Placeholder", {}, {{"dtype", dtype}, {"shape", PartialShape()}}));
    std::vector<Output> all = inputs;
    if (op == "WeightedAllReduce") {
      samples = here.add_one("Placeholder", {}, {{"dtype", i64}, {"shape", PartialShape::scalar()}});
      all.push_back(*samples);
      attrs.set("N", static_cast<int64_t>(tensors));
    }
    node = here.add(op, all, std::move(attrs));
    for (uint32_t i = 0; i < std::max<size_t>(tensors, 1); ++i) outputs.push_back({node, i});
  }

  std::vector<std::pair<Output, Tensor>> feeds(const std::vector<Tensor>& values, int64_t count = 1) const {
    std::vector<std::pair<Output, Tensor>> result;
    for (size_t i = 0; i < inputs.size(); ++i) result.emplace_back(inputs[i], values[i]);
    if (samples) result.emplace_back(*samples, Tensor::scalar(count));
    return result;
  }

  std::vector<Output> inputs, outputs;
  std::optional<Output> samples;
  NodeId node{};
};

/// Runs each member in a session and a thread of its own. Returns what each got.
using Outcome = std::vector<std::vector<Tensor>>;

std::vector<Tensor> means_of(const std::vector<std::vector<Tensor>>& values,
                             const std::vector<int64_t>& samples) {
  const auto pool = value_or_throw(ThreadPool::make(1));
  std::vector<Tensor> result;
  for (size_t i = 0; i < values[0].size(); ++i) {
    std::vector<Tensor> each;
    for (const auto& member : values) each.push_back(member[i]);
    Tensor mean = value_or_throw(allocate_mean(each, samples, heap_allocator()));
    weighted_mean(each, samples, mean, *pool);
    result.push_back(mean);
  }
  return result;
}

struct Fixture {
  Runtime runtime{
      {.threads = 2, .tasks = {{"worker", 0, 1}, {"worker", 1, 1}, {"worker", 2, 1}, {"worker", 3, 1}}}};

  /// Runs all members of a collective once in one step, with one tensor each.
  std::vector<Tensor> together(const std::string& op, const Strings& members,
                               const std::vector<Tensor>& values, const Attributes& attrs = {}) {
    Graph graph(runtime.ops());
    std::vector<std::pair<Output, Tensor>> feeds;
    std::vector<Output> fetches;
    for (size_t rank = 0; rank < members.size(); ++rank) {
      const Member member(Scope(graph), op, members, rank, 1, values[rank].dtype(), attrs);
      for (auto& feed : member.feeds({values[rank]})) feeds.push_back(feed);
      fetches.push_back(member.outputs[0]);
    }
    return runtime.session(graph).run(feeds, fetches);
  }

  /// Runs a step of one member in a session of its own.
  std::vector<Tensor> run(const std::string& op, const Strings& members, size_t rank,
                          const std::vector<Tensor>& values, const StepOptions& options = {},
                          const Attributes& attrs = {}) {
    Graph graph(runtime.ops());
    const Member member(Scope(graph), op, members, rank, values.size(),
                        values.empty() ? f32 : values[0].dtype(), attrs);
    return runtime.session(graph, {.share_state = true}).run(member.feeds(values), member.outputs, options);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(allreduce_steps, Fixture)

// Each of n members has three tensors; the middle one has no elements. Sizes below and above what one message carries.
BOOST_AUTO_TEST_CASE(weighted_means_are_those_of_one_process_bit_by_bit) {
  for (const size_t count : {1, 2, 3, 4})
    for (const int64_t size : {0, 1, 7, 1000, 20'000, 700'001}) {
      Strings members = workers(count);
      if (count == 3) members[2] = members[0];  // two ranks on one device
      std::vector<std::vector<Tensor>> values;
      std::vector<int64_t> samples;
      for (size_t rank = 0; rank < count; ++rank) {
        values.push_back({random_floats({size}, rank * 10), random_floats({3, 0}, 0),
                          random_floats({size, 2}, rank * 10 + 1)});
        samples.push_back(rank == 1 ? 0 : 3 + static_cast<int64_t>(rank));
      }
      const auto expected = means_of(values, samples);
      Graph graph(runtime.ops());
      std::vector<Member> nodes;
      std::vector<std::pair<Output, Tensor>> feeds;
      std::vector<Output> fetches;
      for (size_t rank = 0; rank < count; ++rank) {
        nodes.emplace_back(Scope(graph), "WeightedAllReduce", members, rank, 3);
        for (auto& feed : nodes[rank].feeds(values[rank], samples[rank])) feeds.push_back(feed);
        fetches.insert(fetches.end(), nodes[rank].outputs.begin(), nodes[rank].outputs.end());
      }
      Session session = runtime.session(graph);
      for (const bool train : {false, true, false}) {
        const auto results = session.run(feeds, fetches, train ? training(7) : StepOptions{});
        for (size_t i = 0; i < results.size(); ++i)
          BOOST_TEST_REQUIRE(identical(results[i], expected[i % 3]));
      }
    }
}

// Three sessions in three threads, for several rounds, with a worker that is slower than the others.
BOOST_AUTO_TEST_CASE(members_may_have_sessions_of_their_own) {
  const Strings members = workers(3);
  constexpr uint64_t rounds = 10;
  for (const int64_t size : {5, 300'000}) {
    std::vector<std::vector<std::vector<Tensor>>> got(3);
    const auto value = [&](uint64_t round, size_t rank) { return random_floats({size}, round * 10 + rank); };
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < 3; ++rank)
      threads.emplace_back([&, rank] {
        Graph graph(runtime.ops());
        const Member member(Scope(graph), "WeightedAllReduce", members, rank, 1);
        Session session = runtime.session(graph, {.share_state = true});
        for (uint64_t round = 1; round <= rounds; ++round)
          got[rank].push_back(session.run(member.feeds({value(round, rank)}, 1 + static_cast<int64_t>(rank)),
                                          member.outputs, training(round)));
      });
    for (auto& thread : threads) thread.join();
    for (uint64_t round = 1; round <= rounds; ++round) {
      const auto expected = means_of({{value(round, 0)}, {value(round, 1)}, {value(round, 2)}}, {1, 2, 3});
      for (size_t rank = 0; rank < 3; ++rank)
        BOOST_TEST_REQUIRE(identical(got[rank][round - 1][0], expected[0]));
    }
  }
}

BOOST_AUTO_TEST_CASE(plain_reductions_take_every_type_of_number) {
  const auto reduced = [&](const char* reduction, const std::vector<Tensor>& values) {
    const auto results =
        together("AllReduce", workers(values.size()), values, {{"reduction", std::string(reduction)}});
    for (const Tensor& result : results) BOOST_TEST(identical(result, results[0]));
    return results[0];
  };
  const std::vector<Tensor> floats = {Tensor::vector<float>({1, 2, -3}), Tensor::vector<float>({4, 0.5, -1}),
                                      Tensor::vector<float>({-2, NAN, 7})};
  BOOST_TEST(reduced("sum", floats).as<float>()[0] == 3);
  BOOST_TEST(reduced("mean", floats).as<float>()[0] == 1);
  BOOST_TEST(reduced("max", floats).as<float>()[0] == 4);
  BOOST_TEST(reduced("min", floats).as<float>()[2] == -3);
  BOOST_TEST(reduced("prod", floats).as<float>()[2] == 21);
  BOOST_TEST(std::isnan(reduced("max", floats).as<float>()[1]));
  BOOST_TEST(std::isnan(reduced("min", floats).as<float>()[1]));
  const auto integers =
      reduced("sum", {Tensor::scalar<int64_t>(int64_t{1} << 60), Tensor::scalar<int64_t>(5)});
  BOOST_TEST(integers.as<int64_t>()[0] == (int64_t{1} << 60) + 5);
  BOOST_TEST(reduced("prod", {Tensor::scalar<uint8_t>(20), Tensor::scalar<uint8_t>(20)}).as<uint8_t>()[0] ==
             144);
  // Half is added in float and rounded once.
  const auto halves =
      reduced("sum", {Tensor::scalar(Half(2048)), Tensor::scalar(Half(1)), Tensor::scalar(Half(1))});
  BOOST_TEST(static_cast<float>(halves.as<Half>()[0]) == 2050);
}

BOOST_AUTO_TEST_CASE(a_scatter_gives_parts_a_gather_joins_and_a_broadcast_copies) {
  for (const int64_t row : {3, 200'000}) {
    std::vector<Tensor> values;
    for (size_t rank = 0; rank < 3; ++rank) values.push_back(random_floats({6, row}, rank));
    const auto sums = together("AllReduce", workers(3), values)[0];
    const auto parts = together("ReduceScatter", workers(3), values);
    for (int64_t rank = 0; rank < 3; ++rank)
      BOOST_TEST(identical(parts[static_cast<size_t>(rank)], sums.rows(2 * rank, 2 * rank + 2)));
    const Strings shared = {"/job:worker/task:1", "/job:worker/task:0", "/job:worker/task:1"};
    const auto joined = together("AllGather", shared, {sums.rows(0, 1), sums.rows(1, 1), sums.rows(1, 6)});
    for (const Tensor& result : joined) BOOST_TEST(identical(result, sums));
  }
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Member sender(g, "BroadcastSend", workers(3), 1, 1, {{"key", std::string("b")}});
  std::vector<Output> fetches{sender.outputs[0]};
  for (const size_t rank : {0, 2})
    fetches.push_back(
        Member(g, "BroadcastReceive", workers(3), rank, 0,
               {{"key", std::string("b")}, {"T", f32}, {"shape", PartialShape{4}}, {"root", int64_t{1}}})
            .outputs[0]);
  const Tensor value = random_floats({4}, 1);
  Session session = runtime.session(graph);
  for (int i = 0; i < 2; ++i)
    for (const Tensor& result : session.run(sender.feeds({value}), fetches))
      BOOST_TEST(identical(result, value));
  const Status status =
      test::failure_of([&] { session.run(sender.feeds({random_floats({5}, 1)}), fetches); });
  BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
  BOOST_TEST(status.message().find("has sent float[5], but the attribute shape is [4]") != std::string::npos,
             status.message());
}

// The others send their parts and keep their tensors, whether they share the device of the root or not.
BOOST_AUTO_TEST_CASE(only_the_root_gets_a_mean_that_no_other_wants) {
  const Strings shared = {"/job:worker/task:1", "/job:worker/task:0", "/job:worker/task:1",
                          "/job:worker/task:2"};
  for (const int64_t elements : {0, 5, 300'000})
    for (size_t root = 0; root < shared.size(); ++root) {
      std::vector<Tensor> values;
      for (size_t rank = 0; rank < shared.size(); ++rank) values.push_back(random_floats({elements}, rank));
      const auto results =
          together("WeightedAllReduce", shared, values, {{"root", static_cast<int64_t>(root)}});
      const Tensor mean = together("WeightedAllReduce", shared, values)[0];
      for (size_t rank = 0; rank < shared.size(); ++rank)
        BOOST_TEST(identical(results[rank], shared[rank] == shared[root] ? mean : values[rank]), rank);
    }
  const Status status = test::failure_of([&] {
    together("WeightedAllReduce", workers(2), {random_floats({1}, 0), random_floats({1}, 1)},
             {{"root", int64_t{2}}});
  });
  BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
  BOOST_TEST(status.message().find("root is 2, but must be less than 2") != std::string::npos,
             status.message());
}

BOOST_AUTO_TEST_CASE(gradients_are_collectives_of_the_gradients) {
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Strings members = workers(2);
  std::vector<std::pair<Output, Tensor>> feeds;
  std::vector<Output> fetches;
  for (const char* op : {"AllReduce", "AllGather", "ReduceScatter"})
    for (size_t rank = 0; rank < 2; ++rank) {
      const Scope here = g.with_device(members[rank]);
      const Member member(g, op, members, rank, 1);
      // The loss of rank r is (r + 1) * sum(output * [0, 1, ...]).
      const Output weights =
          here.constant(op == std::string("AllReduce")   ? Tensor::vector<float>({0, 1})
                        : op == std::string("AllGather") ? Tensor::vector<float>({0, 1, 2, 3})
                                                         : Tensor::vector<float>({5}));
      const Output scaled =
          here.add_one("Mul", {weights, here.constant(Tensor::scalar(static_cast<float>(rank + 1)))});
      const Output loss = here.add_one("Mul", {member.outputs[0], scaled});
      fetches.push_back(std::get<Output>(gradients(here, {loss}, {member.inputs[0]})[0]));
      for (auto& feed : member.feeds({Tensor::vector<float>({7, 8})})) feeds.push_back(feed);
    }
  const auto slopes = runtime.session(graph).run(feeds, fetches);
  const Floats expected[] = {{0, 3}, {0, 3}, {0, 3}, {6, 9}, {5, 10}, {5, 10}};
  for (size_t i = 0; i < slopes.size(); ++i) {
    const auto slope = slopes[i].as<float>();
    BOOST_TEST(Floats(slope.begin(), slope.end()) == expected[i], boost::test_tools::per_element());
  }
}

// Rank r has r + 1 of 3 samples, and its loss is (r + 1) * (sum of its means).
BOOST_AUTO_TEST_CASE(the_gradient_of_a_weighted_mean_is_weighted) {
  Graph graph(runtime.ops());
  const Scope g(graph);
  std::vector<std::pair<Output, Tensor>> feeds;
  std::vector<Output> fetches;
  for (size_t rank = 0; rank < 2; ++rank) {
    const Scope here = g.with_device(workers(2)[rank]);
    const Member member(g, "WeightedAllReduce", workers(2), rank, 2);
    std::vector<Output> losses;
    for (const Output& mean : member.outputs)
      losses.push_back(
          here.add_one("Mul", {mean, here.constant(Tensor::scalar(static_cast<float>(rank + 1)))}));
    for (const auto& gradient : gradients(here, losses, member.inputs))
      fetches.push_back(std::get<Output>(gradient));
    for (auto& feed :
         member.feeds({Tensor::vector<float>({1, 2}), Tensor::scalar(3.0f)}, 1 + static_cast<int64_t>(rank)))
      feeds.push_back(feed);
  }
  const auto slopes = runtime.session(graph).run(feeds, fetches);
  for (size_t i = 0; i < slopes.size(); ++i)
    for (const float slope : slopes[i].as<float>()) BOOST_TEST(slope == (i < 2 ? 1.0f : 2.0f));
}

BOOST_AUTO_TEST_CASE(a_member_whose_step_ends_early_ends_the_steps_of_the_others) {
  const Strings members = workers(3);
  const Tensor value = random_floats({50'000}, 1);
  for (int repeat = 0; repeat < 3; ++repeat) {
    Status failures[2];
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      StepOptions options;
      options.timeout = 30ms;
      failures[0] = test::failure_of([&] { run("AllReduce", members, 0, {value}, options); });
    });
    threads.emplace_back(
        [&] { failures[1] = test::failure_of([&] { run("AllReduce", members, 1, {value}); }); });
    for (auto& thread : threads) thread.join();
    BOOST_TEST((failures[0].code() == Code::DeadlineExceeded), failures[0].message());
    BOOST_TEST((failures[1].code() == Code::Aborted), failures[1].message());
    BOOST_TEST(
        failures[1].message().find("/job:worker/replica:0/task:0/device:CPU:0 has left") != std::string::npos,
        failures[1].message());
  }
  // What the steps above have sent takes no part in the next instance, even if the third member has missed them all.
  std::vector<std::thread> threads;
  std::vector<Tensor> results(3);
  for (size_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      results[rank] = run("AllReduce", members, rank, {random_floats({50'000}, 10 + rank)})[0];
    });
  for (auto& thread : threads) thread.join();
  const Tensor expected =
      together("AllReduce", members,
               {random_floats({50'000}, 10), random_floats({50'000}, 11), random_floats({50'000}, 12)})[0];
  for (const Tensor& result : results) BOOST_TEST(identical(result, expected));
}

BOOST_AUTO_TEST_CASE(members_that_disagree_fail_and_are_named) {
  const Strings members = workers(2);
  const auto both = [&](const std::string& first, const Tensor& a, const Attributes& attrs_a,
                        const std::string& second, const Tensor& b, const Attributes& attrs_b,
                        const std::string& text) {
    Status failures[2];
    Attributes keyed_a{{"key", std::string("k")}}, keyed_b = keyed_a;
    for (const auto& [name, attr] : attrs_a) keyed_a.set(name, attr);
    for (const auto& [name, attr] : attrs_b) keyed_b.set(name, attr);
    std::thread other(
        [&] { failures[1] = test::failure_of([&] { run(second, members, 1, {b}, {}, keyed_b); }); });
    failures[0] = test::failure_of([&] { run(first, members, 0, {a}, {}, keyed_a); });
    other.join();
    for (const Status& failure : failures) {
      BOOST_TEST((failure.code() == Code::InvalidArgument), failure.message());
      for (const std::string& part : {text, std::string("task:0"), std::string("task:1")})
        BOOST_TEST(failure.message().find(part) != std::string::npos, failure.message());
    }
  };
  const Tensor x = random_floats({4, 2}, 1);
  both("AllReduce", x, {}, "AllReduce", random_floats({2, 4}, 1), {}, "[2,4]");
  both("AllReduce", x, {}, "AllReduce", Tensor::of<double>({4, 2}, std::vector<double>(8)), {}, "double");
  both("AllReduce", x, {}, "AllReduce", x, {{"reduction", std::string("max")}}, "(max)");
  both("AllReduce", x, {}, "AllReduce", x, {{"members", Strings{members[1], members[1]}}},
       "over /job:worker");
  both("AllGather", x, {}, "AllGather", random_floats({4, 3}, 1), {}, "[3]");
  both("AllGather", x, {}, "AllReduce", random_floats({400, 300}, 1), {}, "all-gather");
  // They agree again.
  std::thread other([&] { run("AllReduce", members, 1, {x}, {}, {{"key", std::string("k")}}); });
  const Tensor sum = run("AllReduce", members, 0, {x}, {}, {{"key", std::string("k")}})[0];
  other.join();
  BOOST_TEST(sum.as<float>()[0] == 2 * x.as<float>()[0]);
}

BOOST_AUTO_TEST_CASE(what_cannot_work_is_refused) {
  const Strings members = workers(2);
  const auto refused = [&](const std::string& op, const Strings& all, const Tensor& value,
                           const Attributes& attrs, const std::string& text) {
    const Status status = test::failure_of([&] { run(op, all, 0, {value}, {}, attrs); });
    BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
    BOOST_TEST(status.message().find(text) != std::string::npos, text << " | " << status.message());
  };
  const Tensor x = random_floats({3}, 1);
  refused("AllReduce", members, x, {{"rank", int64_t{2}}}, "rank is 2, but there are 2 members");
  refused("AllReduce", members, x, {{"rank", int64_t{1}}}, "but the node is on /job:worker/replica:0/task:0");
  refused("AllReduce", members, x, {{"members", Strings{members[0], "/job:worker"}}},
          "names no job and task");
  refused("AllReduce", members, Tensor::scalar<int32_t>(1), {{"reduction", std::string("mean")}}, "int32");
  refused("ReduceScatter", members, x, {}, "multiple of 2");
  refused("AllGather", members, Tensor::scalar(1.0f), {}, "scalar");
  const Status nobody = test::failure_of([&] {
    run("AllReduce", {members[0], "/job:worker/task:9"}, 0, {x});
  });
  BOOST_TEST((nobody.code() == Code::Unavailable), nobody.message());
  BOOST_TEST(nobody.message().find("/job:worker/replica:0/task:9/device:CPU:0 is lost") != std::string::npos,
             nobody.message());
  Graph graph(runtime.ops());
  const Member alone(Scope(graph), "WeightedAllReduce", workers(1), 0, 1);
  Session session = runtime.session(graph);
  BOOST_TEST((test::failure_of([&] { session.run(alone.feeds({x}, 0), alone.outputs); }).code() ==
              Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(a_weighted_mean_of_no_samples_fails_for_every_member) {
  Graph graph(runtime.ops());
  std::vector<std::pair<Output, Tensor>> feeds;
  std::vector<Output> fetches;
  for (size_t rank = 0; rank < 2; ++rank) {
    const Member member(Scope(graph), "WeightedAllReduce", workers(2), rank, 1);
    for (auto& feed : member.feeds({random_floats({3}, rank)}, 0)) feeds.push_back(feed);
    fetches.push_back(member.outputs[0]);
  }
  const Status status = test::failure_of([&] { runtime.session(graph).run(feeds, fetches); });
  BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
  BOOST_TEST(status.message().find("none of the shards has samples") != std::string::npos, status.message());
}

BOOST_AUTO_TEST_SUITE_END()

/// Two processes' runtimes in this process.
struct Pair {
  Pair() {
    spec.name = "secret";
    for (int task = 0; task < 2; ++task) spec.jobs["worker"][task] = sockets[task].endpoint();
    for (int task = 0; task < 2; ++task) start(task, sockets[task].listen());
  }
  void start(int task, const std::string& listen) {
    RuntimeOptions options;
    options.threads = 1;
    options.tasks = {{"worker", task, 1}};
    options.cluster = spec;
    options.listen = listen;
    runtimes[task] = std::make_unique<Runtime>(options);
  }
  /// Runs steps of one member in its own process.
  std::vector<Tensor> run(size_t rank, const Tensor& value, uint64_t rounds) {
    Graph graph(runtimes[rank]->ops());
    const Member member(Scope(graph), "WeightedAllReduce", workers(2), rank, 1);
    Session session = runtimes[rank]->session(graph, {.tasks = {workers(2)[rank]}, .share_state = true});
    std::vector<Tensor> results;
    for (uint64_t round = 1; round <= rounds; ++round)
      results.push_back(session.run(member.feeds({value}, 2), member.outputs, training(round))[0]);
    return results;
  }
  bool linked() const {
    return runtimes[0]->link_status("/job:worker/replica:0/task:1").ok() &&
           runtimes[1]->link_status("/job:worker/replica:0/task:0").ok();
  }

  test::ListeningSocket sockets[2];
  ClusterSpec spec;
  std::unique_ptr<Runtime> runtimes[2];
};

BOOST_FIXTURE_TEST_SUITE(allreduce_processes, Pair)

BOOST_AUTO_TEST_CASE(two_processes_reduce_small_and_large_tensors) {
  BOOST_TEST_REQUIRE(test::comes_true([&] { return linked(); }));
  uint64_t rounds = 20;
  for (const int64_t size : {1, 3'000, 30'000, 5'000'001}) {
    const Tensor a = random_floats({size}, 1), b = random_floats({size}, 2);
    std::vector<Tensor> results[2];
    std::thread other([&] { results[1] = run(1, b, rounds); });
    results[0] = run(0, a, rounds);
    other.join();
    const Tensor expected = means_of({{a}, {b}}, {2, 2})[0];
    for (const auto& each : results)
      for (const Tensor& result : each) BOOST_TEST_REQUIRE(identical(result, expected));
    rounds = 5;
  }
}

BOOST_AUTO_TEST_CASE(a_member_whose_process_ends_is_named) {
  BOOST_TEST_REQUIRE(test::comes_true([&] { return linked(); }));
  for (const int64_t size : {1, 1'000'000}) {
    Status failure;
    std::thread waiting([&] { failure = test::failure_of([&] { run(0, random_floats({size}, 1), 1); }); });
    runtimes[1].reset();
    waiting.join();
    BOOST_TEST((failure.code() == Code::Unavailable), failure.message());
    BOOST_TEST(failure.message().find("task:1") != std::string::npos, failure.message());
    start(1, sockets[1].endpoint());
    BOOST_TEST_REQUIRE(test::comes_true([&] { return linked(); }));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::allreduce_steps_test
