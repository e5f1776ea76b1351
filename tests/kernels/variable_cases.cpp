// Samples of the ops that write variables. Their kernels are update rules: the variables' values in, their new values out.
#include "tests/kernels/all_cases.h"

namespace troupe::test {
namespace {

Tensor values(uint64_t seed) { return random_doubles(Shape{3, 5}, 1, 9, seed); }
Tensor none() { return random_doubles(Shape{0, 5}, 0, 1); }
Tensor one(double value = 1) { return doubles({}, {value}); }

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
      else  // the variable's declared shape decides
        cases.bad(op, {values(1)}, type, "takes 2 inputs, got 1");
    }
  cases.good("Assign", {values(1), none()}, {{"validate_shape", false}});
  cases.bad("AssignAdd", {strings({"a"}), strings({"b"})}, {}, "T is string");
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
      cases.bad(op, {one(), ints({0}), one()}, type, "a scalar");
    }
  cases.bad("ScatterDiv", {ints({4, 6}), ints({1, 0}), ints({2, 0})}, {},
            "division by zero at element 1 of updates");
}

/// `variables` first, then scalars; the gradient's place is where `inputs` holds 'g', that of indices 'i', of a count 'n'.
void add_rule(OpCases& cases, const std::string& name, size_t variables, std::string_view inputs,
              const Attributes& attrs = {}) {
  const auto sample = [&](const Tensor& variable, const Tensor& gradient, const Tensor& indices) {
    std::vector<Tensor> result(variables, variable);
    for (const char input : inputs)
      result.push_back(input == 'g'   ? gradient
                       : input == 'i' ? indices
                       : input == 'n' ? Tensor::scalar<int64_t>(3)
                                      : one(0.5));
    return result;
  };
  const bool sparse = inputs.find('i') != std::string_view::npos;
  const Tensor rows = sparse ? random_doubles(Shape{2, 5}, 1, 9, 4) : values(4);
  for (const std::string& op : {name, "Resource" + name}) {
    cases.good_in_every_type(op, sample(values(1), rows, ints({2, 0})), attrs);
    cases.good(op, sample(none(), none(), ints({})), attrs);
    cases.bad(op, sample(values(1), random_doubles(Shape{2, 4}, 1, 9), ints({2, 0})), attrs, "[2,4]");
    std::vector<Tensor> wrong = sample(values(1), rows, ints({2, 0}));
    wrong[variables] = random_doubles(Shape{2}, 0, 1);
    cases.bad(op, wrong, attrs, "[2]");
    if (sparse) {
      cases.bad(op, sample(values(1), rows, ints({2, 3})), attrs, "indices[1] = 3 is not in [0, 3)");
      cases.bad(op, sample(values(1), rows, ints({2})), attrs, "[2,5] at indices of shape [1]");
      cases.good(op, sample(values(1), rows, ints({1, 1})), attrs);
    } else {
      cases.good(op, sample(one(), one(), {}), attrs);
      const Tensor large = converted(random_doubles(Shape{300, 501}, 1, 9, 5), DType::Float);
      std::vector<Tensor> floats_only = sample(large, large, {});
      for (Tensor& input : floats_only)
        if (input.dtype() == f64) input = converted(input, DType::Float);
      cases.good(op, floats_only, attrs);
    }
  }
}

}  // namespace

void add_variable_cases(OpCases& cases) {
  add_assign_cases(cases);
  add_scatter_cases(cases);
  add_rule(cases, "ApplyGradientDescent", 1, "sg");
  add_rule(cases, "ApplyAdagrad", 2, "sg");
  add_rule(cases, "ApplyAdam", 3, "ssssssg");
  add_rule(cases, "ApplyRMSProp", 3, "ssssg");
  add_rule(cases, "ApplyCenteredRMSProp", 4, "ssssg");
  add_rule(cases, "ApplyAdadelta", 3, "sssg");
  add_rule(cases, "ApplyFtrl", 3, "gssss");
  add_rule(cases, "ApplyProximalGradientDescent", 1, "sssg");
  add_rule(cases, "ApplyProximalAdagrad", 2, "sssg");
  add_rule(cases, "ApplyAdagradDA", 3, "gsssn");
  add_rule(cases, "SparseApplyAdagrad", 2, "sgi");
  for (const bool nesterov : {false, true}) {
    add_rule(cases, "ApplyMomentum", 2, "sgs", {{"use_nesterov", nesterov}});
    add_rule(cases, "SparseApplyMomentum", 2, "sgis", {{"use_nesterov", nesterov}});
  }
}

}  // namespace troupe::test
