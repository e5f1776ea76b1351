// Steps that wait in vain at every kind of state at which a step can wait, until they time out, fail elsewhere, or their session is
// closed: they leave no actors, threads, descriptors or memory behind, and the state as it was.
#include <boost/test/unit_test.hpp>

#include <malloc.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include "actors/runtime.h"
#include "actors/runtime_impl.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::vain_waits_test {
namespace {

using namespace std::chrono_literals;

size_t open_files() {
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(descriptors), end(descriptors)));
}

size_t threads() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "Threads:") {
      size_t count = 0;
      status >> count;
      return count;
    }
  return 0;
}

struct Fixture {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  const std::vector<DType> int_type{DType::Int32};
  const Output number = g.constant(Tensor::scalar<int32_t>(7)), two = g.constant(Tensor::scalar<int32_t>(2));
  const Output x = g.add_one("Placeholder", {}, {{"dtype", DType::Float}}),
               checked = g.add_one("CheckNumerics", {x}, {{"message", std::string("x")}});

  Output queue(const std::string& name, DType dtype, int64_t capacity) {
    return g.with_name(name).add_one("FIFOQueueV2", {},
                                     {{"component_types", std::vector{dtype}},
                                      {"shapes", std::vector{PartialShape::scalar()}},
                                      {"capacity", capacity}});
  }
  Output enqueue(Output queue) { return {g.add("QueueEnqueueV2", {queue, number}), Output::control}; }
  Output dequeue(Output queue) {
    return g.add_one("QueueDequeueV2", {queue}, {{"component_types", int_type}});
  }

  Output empty = queue("empty", DType::Int32, 1), full = queue("full", DType::Int32, 1);

  /// One output for each way to wait.
  std::vector<Output> waits() {
    const Output accumulator =
        g.add_one("ConditionalAccumulator", {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
    const Output barrier = g.add_one(
        "Barrier", {}, {{"component_types", int_type}, {"shapes", std::vector{PartialShape::scalar()}}});
    const Output files = queue("files", DType::String, 1), reader = g.add_one("TextLineReaderV2", {});
    const Attributes stage{{"dtypes", int_type}, {"shared_name", std::string("stage")}},
        map{{"dtypes", int_type}, {"shared_name", std::string("map")}};
    const Output key = g.constant(Tensor::scalar<int64_t>(1)),
                 indices = g.constant(Tensor::vector<int32_t>({0}));
    return {dequeue(empty),
            g.add_one("QueueDequeueManyV2", {empty, two}, {{"component_types", int_type}}),
            enqueue(full),
            g.add_one("AccumulatorTakeGradient", {accumulator, two}, {{"dtype", DType::Float}}),
            {g.add("BarrierTakeMany", {barrier, two}, {{"component_types", int_type}}), 1},
            {g.add("ReaderReadV2", {reader, files}), 1},
            g.add_one("Unstage", {}, stage),
            g.add_one("MapUnstage", {key, indices}, map),
            {g.add("MapUnstageNoKey", {indices}, map), 1}};
  }

  Session shared_session() { return runtime.session(graph, {.share_state = true}); }
};

void time_out(Session& session, Output wait) {
  const Status status = test::failure_of([&] { session.run({}, {wait}, {.timeout = 50us}); });
  BOOST_TEST_REQUIRE((status.code() == Code::DeadlineExceeded), status.message());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(vain_waits, Fixture)

BOOST_AUTO_TEST_CASE(ten_thousand_vain_waits_leave_everything_as_it_was) {
  const std::vector<Output> waiting = waits();
  const Output fill = enqueue(full), drain = dequeue(full), in = enqueue(empty), out = waiting[0];
  const Tensor nan = Tensor::scalar(std::numeric_limits<float>::quiet_NaN());
  Session session = shared_session();
  session.run({fill});
  for (const Output& wait : waiting) time_out(session, wait);  // every state has its actor now
  const auto& node = *runtime.impl().node;
  const size_t actors = node.engine.actors();

  const auto fail = [&](Session& running, Output wait) {
    const Status status = test::failure_of([&] { running.run({{x, nan}}, {wait, checked}); });
    BOOST_TEST_REQUIRE((status.code() == Code::InvalidArgument), status.message());
  };
  const auto close_during = [&](Output wait) {
    Session closing = shared_session();
    Status ended;
    std::jthread step([&] { ended = test::failure_of([&] { closing.run({wait}); }); });
    closing.close();
    step.join();
    BOOST_REQUIRE(!ended.ok());
  };
  const auto wait_in_vain = [&](size_t times) {
    {
      Session running = shared_session();
      for (size_t i = 0; i < times; ++i) {
        const Output wait = waiting[i % waiting.size()];
        if (i % 100 < waiting.size())
          close_during(wait);
        else
          i % 2 == 0 ? time_out(running, wait) : fail(running, wait);
      }
      running.close();
    }
    BOOST_TEST(node.scheduler.wait([&] { return node.engine.actors() == actors; },
                                   node.env.clock.now() + std::chrono::nanoseconds(1min).count()));
  };
  wait_in_vain(500);
  const size_t files = open_files(), running = threads(), bytes = mallinfo2().uordblks;
  wait_in_vain(10'000);
  BOOST_TEST(open_files() == files);
  BOOST_TEST(threads() == running);
  BOOST_TEST(mallinfo2().uordblks < bytes + (256 << 10));
  BOOST_TEST(session.run({drain}).at(0).item<int32_t>() == 7);
  session.run({in});
  BOOST_TEST(session.run({out}).at(0).item<int32_t>() == 7);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::vain_waits_test
