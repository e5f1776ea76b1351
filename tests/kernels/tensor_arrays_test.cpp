// Tests of TensorArrays: arrays that the nodes of a step write and read by index, with gradients, in all versions of the ops.
#include <boost/test/unit_test.hpp>

#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "tests/support/local_graph.h"

namespace troupe::test::tensor_arrays_test {
namespace {

/// An array and the flow after the last op on it.
struct Array {
  Output handle, flow;
};

struct Fixture : LocalGraph {
  std::string version = "V3";

  Array make(int32_t size, Attributes attrs = {}) {
    attrs.set("dtype", f32);
    const NodeId node = g.add("TensorArray" + version, {number<int32_t>(size)}, attrs);
    return {{node, 0}, version == "V3" ? Output{node, 1} : number(0.0f)};
  }
  /// Adds an op with these inputs between the handle and the flow.
  NodeId add(const Scope& s, const std::string& op, const Array& array, std::vector<Output> inputs,
             const Attributes& attrs = {}) {
    inputs.insert(inputs.begin(), array.handle);
    inputs.push_back(array.flow);
    return s.add(op + version, inputs, attrs);
  }
  void change(const std::string& op, Array& array, std::vector<Output> inputs) {
    array.flow = {add(g, op, array, std::move(inputs)), 0};
  }
  void write(Array& array, int32_t index, Output value) {
    change("TensorArrayWrite", array, {number<int32_t>(index), value});
  }
  Output read(const Array& array, int32_t index, DType dtype = f32) {
    return {add(g, "TensorArrayRead", array, {number<int32_t>(index)}, {{"dtype", dtype}}), 0};
  }
  Output gather(const Array& array, std::initializer_list<int32_t> indices) {
    return {add(g, "TensorArrayGather", array, {g.constant(Tensor::vector(indices))}, {{"dtype", f32}}), 0};
  }
  Output floats(std::initializer_list<float> values) { return g.constant(Tensor::vector(values)); }
  std::vector<float> run(Output fetch) {
    const auto values = value_or_throw(runtime.run(graph, {}, {fetch}));
    const auto elements = values[0].as<float>();
    return {elements.begin(), elements.end()};
  }
  std::vector<float> gradient(Output y, Output x) { return run(dense(g, gradients(g, {y}, {x})[0], x)); }
  void says(Output fetch, const std::string& what, Code code = Code::InvalidArgument) {
    const Status status = failure(fetch);
    BOOST_TEST((status.code() == code), status.message());
    BOOST_TEST(status.text().find(what) != std::string::npos, status.message());
  }
};

using Values = std::vector<float>;
#define CHECK_VALUES(...) BOOST_TEST(__VA_ARGS__, boost::test_tools::per_element())

BOOST_FIXTURE_TEST_SUITE(tensor_arrays, Fixture)

BOOST_AUTO_TEST_CASE(elements_are_written_and_read_by_index) {
  for (const char* each : {"", "V2", "V3"}) {
    version = each;
    Array array = make(3);
    write(array, 2, floats({5, 6}));
    change("TensorArrayScatter", array,
           {g.constant(Tensor::vector<int32_t>({1, 0})),
            g.add_one("Reshape", {floats({2, 3, 0, 1}), g.constant(Tensor::vector<int32_t>({2, 2}))})});
    CHECK_VALUES(run(read(array, 2)) == (Values{5, 6}));
    CHECK_VALUES(run(gather(array, {0, 1})) == (Values{0, 1, 2, 3}));
    Array parts = make(2);
    change("TensorArraySplit", parts, {floats({1, 2, 3}), g.constant(Tensor::vector<int64_t>({1, 2}))});
    CHECK_VALUES(run(read(parts, 1)) == (Values{2, 3}));
    CHECK_VALUES(run({add(g, "TensorArrayConcat", parts, {}, {{"dtype", f32}}), 0}) == (Values{1, 2, 3}));
  }
}

BOOST_AUTO_TEST_CASE(an_element_that_was_never_written_reads_as_zeros_if_its_shape_is_known) {
  const Array known = make(2, {{"element_shape", PartialShape{2}}});
  CHECK_VALUES(run(read(known, 1)) == (Values{0, 0}));
  says(read(make(2), 1), "the shape of its zeros is not fully known");
  Array equal = make(2, {{"identical_element_shapes", true}});
  write(equal, 0, floats({1, 2, 3}));
  CHECK_VALUES(run(read(equal, 1)) == (Values{0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(misuse_is_refused) {
  Array full = make(2);
  write(full, 0, floats({1}));
  Array twice = full;
  write(twice, 0, floats({2}));
  says(twice.flow, "element 0 of the TensorArray has already been written to");
  Array beyond = full;
  write(beyond, 2, floats({2}));
  says(beyond.flow, "index 2 is not in [0, 2), the range of the TensorArray, which cannot grow");
  says(read(full, -1), "index -1 is not in [0, 2)");
  says(read(full, 0, f64), "the TensorArray's dtype is float, but the node's dtype is double");
  const Output once = read(full, 0);
  Array later = full;
  later.flow = g.with_control({once}).add_one("Identity", {full.flow});
  says(read(later, 0), "was released when it was read");
  Array shaped = make(1, {{"element_shape", PartialShape{3}}});
  write(shaped, 0, floats({1}));
  says(shaped.flow, "has shape [1], but its elements must have shape [3]");
  Array closed = make(1);
  const Output close{g.add("TensorArrayClose" + version, {closed.handle}), Output::control};
  closed.flow = g.with_control({close}).add_one("Identity", {closed.flow});
  says(read(closed, 0), "has already been closed");
  Array split = make(3);
  change("TensorArraySplit", split, {floats({1, 2}), g.constant(Tensor::vector<int64_t>({1, 1}))});
  says(split.flow, "has 3 elements, not 2, and it cannot grow");
  const Output variable = g.add_one("VarHandleOp", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});
  says(read({variable, number(0.0f)}, 0), "input 0 is not the handle of a TensorArray");
}

BOOST_AUTO_TEST_CASE(a_write_beyond_the_end_adds_elements_if_the_size_is_dynamic) {
  Array array = make(0, {{"dynamic_size", true}});
  write(array, 3, floats({4}));
  const Output size{add(g, "TensorArraySize", array, {}), 0};
  BOOST_TEST(value_or_throw(runtime.run(graph, {}, {size}))[0].item<int32_t>() == 4);
  write(array, INT32_MAX, floats({4}));
  says(array.flow, "too large", Code::ResourceExhausted);
}

// y = 2 a[0] + a[0] a[1], with a[i] = x[i]: dy/dx = {2 + x[1], x[0]}
BOOST_AUTO_TEST_CASE(gradients_of_reads_of_one_element_are_summed) {
  for (const char* each : {"", "V2", "V3"}) {
    version = each;
    const Output x = floats({3, 5});
    Array array = make(2, {{"clear_after_read", false}});
    change("TensorArrayScatter", array, {g.constant(Tensor::vector<int32_t>({0, 1})), x});
    const Output twice = g.add_one("Mul", {read(array, 0), number(2.0f)});
    const Output product = g.add_one("Mul", {read(array, 0), read(array, 1)});
    CHECK_VALUES(gradient(g.add_one("Add", {twice, product}), x) == (Values{7, 3}));
  }
}

BOOST_AUTO_TEST_CASE(parts_have_gradients) {
  for (const char* each : {"", "V2", "V3"}) {
    version = each;
    const Output x = floats({1, 2, 3});
    Array array = make(2);
    change("TensorArraySplit", array, {x, g.constant(Tensor::vector<int64_t>({2, 1}))});
    const Output whole{add(g, "TensorArrayConcat", array, {}, {{"dtype", f32}}), 0};
    CHECK_VALUES(gradient(g.add_one("Square", {whole}), x) == (Values{2, 4, 6}));
    Array rows = make(3);
    write(rows, 0, g.add_one("Reshape", {x, g.constant(Tensor::vector<int32_t>({3}))}));
    write(rows, 1, g.add_one("Square", {x}));
    CHECK_VALUES(gradient(gather(rows, {0, 1}), x) == (Values{3, 5, 7}));
  }
}

BOOST_AUTO_TEST_CASE(all_elements_are_packed_and_unpacked_with_gradients) {
  version = "";
  const Output x = floats({1, 2, 3});
  Array array = make(3);
  change("TensorArrayUnpack", array, {x});
  const Output packed{add(g, "TensorArrayPack", array, {}, {{"dtype", f32}}), 0};
  CHECK_VALUES(run(packed) == (Values{1, 2, 3}));
  CHECK_VALUES(gradient(g.add_one("Square", {packed}), x) == (Values{2, 4, 6}));
}

// for i = 0 to 4: a[i] = 10 i
BOOST_AUTO_TEST_CASE(the_iterations_of_a_loop_fill_an_array) {
  const Array array = make(4);
  const auto done = while_loop(
      g, {number<int32_t>(0), array.flow},
      [&](const Scope& s, std::span<const Output> v) {
        return s.add_one("Less", {v[0], s.constant(Tensor::scalar<int32_t>(4))});
      },
      [&](const Scope& s, std::span<const Output> v) {
        const Output value =
            s.add_one("Mul", {s.add_one("Cast", {v[0]}, {{"DstT", f32}}), s.constant(Tensor::scalar(10.0f))});
        return std::vector{s.add_one("Add", {v[0], s.constant(Tensor::scalar<int32_t>(1))}),
                           Output{add(s, "TensorArrayWrite", {array.handle, v[1]}, {v[0], value}), 0}};
      });
  CHECK_VALUES(run(gather({array.handle, done[1]}, {0, 1, 2, 3})) == (Values{0, 10, 20, 30}));
}

BOOST_AUTO_TEST_CASE(the_elements_of_a_gradient_array_may_have_more_dimensions) {
  Array array = make(1);
  write(array, 0, floats({1, 2}));
  const NodeId node =
      g.add("TensorArrayGradWithShape", {array.handle, array.flow, g.constant(Tensor::vector<int32_t>({3}))},
            {{"source", std::string("gradients")}});
  CHECK_VALUES(run(read({{node, 0}, {node, 1}}, 0)) == (Values(6, 0)));
}

BOOST_AUTO_TEST_CASE(a_gradient_array_has_no_gradient) {
  const Array array = make(1);
  const NodeId gradient =
      g.add("TensorArrayGrad" + version, {array.handle, array.flow}, {{"source", std::string("gradients")}});
  BOOST_CHECK_THROW(gradients(g, {Output{gradient, 1}}, {array.flow}), Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::tensor_arrays_test
