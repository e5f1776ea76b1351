// MapDefun(arguments..., captured_inputs...): the results of a function for row i of each argument and for the captured inputs,
// stacked over i. It becomes a loop whose variables are i, the number of rows, a list for each output, and the inputs.
#include <limits>

#include "apps/interop/functions/caller.h"
#include "apps/interop/tensor_proto.h"

namespace troupe::interop {
namespace {

/// The form in which ops of lists take shapes: -1 stands for an unknown rank or dimension.
Tensor shape_tensor(const PartialShape& shape) {
  if (!shape.known_rank()) return Tensor::scalar(int32_t{-1});
  std::vector<int32_t> dims;
  for (const int64_t dim : shape.dims())
    dims.push_back(dim > std::numeric_limits<int32_t>::max() ? -1 : static_cast<int32_t>(dim));
  return Tensor::vector<int32_t>(std::span<const int32_t>(dims));
}

}  // namespace

Result<std::vector<Caller::MappedOutput>> Caller::mapped_outputs() {
  const AttrValue *const types = find_attr(node_, "output_types"), *const shapes =
                                                                       find_attr(node_, "output_shapes");
  const int count = types ? site_.resolve(*types).list().type_size() : 0;
  if (count == 0 || !shapes || site_.resolve(*shapes).list().shape_size() != count)
    return invalid_argument(
        "output_types and output_shapes must have the same number of elements, at least 1");
  std::vector<MappedOutput> outputs;
  for (int i = 0; i < count; ++i) {
    TROUPE_ASSIGN(const DType dtype, read_dtype(site_.resolve(*types).list().type(i)));
    TROUPE_ASSIGN(const PartialShape shape, read_shape(site_.resolve(*shapes).list().shape(i)));
    TROUPE_ASSIGN(const Output constant,
                  constant_beside(spec_.inputs[0], "_shape_" + std::to_string(i), shape_tensor(shape)));
    outputs.push_back({dtype, constant});
  }
  return outputs;
}

Result<Output> Caller::rows_of(size_t argument) {
  const std::string number = std::to_string(argument);
  const Output input = spec_.inputs[argument];
  TROUPE_ASSIGN(const Output shape, add_one("Shape", "_shape_of_argument_" + number, {input}));
  TROUPE_ASSIGN(const Output first, constant_beside(input, "_first_" + number, Tensor::scalar(int32_t{0})));
  return add_one("Gather", "_rows_" + number, {shape, first});
}

Result<std::vector<NodeId>> Caller::check_rows(Output rows, size_t arguments) {
  std::vector<NodeId> checks = spec_.control_inputs;
  for (size_t i = 1; i < arguments; ++i) {
    const std::string number = std::to_string(i);
    TROUPE_ASSIGN(const Output other, rows_of(i));
    TROUPE_ASSIGN(const Output equal, add_one("Equal", "_as_many_rows_" + number, {rows, other}));
    TROUPE_ASSIGN(const NodeId check, add("Assert", "_check_" + number, {equal, rows, other}, {},
                                          {{"T", std::vector<DType>(2, DType::Int32)}}));
    checks.push_back(check);
  }
  return joined(std::move(checks), "_after");
}

Result<Caller::Instance> Caller::map_row(const Callee& function, size_t arguments,
                                         const std::vector<MappedOutput>& outputs, Values now) {
  const Output row = now[0], rows = now[1];
  const Values lists = now.subspan(2, outputs.size()), all_inputs = now.subspan(2 + outputs.size());
  std::vector<Output> inputs(all_inputs.begin(), all_inputs.end());
  for (size_t i = 0; i < arguments; ++i) {
    TROUPE_ASSIGN(inputs[i], add_one("Gather", "_row_" + std::to_string(i), {inputs[i], row}));
  }
  TROUPE_ASSIGN(Instance next, instantiate(function, "_body/", inputs, row.node));
  std::vector<Output>& values = next.outputs.values;
  if (values.size() != outputs.size())
    return invalid_argument("function " + function.name() + " yields " + std::to_string(values.size()) +
                            " values, but output_types has " + std::to_string(outputs.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    TROUPE_ASSIGN(values[i], add_one("TensorListSetItem", "_kept_" + std::to_string(i),
                                     {lists[i], row, values[i]}, {}, {{"element_dtype", outputs[i].dtype}}));
  }
  TROUPE_ASSIGN(const Output one, constant_beside(row, "_one", Tensor::scalar(int32_t{1})));
  TROUPE_ASSIGN(const Output next_row, add_one("Add", "_next_number", {row, one}));
  values.insert(values.begin(), {next_row, rows});
  values.insert(values.end(), all_inputs.begin(), all_inputs.end());
  return next;
}

Result<PlacedCall> Caller::map() {
  TROUPE_ASSIGN(const Callee function, callee_of("f"));
  const AttrValue* const types = find_attr(node_, "Targuments");
  const size_t arguments = types ? static_cast<size_t>(site_.resolve(*types).list().type_size()) : 0;
  if (arguments == 0 || arguments > spec_.inputs.size())
    return invalid_argument("Targuments has " + std::to_string(arguments) + " types for " +
                            std::to_string(spec_.inputs.size()) + " inputs; at least 1 argument is needed");
  TROUPE_ASSIGN(const std::vector<MappedOutput> outputs, mapped_outputs());
  TROUPE_ASSIGN(const Output rows, rows_of(0));
  TROUPE_ASSIGN(const std::vector<NodeId> after, check_rows(rows, arguments));
  TROUPE_ASSIGN(const Output zero, constant_beside(rows, "_zero", Tensor::scalar(int32_t{0})));
  std::vector<Output> variables = {zero, rows};
  for (size_t i = 0; i < outputs.size(); ++i) {
    TROUPE_ASSIGN(const Output list,
                  add_one("TensorListReserve", "_list_" + std::to_string(i), {outputs[i].shape, rows}, {},
                          {{"element_dtype", outputs[i].dtype}}));
    variables.push_back(list);
  }
  variables.insert(variables.end(), spec_.inputs.begin(), spec_.inputs.end());
  Loop parts;
  parts.goes_on = [&](Values now) -> Result<Instance> {
    TROUPE_ASSIGN(const Output less, add_one("Less", "_less", {now[0], now[1]}));
    return Instance{{{less}, {}}, {}};
  };
  parts.next = [&](Values now) { return map_row(function, arguments, outputs, now); };
  const auto exit_name = [](size_t i) { return "_exit_" + std::to_string(i); };
  TROUPE_ASSIGN(const LoopResult result, add_loop(variables, parts, after, exit_name));
  Outputs stacked{{}, {{"output", 0}}};
  for (size_t i = 0; i < outputs.size(); ++i) {
    TROUPE_ASSIGN(const Output value, add_one("TensorListStack", output_name(i, outputs.size()),
                                              {result.variables[2 + i], outputs[i].shape}, {},
                                              {{"element_dtype", outputs[i].dtype}}));
    stacked.values.push_back(value);
  }
  return finish(std::move(stacked), result.has_effects);
}

}  // namespace troupe::interop
