// Maps of sparse tensors in steps: what goes in comes out once, alone or with others.
#include <boost/test/unit_test.hpp>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::sparse_map_steps_test {
namespace {

struct Sparse {
  Shape shape_of_indices;
  std::vector<int64_t> indices;
  std::vector<std::string> values;
  std::vector<int64_t> dims;

  std::vector<Tensor> tensors() const {
    return {Tensor::of<int64_t>(shape_of_indices, std::span<const int64_t>(indices)),
            Tensor::vector(std::span<const std::string>(values)),
            Tensor::vector(std::span<const int64_t>(dims))};
  }
};

struct Fixture {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  const std::vector<Output> inputs = {placeholder(DType::Int64), placeholder(DType::String),
                                      placeholder(DType::Int64)};
  const Output handles = placeholder(DType::Int64);
  const Attributes map{{"shared_name", std::string("map")}};
  const Output add = g.add_one("AddSparseToTensorsMap", inputs, map),
               add_many = g.add_one("AddManySparseToTensorsMap", inputs, map);
  const std::vector<Output> take = take_from("map", DType::String);

  Output placeholder(DType dtype) {
    return g.add_one("Placeholder", {}, {{"dtype", dtype}, {"shape", PartialShape()}});
  }
  std::vector<Output> take_from(const std::string& name, DType dtype) {
    const NodeId node =
        g.add("TakeManySparseFromTensorsMap", {handles}, {{"shared_name", name}, {"dtype", dtype}});
    return {{node, 0}, {node, 1}, {node, 2}};
  }
  Tensor put(Session& session, Output how, const Sparse& sparse) const {
    const auto parts = sparse.tensors();
    return session.run({{inputs[0], parts[0]}, {inputs[1], parts[1]}, {inputs[2], parts[2]}}, {how}).at(0);
  }
  void check_taken(Session& session, std::vector<int64_t> which, const Sparse& expected) const {
    const auto taken = session.run({{handles, Tensor::vector(std::span<const int64_t>(which))}}, take);
    const auto parts = expected.tensors();
    for (size_t i = 0; i < parts.size(); ++i) BOOST_TEST(identical(taken.at(i), parts[i]), "part " << i);
  }
  Status failure(Session& session, const Tensor& which, const std::vector<Output>& fetches) const {
    return test::failure_of([&] { session.run({{handles, which}}, fetches); });
  }
  Status refused(Session& session, Output how, const Sparse& sparse) const {
    return test::failure_of([&] { put(session, how, sparse); });
  }
};

const Sparse one{Shape{2, 1}, {0, 3}, {"a", "b"}, {5}}, other{Shape{1, 1}, {6}, {"c"}, {7}};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(sparse_map_steps, Fixture)

BOOST_AUTO_TEST_CASE(tensors_are_stacked_in_the_order_of_their_handles) {
  Session session = runtime.session(graph);
  const int64_t first = put(session, add, one).item<int64_t>(),
                second = put(session, add, other).item<int64_t>();
  BOOST_TEST(first != second);
  check_taken(session, {second, first}, {Shape{3, 2}, {0, 6, 1, 0, 1, 3}, {"c", "a", "b"}, {2, 7}});
}

BOOST_AUTO_TEST_CASE(rows_are_cut_out_and_those_without_entries_too) {
  Session session = runtime.session(graph);
  const Sparse rows{Shape{3, 2}, {0, 1, 2, 0, 2, 4}, {"a", "b", "c"}, {4, 5}};
  const Tensor numbers = put(session, add_many, rows);
  BOOST_TEST_REQUIRE(numbers.elements() == 4);
  const auto row = numbers.as<int64_t>();
  check_taken(session, {row[2], row[3]}, {Shape{2, 2}, {0, 0, 0, 4}, {"b", "c"}, {2, 5}});
  check_taken(session, {row[1]}, {Shape{0, 2}, {}, {}, {1, 5}});
  check_taken(session, {row[0]}, {Shape{1, 2}, {0, 1}, {"a"}, {1, 5}});
}

BOOST_AUTO_TEST_CASE(a_tensor_is_taken_once) {
  Session session = runtime.session(graph);
  const int64_t first = put(session, add, one).item<int64_t>();
  const auto invalid = [&](const Tensor& which, const std::vector<Output>& fetches) {
    return failure(session, which, fetches).code() == Code::InvalidArgument;
  };
  BOOST_TEST(invalid(Tensor::vector<int64_t>({first, first}), take));
  BOOST_TEST(invalid(Tensor::vector<int64_t>({first, first + 1}), take));
  BOOST_TEST(invalid(Tensor::vector<int64_t>({first}), take_from("none", DType::String)));
  BOOST_TEST(invalid(Tensor::of<int64_t>(Shape{0}, std::span<const int64_t>()), take));
  BOOST_TEST(invalid(Tensor::scalar(first), take));
  check_taken(session, {first},
              {Shape{2, 2}, {0, 0, 0, 3}, {"a", "b"}, {1, 5}});  // the failures took nothing
  BOOST_TEST(invalid(Tensor::vector<int64_t>({first}), take));
}

BOOST_AUTO_TEST_CASE(tensors_that_do_not_fit_are_refused) {
  Session session = runtime.session(graph);
  const Sparse matrix{Shape{1, 2}, {0, 0}, {"d"}, {1, 2}};
  const int64_t first = put(session, add, one).item<int64_t>(),
                second = put(session, add, matrix).item<int64_t>();
  BOOST_TEST(
      (failure(session, Tensor::vector<int64_t>({first, second}), take).code() == Code::InvalidArgument));
  const int64_t third = put(session, add, one).item<int64_t>();
  BOOST_TEST((failure(session, Tensor::vector<int64_t>({third}), take_from("map", DType::Float)).code() ==
              Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(what_is_no_sparse_tensor_is_refused) {
  Session session = runtime.session(graph);
  const auto code = [&](Output how, const Sparse& sparse) { return refused(session, how, sparse).code(); };
  for (const Output how : {add, add_many}) {
    BOOST_TEST((code(how, {Shape{2, 2}, {0, 0, 0, 1}, {"a"}, {1, 2}}) == Code::InvalidArgument));
    BOOST_TEST((code(how, {Shape{1, 2}, {0, 0}, {"a"}, {1}}) == Code::InvalidArgument));
    BOOST_TEST((code(how, {Shape{1, 2}, {0, 0}, {"a"}, {1, -2}}) == Code::InvalidArgument));
  }
  BOOST_TEST((code(add_many, one) == Code::InvalidArgument));
  for (const std::vector<int64_t>& indices :
       {std::vector<int64_t>{0, 0, 1, 2}, {0, 0, 2, 0}, {0, -1, 1, 0}, {1, 0, 0, 0}, {0, 0, 0, 0}})
    BOOST_TEST((code(add_many, {Shape{2, 2}, indices, {"a", "b"}, {2, 2}}) == Code::InvalidArgument));
  // Nobody makes 2^60 handles of a few bytes.
  BOOST_TEST(
      (code(add_many, {Shape{1, 2}, {0, 0}, {"a"}, {int64_t{1} << 60, 2}}) == Code::ResourceExhausted));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::sparse_map_steps_test
