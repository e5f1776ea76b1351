// Samples of the ops of kernels/ops/state. The kernels of update ops are rules: their inputs are the values of the variables,
// their outputs the new values.
#include "tests/kernels/cases/all_cases.h"
#include "tests/kernels/cases/keyed_state_cases.h"

namespace troupe::test {
namespace {

Tensor values(uint64_t seed) { return random_doubles(Shape{3, 5}, 1, 9, seed); }
Tensor none() { return random_doubles(Shape{0, 5}, 0, 1); }

void add_assign_cases(OpCases& cases) {
  for (const char* name : {"Assign", "AssignAdd", "AssignSub"})
    for (const bool resource : {false, true}) {
      const std::string op = name + std::string(resource ? "VariableOp" : "");
      const Attributes type = resource ? Attributes{{"dtype", f64}} : Attributes{};
      cases.good_in_every_type(op, {values(1), values(2)}, type);
      cases.good(op, {none(), none()}, type);
      cases.good(op, {one(), one()}, type);
      if (op.starts_with("AssignAdd") || op.starts_with("AssignSub"))
        cases.bad(op, {values(1), random_doubles(Shape{5, 3}, 0, 1)}, type, "[5,3]");
      else  // the declared shape of the variable decides
        cases.bad(op, {values(1)}, type, "takes 2 inputs, got 1");
    }
  cases.good("Assign", {values(1), none()}, {{"validate_shape", false}});
  cases.good("AssignVariableOp", {values(1), values(2)}, {{"dtype", f64}, {"validate_shape", true}});
  cases.bad("AssignAdd", {strings({"a"}), strings({"b"})}, {}, "T is string");
}

void add_count_cases(OpCases& cases) {
  for (const char* op : {"CountUpTo", "ResourceCountUpTo"}) {
    const Attributes attrs{{"limit", int64_t{8}}, {"T", i32}};
    cases.good_in_every_type(op, {int_scalar(7)}, attrs);
    cases.bad(op, {ints({7, 1, 2, 3, 4})}, attrs, "[5]");
    cases.bad(op, {ints({})}, attrs, "[0]");
    cases.bad(op, {int_scalar(7)}, {{"limit", int64_t{1} << 31}, {"T", i32}}, "limit is 2147483648");
    cases.bad(op, {int_scalar(7)}, {{"T", i32}}, "limit");
  }
}

/// The inputs of a scatter that is split over threads, with repeated rows.
std::vector<Tensor> many_rows() {
  return {converted(random_doubles(Shape{61, 33}, 1, 9), f32),
          converted(random_doubles(Shape{5000}, 0, 61), i64),
          converted(random_doubles(Shape{5000, 33}, 0.9, 1.1), f32)};
}

void add_scatter_cases(OpCases& cases) {
  for (const char* name : {"Update", "Add", "Sub", "Mul", "Div", "Min", "Max"})
    for (const bool resource : {false, true}) {
      const std::string op = (resource ? "ResourceScatter" : "Scatter") + std::string(name);
      const Attributes type = resource ? Attributes{{"dtype", f64}} : Attributes{};
      cases.good_in_every_type(op, {values(1), ints({2, 0, 2}), values(2)}, type);
      cases.good(op, {values(1), int_scalar(1), random_doubles(Shape{5}, 0, 1)}, type);
      cases.good(op, {values(1), ints({}), none()}, type);
      cases.good(op, {none(), ints({}), none()}, type);
      cases.bad(op, {values(1), ints({0, 3, 1}), values(2)}, type, "indices[1] = 3 is not in [0, 3)");
      cases.bad(op, {values(1), ints({0, 1, -1}), values(2)}, type, "indices[2] = -1 is not in [0, 3)");
      cases.bad(op, {values(1), ints({0, 1}), values(2)}, type, "[3,5]");
      cases.good(op, {values(1), ints({2, 0, 2}), one(3)}, type);
      cases.good(op, {random_doubles(Shape{3}, 1, 9), ints({1}), one(3)}, type);
      cases.good(op, {values(1), ints({}), one(0)}, type);
      cases.good(op, {random_doubles(Shape{3, 0}, 0, 1), ints({1}), one(0)}, type);
      cases.good(op, many_rows(), resource ? Attributes{{"dtype", f32}} : Attributes{});
      cases.bad(op, {values(1), ints({3}), one()}, type, "indices[0] = 3 is not in [0, 3)");
      cases.bad(op, {one(), ints({0}), one()}, type, "a scalar");
    }
  cases.bad("ScatterDiv", {ints({4, 6}), ints({1, 0}), ints({2, 0})}, {},
            "division by zero at updates[1] of int32[2]");
}

void add_scatter_nd_cases(OpCases& cases, const std::string& op) {
  const Tensor pairs = ints(Shape{3, 2}, {2, 4, 0, 0, 2, 4}), three = random_doubles(Shape{3}, 1, 9, 2);
  cases.good_in_every_type(op, {values(1), ints(Shape{3, 1}, {2, 0, 2}), values(2)});
  cases.good(op, {values(1), pairs, three});
  cases.good(op, {one(), ints(Shape{2, 0}, {}), random_doubles(Shape{2}, 1, 9)});
  cases.good(op, {none(), ints(Shape{0, 1}, {}), none()});
  const std::vector<Tensor> many = many_rows();
  cases.good(op, {many[0], many[1].reshaped(Shape{5000, 1}), many[2]});
  cases.bad(op, {values(1), ints(Shape{1, 2}, {0, 5}), random_doubles(Shape{1}, 0, 1)}, {},
            "indices[0] = [0,5] is outside the dimensions [3,5]");
  cases.bad(op, {values(1), pairs, values(2)}, {}, "[3,5]");
  cases.bad(op, {one(), ints(Shape{1, 1}, {0}), three}, {},
            "indices has shape [1,1] and the tensor has shape []");
}

Tensor tenth_of(const Tensor& numbers) {
  std::vector<double> tenth(numbers.as<double>().begin(), numbers.as<double>().end());
  for (double& number : tenth) number /= 10;
  return Tensor::of<double>(numbers.shape(), tenth);
}

/// The inputs of a rule: `variables` variables, and then one input for each character of `inputs`: 'g' is the gradient, 'i' the
/// indices, 'n' a count, any other character a scalar.
struct RuleInputs {
  size_t variables;
  std::string_view inputs;
  /// Whether variables are below 1, so that a mean of squares is not below the square of the mean.
  bool below_one = false;

