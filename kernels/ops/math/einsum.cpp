// Einsum(inputs): sums of products by the rule of `equation`, "ij,jk->ik": a label for each dimension of one or two inputs and of
// the result. The result is the sum of the products of elements with equal indices over all labels that it does not have. A label
// that one input has twice takes its diagonal; one that the result has twice puts values on a diagonal, zeros elsewhere. "..."
// stands for any number of dimensions, which broadcast. Labels are letters. The numbers that matrix products take; half and
// bfloat16 are summed in float.
#include "kernels/ops/math/einsum.h"

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/gemm.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace einsum_op {
namespace {

/// The text of each input, and of the result.
struct EquationText {
  std::vector<std::string> inputs;
  std::string output;
};

Result<EquationText> split(const std::string& equation) {
  const size_t arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find("->", arrow + 1) != std::string::npos)
    return invalid_argument("equation \"" + equation + "\" must have one \"->\"");
  EquationText text{{}, equation.substr(arrow + 2)};
  size_t begin = 0;
  for (size_t i = 0; i <= arrow; ++i)
    if (i == arrow || equation[i] == ',') {
      text.inputs.push_back(equation.substr(begin, i - begin));
      begin = i + 1;
    }
  return text;
}

Result<Labels> parse_labels(std::string_view text) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_letter = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
    const bool is_ellipsis = text.substr(i, 3) == "..." && !has(labels, ellipsis);
    if (!is_letter && !is_ellipsis)
      return invalid_argument(std::string(text) + " in the equation must be letters and at most one \"...\"");
    labels.push_back(is_letter ? Label{text[i]} : ellipsis);
    if (is_ellipsis) i += 2;
  }
  return labels;
}

Result<Equation> parse(const Node& node) {
  TROUPE_ASSIGN(const EquationText text, split(node.attrs.get<std::string>("equation")));
  if (text.inputs.size() != node.inputs.size() || text.inputs.size() > 2)
    return invalid_argument("the equation is of " + std::to_string(text.inputs.size()) +
                            " inputs, there are " + std::to_string(node.inputs.size()) + "; it takes 1 or 2");
  Equation equation;
  for (const std::string& input : text.inputs) {
    TROUPE_ASSIGN(Labels labels, parse_labels(input));
    equation.inputs.push_back(std::move(labels));
  }
  TROUPE_ASSIGN(equation.output, parse_labels(text.output));
  for (const Label label : equation.output)
    if (label != ellipsis &&
        std::ranges::none_of(equation.inputs, [&](const Labels& in) { return has(in, label); }))
      return invalid_argument(std::string("label ") + static_cast<char>(label) +
                              " of the result is in no input");
  return equation;
}

/// With as many labels in place of "..." as are needed for a tensor of this rank.
Result<Labels> expanded(const Labels& labels, size_t rank) {
  const bool open = has(labels, ellipsis);
  const size_t named = labels.size() - (open ? 1 : 0);
  if (rank < named || (!open && rank > named))
    return invalid_argument("an input has " + std::to_string(rank) + " dimensions, its labels are " +
                            std::to_string(named));
  Labels result;
  for (const Label label : labels) {
    if (label != ellipsis) result.push_back(label);
    if (label == ellipsis)
      for (size_t d = rank - named; d-- > 0;) result.push_back(first_broadcast + static_cast<Label>(d));
  }
  return result;
}

Status add_size(std::map<Label, int64_t>& sizes, Label label, int64_t dim) {
  const auto [at, added] = sizes.emplace(label, dim);
  if (added) return {};
  int64_t& size = at->second;
  const bool broadcasts = label >= first_broadcast;
  if (size == unknown_dim || (broadcasts && size == 1)) {
    size = broadcasts && dim == 1 && size == unknown_dim ? unknown_dim : dim;
    return {};
  }
  if (dim == size || dim == unknown_dim || (broadcasts && dim == 1)) return {};
  const std::string name = broadcasts ? "..." : text_of(label);
  return invalid_argument("dimensions " + std::to_string(size) + " and " + std::to_string(dim) +
                          " for label " + name);
}

Result<Sized> sized(Equation equation, const std::vector<std::span<const int64_t>>& inputs) {
  Sized result;
  size_t broadcast_rank = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t letters = equation.inputs[i].size() - (has(equation.inputs[i], ellipsis) ? 1 : 0);
    TROUPE_ASSIGN(equation.inputs[i], expanded(equation.inputs[i], inputs[i].size()));
    broadcast_rank = std::max(broadcast_rank, inputs[i].size() - letters);
    for (size_t k = 0; k < inputs[i].size(); ++k)
      TROUPE_RETURN_IF_FAILED(add_size(result.sizes, equation.inputs[i][k], inputs[i][k]));
  }
  const bool open = has(equation.output, ellipsis);
  if (broadcast_rank != 0 && !open)
    return invalid_argument("\"...\" stands for " + std::to_string(broadcast_rank) +
                            " dimensions, the result must have it, too");
  const size_t rank = equation.output.size() + broadcast_rank - (open ? 1 : 0);
  TROUPE_ASSIGN(equation.output, expanded(equation.output, rank));
  result.equation = std::move(equation);
  return result;
}

Status einsum_shape(ShapeContext& context) {
  TROUPE_ASSIGN(Equation equation, parse(context.node()));
  std::vector<std::span<const int64_t>> inputs;
  for (size_t i = 0; i < context.inputs(); ++i) {
    if (!context.input(i).known_rank()) return {};
    inputs.push_back(context.input(i).dims());
  }
  TROUPE_ASSIGN(const Sized known, sized(std::move(equation), inputs));
  context.set_output(0, partial(known.dims_of(known.equation.output)));
  return {};
}

// ---- Kernel

