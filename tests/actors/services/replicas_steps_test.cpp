// Synchronous replication in steps: SyncReplicasApply in one session, in several sessions, and what registration refuses.
#include <boost/test/unit_test.hpp>

#include <random>
#include <thread>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/functions.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"

namespace troupe::replicas_steps_test {
namespace {

using namespace std::chrono_literals;
using Floats = std::vector<float>;

struct Fixture {
  Runtime runtime{{.threads = 2, .tasks = {{"ps", 0, 1}, {"worker", 0, 1}, {"worker", 1, 1}}}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  Scope ps = g.with_device("/job:ps");

  Output placeholder(const std::string& name, DType dtype, PartialShape shape) {
    return g.with_name(name).add_one("Placeholder", {}, {{"dtype", dtype}, {"shape", std::move(shape)}});
  }
  Output variable(const std::string& name, const Tensor& initial, const std::string& op = "VariableV2") {
    const Output v = ps.with_name(name).add_one(
        op, {}, {{"dtype", initial.dtype()}, {"shape", PartialShape(initial.shape())}});
    const std::string assign = op == "VariableV2" ? "Assign" : "AssignVariableOp";
    initializers.push_back({ps.add(assign, {v, g.constant(initial)}), Output::control});
    return v;
  }
  Output value(float value) { return g.constant(Tensor::scalar(value)); }

  /// Makes the push of one shard for v -= 0.1 * mean.
  Output descent(Output round, Output v, Output gradient, Output samples, int64_t shard, int64_t shards,
                 Attributes more = {}) {
    Attributes attrs{{"N", int64_t{1}},
                     {"rule", std::string("ApplyGradientDescent")},
                     {"gradient", std::string("delta")},
                     {"shard", shard},
                     {"shards", shards}};
    for (const auto& [name, attr] : more) attrs.set(name, attr);
    return {g.add("SyncReplicasApply", {round, v, value(0.1f), gradient, samples}, std::move(attrs)),
            Output::control};
  }
  Session shared_session() { return runtime.session(graph, {.share_state = true}); }
  Output samples(int64_t count) { return g.constant(Tensor::scalar(count)); }

  std::vector<Output> initializers;
};

/// A push that fails in its first step, with a message that contains the text.
struct Refused {
  Output push;
  Code code;
  const char* text;
};

StepOptions training(uint64_t round) { return {.training = true, .round = round}; }

void check_refused(Session& session, const std::vector<Refused>& refused) {
  for (const auto& [push, code, text] : refused) {
    const Status status = test::failure_of([&, push = push] { session.run({push}, training(1)); });
    BOOST_TEST((status.code() == code), text << " | " << status.message());
    BOOST_TEST(status.message().find(text) != std::string::npos, text << " | " << status.message());
  }
}

Tensor random_floats(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  Floats values(20);
  for (float& value : values) value = normal(random);
  return Tensor::vector<float>(std::span<const float>(values));
}

constexpr int64_t parts[] = {17, 16, 3};
constexpr uint64_t rounds = 5;

Tensor gradient_of(uint64_t round, size_t shard) { return random_floats(round * 10 + shard); }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(replicas_steps, Fixture)

// ps: w, round;  worker 0: gradients of three shards -> SyncReplicasApply on ps, in one step.
// The same in three sessions with one shard each, on two workers and three threads, gives equal bits.
BOOST_AUTO_TEST_CASE(shards_in_one_step_and_in_many_sessions_give_the_same_bits) {
  Tensor results[2];
  for (const bool apart : {false, true}) {
    const std::string name = apart ? "apart" : "together";
    const Output w = variable(name, random_floats(99));
    const Output round = variable(name + "/round", Tensor::scalar<int64_t>(0));
    std::vector<Output> gradients, pushes;
    for (size_t shard = 0; shard < 3; ++shard) {
      gradients.push_back(placeholder(name + "/gradient" + std::to_string(shard), DType::Float, {20}));
      const Output here = g.with_device("/job:worker/task:" + std::to_string(shard % 2))
                              .add_one("Identity", {gradients[shard]});
      pushes.push_back(descent(round, w, here, samples(parts[shard]), static_cast<int64_t>(shard), 3));
    }
    Session session = shared_session();
    session.run(initializers);
    const auto step = [&](Session& of, uint64_t r, size_t first, size_t last) {
      std::vector<std::pair<Output, Tensor>> feeds;
      for (size_t shard = first; shard < last; ++shard)
        feeds.emplace_back(gradients[shard], gradient_of(r, shard));
      of.run(feeds,
             {pushes.begin() + static_cast<int64_t>(first), pushes.begin() + static_cast<int64_t>(last)},
             training(r));
    };
    if (apart) {
      std::vector<std::thread> workers;
      for (size_t shard = 0; shard < 3; ++shard)
        workers.emplace_back([&, shard] {
          Session own = shared_session();
          for (uint64_t r = 1; r <= rounds; ++r) step(own, r, shard, shard + 1);
        });
      for (auto& worker : workers) worker.join();
    } else {
      for (uint64_t r = 1; r <= rounds; ++r) step(session, r, 0, 3);
    }
    const auto fetched = session.run({w, round});
    results[apart] = fetched[0];
    BOOST_TEST(fetched[1].as<int64_t>()[0] == static_cast<int64_t>(rounds));
  }
  BOOST_TEST(identical(results[0], results[1]));
}

BOOST_AUTO_TEST_CASE(a_repeated_step_changes_nothing_and_one_outside_training_fails) {
  const Output w = variable("w", Tensor::vector<float>({1})),
               round = variable("w/round", Tensor::scalar<int64_t>(0));
  const Output push = descent(round, w, g.constant(Tensor::vector<float>({1})), samples(4), 0, 1);
  Session session = runtime.session(graph);
  BOOST_TEST(
      (test::failure_of([&] { session.run({push}, training(1)); }).code() == Code::FailedPrecondition));
  session.run(initializers);
  for (int i = 0; i < 3; ++i) session.run({push}, training(1));
  BOOST_TEST(session.run({w})[0].as<float>()[0] == 1 - 0.1f);
  BOOST_TEST((test::failure_of([&] { session.run({push}, training(7)); }).code() == Code::Aborted));
  const Status status = test::failure_of([&] { session.run({push}); });
  BOOST_TEST((status.code() == Code::FailedPrecondition));
  BOOST_TEST(status.op() == "SyncReplicasApply");
  session.run({push}, training(2));
  BOOST_TEST(session.run({w})[0].as<float>()[0] < 1 - 0.1f);
}

BOOST_AUTO_TEST_CASE(a_step_that_ends_while_it_waits_for_other_shards_leaves_nothing_behind) {
  const Output w = variable("w", Tensor::vector<float>({0})),
               round = variable("w/round", Tensor::scalar<int64_t>(0));
  const Output gradient = placeholder("gradient", DType::Float, {1});
  const Output first = descent(round, w, gradient, samples(1), 0, 2),
               second = descent(round, w, gradient, samples(1), 1, 2);
  const auto feed = [&](float value) {
    return std::vector<std::pair<Output, Tensor>>{{gradient, Tensor::vector<float>({value})}};
  };
  Session session = shared_session();
  session.run(initializers);
  {
    Session alone = shared_session();
    StepOptions options = training(1);
    options.timeout = 5ms;
    BOOST_TEST(
        (test::failure_of([&] { alone.run(feed(100), {first}, options); }).code() == Code::DeadlineExceeded));
    alone.close();
  }
  session.run(feed(-10), {first, second}, training(1));
  BOOST_TEST(session.run({w})[0].as<float>()[0] == 1.0f);
}

// Momentum with its attribute, and a step counter: a rule without a gradient is applied once per round, for any number of shards.
BOOST_AUTO_TEST_CASE(rules_have_options_slots_and_need_no_gradient) {
  const Output w = variable("w", Tensor::vector<float>({1})),
               slot = variable("w/accum", Tensor::vector<float>({2}));
  const Output round = variable("w/round", Tensor::scalar<int64_t>(0));
  const Output steps = variable("steps", Tensor::scalar<int64_t>(40)),
               steps_round = variable("steps/round", Tensor::scalar<int64_t>(0));
  std::vector<Output> pushes;
  for (const int64_t shard : {0, 1}) {
    const Output gradient = g.constant(Tensor::vector<float>({1.0f + 2 * static_cast<float>(shard)}));
    pushes.push_back(
        {g.add("SyncReplicasApply", {round, w, slot, value(0.5f), gradient, value(0.25f), samples(8)},
               {{"N", int64_t{2}},
                {"rule", std::string("ApplyMomentum")},
                {"options", std::vector<std::string>{"use_nesterov"}},
                {"shard", shard},
                {"shards", int64_t{2}}}),
         Output::control});
    pushes.push_back(
        {g.add("SyncReplicasApply", {steps_round, steps, g.constant(Tensor::scalar<int64_t>(1)), samples(8)},
               {{"N", int64_t{1}},
                {"rule", std::string("AssignAdd")},
                {"gradient", std::string()},
                {"shard", shard},
                {"shards", int64_t{2}}}),
         Output::control});
  }
  Session session = runtime.session(graph);
  session.run(initializers);
  session.run(pushes, training(1));
  const auto fetched = session.run({w, slot, steps});
  BOOST_TEST(fetched[1].as<float>()[0] == 0.25f * 2 + 2);  // accum = momentum * accum + mean
  BOOST_TEST(fetched[0].as<float>()[0] ==
             1 - 0.5f * (0.25f * 2.5f + 2));  // w -= rate * (momentum * accum + mean)
  BOOST_TEST(fetched[2].as<int64_t>()[0] == 41);
}

BOOST_AUTO_TEST_CASE(variables_may_be_resources) {
  const Output w = variable("w", Tensor::vector<float>({1}), "VarHandleOp");
  const Output round = variable("w/round", Tensor::scalar<int64_t>(0), "VarHandleOp");
  const Output push{g.add("ResourceSyncReplicasApply",
                          {round, w, value(0.5f), g.constant(Tensor::vector<float>({1})), samples(1)},
                          {{"N", int64_t{1}},
                           {"rule", std::string("ResourceApplyGradientDescent")},
                           {"gradient", std::string("delta")},
                           {"shard", int64_t{0}},
                           {"shards", int64_t{1}}}),
                    Output::control};
  const Output read = g.add_one("ReadVariableOp", {w}, {{"dtype", DType::Float}});
  Session session = runtime.session(graph);
  session.run(initializers);
  for (int i = 0; i < 2; ++i) session.run({push}, training(1));
  BOOST_TEST(session.run({read})[0].as<float>()[0] == 0.5f);
}

BOOST_AUTO_TEST_CASE(what_is_no_rule_is_refused_before_any_step) {
  const Output w = variable("w", Tensor::vector<float>({1})),
               round = variable("w/round", Tensor::scalar<int64_t>(0));
  const Output gradient = g.constant(Tensor::vector<float>({1})), n = samples(1);
  const auto rule = [](const char* name) { return Attributes{{"rule", std::string(name)}}; };
  const std::vector<Refused> refused = {
      {descent(round, w, gradient, n, 0, 1, rule("Nonsense")), Code::NotFound, "Nonsense"},
      {descent(round, w, gradient, n, 0, 1, rule("Identity")), Code::InvalidArgument,
       "Identity is not a rule"},
      {descent(round, w, gradient, n, 0, 1, rule("ApplyMomentum")), Code::InvalidArgument,
       "ApplyMomentum takes 2 variables and 3 values, but is given 1 variables and 2 values"},
      {descent(round, w, gradient, n, 0, 1, {{"gradient", std::string("grad")}}), Code::InvalidArgument,
       "ApplyGradientDescent has no value input 'grad', which the attribute gradient names"},
      {descent(round, w, gradient, n, 0, 1, {{"gradient", std::string("var")}}), Code::InvalidArgument,
       "no value input 'var'"},
      {descent(round, w, gradient, n, 0, 1, {{"options", std::vector<std::string>{"T"}}}),
       Code::InvalidArgument, "ApplyGradientDescent has no bool attribute 'T'"},
      {descent(round, w, gradient, n, 2, 2), Code::InvalidArgument, "shard is 2, shards 2"},
      {descent(round, w, g.constant(Tensor::vector<double>({1})), n, 0, 1), Code::InvalidArgument, "double"},
  };
  Session session = runtime.session(graph);
  session.run(initializers);
  check_refused(session, refused);
}

// ps: w, round;  gradients of three shards, of which one is wrong -> w -= 0.1 * their largest elements times all samples
BOOST_AUTO_TEST_CASE(a_function_takes_the_place_of_the_mean) {
  for (const int64_t size : {2, 20'000}) {  // the larger gradients are combined outside the handler
    const std::string name = "of" + std::to_string(size);
    define_function(graph, {name, {f32, f32}, {f32}}, [](const Scope& s, const std::vector<Output>& of) {
      return std::vector{mul(s, max(s, of[0], 0), sum(s, of[1]))};
    });
    const auto n = static_cast<size_t>(size);
    const Output w = variable(name + "/w", Tensor::of<float>(Shape{size / 2, 2}, Floats(n, 0)));
    const Output round = variable(name + "/round", Tensor::scalar<int64_t>(0));
    std::vector<Output> pushes;
    for (int64_t shard = 0; shard < 3; ++shard) {
      Floats values(n, static_cast<float>(shard));
      values[0] = static_cast<float>(10 - shard);
      pushes.push_back(descent(round, w, g.constant(Tensor::of<float>(Shape{size / 2, 2}, values)),
                               samples(shard == 0 ? 0 : 4), shard, 3, {{"combine", FunctionName{name}}}));
    }
    Session session = runtime.session(graph);
    session.run(initializers);
    session.run(pushes, training(1));
    const Tensor result = session.run({w})[0];
    BOOST_TEST((result.shape() == Shape{size / 2, 2}));
    BOOST_TEST(result.as<float>()[0] == 0 - 0.1f * (9 * 8));  // shard 0 has no samples
    BOOST_TEST(result.as<float>()[n - 1] == 0 - 0.1f * (2 * 8));
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_combine_gradients_fails_and_changes_nothing) {
  const Output w = variable("w", Tensor::vector<float>({1})),
               round = variable("w/round", Tensor::scalar<int64_t>(0));
  const Output gradient = g.constant(Tensor::vector<float>({1})), n = samples(1);
  const auto define = [&](const std::string& name, size_t arguments, const FunctionBody& body) {
    define_function(graph, {name, std::vector(arguments, f32), {f32}, name == "draws"}, body);
  };
  define("wider", 2, [](const Scope& s, const auto& of) {
    return std::vector{concat(s, {of[0], of[0]}, 0)};
  });
  define("alone", 1, [](const Scope&, const auto& of) { return std::vector{of[0]}; });
  define("refuses", 2, [](const Scope& s, const auto& of) { return std::vector{reshape(s, of[0], {7})}; });
  define("draws", 2, [](const Scope& s, const auto& of) {
    return std::vector{mul(s, of[0], random_uniform(s, shape(s, of[0])))};
  });
  const auto combining = [&](const char* name, Attributes more = {}) {
    more.set("combine", FunctionName{name});
    return descent(round, w, gradient, n, 0, 1, std::move(more));
  };
  const std::vector<Refused> refused = {
      {combining("nothing"), Code::NotFound, "the graph has no function 'nothing'"},
      {combining("alone"), Code::InvalidArgument, "function alone has 1 arguments and 1 results"},
      {combining("draws"), Code::InvalidArgument,
       "cannot be part of a function that is computed outside steps"},
      {combining("wider", {{"gradient", std::string()}}), Code::InvalidArgument, "the rule has no gradient"},
      {combining("wider"), Code::InvalidArgument,
       "function wider made float[2,1] of gradients float[1,1]; it must make 1 elements"},
      {combining("refuses"), Code::InvalidArgument, "[Reshape] refuses/"}};
  Session session = runtime.session(graph);
  session.run(initializers);
  check_refused(session, refused);
  BOOST_TEST(session.run({w})[0].as<float>()[0] == 1);
  BOOST_TEST(session.run({round})[0].as<int64_t>()[0] == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::replicas_steps_test
