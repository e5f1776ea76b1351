// Staging areas in steps: the ops, waiting across steps, cancelling, sharing by name.
#include <boost/test/unit_test.hpp>

#include <future>
#include <thread>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::staging_steps_test {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Scope g{graph};

  static Attributes area(const std::string& name, const Attributes& more = {}) {
    Attributes attrs{{"shared_name", name}};
    for (const auto& [attr, value] : more) attrs.set(attr, value);
    return attrs;
  }
  static Attributes typed(const std::string& name, std::vector<DType> types, const Attributes& more = {}) {
    Attributes attrs = area(name, more);
    attrs.set("dtypes", std::move(types));
    return attrs;
  }
  Output number(int32_t value) { return g.constant(Tensor::scalar(value)); }
  Output key(int64_t value) { return g.constant(Tensor::scalar(value)); }
  Output indices(std::vector<int32_t> values) {
    return g.constant(Tensor::vector<int32_t>(std::span<const int32_t>(values)));
  }
  Output run(const std::string& op, std::vector<Output> inputs, const Attributes& attrs = {}) {
    return {g.add(op, std::move(inputs), attrs), Output::control};
  }
  Output stage(const std::string& name, int32_t value, const Attributes& more = {}) {
    return run("Stage", {number(value)}, area(name, more));
  }
  Output unstage(const std::string& name) { return g.add_one("Unstage", {}, typed(name, {DType::Int32})); }
  Output size(const std::string& op, const std::string& name) {
    return g.add_one(op, {}, typed(name, {DType::Int32}));
  }
  static int32_t scalar(const std::vector<Tensor>& fetched) { return fetched.at(0).as<int32_t>()[0]; }
  Session shared_session() { return runtime.session(graph, {.share_state = true}); }
  /// Returns whether a step waits, and ends it.
  bool waits(Output what) {
    Session session = shared_session();
    const Status status = test::failure_of([&] { session.run({what}, {.timeout = 20ms}); });
    session.close();  // the step ends a little later than its caller is answered
    return status.code() == Code::DeadlineExceeded;
  }
  void refused(Session& session, Output what, const std::string& text, Code code = Code::InvalidArgument) {
    const Status status = test::failure_of([&] { session.run({what}); });
    BOOST_TEST((status.code() == code), status.text());
    BOOST_TEST(status.text().find(text) != std::string::npos, status.text());
    BOOST_TEST(!status.node().empty());
  }
};

/// The names of the ops on maps.
struct MapOps {
  const char *stage, *unstage, *unstage_no_key, *peek, *size, *incomplete_size, *clear;
};
constexpr MapOps map_ops[] = {
    {"MapStage", "MapUnstage", "MapUnstageNoKey", "MapPeek", "MapSize", "MapIncompleteSize", "MapClear"},
    {"OrderedMapStage", "OrderedMapUnstage", "OrderedMapUnstageNoKey", "OrderedMapPeek", "OrderedMapSize",
     "OrderedMapIncompleteSize", "OrderedMapClear"}};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(staging_steps, Fixture)

BOOST_AUTO_TEST_CASE(tuples_leave_a_stage_in_order) {
  const Output first = stage("s", 1), second = stage("s", 2), taken = unstage("s");
  const Output peeked = g.add_one("StagePeek", {number(1)}, typed("s", {DType::Int32}));
  Session session = shared_session();
  auto other =
      std::async(std::launch::async, [&] { return scalar(session.run({peeked})); });  // waits for two
  session.run({first});
  session.run({second});
  BOOST_TEST(other.get() == 2);
  BOOST_TEST(scalar(session.run({taken})) == 1);
  BOOST_TEST(scalar(session.run({size("StageSize", "s")})) == 1);
  session.run({run("StageClear", {}, typed("s", {DType::Int32}))});
  BOOST_TEST(scalar(session.run({size("StageSize", "s")})) == 0);
  BOOST_TEST(scalar(session.run({size("StageSize", "another")})) == 0);
}

BOOST_AUTO_TEST_CASE(a_stage_without_a_shared_name_is_that_of_its_node) {
  const Output put{g.with_name("own").add("Stage", {number(4)}), Output::control};
  const Output taken = g.add_one("Unstage", {}, typed("own", {DType::Int32}));
  Session session = shared_session();
  session.run({put});
  BOOST_TEST(scalar(session.run({taken})) == 4);
}

BOOST_AUTO_TEST_CASE(a_full_stage_lets_nothing_in) {
  for (const Attributes& limit :
       {Attributes{{"capacity", int64_t{1}}}, Attributes{{"memory_limit", int64_t{7}}}}) {
    const std::string name = "s" + std::to_string(graph.size());
    const Output one = stage(name, 1, limit), two = stage(name, 2, limit), taken = unstage(name);
    Session session = shared_session();
    session.run({one});
    BOOST_TEST(waits(two));
    BOOST_TEST(scalar(session.run({size("StageSize", name)})) == 1);  // the put that waited is gone
    std::thread other([&] { session.run({two}); });
    BOOST_TEST(scalar(session.run({taken})) == 1);
    BOOST_TEST(scalar(session.run({taken})) == 2);
    other.join();
  }
}

BOOST_AUTO_TEST_CASE(a_take_that_waits_ends_with_its_step) {
  const Output taken = unstage("s"), put = stage("s", 5);
  Session session = shared_session();
  BOOST_TEST(waits(taken));
  session.run({put});
  BOOST_TEST(scalar(session.run({taken})) == 5);
}

