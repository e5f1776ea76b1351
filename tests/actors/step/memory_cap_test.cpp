// Steps whose data need more memory than the cap allows: these steps fail, and nothing else does.
#include <boost/test/unit_test.hpp>

#include <future>
#include <string>

#include "actors/runtime.h"
#include "graph/build/control_flow.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::memory_cap_test {
namespace {

struct Fixture {
  Output fed(const std::string& name, DType dtype) {
    return g.with_name(name).add_one("Placeholder", {}, {{"dtype", dtype}});
  }
  Output f(float value) { return g.constant(Tensor::scalar(value)); }

  Runtime runtime{{.threads = 2, .memory = size_t{256} << 20}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  Output n = fed("n", DType::Int32);        ///< a number
  Output ns = fed("ns", DType::Int32);      ///< {a number}
  Output pair = fed("pair", DType::Int32);  ///< {{0, a number}}
  Output x = g.constant(Tensor::vector<float>({1.0f}));
  Output text = fed("text", DType::String);
  Output good = g.with_name("good").add_one("Add", {f(1), f(2)});
};

BOOST_FIXTURE_TEST_SUITE(memory_cap, Fixture)

// Each op makes a tensor whose size is a value in the data.
BOOST_AUTO_TEST_CASE(sizes_that_data_ask_for_end_the_step_and_nothing_else) {
  const auto vector = [&](int32_t value) { return g.constant(Tensor::vector<int32_t>({value})); };
  const auto scalar = [&](int32_t value) { return g.constant(Tensor::scalar(value)); };
  const std::vector<std::pair<std::string, Output>> makers = {
      {"Fill", g.with_name("Fill/node").add_one("Fill", {ns, f(1)})},
      {"Range", g.with_name("Range/node").add_one("Range", {scalar(0), n, scalar(1)})},
      {"Tile", g.with_name("Tile/node").add_one("Tile", {x, ns})},
      {"BroadcastTo", g.with_name("BroadcastTo/node").add_one("BroadcastTo", {x, ns})},
      {"Pad", g.with_name("Pad/node").add_one("Pad", {x, pair})},
      {"OneHot", g.with_name("OneHot/node").add_one("OneHot", {vector(0), n, f(1), f(0)})},
      {"UnsortedSegmentSum",
       g.with_name("UnsortedSegmentSum/node").add_one("UnsortedSegmentSum", {x, vector(0), n})},
      {"DynamicStitch", g.with_name("DynamicStitch/node").add_one("DynamicStitch", {ns, x})},
      {"FillStrings", g.with_name("FillStrings/node").add_one("Fill", {ns, text})},
  };
  Session session = runtime.session(graph);
  for (const auto& [op, made] : makers)
    for (const int32_t count : {70'000'000, 2'000'000'000}) {
      const Status status = test::failure_of([&, made = made] {
        session.run({{n, Tensor::scalar(count)},
                     {ns, Tensor::vector<int32_t>({count})},
                     {pair, Tensor::of<int32_t>(Shape{1, 2}, {0, count})},
                     {text, Tensor::scalar<std::string>("a")}},
                    {made});
      });
      BOOST_TEST_CONTEXT(op << " of " << count << ": " << status.message()) {
        BOOST_TEST((status.code() == Code::ResourceExhausted));
        BOOST_TEST(status.message().find(graph.node(made.node).name) != std::string::npos);
        BOOST_TEST(status.message().find("the memory cap is 268435456 bytes") != std::string::npos);
        BOOST_TEST(status.message().find("are in use") != std::string::npos);
      }
      BOOST_TEST(session.run({good})[0].as<float>()[0] == 3.0f);
    }
}

// s = s + s, sixty times.
BOOST_AUTO_TEST_CASE(a_loop_that_doubles_a_string_ends) {
  const Output end = while_loop(
      g, {g.constant(Tensor::scalar(0)), text},
      [&](const Scope& s, auto vars) {
        return s.add_one("Less", {vars[0], s.constant(Tensor::scalar(60))});
      },
      [&](const Scope& s, auto vars) {
        return std::vector{s.add_one("Add", {vars[0], s.constant(Tensor::scalar(1))}),
                           s.with_name("doubled").add_one("Add", {vars[1], vars[1]})};
      })[1];
  Session session = runtime.session(graph);
  const Status status = test::failure_of([&] {
    session.run({{text, Tensor::scalar<std::string>("0123456789abcdef")}}, {end});
  });
  BOOST_TEST((status.code() == Code::ResourceExhausted), status.message());
  BOOST_TEST(status.message().find("doubled") != std::string::npos, status.message());
  BOOST_TEST(session.run({good})[0].as<float>()[0] == 3.0f);
}

// Long strings are made and freed: freed strings are not counted any more.
BOOST_AUTO_TEST_CASE(strings_that_have_gone_count_no_more) {
  const Output joined = g.add_one("Add", {text, text});
  Session session = runtime.session(graph);
  const std::string long_one(50 << 20, 'x');
  for (int i = 0; i < 10; ++i)
    BOOST_TEST(session.run({{text, Tensor::scalar(long_one)}}, {joined})[0].as<std::string>()[0].size() ==
               100u << 20);
}

BOOST_AUTO_TEST_CASE(other_steps_go_on_meanwhile) {
  const Output large = g.add_one("Fill", {ns, f(1)});
  Session session = runtime.session(graph);
  auto other = std::async(std::launch::async, [&] {
    int right = 0;
    for (int i = 0; i < 2000; ++i) right += session.run({good})[0].item<float>() == 3.0f;
    return right;
  });
  for (int i = 0; i < 50; ++i)
    BOOST_TEST((test::failure_of([&] {
                  session.run({{ns, Tensor::vector<int32_t>({100'000'000})}}, {large});
                }).code() == Code::ResourceExhausted));
  BOOST_TEST(other.get() == 2000);
}

BOOST_AUTO_TEST_CASE(a_cap_that_nothing_fits_under_is_refused) {
  const Status status = test::failure_of([] { Runtime({.threads = 1, .memory = 1'000'000}); });
  BOOST_TEST((status.code() == Code::InvalidArgument));
  BOOST_TEST(
      status.text() ==
      "a memory cap of 1000000 bytes (RuntimeOptions::memory, --memory): it must be at least 16777216 bytes");
}

BOOST_AUTO_TEST_CASE(tasks_that_cannot_be_are_refused) {
  const auto refusal = [](const TaskOptions& task) {
    const Status status = test::failure_of([&] { Runtime({.threads = 1, .tasks = {task}}); });
    BOOST_TEST((status.code() == Code::InvalidArgument));
    return status.text();
  };
  BOOST_TEST(refusal({.job = ""}) == "task 0 of job '' (RuntimeOptions::tasks): the job needs a name");
  BOOST_TEST(refusal({.task = -1}) ==
             "task -1 of job 'localhost' (RuntimeOptions::tasks): the number of a task must not be negative");
  BOOST_TEST(refusal({.cpus = 0}) == "task 0 of job 'localhost' needs at least one CPU device, not 0");
  BOOST_TEST(refusal({.more_cpus = {-7}}) ==
             "task 0 of job 'localhost' lists CPU:-7; the number of a device must not be negative");
  BOOST_TEST(refusal({.more_cpus = {0}}) == "task 0 of job 'localhost' lists CPU:0 twice");
  BOOST_TEST(
      refusal({.gpus = -7}) ==
      "task 0 of job 'localhost' wants -7 GPUs; -1 stands for all, and other numbers must not be negative");
  BOOST_TEST(refusal({.first_gpu = -1}) ==
             "task 0 of job 'localhost' begins with GPU -1; it must not be negative");
}

BOOST_AUTO_TEST_CASE(more_devices_than_the_option_allows_are_refused) {
  for (const int devices : {64, 2}) {
    const Status status = test::failure_of([&] {
      Runtime({.threads = 1, .tasks = {{"worker", 0, devices + 1}}, .devices = devices});
    });
    BOOST_TEST((status.code() == Code::ResourceExhausted));
    BOOST_TEST(status.text().find("RuntimeOptions::devices allows " + std::to_string(devices)) !=
               std::string::npos);
  }
  const Runtime sparse({.threads = 1, .tasks = {{"worker", 0, 1, {7}}}});
  BOOST_TEST(sparse.devices().back() == "/job:worker/replica:0/task:0/device:CPU:7");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::memory_cap_test
