// Mutexes in steps (the ops MutexV2, MutexLock, ConsumeMutexLock): who holds the lock, who waits, and how the lock comes back.
#include <boost/test/unit_test.hpp>

#include <future>
#include <thread>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/functions.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::mutex_steps_test {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  Runtime runtime{{.threads = 2, .tasks = {{"ps", 0, 1}, {"worker", 0, 1}}}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  const Scope ps = g.with_device("/job:ps/task:0");
  const Output mutex = ps.with_name("mutex").add_one("MutexV2", {});
  const Output counter = ps.with_name("counter").add_one(
      "VarHandleOp", {}, {{"dtype", DType::Int32}, {"shape", PartialShape::scalar()}});
  const Output zero = assign(g, number(g, 0));
  const Attributes one_int{{"component_types", std::vector<DType>{DType::Int32}}};
  const Output queue = ps.with_name("queue").add_one("FIFOQueueV2", {}, one_int);

  static Output number(const Scope& s, int32_t value) { return s.constant(Tensor::scalar(value)); }
  Output assign(const Scope& s, Output value) const {
    return {s.add("AssignVariableOp", {counter, value}, {{"dtype", DType::Int32}}), Output::control};
  }
  Output read(const Scope& s) const {
    return s.add_one("ReadVariableOp", {counter}, {{"dtype", DType::Int32}});
  }
  /// Adds what `body(scope)` makes, between a lock of the mutex and its release. Returns the value of the body.
  template <class Body>
  Output critical(Body body, const std::string& name = "lock") {
    const Output lock = g.with_name(name).add_one("MutexLock", {mutex});
    const Output value = body(g.with_control({lock}));
    const NodeId consumed = g.with_control({value}).add("ConsumeMutexLock", {lock});
    return g.with_control({{consumed, Output::control}}).add_one("Identity", {value});
  }
  /// Reads the counter, and adds one to what it has read. Returns what it has read.
  Output count() {
    return critical([&](const Scope& s) {
      const Output before = read(s);
      const Output added = assign(s, s.add_one("Add", {before, number(s, 1)}));
      return s.with_control({added}).add_one("Identity", {before});
    });
  }
  /// Waits for an element of the queue, inside of the lock.
  Output dequeue() {
    return critical([&](const Scope& s) { return s.add_one("QueueDequeueV2", {queue}, one_int); });
  }
  Output enqueue() { return {g.add("QueueEnqueueV2", {queue, number(g, 7)}), Output::control}; }
  /// A step that locks the mutex and yields 5.
  Output locked() {
    return critical([&](const Scope& s) { return number(s, 5); });
  }
  Session shared_session() { return runtime.session(graph, {.share_state = true}); }
  static int32_t value(Session& session, Output what) { return session.run({what}).at(0).item<int32_t>(); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mutex_steps, Fixture)

// Without the lock reads and assignments would mix, and some of the numbers would be equal.
BOOST_AUTO_TEST_CASE(critical_sections_do_not_mix_in_one_step_or_in_several) {
  std::vector<Output> counts;
  for (int i = 0; i < 20; ++i) counts.push_back(count());
  Session session = shared_session(), other = shared_session();
  session.run({zero});
  std::vector<Tensor> theirs;
  std::thread beside([&] { theirs = other.run(counts); });
  std::vector<Tensor> seen = session.run(counts);
  beside.join();
  seen.insert(seen.end(), theirs.begin(), theirs.end());
  std::vector<int32_t> numbers;
  for (const Tensor& one : seen) numbers.push_back(one.item<int32_t>());
  std::ranges::sort(numbers);
  for (int32_t i = 0; i < 40; ++i) BOOST_TEST(numbers[static_cast<size_t>(i)] == i);
  BOOST_TEST(value(session, read(g)) == 40);
}

