// Queue runners: steps that fill queues beside those of the caller, their end, their failures and their stop.
#include <boost/test/unit_test.hpp>

#include "actors/runtime.h"
#include "graph/build/queue_runner.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::queue_runners_test {
namespace {

using test::failure_of;

struct Fixture {
  Output make_queue(const std::string& name, int64_t capacity = -1) {
    return g.with_name(name).add_one("FIFOQueueV2", {},
                                     {{"component_types", std::vector<DType>{DType::Int32}},
                                      {"shapes", std::vector<PartialShape>{PartialShape::scalar()}},
                                      {"capacity", capacity}});
  }
  Output enqueue(Output queue, Output value) {
    return {g.add("QueueEnqueueV2", {queue, value}), Output::control};
  }
  Output dequeue(Output queue) {
    return g.add_one("QueueDequeueV2", {queue}, {{"component_types", std::vector<DType>{DType::Int32}}});
  }
  Output close(Output queue, bool cancel_pending) {
    return {g.add("QueueCloseV2", {queue}, {{"cancel_pending_enqueues", cancel_pending}}), Output::control};
  }
  QueueRunner runner(Output queue, std::vector<Output> enqueue) {
    return {std::move(enqueue), close(queue, false), close(queue, true)};
  }
  static int32_t scalar(const std::vector<Tensor>& fetched) { return fetched.at(0).as<int32_t>()[0]; }

  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  Output source = make_queue("source"), middle = make_queue("middle", 2), last = make_queue("last", 2);
  Output taken = dequeue(last);
};

BOOST_FIXTURE_TEST_SUITE(queue_runners, Fixture)

// Two runners in a row, as TensorFlow's input pipelines have them: the end of the first queue becomes that of the last one.
BOOST_AUTO_TEST_CASE(the_end_of_the_input_reaches_the_caller_after_every_element) {
  const Output values = g.constant(Tensor::vector<int32_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  const Output fill{g.add("QueueEnqueueManyV2", {source, values}), Output::control};
  const Output end = close(source, false), copied = enqueue(middle, dequeue(source)),
               copied_too = enqueue(middle, dequeue(source)), moved = enqueue(last, dequeue(middle));
  auto session = runtime.session(graph);
  session.run({fill});
  session.run({end});
  session.start_queue_runners({runner(middle, {copied, copied_too}), runner(last, {moved})});
  int32_t sum = 0;
  for (int i = 0; i < 10; ++i) sum += scalar(session.run({taken}));
  BOOST_TEST(sum == 45);
  BOOST_TEST((failure_of([&] { session.run({taken}); }).code() == Code::OutOfRange));
  session.stop_queue_runners();
}

BOOST_AUTO_TEST_CASE(steps_that_wait_for_room_end_when_the_runners_are_stopped) {
  const Output one = g.constant(Tensor::scalar<int32_t>(1)), added = enqueue(last, one);
  auto session = runtime.session(graph);
  session.start_queue_runners({runner(last, {added, added})});
  BOOST_TEST(scalar(session.run({taken})) == 1);
  // The longest times do not exceed the clock.
  session.stop_queue_runners(std::chrono::nanoseconds::max());
  session.close(std::chrono::nanoseconds::max());
}

// Each call of start_queue_runners has steps of its own: the end of one group cancels none of the other group's.
BOOST_AUTO_TEST_CASE(runners_that_end_leave_those_of_another_call_alone) {
  const Output one = g.constant(Tensor::scalar<int32_t>(1)), added = enqueue(last, one),
               moved = enqueue(middle, dequeue(source));
  QueueRunner fills, waits;
  fills.enqueue = {added, added};
  waits.enqueue = {moved};
  for (int i = 0; i < 20; ++i) {
    auto session = runtime.session(graph);
    session.start_queue_runners({fills});
    session.start_queue_runners({waits});
    BOOST_TEST(scalar(session.run({taken})) == 1);
    session.stop_queue_runners();
    session.close();
  }
}

BOOST_AUTO_TEST_CASE(a_failure_stops_all_runners_and_is_reported) {
  const Output bad =
      g.add_one("Placeholder", {}, {{"dtype", DType::Int32}, {"shape", PartialShape::scalar()}});
  const Output never = enqueue(middle, dequeue(source)), failing = enqueue(last, bad);
  auto session = runtime.session(graph);
  session.start_queue_runners({runner(middle, {never}), runner(last, {failing})});
  BOOST_TEST((failure_of([&] { session.run({taken}); }).code() == Code::OutOfRange));  // its queue is closed
  session.run({close(source, false)});  // the step of the first runner waits for this queue
  const Status failure = failure_of([&] { session.stop_queue_runners(); });
  BOOST_TEST((failure.code() == Code::InvalidArgument), failure.message());
  BOOST_TEST(failure.node() == graph.node(bad.node).name);
}

BOOST_AUTO_TEST_CASE(a_session_may_end_before_its_runners) {
  const Output one = g.constant(Tensor::scalar<int32_t>(1)), added = enqueue(last, one);
  for (int i = 0; i < 20; ++i) {
    auto session = runtime.session(graph);
    session.start_queue_runners({runner(last, {added})});
    if (i % 2 == 0) session.close();
  }
  auto session = runtime.session(graph);
  BOOST_TEST(scalar(session.run({g.constant(Tensor::scalar<int32_t>(3))})) == 3);
}

BOOST_AUTO_TEST_CASE(targets_of_another_graph_are_refused) {
  auto session = runtime.session(graph);
  QueueRunner wrong;
  wrong.enqueue = {{static_cast<NodeId>(graph.size()) + 5, Output::control}};
  BOOST_TEST((failure_of([&] { session.start_queue_runners({wrong}); }).code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(a_graph_notes_its_queue_runners) {
  BOOST_TEST(troupe::queue_runners(graph).empty());
  const Output a = g.with_name("a").group({}), b = g.with_name("b").group({}), c = g.with_name("c").group({});
  add_queue_runner(g, {.enqueue = {a, b, a}, .close = c, .ends = {Code::Cancelled, Code::OutOfRange}});
  add_queue_runner(g.with_prefix("x"), {.enqueue = {c}, .cancel = a});
  const auto runners = troupe::queue_runners(graph);
  BOOST_TEST_REQUIRE(runners.size() == 2u);
  BOOST_TEST((runners[0].enqueue == std::vector{a, b, a}));
  BOOST_TEST((runners[0].close == c && !runners[0].cancel));
  BOOST_TEST((runners[0].ends == std::vector{Code::Cancelled, Code::OutOfRange}));
  BOOST_TEST(
      (!runners[1].close && runners[1].cancel == a && runners[1].ends == std::vector{Code::OutOfRange}));
  BOOST_TEST((failure_of([&] {
                add_queue_runner(g, {.enqueue = {{99, 0}}});
              }).code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(damaged_notes_are_refused) {
  const auto failure_with = [&](const Attributes& attrs) {
    Graph damaged{runtime.ops()};
    Scope{damaged}.with_name("note").add("NoOp", {}, attrs);
    return failure_of([&] { troupe::queue_runners(damaged); });
  };
  const std::vector<std::string> self = {"note"};
  BOOST_TEST((failure_with({{"_queue_runner_enqueue", self}}).ok()));
  BOOST_TEST(
      (failure_with({{"_queue_runner_enqueue", std::vector<std::string>{"no"}}}).code() == Code::NotFound));
  BOOST_TEST((failure_with({{"_queue_runner_enqueue", int64_t{3}}}).code() == Code::InvalidArgument));
  const Status code =
      failure_with({{"_queue_runner_enqueue", self}, {"_queue_runner_ends", std::vector<int64_t>{99}}});
  BOOST_TEST((code.code() == Code::InvalidArgument));
  BOOST_TEST(code.node() == "note");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::queue_runners_test
