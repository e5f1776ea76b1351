// The C++ functions of kernels/constructors.h are those that the op table declares: names, parameters, defaults. The function of each
// constructor is written here as it must stand there; one whose op yields a list returns all outputs.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "graph/gradients.h"
#include "kernels/constructors.h"
#include "tests/support/golden_values.h"
#include "tests/support/run_op.h"

namespace troupe::test {
namespace {

struct CppParameter {
  std::string type, initial, value;  ///< "Argument ", " = 0", how it is passed on
};

std::string initial_of(const AttrValue& value) {
  switch (kind_of(value)) {
    case AttrKind::Type: {
      const DType dtype = std::get<DType>(value);
      return dtype == f32 ? "f32" : dtype == i32 ? "i32" : dtype == i64 ? "i64" : "?";
    }
    case AttrKind::Int: return std::to_string(std::get<int64_t>(value));
    case AttrKind::Bool: return std::get<bool>(value) ? "true" : "false";
    default: return "{}";  // texts, lists and shapes: nothing in them
  }
}

CppParameter as_cpp(const OpDef& op, const Parameter& parameter) {
  if (parameter.is_input) {
    const ArgDef& argument = op.inputs[*op.find_input(parameter.target)];
    const bool is_list = !argument.number_attr.empty() || !argument.type_list_attr.empty();
    const std::string initial =
        parameter.default_value ? " = " + initial_of(*parameter.default_value) : std::string();
    if (is_list) return {"std::vector<Output> ", initial, "std::move(" + parameter.name + ")"};
    return {"Argument ", initial, parameter.name};
  }
  const AttrDef& attr = *op.find_attr(parameter.target);
  const auto& value = parameter.default_value ? parameter.default_value : attr.default_value;
  const std::string initial = value ? " = " + initial_of(*value) : std::string();
  switch (attr.kind) {
    case AttrKind::Int: return {"int64_t ", initial, parameter.name};
    case AttrKind::Bool: return {"bool ", initial, parameter.name};
    case AttrKind::Type: return {"DType ", initial, parameter.name};
    case AttrKind::String: return {"const std::string& ", initial, parameter.name};
    case AttrKind::Shape: return {"const PartialShape& ", initial, parameter.name};
    case AttrKind::Ints: return {"const std::vector<int64_t>& ", initial, parameter.name};
    default: return {"Argument ", initial, parameter.name};
  }
}

bool yields_list(const OpDef& op) {
  return std::ranges::any_of(op.outputs, [](const ArgDef& output) {
    return !output.number_attr.empty() || !output.type_list_attr.empty();
  });
}

std::string function_of(const OpDef& op, const Constructor& constructor, size_t parameters) {
  const bool list = yields_list(op);
  std::string head = std::string("inline ") + (list ? "std::vector<Output> " : "Output ") + constructor.name +
                     "(const Scope& g",
              call = std::string(list ? "g.outputs(" : "") + "g.call(\"" + constructor.name + "\", {";
  for (size_t i = 0; i < parameters; ++i) {
    const Parameter& parameter = constructor.parameters[i];
    const CppParameter cpp = as_cpp(op, parameter);
    head += ", " + cpp.type + parameter.name + cpp.initial;
    call += (i == 0 ? "" : ", ") + cpp.value;
  }
  return head + ") { return " + call + (list ? "})); }" : "}); }");
}

/// One function for each constructor; of one with axes that may be left out ("all"), another without them and what follows.
std::vector<std::string> declared_functions() {
  std::vector<std::string> functions;
  for (const auto& [name, entry] : op_library()->ops->constructors()) {
    if (name == "placeholder") continue;  // its function takes a name, too
    const auto& parameters = entry.constructor->parameters;
    const auto all_axes = std::ranges::find(parameters, true, &Parameter::all_axes);
    if (all_axes != parameters.end())
      functions.push_back(
          function_of(*entry.op, *entry.constructor, static_cast<size_t>(all_axes - parameters.begin())));
    functions.push_back(function_of(*entry.op, *entry.constructor, parameters.size()));
  }
  return functions;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(constructors)

BOOST_AUTO_TEST_CASE(the_header_has_a_function_for_each_constructor) {
  const std::string header = project_file("kernels/constructors.h");
  std::vector<std::string_view> lines = parts_of(header, '\n');
  std::erase_if(lines, [](std::string_view line) {
    return !line.starts_with("inline ") || line.starts_with("inline Output placeholder(");
  });
  const auto declared = declared_functions();
  for (const std::string& function : declared)
    BOOST_TEST((std::ranges::find(lines, function) != lines.end()), "kernels/constructors.h lacks\n"
                                                                        << function);
  for (const std::string_view line : lines)
    BOOST_TEST((std::ranges::find(declared, line) != declared.end()),
               "the op table does not declare what kernels/constructors.h has:\n"
                   << line);
  BOOST_TEST(std::ranges::equal(lines, declared), "the functions are not in the order of their names");
}

// numbers take the type of the other inputs, axes left out are all, lists are lists of edges.
BOOST_AUTO_TEST_CASE(they_add_nodes) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f64, {2, 3}, "x");
  BOOST_TEST(graph.node(x.node).name == "x");
  BOOST_TEST((g.dtype(add(g, x, 1)) == f64));
  BOOST_TEST(g.shape(sum(g, x)).text() == "[]");
  BOOST_TEST(g.shape(sum(g, x, 1, true)).text() == "[2,1]");
  BOOST_TEST(g.shape(concat(g, {x, x, x}, 1)).text() == "[2,9]");
  BOOST_TEST(g.shape(squeeze(g, expand_dims(g, x, 0), {0})).text() == "[2,3]");
  BOOST_TEST(g.shape(split(g, x, 3, 1).at(2)).text() == "[2,1]");
  BOOST_TEST((g.dtype(shape(g, x)) == i32));
  BOOST_TEST((g.dtype(shape(g, x, i64)) == i64));
  BOOST_TEST(g.shape(zeros(g, {4, 5}, f64)).text() == "[4,5]");
}

BOOST_AUTO_TEST_CASE(queues_yield_what_they_hold) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output queue = fifo_queue(g, {f32, i32}, {PartialShape{2}, PartialShape::scalar()}, 8);
  const auto element = queue_dequeue(g, queue, {f32, i32});
  BOOST_REQUIRE(element.size() == 2);
  BOOST_TEST((g.dtype(element[1]) == i32));
  BOOST_TEST(queue_enqueue(g, queue, element).is_control());
}

BOOST_AUTO_TEST_CASE(tensors_of_other_graphs_are_refused) {
  Graph graph(op_library()->ops), other(op_library()->ops);
  const Scope g(graph), elsewhere(other);
  const Output x = placeholder(g, f32);
  const Output foreign = neg(elsewhere, neg(elsewhere, placeholder(elsewhere, f32)));
  BOOST_CHECK_THROW(neg(g, foreign), Error);
  BOOST_CHECK_THROW(gradients(g, {foreign}, {x}), Error);
  BOOST_CHECK_THROW(gradients(g, {x}, {foreign}), Error);
  BOOST_CHECK_THROW(gradients(g, {g.group({x})}, {x}), Error);  // an operation, not a tensor
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test