/// What the contraction needs of a CPU.
template <class T>
struct CpuMachine {
  DeviceContext& device;

  Result<Tensor> allocate(const Dims& dims) {
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, dtype_of<T>));
    return Tensor::allocate(dtype_of<T>, shape, device.memory());
  }
  Result<Tensor> ones(int64_t n) {
    TROUPE_ASSIGN(Tensor tensor, allocate({n}));
    std::ranges::fill(tensor.write<T>(), T(1));
    return tensor;
  }
  Status clear(Tensor& tensor) {
    fill(device.pool(), tensor);
    return {};
  }
  Status copy(const BoxCopy& box, const Tensor& from, Tensor& to) {
    strided_copy(device.pool(), box, from, to);
    return {};
  }
  Status multiply(int64_t count, const Matrices& a, const Matrices& b, Tensor& products) {
    return gemm<T>(device, static_cast<size_t>(count), matrix_of(a), matrix_of(b),
                   products.write<T>().data());
  }

 private:
  static MatrixView<T> matrix_of(const Matrices& given) {
    const T* const elements = given.view.tensor.template as<T>().data();
    return given.transposed ? MatrixView<T>::of(elements, given.columns, given.rows, true)
                            : MatrixView<T>::of(elements, given.rows, given.columns, false);
  }
};

using EinsumTypes = Joined<AllFloatTypes, Joined<TypeList<int32_t, int64_t>, ComplexTypes>>;

Status compute(const Arguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.output.elements() == 0) return status;
  with_type(EinsumTypes{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    status = Contraction<CpuMachine<T>>({device}, arguments).run();
  });
  return status;
}

// ---- Gradient

Output einsum_of(const Scope& scope, std::vector<Output> inputs, const std::string& equation) {
  return scope.add_one("Einsum", std::move(inputs), {{"equation", equation}});
}

std::string without_ellipsis(std::string text) {
  const size_t at = text.find("...");
  return at == std::string::npos ? text : text.erase(at, 3);
}

/// `gradient` has the dimensions of "..." first, then those of x but for labels that only x has. Each such dimension gets the same
/// gradient everywhere; what was broadcast is summed.
Output spread(const Scope& scope, Output gradient, Output x, const std::string& letters,
              const std::string& known) {
  bool lacks = false;
  for (size_t i = letters.size(); i-- > 0;)
    if (known.find(letters[i]) == std::string::npos) {
      const int64_t axis = static_cast<int64_t>(i) - static_cast<int64_t>(letters.size());
      gradient = scope.add_one("ExpandDims", {gradient, integer_constant(scope, axis)});
      lacks = true;
    }
  if (lacks) {  // on the diagonals of labels that x has twice: an equation that changes nothing else keeps those
    const Output ones = scope.add_one("OnesLike", {x});
    const Output taken = einsum_of(scope, {ones}, "..." + letters + "->..." + letters);
    gradient = scope.add_one("Mul", {gradient, taken});
  }
  return summed_to_shape_of(scope, gradient, x);
}

/// The gradient of input i: the equation turned round, where "..." goes first, so that it can be summed as in other broadcasting
/// ops.
Output gradient_of(const GradientContext& context, const EquationText& text, size_t i) {
  const Scope& scope = context.scope();
  const bool is_pair = text.inputs.size() == 2;
  const std::string labels = text.inputs[i], other = is_pair ? text.inputs[1 - i] : "";
  const std::string letters = without_ellipsis(labels), known = text.output + other;
  const bool open = (labels + known).find("...") != std::string::npos;
  const std::string front = open ? "..." : "";
  std::string kept;
  for (const char letter : letters)
    if (known.find(letter) != std::string::npos) kept += letter;
  std::vector<Output> inputs{context.gradient()};
  if (is_pair) inputs.push_back(conjugate(scope, context.input(1 - i)));
  const std::string from = text.output + (is_pair ? "," + other : "");
  const Output gradient = einsum_of(scope, std::move(inputs), from + "->" + front + kept);
  const bool is_first = labels.find("...") == std::string::npos || labels.starts_with("...");
  if (is_first) return spread(scope, gradient, context.input(i), letters, known);
  const Output x = einsum_of(scope, {context.input(i)}, labels + "->..." + letters);
  return einsum_of(scope, {spread(scope, gradient, x, letters, known)}, "..." + letters + "->" + labels);
}

void einsum_gradient(GradientContext& context) {
  const EquationText text = value_or_throw(split(context.attr<std::string>("equation")));
  for (size_t i = 0; i < text.inputs.size(); ++i) context.set(i, gradient_of(context, text, i));
}

}  // namespace

Result<Arguments> check(KernelContext& context) {
  TROUPE_ASSIGN(Equation equation, parse(context.node()));
  const auto slots = context.input_slots(0, context.inputs());
  std::vector<std::span<const int64_t>> inputs;
  for (const Slot& slot : slots) inputs.push_back(slot.tensor.shape().dims());
  TROUPE_ASSIGN(Sized known, sized(std::move(equation), inputs));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(known.dims_of(known.equation.output), slots[0].tensor.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return Arguments{slots, *output, std::move(known)};
}

}  // namespace einsum_op

void add_einsum(OpLibrary& library) {
  library.op(OpDefBuilder("Einsum")
                 .input("inputs: N * T")
                 .output("output: T")
                 .attr("equation: string")
                 .attr("N: int >= 1")
                 .attr("T: type")
                 .constructor("einsum(equation, inputs)")
                 .shape(einsum_op::einsum_shape)
                 .gradient(einsum_op::einsum_gradient));
  library.kernel(
      cpu_kernel("Einsum", einsum_op::check, einsum_op::compute).on("T", dtypes(einsum_op::EinsumTypes{})));
}

}  // namespace troupe