BOOST_AUTO_TEST_CASE(tuples_of_a_map_come_and_leave_in_parts) {
  for (const MapOps& ops : map_ops) {
    const std::vector<DType> both{DType::Int32, DType::Float};
    const Attributes of = typed(ops.stage, both), ints = typed(ops.stage, {DType::Int32}),
                     floats = typed(ops.stage, {DType::Float});
    const Output half = g.constant(Tensor::scalar(0.5f));
    const Output whole = run(ops.stage, {key(7), indices({0, 1}), number(1), half}, of);
    const Output first = run(ops.stage, {key(3), indices({0}), number(2)}, of);
    const Output second = run(ops.stage, {key(3), indices({1}), half}, of);
    const Output taken = g.add_one(ops.unstage, {key(3), indices({0})}, ints);
    const Output rest = g.add_one(ops.unstage, {key(3), indices({1})}, floats);
    const NodeId peeked = g.add(ops.peek, {key(7), indices({0, 1})}, of);
    const NodeId any = g.add(ops.unstage_no_key, {indices({0, 1})}, of);
    const Output complete = size(ops.size, ops.stage), incomplete = size(ops.incomplete_size, ops.stage);
    Session session = shared_session();
    session.run({first, whole});
    BOOST_TEST(waits(taken));  // the tuple is incomplete
    const auto sizes = session.run({complete, incomplete});
    BOOST_TEST((sizes[0].item<int32_t>() == 1 && sizes[1].item<int32_t>() == 1));
    std::thread other([&] { session.run({second}); });
    BOOST_TEST(scalar(session.run({taken})) == 2);
    other.join();
    refused(session, taken, "has already been removed");
    BOOST_TEST(scalar(session.run({complete})) == 2);
    BOOST_TEST(session.run({rest})[0].item<float>() == 0.5f);
    BOOST_TEST(session.run({Output{peeked, 1}})[0].item<float>() == 0.5f);
    const auto last = session.run({Output{any, 0}, Output{any, 1}});
    BOOST_TEST((last[0].item<int64_t>() == 7 && last[1].item<int32_t>() == 1));
    session.run({first});
    session.run({run(ops.clear, {}, of)});
    BOOST_TEST(scalar(session.run({incomplete})) == 0);
  }
}

// A map holds as many complete tuples as a put allows. Parts come in all the same, and the smallest key leaves first.
BOOST_AUTO_TEST_CASE(a_full_map_takes_parts) {
  const Attributes of = typed("m", {DType::Int32, DType::Int32}, {{"capacity", int64_t{1}}});
  const auto whole = [&](int64_t k) {
    return run("OrderedMapStage", {key(k), indices({0, 1}), number(1), number(2)}, of);
  };
  const Output nine = whole(9), four = whole(4);
  const Output part = run("OrderedMapStage", {key(2), indices({1}), number(6)}, of);
  const Output smallest{g.add("OrderedMapUnstageNoKey", {indices({0, 1})}, of), 0};
  Session session = shared_session();
  session.run({nine});
  BOOST_TEST(waits(four));
  session.run({part});
  std::thread other([&] { session.run({four}); });
  BOOST_TEST(session.run({smallest})[0].item<int64_t>() == 9);
  BOOST_TEST(session.run({smallest})[0].item<int64_t>() == 4);
  other.join();
}

BOOST_AUTO_TEST_CASE(what_a_staging_area_cannot_do_is_refused) {
  const Attributes of = typed("m", {DType::Int32, DType::Int32});
  const auto part = [&](std::vector<int32_t> where, std::vector<Output> values) {
    values.insert(values.begin(), {key(1), indices(std::move(where))});
    return run("MapStage", values, of);
  };
  const Output put = stage("s", 1);
  const Output floats = g.add_one("Unstage", {}, typed("s", {DType::Float}));
  const Output large =
      run("Stage", {g.constant(Tensor::vector<float>({1, 2, 3}))}, area("s", {{"memory_limit", int64_t{8}}}));
  const Output negative = g.add_one("StagePeek", {number(-1)}, typed("s", {DType::Int32}));
  const Output other = g.add_one("MapSize", {}, typed("s", {DType::Int32}));
  const Output keys =
      run("MapStage", {g.constant(Tensor::vector<int64_t>({1, 2})), indices({0}), number(1)}, of);
  Session session = shared_session();
  session.run({put});
  refused(session, floats, "has (int32) there");
  BOOST_TEST(scalar(session.run({size("StageSize", "s")})) == 1);
  refused(session, large, "memory_limit", Code::ResourceExhausted);
  refused(session, negative, "index is int32[]");
  refused(session, other, "was made with a stage");
  refused(session, keys, "key is int64[2]");
  refused(session, part({1, 0}, {number(1), number(2)}), "not strictly ordered");
  refused(session, part({}, {}), "indices are empty");
  refused(session, part({-1}, {number(1)}), "index -1 is negative");
  refused(session, part({1, 2}, {number(1), number(2)}), "index 2 for key 1 is out of bounds");
  refused(session, part({0, 1}, {number(1)}), "2 indices for 1 tensors");
  session.run({part({0}, {number(1)})});
  refused(session, part({0}, {number(1)}), "already initialized");
  session.run({part({1}, {number(1)})});
  refused(session, g.add_one("MapUnstage", {key(1), indices({2})}, typed("m", {DType::Int32})),
          "out of bounds");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::staging_steps_test