  bool sparse() const { return inputs.find('i') != std::string_view::npos; }
  std::vector<Tensor> operator()(const Tensor& variable, const Tensor& gradient,
                                 const Tensor& indices) const {
    std::vector<Tensor> result(variables, below_one ? tenth_of(variable) : variable);
    for (const char input : inputs)
      result.push_back(input == 'g'   ? gradient
                       : input == 'i' ? indices
                       : input == 'n' ? Tensor::scalar<int64_t>(3)
                                      : one(0.5));
    return result;
  }
  /// Returns inputs that are large enough to be split over threads, as floats.
  std::vector<Tensor> many() const {
    const Tensor rows = random_doubles(sparse() ? Shape{5000, 33} : Shape{300, 501}, 1, 9, 5);
    std::vector<Tensor> result = (*this)(sparse() ? random_doubles(Shape{61, 33}, 1, 9) : rows, rows,
                                         converted(random_doubles(Shape{5000}, 0, 61), i64));
    for (Tensor& input : result)
      if (input.dtype() == f64) input = converted(input, f32);
    return result;
  }
};

void add_rule_cases(OpCases& cases, const std::string& op, const RuleInputs& sample,
                    const Attributes& attrs) {
  const Tensor rows = sample.sparse() ? random_doubles(Shape{2, 5}, 1, 9, 4) : values(4);
  cases.good_in_every_type(op, sample(values(1), rows, ints({2, 0})), attrs);
  cases.good(op, sample(none(), none(), ints({})), attrs);
  cases.good(op, sample.many(), attrs);
  cases.bad(op, sample(values(1), random_doubles(Shape{2, 4}, 1, 9), ints({2, 0})), attrs, "4]");
  std::vector<Tensor> wrong = sample(values(1), rows, ints({2, 0}));
  wrong[sample.variables] = random_doubles(Shape{2}, 0, 1);
  cases.bad(op, wrong, attrs, "[2]");
  if (sample.sparse()) {
    cases.bad(op, sample(values(1), rows, ints({2, 3})), attrs, "indices[1] = 3 is not in [0, 3)");
    cases.bad(op, sample(values(1), rows, ints({2})), attrs, "[2,5]");
    cases.good(op, sample(values(1), rows, ints({1, 1})), attrs);
  } else {
    cases.good(op, sample(one(), one(), {}), attrs);
    cases.good_in_every_type(
        op, sample(random_doubles(Shape{2, 8}, 1, 9), random_doubles(Shape{2, 8}, 1, 9, 4), {}), attrs);
  }
}

void add_rule(OpCases& cases, const std::string& name, size_t variables, std::string_view inputs,
              const Attributes& attrs = {}) {
  const bool below_one = name.ends_with("CenteredRMSProp");
  for (const std::string& op : {name, "Resource" + name})
    add_rule_cases(cases, op, {variables, inputs, below_one}, attrs);
}

/// Adds samples on whole variables, and on rows of them.
void add_rules(OpCases& cases, const std::string& name, size_t variables, const std::string& inputs,
               const Attributes& attrs = {}) {
  add_rule(cases, "Apply" + name, variables, inputs, attrs);
  std::string sparse = inputs;
  sparse.insert(sparse.find('g') + 1, "i");
  add_rule(cases, "SparseApply" + name, variables, sparse, attrs);
}

/// Fused updates: `states` variables for each, and scalars of which the one named 'n' is a count.
struct FusedSample {
  const char* method;
  size_t states;
  std::string_view scalars = "";
  Attributes options = {};

