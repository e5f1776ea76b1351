// CountUpTo in steps: it yields the value before, ends at the limit, and every step gets another number.
#include <boost/test/unit_test.hpp>

#include <set>
#include <thread>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::count_up_to_test {
namespace {

/// A counter of int64, and its first value.
struct Counter {
  Output variable, start, next, value;
};

Counter make_counter(const Scope& g, bool resource, int64_t limit) {
  const Attributes attrs{{"dtype", DType::Int64}, {"shape", PartialShape::scalar()}};
  const Output variable = g.add_one(resource ? "VarHandleOp" : "VariableV2", {}, attrs);
  const Output zero = g.constant(Tensor::scalar<int64_t>(0));
  const Output start = resource ? Output{g.add("AssignVariableOp", {variable, zero}), Output::control}
                                : g.add_one("Assign", {variable, zero});
  const Output next = g.add_one(resource ? "ResourceCountUpTo" : "CountUpTo", {variable},
                                {{"limit", limit}, {"T", DType::Int64}});
  return {variable, start, next,
          resource ? g.add_one("ReadVariableOp", {variable}, {{"dtype", DType::Int64}}) : variable};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(count_up_to)

BOOST_AUTO_TEST_CASE(it_yields_the_value_before_and_ends_at_the_limit) {
  for (const bool resource : {false, true}) {
    Runtime runtime{{.threads = 1}};
    Graph graph{runtime.ops()};
    const Counter counter = make_counter(Scope{graph}, resource, 3);
    Session session = runtime.session(graph);
    BOOST_TEST((test::failure_of([&] { session.run({counter.next}); }).code() == Code::FailedPrecondition));
    session.run({counter.start});
    for (int64_t i = 0; i < 3; ++i) BOOST_TEST(session.run({counter.next}).at(0).item<int64_t>() == i);
    for (int i = 0; i < 2; ++i) {
      const Status status = test::failure_of([&] { session.run({counter.next}); });
      BOOST_TEST((status.code() == Code::OutOfRange));
      BOOST_TEST(status.text() == "Reached limit of 3");
      BOOST_TEST(session.run({counter.value}).at(0).item<int64_t>() == 3);
    }
  }
}

BOOST_AUTO_TEST_CASE(steps_that_run_at_once_get_different_numbers) {
  constexpr int64_t limit = 200;
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Counter counter = make_counter(Scope{graph}, false, limit);
  Session session = runtime.session(graph);
  session.run({counter.start});
  std::vector<int64_t> numbers[2];
  const auto count = [&](std::vector<int64_t>& into) {
    for (int64_t i = 0; i < limit / 2; ++i) into.push_back(session.run({counter.next}).at(0).item<int64_t>());
  };
  std::thread other([&] { count(numbers[0]); });
  count(numbers[1]);
  other.join();
  std::set<int64_t> all(numbers[0].begin(), numbers[0].end());
  all.insert(numbers[1].begin(), numbers[1].end());
  BOOST_TEST(all.size() == static_cast<size_t>(limit));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::count_up_to_test
