#include "kernels/ops/control/tensor_array_gradients.h"

#include <vector>

namespace troupe {
namespace {

/// Returns the name of the gradient array for this call of gradients(): the part of the scope up to "gradients" and its number.
std::string gradient_source(const Scope& scope) {
  const std::string& prefix = scope.prefix();
  const size_t at = prefix.rfind("gradients");
  return at == std::string::npos ? prefix : prefix.substr(0, prefix.find('/', at));
}

const ArrayVersion& version_of(const GradientContext& context) {
  for (const ArrayVersion& version : array_versions)
    if (!version.suffix.empty() && context.node().type().ends_with(version.suffix)) return version;
  return array_versions[0];
}

/// Builds the gradient of an op by the gradient array of its array.
class ArrayGradient {
 public:
  /// The gradient array is used after `flow`.
  ArrayGradient(GradientContext& context, Output flow) : context_(context), version_(version_of(context)) {
    const NodeId node =
        scope().add(version_.op("Grad"), {context.input(0), flow}, {{"source", gradient_source(scope())}});
    handle_ = {node, 0};
    flow_ = version_.yields_flow ? Output{node, 1} : flow;
  }

  /// Returns what an op reads from the gradient array; `between` are the inputs between handle and flow.
  Output read(std::string_view verb, DType dtype, std::vector<Output> between, Attributes attrs = {}) const {
    attrs.set("dtype", dtype);
    return scope().add_one(version_.op(verb), inputs(std::move(between)), std::move(attrs));
  }
  /// Returns the flow after an op that writes to the gradient array.
  Output write(std::string_view verb, std::vector<Output> between) const {
    return scope().add_one(version_.op(verb), inputs(std::move(between)));
  }

 private:
  const Scope& scope() const { return context_.scope(); }
  std::vector<Output> inputs(std::vector<Output> between) const {
    between.insert(between.begin(), handle_);
    between.push_back(flow_);
    return between;
  }

  GradientContext& context_;
  const ArrayVersion& version_;
  Output handle_, flow_;
};

/// Sets the gradient of input `value` of an op that writes rows of it: what `verb` reads at the input before it, if there is one.
void rows_gradient(GradientContext& context, std::string_view verb, size_t value) {
  const Output flow = context.gradient(), rows = context.input(value);
  const PartialShape& shape = context.scope().shape(rows);
  const PartialShape element = shape.known_rank()
                                   ? PartialShape(std::vector(shape.dims().begin() + 1, shape.dims().end()))
                                   : PartialShape();
  std::vector<Output> indices;
  if (value == 2) indices.push_back(context.input(1));
  context.set(value,
              ArrayGradient(context, flow)
                  .read(verb, context.scope().dtype(rows), std::move(indices), {{"element_shape", element}}));
  context.set(value + 1, flow);
}

}  // namespace

void array_write_gradient(GradientContext& context) {
  const Output flow = context.gradient();
  const DType dtype = context.scope().dtype(context.input(2));
  context.set(2, ArrayGradient(context, flow).read("Read", dtype, {context.input(1)}));
  context.set(3, flow);
}

void array_read_gradient(GradientContext& context) {
  const ArrayGradient array(context, context.input(2));
  context.set(2, array.write("Write", {context.input(1), context.gradient()}));
}

void array_scatter_gradient(GradientContext& context) { rows_gradient(context, "Gather", 2); }
void array_unpack_gradient(GradientContext& context) { rows_gradient(context, "Pack", 1); }

void array_gather_gradient(GradientContext& context) {
  const ArrayGradient array(context, context.input(2));
  context.set(2, array.write("Scatter", {context.input(1), context.gradient()}));
}

void array_pack_gradient(GradientContext& context) {
  const ArrayGradient array(context, context.input(1));
  context.set(1, array.write("Unpack", {context.gradient()}));
}

void array_split_gradient(GradientContext& context) {
  const Output flow = context.gradient();
  const DType dtype = context.scope().dtype(context.input(1));
  context.set(1, ArrayGradient(context, flow).read("Concat", dtype, {}));
  context.set(3, flow);
}

void array_concat_gradient(GradientContext& context) {
  const ArrayGradient array(context, context.input(1));
  context.set(1, array.write("Split", {context.gradient(), context.output(1)}));
}

}  // namespace troupe