  Attributes attrs(DType type, size_t updates) const {
    Attributes result = options;
    std::vector<DType> types;
    for (const char scalar : scalars) types.push_back(scalar == 'n' ? i64 : type);
    result.set("method", std::string(method));
    result.set("N", static_cast<int64_t>(updates));
    result.set("V", static_cast<int64_t>(updates * states));
    result.set("T", type);
    result.set("scalar_types", types);
    return result;
  }
  std::vector<Tensor> inputs(DType type, const std::vector<Shape>& shapes) const {
    std::vector<Tensor> result;
    for (size_t k = 0; k < shapes.size() * states; ++k)
      result.push_back(converted(random_doubles(shapes[k / states], 1, 9, k), type));
    for (const char scalar : scalars)
      result.push_back(scalar == 'n' ? Tensor::scalar<int64_t>(3) : converted(one(0.5), type));
    for (size_t k = 0; k < shapes.size(); ++k)
      result.push_back(converted(random_doubles(shapes[k], 1, 9, 100 + k), type));
    return result;
  }
};

void add_fused_update_cases(OpCases& cases, const std::string& op) {
  const std::vector<Shape> few = {Shape{2, 3}, Shape{8}, Shape{0, 4}, Shape{}};
  const FusedSample descent{"GradientDescent", 1, "s"};
  for (const DType type : {DType::Half, f32, f64})
    for (const FusedSample& sample : {descent, FusedSample{"AssignAdd", 1}, FusedSample{"AssignSub", 1}})
      cases.good(op, sample.inputs(type, few), sample.attrs(type, few.size()));
  for (const FusedSample& sample :
       {FusedSample{"Momentum", 2, "ss", {{"use_nesterov", true}}}, FusedSample{"Adam", 3, "ssssss"},
        FusedSample{"AdagradDA", 3, "sssn"}, FusedSample{"Adadelta", 3, "sss"},
        FusedSample{"Lamb", 3, "sssssss"}, FusedSample{"Adagrad", 2, "s", {{"update_slots", false}}},
        FusedSample{"Ftrl", 3, "ssss", {{"multiply_linear_by_lr", true}}}})
    cases.good(op, sample.inputs(f32, few), sample.attrs(f32, few.size()));
  // More than one launch changes, both in packs and one by one.
  std::vector<Shape> many;
  for (int64_t k = 0; k < 130; ++k) many.push_back(Shape{k % 2 == 0 ? 4 * k : k});
  for (const FusedSample& sample : {descent, FusedSample{"Adam", 3, "ssssss"}})
    cases.good(op, sample.inputs(f32, many), sample.attrs(f32, many.size()));

  const auto refuse = [&](const FusedSample& sample, const std::vector<Tensor>& inputs, size_t updates,
                          const std::string& text) {
    cases.bad(op, inputs, sample.attrs(f64, updates), text);
  };
  refuse({"Sum", 1, "s"}, descent.inputs(f64, {Shape{2}}), 1, "method \"Sum\" is no update rule");
  refuse({"GradientDescent", 1}, FusedSample{"", 1}.inputs(f64, {Shape{2}}), 1,
         "1 updates by GradientDescent have 1 variables and 1 scalars, not 1 and 0");
  refuse({"Momentum", 1, "ss"}, FusedSample{"", 1, "ss"}.inputs(f64, few), few.size(),
         "4 updates by Momentum have 8 variables and 2 scalars, not 4 and 2");
  auto wrong = descent.inputs(f64, few);
  wrong.back() = random_doubles(Shape{2}, 1, 9);
  refuse(descent, wrong, few.size(), "variables[3] has shape [] and gradients[3] has shape [2]");
  wrong = descent.inputs(f64, few);
  wrong[few.size()] = random_doubles(Shape{1}, 1, 9);
  refuse(descent, wrong, few.size(), "scalars of shape [1] is not a scalar");
}

void add_slice_assign_cases(OpCases& cases, const std::string& op) {
  const Tensor variable = random_doubles(Shape{4, 3}, 1, 9), value = random_doubles(Shape{2, 3}, 1, 9, 2);
  const auto slice = [&](int32_t begin, int32_t end, int32_t stride, const Tensor& with) {
    return std::vector<Tensor>{variable, ints({begin}), ints({end}), ints({stride}), with};
  };
  cases.good_in_every_type(op, slice(0, 4, 2, value));
  cases.good(op, slice(-1, -5, -2, value));
  cases.good(op, slice(3, 1, 1, doubles(Shape{0, 3}, {})));
  for (const Tensor& broadcast : {one(), random_doubles(Shape{3}, 1, 9), random_doubles(Shape{2, 1}, 1, 9)})
    cases.good(op, slice(1, 3, 1, broadcast));
  cases.good(op, slice(2, 0, 1, one()), {{"shrink_axis_mask", int64_t{1}}});
  cases.good(
      op, {variable, ints({0, 0, 1}), ints({2, 0, 3}), ints({1, 1, 1}), random_doubles(Shape{2, 1, 2}, 1, 9)},
      {{"begin_mask", int64_t{1}}, {"new_axis_mask", int64_t{2}}});
  cases.good(op, {one(), ints({}), ints({}), ints({}), one()});
  cases.good(op, {none(), ints({0}), ints({9}), ints({1}), one()});
  cases.bad(op, slice(0, 3, 1, value), {},
            "the value has shape [2,3], which does not broadcast to the slice of shape [3,3]");
  cases.bad(op, slice(0, 1, 1, value), {}, "does not broadcast to the slice of shape [1,3]");
  cases.bad(op, slice(0, 2, 1, random_doubles(Shape{1, 2, 3}, 1, 9)), {}, "does not broadcast");
  cases.bad(op, slice(0, 4, 0, value), {}, "the stride of dimension 0 is 0");
  cases.bad(op, slice(4, 0, 1, one()), {{"shrink_axis_mask", int64_t{1}}},
            "index 4 is outside dimension 0 of size 4");
  cases.bad(op, {variable, ints({0}), ints({1, 2}), ints({1}), one()}, {}, "");
  cases.bad(op, {one(), ints({0}), ints({1}), ints({1}), one()}, {},
            "there are more indices than the 0 dimensions");
}

void add_moving_average_cases(OpCases& cases) {
  const std::string op = "ApplyMovingAverage";
  const Tensor average = random_doubles(Shape{2, 3}, 1, 9), value = random_doubles(Shape{2, 3}, 1, 9, 2);
  cases.good_in_every_type(op, {average, value, one()});
  cases.good(op, {average, value, doubles({}, {0.125})});
  cases.good(op, {none(), none(), one()});
  cases.bad(op, {average, random_doubles(Shape{3, 2}, 1, 9), one()}, {}, "[3,2]");
  cases.bad(op, {average, value, random_doubles(Shape{1}, 1, 9)}, {}, "[1]");
}

void add_update_cases(OpCases& cases) {
  add_moving_average_cases(cases);
  for (const char* op : {"StridedSliceAssign", "ResourceStridedSliceAssign"})
    add_slice_assign_cases(cases, op);
  add_assign_cases(cases);
  add_count_cases(cases);
  add_scatter_cases(cases);
  for (const char* verb : {"Update", "Add", "Sub"})
    for (const char* form : {"ScatterNd", "ResourceScatterNd"})
      add_scatter_nd_cases(cases, form + std::string(verb));
  for (const char* op : {"_FusedApply", "_FusedResourceApply"}) add_fused_update_cases(cases, op);
  add_rules(cases, "GradientDescent", 1, "sg");
  add_rules(cases, "AdamWithAmsgrad", 4, "ssssssg");
  add_rules(cases, "AdaMax", 3, "sssssg");
  add_rules(cases, "Lion", 2, "sssg");
  for (const char* method : {"AddSign", "PowerSign"}) add_rules(cases, method, 2, "ssssg");
  add_rule(cases, "ApplyLars", 2, "sgssss");
  add_rule(cases, "ApplyLamb", 3, "sssssssg");
  add_rules(cases, "RMSProp", 3, "ssssg");
  add_rules(cases, "CenteredRMSProp", 4, "ssssg");
  add_rules(cases, "Adadelta", 3, "sssg");
  add_rules(cases, "ProximalGradientDescent", 1, "sssg");
  add_rules(cases, "ProximalAdagrad", 2, "sssg");
  add_rules(cases, "AdagradDA", 3, "gsssn");
  for (const bool yes : {false, true}) {
    add_rules(cases, "Momentum", 2, "sgs", {{"use_nesterov", yes}});
    add_rule_cases(cases, "ResourceApplyKerasMomentum", {2, "sgs"}, {{"use_nesterov", yes}});
    add_rule_cases(cases, "ResourceSparseApplyKerasMomentum", {2, "sgis"}, {{"use_nesterov", yes}});
    add_rules(cases, "Adam", 3, "ssssssg", {{"use_nesterov", yes}});
    add_rules(cases, "Adagrad", 2, "sg", {{"update_slots", yes}});
    add_rules(cases, "AdagradV2", 2, "ssg", {{"update_slots", yes}});
    add_rules(cases, "Ftrl", 3, "gssss", {{"multiply_linear_by_lr", yes}});
    add_rules(cases, "FtrlV2", 3, "gsssss", {{"multiply_linear_by_lr", yes}});
  }
}

Tensor sample() { return random_doubles(Shape{2, 3}, 1, 9); }
Tensor queue_handle() {
  return strings({"q"}).reshaped(Shape());
}  // the handle of a queue of an op without V2

void add_stacks(OpCases& cases) {
  const std::string test = "kernels/stacks_test.cpp";
  const Attributes floats = {{"elem_type", f32}};
  cases.served("StackV2", {int_scalar(-1)}, floats, "[]", test);
  cases.bad("StackV2", {ints({1, 2})}, floats, "[2]");
  cases.bad("StackV2", {int_scalar(-1)}, {}, "elem_type");
  cases.served("Stack", {}, floats, "[]", test);
  cases.bad("Stack", {}, {}, "elem_type");
  for (const std::string version : {"", "V2"}) {
    const Tensor stack = sample();
    cases.served("StackPush" + version, {stack, sample()}, {}, "[2,3]", test);
    cases.bad("StackPush" + version, {stack}, {}, "takes 2 inputs, got 1");
    cases.served("StackPop" + version, {stack}, floats, "?", test);
    cases.bad("StackPop" + version, {stack}, {}, "elem_type");
    cases.served("StackClose" + version, {stack}, {}, "", test);
    cases.bad("StackClose" + version, {}, {}, "takes 1 inputs, got 0");
  }
}

/// Adds the ops of one version of TensorArrays, with inputs that are no handle of one. A handle has the shape of an element.
void add_tensor_arrays(OpCases& cases, const std::string& version) {
  const bool v3 = version == "V3";
  const std::string test = "kernels/tensor_arrays_test.cpp", flows = v3 ? " []" : "";
  const Attributes type = {{"dtype", f64}}, source = {{"source", std::string("gradients")}};
  const Tensor index = int_scalar(0), flow = Tensor::scalar(0.0F), none = sample();
  cases.served("TensorArray" + version, {int_scalar(2)}, type, "?" + flows, test);
  cases.bad("TensorArray" + version, {int_scalar(-1)}, type, "it must not be negative");
  cases.bad("TensorArray" + version, {int_scalar(2)}, {}, "dtype");
  const auto add = [&](const std::string& op, std::vector<Tensor> inputs, const Attributes& attrs,
                       const std::string& shapes) {
    cases.served("TensorArray" + op, inputs, attrs, shapes, test);
    inputs.pop_back();
    cases.bad("TensorArray" + op, std::move(inputs), attrs, " inputs, got ");
  };
  add("Grad" + version, {none, flow}, source, "[2,3]" + flows);
  add("Size" + version, {none, flow}, {}, "[]");
  add("Close" + version, {none}, {}, "");
  add("Write" + version, {none, index, sample(), flow}, {}, "[]");
  add("Scatter" + version, {none, ints({0, 1}), sample(), flow}, {}, "[]");
  add("Split" + version, {none, sample(), Tensor::vector<int64_t>({1, 1}), flow}, {}, "[]");
  add("Read" + version, {none, index, flow}, type, "[2,3]");
  add("Gather" + version, {none, ints({0, 1}), flow}, type, "[2,2,3]");
  add("Concat" + version, {none, flow}, type, "? [?]");
  if (v3) add("GradWithShape", {none, flow, ints({2})}, source, "? []");
  if (version.empty()) {
    add("Pack", {none, flow}, type, "[?,2,3]");
    add("Unpack", {none, sample(), flow}, {}, "[]");
  }
}

void add_list_makers(OpCases& cases, const std::string& test) {
  const Attributes floats = {{"element_dtype", f32}};
  for (const char* op : {"EmptyTensorList", "TensorListReserve"}) {
    cases.served(op, {int_scalar(-1), int_scalar(2)}, floats, "[]", test);
    cases.bad(op, {int_scalar(-1), int_scalar(2)}, {}, "element_dtype");
    cases.bad(op, {int_scalar(3), int_scalar(2)}, floats, "the only scalar allowed is -1");
  }
  const Tensor rows = ints({1, 0}), any = int_scalar(-1), ones = Tensor::vector<int64_t>({1, 1});
  cases.served("TensorListScatter", {sample(), rows, any}, {}, "[]", test);
  cases.bad("TensorListScatter", {sample(), ints({0, -1}), any}, {}, "indices[1] = -1 is not in [0,");
  cases.bad("TensorListScatter", {sample(), ints({0}), any}, {},
            "there are 1 indices for tensor of shape [2,3]");
  cases.served("TensorListScatterV2", {sample(), rows, any, int_scalar(3)}, {}, "[]", test);
  cases.bad("TensorListScatterV2", {sample(), rows, any, int_scalar(1)}, {},
            "indices[0] = 1 is not in [0, 1)");
  cases.served("TensorListSplit", {sample(), any, ones}, {}, "[]", test);
  cases.bad("TensorListSplit", {sample(), any, Tensor::vector<int64_t>({1, 2})}, {},
            "lengths[1] = 2 is not in [0, 1]");
  cases.bad("TensorListSplit", {sample(), any, Tensor::vector<int64_t>({1})}, {}, "the sum of lengths is 1");
  cases.served("TensorListFromTensor", {sample(), int_scalar(-1)}, {}, "[]", test);
  cases.bad("TensorListFromTensor", {sample(), ints({2})}, {}, "element_shape is [2]");
}

/// Adds inputs that are variants without a list.
void add_list_users(OpCases& cases, const std::string& test) {
  const Attributes floats = {{"element_dtype", f32}}, shape = {{"shape_type", i64}};
  const Tensor list = value_or_throw(Tensor::allocate(DType::Variant, Shape{})), number = int_scalar(1);
  const auto add = [&](const char* op, std::vector<Tensor> inputs, const Attributes& attrs,
                       const std::string& shapes) {
    cases.served(op, inputs, attrs, shapes, test);
    cases.bad(op, std::move(inputs), attrs, "not the handle of a list");
  };
  add("TensorListPushBack", {list, sample()}, {}, "[]");
  add("TensorListPopBack", {list, number}, floats, "[] ?");
  add("TensorListSetItem", {list, number, sample()}, {}, "[]");
  add("TensorListGetItem", {list, number, number}, floats, "?");
  add("TensorListStack", {list, int_scalar(-1)}, floats, "?");
  add("TensorListLength", {list}, {}, "[]");
  add("TensorListElementShape", {list}, shape, "?");
  add("TensorListResize", {list, number}, {}, "[]");
  add("TensorListGather", {list, ints({0}), int_scalar(-1)}, floats, "?");
  add("TensorListScatterIntoExistingList", {list, sample(), ints({0, 1})}, {}, "[]");
  add("TensorListConcat", {list}, floats, "? [?]");
  add("TensorListConcatV2", {list, int_scalar(-1), Tensor::vector<int64_t>({1})}, floats, "? [?]");
  cases.served("_TensorListReverse", {list}, {}, "[]", "kernels/loop_layouts_test.cpp");
  cases.bad("_TensorListReverse", {list}, {}, "not the handle of a list");
}

void add_optionals(OpCases& cases, const std::string& test) {
  const Attributes value = {{"output_types", std::vector{f32}},
                            {"output_shapes", std::vector{PartialShape{2, 3}}}};
  const Tensor optional = value_or_throw(Tensor::allocate(DType::Variant, Shape{}));
  cases.served("OptionalFromValue", {sample(), ints({1})}, {}, "[]", test);
  cases.bad("OptionalFromValue", {}, {}, "Toutput_types");
  cases.served("OptionalNone", {}, {}, "[]", test);
  cases.bad("OptionalNone", {sample()}, {}, "takes 0 inputs, got 1");
  cases.served("OptionalHasValue", {optional}, {}, "[]", test);
  cases.bad("OptionalHasValue", {optional}, {}, "the input is not an optional");
  cases.served("OptionalGetValue", {optional}, value, "[2,3]", test);
  cases.bad("OptionalGetValue", {optional}, value, "the input is not an optional");
  cases.bad("OptionalGetValue", {optional},
            {{"output_types", std::vector{f32, f32}}, {"output_shapes", std::vector{PartialShape{2, 3}}}},
            "output_types has 2 elements and output_shapes 1");
}

void add_temporary_variables(OpCases& cases) {
  const std::string test = "actors/services/temporary_variables_test.cpp";
  cases.served("TemporaryVariable", {}, {{"dtype", f32}, {"shape", PartialShape{2, 3}}}, "[2,3]", test);
  cases.bad("TemporaryVariable", {}, {{"dtype", f32}}, "shape");
  cases.served("DestroyTemporaryVariable", {sample()}, {{"var_name", std::string("v")}}, "[2,3]", test);
  cases.bad("DestroyTemporaryVariable", {sample()}, {}, "var_name");
}

void add_variables(OpCases& cases) {
  const std::string test = "kernels/state_ops_test.cpp";
  for (const char* op : {"VariableV2", "Variable", "VarHandleOp"}) {
    cases.served(op, {}, {{"dtype", f32}, {"shape", PartialShape{2, 3}}}, "[2,3]", test);
    cases.bad(op, {}, {{"dtype", f32}}, "shape");
  }
  cases.served("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}}, "[]", test);
  cases.served("Variable", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}}, "?", test);
  cases.served("ReadVariableOp", {sample()}, {{"dtype", f64}}, "[2,3]", test);
  cases.bad("ReadVariableOp", {sample()}, {}, "dtype");
  cases.served("IsVariableInitialized", {sample()}, {}, "[]", test);
  cases.bad("IsVariableInitialized", {}, {}, "takes 1 inputs, got 0");
  cases.served("VarIsInitializedOp", {sample()}, {}, "[]", test);
  cases.bad("VarIsInitializedOp", {}, {}, "takes 1 inputs, got 0");
}

void add_queues(OpCases& cases) {
  const std::string test = "actors/services/queue_steps_test.cpp";
  const Attributes types = {{"component_types", std::vector<DType>{f64, i32}}};
  for (const std::string v : {"", "V2"}) {
    for (const char* op : {"FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue"}) {
      cases.served(op + v, {}, types, "[]", test);
      cases.bad(op + v, {}, {{"component_types", std::vector<DType>()}}, "component_types");
    }
    cases.served("PriorityQueue" + v, {}, types, "[]", test);
    cases.bad("PriorityQueue" + v, {sample()}, types, "takes 0 inputs, got 1");
    for (const char* op : {"QueueEnqueue", "QueueEnqueueMany"}) {
      cases.served(op + v, {queue_handle(), sample(), int_scalar(1)}, {}, "", test);
      cases.bad(op + v, {queue_handle()}, {}, "Tcomponents");
    }
    cases.served("QueueDequeue" + v, {queue_handle()}, types, "? ?", test);
    cases.bad("QueueDequeue" + v, {queue_handle()}, {}, "component_types");
    for (const char* op : {"QueueDequeueMany", "QueueDequeueUpTo"}) {
      cases.served(op + v, {queue_handle(), int_scalar(3)}, types, "? ?", test);
      cases.bad(op + v, {queue_handle(), ints({3})}, types, "[1]");
    }
    cases.served("QueueClose" + v, {queue_handle()}, {}, "", test);
    cases.bad("QueueClose" + v, {}, {}, "takes 1 inputs, got 0");
    for (const char* op : {"QueueSize", "QueueIsClosed"}) {
      cases.served(op + v, {queue_handle()}, {}, "[]", test);
      cases.bad(op + v, {}, {}, "takes 1 inputs, got 0");
    }
  }
}

void add_accumulators(OpCases& cases) {
  const std::string test = "actors/services/accumulator_steps_test.cpp";
  const Tensor step = Tensor::scalar<int64_t>(0), gradient = Tensor::vector<float>({1, 2});
  const Attributes dtype = {{"dtype", DType::Float}};
  const Attributes made = {{"dtype", DType::Float}, {"shape", PartialShape{2}}};
  for (const std::string prefix : {"", "Resource"}) {
    cases.served(prefix + "ConditionalAccumulator", {}, made, "[]", test);
    cases.bad(prefix + "ConditionalAccumulator", {}, dtype, "shape");
    cases.served(prefix + "AccumulatorApplyGradient", {queue_handle(), step, gradient}, {}, "", test);
    cases.bad(prefix + "AccumulatorApplyGradient", {queue_handle(), ints({0}), gradient}, {}, "local_step");
    cases.served(prefix + "AccumulatorTakeGradient", {queue_handle(), int_scalar(1)}, dtype, "?", test);
    cases.bad(prefix + "AccumulatorTakeGradient", {queue_handle(), ints({1})}, dtype, "[1]");
    cases.served(prefix + "AccumulatorSetGlobalStep", {queue_handle(), step}, {}, "", test);
    cases.bad(prefix + "AccumulatorSetGlobalStep", {queue_handle(), Tensor::vector<int64_t>({1})}, {}, "[1]");
    cases.served(prefix + "AccumulatorNumAccumulated", {queue_handle()}, {}, "[]", test);
    cases.bad(prefix + "AccumulatorNumAccumulated", {}, {}, "takes 1 inputs, got 0");
  }
  cases.served("SparseConditionalAccumulator", {}, made, "[]", test);
  cases.bad("SparseConditionalAccumulator", {}, dtype, "shape");
  const Tensor numbers = Tensor::vector<int64_t>({0, 3});
  cases.served("SparseAccumulatorApplyGradient", {queue_handle(), step, numbers, gradient, numbers},
               {{"has_known_shape", false}}, "", test);
  cases.bad("SparseAccumulatorApplyGradient", {queue_handle(), step, numbers, gradient, numbers}, {},
            "has_known_shape");
  cases.served("SparseAccumulatorTakeGradient", {queue_handle(), int_scalar(1)}, dtype, "? ? ?", test);
  cases.bad("SparseAccumulatorTakeGradient", {queue_handle(), ints({1})}, dtype, "[1]");
}

void add_replicas(OpCases& cases) {
  const Tensor round = Tensor::scalar<int64_t>(0), samples = Tensor::scalar<int64_t>(8);
  const Attributes attrs = {
      {"N", int64_t{1}},     {"M", int64_t{0}},      {"rule", "ApplyGradientDescent"},
      {"shard", int64_t{0}}, {"shards", int64_t{2}}, {"Tvalues", std::vector<DType>{f64, f64}}};
  Attributes negative = attrs;
  negative.set("shard", int64_t{-2});
  for (const std::string op : {"SyncReplicasApply", "ResourceSyncReplicasApply"}) {
    cases.served(op, {round, sample(), doubles({}, {1}), sample(), samples}, attrs, "",
                 "actors/services/replicas_steps_test.cpp");
    cases.bad(op, {round, sample(), doubles({}, {1}), sample(), samples}, negative, "-2");
    cases.bad(op, {Tensor::vector<int64_t>({0}), sample(), doubles({}, {1}), sample(), samples}, attrs,
              "[1]");
    cases.bad(op, {round, sample(), doubles({}, {1}), sample(), sample()}, attrs, "samples is double");
  }
  for (const std::string op : {"SyncReplicasAwait", "ResourceSyncReplicasAwait"}) {
    cases.served(op, {round}, {}, "", "actors/services/rounds_test.cpp");
    cases.bad(op, {Tensor::vector<int64_t>({0})}, {}, "[1]");
  }
}

void add_collectives(OpCases& cases) {
  const std::string test = "actors/services/allreduce_steps_test.cpp";
  const Attributes two = {{"members", std::vector<std::string>{"/job:a/task:0", "/job:a/task:1"}},
                          {"rank", int64_t{1}}};
  const auto with = [&](const char* name, auto value) {
    Attributes attrs = two;
    attrs.set(name, value);
    return attrs;
  };
  const Tensor rows = random_doubles(Shape{4, 3}, 0, 1), samples = Tensor::scalar<int64_t>(8);
  cases.served("WeightedAllReduce", {rows, one(), samples}, with("N", int64_t{2}), "[4,3] []", test);
  cases.bad("WeightedAllReduce", {rows, one()}, with("N", int64_t{1}), "samples is double");
  cases.bad("WeightedAllReduce", {rows, Tensor::vector<int64_t>({8})}, with("N", int64_t{1}), "[1]");
  cases.served("AllReduce", {rows}, two, "[4,3]", test);
  cases.bad("AllReduce", {rows}, with("reduction", std::string("median")), "median");
  cases.served("ReduceScatter", {rows}, two, "[2,3]", test);
  cases.bad("ReduceScatter", {random_doubles(Shape{3, 3}, 0, 1)}, two, "multiple of 2");
  cases.served("AllGather", {rows}, two, "[?,3]", test);
  cases.bad("AllGather", {one()}, two, "scalar");
  cases.served("BroadcastSend", {rows}, two, "[4,3]", test);
  cases.bad("BroadcastSend", {rows}, with("rank", int64_t{-1}), "-1");
  Attributes receive = with("shape", PartialShape{4, 3});
  receive.set("T", f64);
  cases.served("BroadcastReceive", {}, receive, "[4,3]", test);
  receive.set("root", int64_t{-1});
  cases.bad("BroadcastReceive", {}, receive, "-1");
}

}  // namespace

void add_state_cases(OpCases& cases) {
  add_update_cases(cases);
  add_stacks(cases);
  for (const char* version : {"", "V2", "V3"}) add_tensor_arrays(cases, version);
  add_list_makers(cases, "golden/list_graphs.py");
  add_list_users(cases, "golden/list_graphs.py");
  add_optionals(cases, "kernels/optionals_test.cpp");
  add_temporary_variables(cases);
  add_variables(cases);
  add_queues(cases);
  add_accumulators(cases);
  add_replicas(cases);
  add_collectives(cases);
  add_keyed_state_cases(cases);
}

}  // namespace troupe::test