BOOST_AUTO_TEST_CASE(a_step_waits_until_the_lock_is_released) {
  const Output holds = dequeue(), waits = locked(), put = enqueue();
  Session holding = shared_session(), session = shared_session();
  auto first = std::async(std::launch::async, [&] { return value(holding, holds); });
  // The lock is held as soon as a step runs into its timeout.
  while (test::failure_of([&] { session.run({waits}, {.timeout = 20ms}); }).ok()) {
  }
  auto second = std::async(std::launch::async, [&] {
    Session waiting = shared_session();
    return value(waiting, waits);
  });
  session.run({put});
  BOOST_TEST(first.get() == 7);
  BOOST_TEST(second.get() == 5);
}

BOOST_AUTO_TEST_CASE(a_step_that_fails_or_times_out_releases_what_it_holds) {
  const Output holds = dequeue(), lock = locked();
  const Output fails = critical([&](const Scope& s) {
    return s.add_one("CheckNumerics", {s.constant(Tensor::scalar(INFINITY))},
                     {{"message", std::string("m")}});
  });
  Session session = shared_session();
  BOOST_TEST((test::failure_of([&] { session.run({fails, lock}); }).code() == Code::InvalidArgument));
  BOOST_TEST(value(session, lock) == 5);
  Session late = shared_session();
  BOOST_TEST(
      (test::failure_of([&] { late.run({holds}, {.timeout = 20ms}); }).code() == Code::DeadlineExceeded));
  BOOST_TEST(value(session, lock) == 5);
  Session closed = shared_session();
  auto waiting =
      std::async(std::launch::async, [&] { return test::failure_of([&] { closed.run({holds}); }).code(); });
  while (test::failure_of([&] { session.run({lock}, {.timeout = 20ms}); }).ok()) {
  }
  closed.close();
  BOOST_TEST((waiting.get() == Code::Cancelled));
  BOOST_TEST(value(session, lock) == 5);
}

// The fetched step has no ConsumeMutexLock, so nobody needs the lock once it is given.
BOOST_AUTO_TEST_CASE(a_lock_that_nobody_keeps_is_released) {
  const Output lock = g.add_one("MutexLock", {mutex}),
               then = g.with_control({lock}).add_one("Identity", {read(g)});
  Session session = shared_session();
  session.run({zero});
  for (int i = 0; i < 3; ++i) BOOST_TEST(value(session, then) == 0);
}

BOOST_AUTO_TEST_CASE(functions_lock_too) {
  const FunctionSignature add{"add", {DType::Resource, DType::Int32}, {DType::Int32}, true};
  define_function(graph, add, [&](const Scope& s, const std::vector<Output>& in) {
    const Output lock = s.add_one("MutexLock", {in[0]});
    const Output sum = s.with_control({lock}).add_one("Add", {in[1], number(s, 1)});
    const NodeId consumed = s.with_control({sum}).add("ConsumeMutexLock", {lock});
    return std::vector{s.with_control({{consumed, Output::control}}).add_one("Identity", {sum})};
  });
  const Output first = call(ps, add, {mutex, number(g, 1)})[0],
               second = call(ps, add, {mutex, number(g, 2)})[0];
  Session session = shared_session();
  const auto sums = session.run({first, second, locked()});
  BOOST_TEST(sums[0].item<int32_t>() == 2);
  BOOST_TEST(sums[1].item<int32_t>() == 3);
}

BOOST_AUTO_TEST_CASE(what_is_no_mutex_or_no_lock_is_refused) {
  const Output wrong = g.add_one("MutexLock", {queue});
  const Output list = g.add_one("EmptyTensorList", {number(g, -1), number(g, -1)}, {{"element_dtype", f32}});
  const Output consumed{g.add("ConsumeMutexLock", {list}), Output::control};
  Session session = shared_session();
  for (const auto& [what, text] :
       {std::pair{wrong, "not of a mutex"}, {consumed, "mutex_lock is variant[]"}}) {
    const Output target{what.node, Output::control};
    const Status status = test::failure_of([&] { session.run({target}); });
    BOOST_TEST((status.code() == Code::InvalidArgument), status.text());
    BOOST_TEST(status.text().find(text) != std::string::npos, status.text());
  }
  const Output lock = g.add_one("MutexLock", {mutex});
  BOOST_TEST((test::failure_of([&] { session.run({lock}); }).code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::mutex_steps_test
