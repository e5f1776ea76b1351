// Max pooling: the greatest element of each window.
//   MaxPool(input), MaxPoolV2(input, ksize, strides)                  images, data_format NHWC or NCHW
//   MaxPool3D(input)                                                  volumes, NDHWC or NCDHW
//   MaxPoolGrad(orig_input, orig_output, grad), ..GradV2, 3DGrad      each element of grad goes to the greatest of its window,
// the first of
//                                                                     equals; windows overlap, so an element of the result is a sum
//   MaxPoolGradGrad(orig_input, orig_output, grad), ..                grad, of the input's shape, where the greatest element of
// each window stands ksize and strides have one element for each dimension, 1 for the batch. Padding takes no part. Windows of
// MaxPool in NHWC may go over channels instead: then ksize and strides are equal, divide the channels, and are 1 elsewhere.
// Integers, too; half and bfloat16 are summed in float. A NaN is passed over; where there is nothing else, the result is
// -infinity, which is not in the input: no element gets its gradient. orig_output is not read, only its shape is checked. Source:
// tensorflow/core/kernels/maxpooling_op.cc.
#include "kernels/ops/nn/max_pool.h"

#include <limits>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

template <class T>
constexpr T lowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::lowest();

// ---- Forward

Status compute_max_pool(const MaxPoolArguments& arguments, DeviceContext& device) {
  Tensor& output = arguments.output;
  if (output.elements() == 0) return {};
  TROUPE_ASSIGN(const Tensor input, converted(device, arguments.input, compute_dtype(output.dtype())));
  return compute_wide(device, output, [&](Tensor& to) {
    with_type(WideRealTypes{}, to.dtype(), [&]<class T>(std::type_identity<T>) {
      combine_windows(device.pool(), arguments.pooling, input, to, lowest<T>, window_loops(to.dtype()).max,
                      [](size_t, T*) {});
    });
  });
}

// ---- Gradient

/// What the gradient of one output row needs beside it; an element for each of the row's in the part.
template <class T>
struct GradientRow {
  std::vector<T> best, rest;
  explicit GradientRow(size_t length) : best(length), rest(length) {}
};

template <class T>
void max_pool_grad(Pool& pool, const Pooling& pooling, const Tensor& input, const Tensor& gradient,
                   Tensor& output) {
  const PoolParts parts(pooling, channels_of_a_part(pooling));
  const WindowLoops& loops = window_loops(output.dtype());
  const T *const x = input.as<T>().data(), *const dy = gradient.as<T>().data();
  T* const dx = output.write<T>().data();
  parallel_rows(pool, parts.count(), 3 * input.bytes() / parts.count(), [&](size_t begin, size_t end) {
    GradientRow<T> scratch(parts.columns() * parts.widest());
    for (size_t i = begin; i < end; ++i) {
      const PoolParts::Part part = parts[i];
      ZeroedRows<T> zeroed(parts, part, dx);
      for (size_t row = 0; row < parts.rows(); ++row) {
        zeroed.until(parts.input_rows_until(row));
        std::ranges::fill(scratch.best, lowest<T>);
        parts.copy_output_row(part, row, dy, scratch.rest.data());
        parts.visit_row(part, row, [&](const WindowPoints& points, size_t from, size_t column) {
          loops.max(points, x + from, scratch.best.data() + column * part.width);
        });
        parts.visit_row(part, row, [&](const WindowPoints& points, size_t from, size_t column) {
          const size_t at = column * part.width;
          loops.max_gradient(points, x + from, scratch.best.data() + at, scratch.rest.data() + at, dx + from);
        });
      }
      zeroed.until(parts.input_rows());
    }
  });
}

/// Gives max_pool_grad and its kin tensors of the type they compute in.
template <class Compute>
Status compute_gradient(const MaxPoolGradArguments& arguments, DeviceContext& device,
                        const Compute& compute) {
  const auto& [original, gradient, output, pooling] = arguments;
  if (output.elements() == 0) return {};
  const DType dtype = compute_dtype(output.dtype());
  TROUPE_ASSIGN(const Tensor input, converted(device, original, dtype));
  TROUPE_ASSIGN(const Tensor wide, converted(device, gradient, dtype));
  return compute_wide(device, output, [&](Tensor& to) {
    with_type(WideRealTypes{}, dtype,
              [&]<class T>(std::type_identity<T> type) { compute(type, input, wide, to); });
  });
}

Status compute_max_pool_grad(const MaxPoolGradArguments& arguments, DeviceContext& device) {
  if (arguments.gradient.elements() == 0) {
    fill(device.pool(), arguments.output);
    return {};
  }
  return compute_gradient(
      arguments, device,
      [&]<class T>(std::type_identity<T>, const Tensor& input, const Tensor& gradient, Tensor& output) {
        max_pool_grad<T>(device.pool(), arguments.pooling, input, gradient, output);
      });
}

// ---- Second gradient

template <class T>
void max_pool_grad_grad(Pool& pool, const Pooling& pooling, const Tensor& input, const Tensor& gradient,
                        Tensor& output) {
  const PoolParts parts(pooling, SIZE_MAX);
  const size_t length = parts.columns() * parts.pixel();
  const T *const x = input.as<T>().data(), *const from = gradient.as<T>().data();
  T* const to = output.write<T>().data();
  for_pooled_rows(pool, parts, 2 * input.bytes(), [&](const PoolParts::Part& part, size_t row) {
    std::vector<T> best(length);
    std::vector<int64_t> at(length);
    find_greatest(parts, part, row, x, best.data(), at.data());
    T* const values = to + part.output + row * length;
    for (size_t i = 0; i < length; ++i) values[i] = at[i] < 0 ? T{} : from[at[i]];
  });
}

Status compute_max_pool_grad_grad(const MaxPoolGradArguments& arguments, DeviceContext& device) {
  return compute_gradient(
      arguments, device,
      [&]<class T>(std::type_identity<T>, const Tensor& input, const Tensor& gradient, Tensor& output) {
        max_pool_grad_grad<T>(device.pool(), arguments.pooling, input, gradient, output);
      });
}

// ---- Shapes

Status max_pool_shape(ShapeContext& context) {
  return pooling_shape(context, context.node().type() != "MaxPool3D");
}

/// Both have the shapes of the two tensors of the forward op.
template <size_t From>
Status gradient_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const ImageAxes axes, image_axes(context.node()));
  for (size_t i = 0; i < 3; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, axes.rank).status());
  TROUPE_ASSIGN(const PartialShape same, merge(context.input(1 - From), context.input(2)));
  (void)same;
  TROUPE_ASSIGN(PartialShape shape, context.with_rank(From, axes.rank));
  context.set_output(0, std::move(shape));
  return {};
}

Result<Pooling> gradient_pooling(const KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const PoolingLists lists, pooling_lists(context, 3));
  TROUPE_ASSIGN(Pooling pooling, pooling_of(context.node(), input.shape().dims(), lists.ksize, lists.strides,
                                            !context.node().type().starts_with("MaxPool3D")));
  TROUPE_RETURN_IF_FAILED(check_dims(context.input(1), "orig_output", pooling.output));
  return pooling;
}

// ---- Gradients

/// The attributes and inputs that say where the windows of the node are, for the op `name` with these first inputs.
Output pooled(const GradientContext& context, const std::string& name, std::vector<Output> inputs) {
  const Node& node = context.node();
  Attributes attrs;
  for (const char* attr : {"ksize", "strides", "padding", "data_format"})
    if (const AttrValue* const value = node.attrs.find(attr)) attrs.set(attr, *value);
  if (context.attr<std::string>("padding") == "EXPLICIT") {
    if (name.find("GradGrad") != std::string::npos)
      throw Error(Status(Code::Unimplemented, "max pooling with padding 'EXPLICIT' has no second gradient"));
    attrs.set("explicit_paddings", context.attr<std::vector<int64_t>>("explicit_paddings"));
  }
  if (!attrs.find("ksize")) {
    inputs.push_back(context.input(node.inputs.size() - 2));
    inputs.push_back(context.input(node.inputs.size() - 1));
  }
  return context.scope().add_one(name, inputs, attrs);
}

/// "MaxPoolV2" with "Grad" is "MaxPoolGradV2".
std::string with_suffix(std::string op, const char* suffix) {
  const size_t version = op.ends_with("V2") ? op.size() - 2 : op.size();
  return op.insert(version, suffix);
}

void max_pool_gradient(GradientContext& context) {
  context.set(0, pooled(context, with_suffix(context.node().type(), "Grad"),
                        {context.input(0), context.output(0), context.gradient()}));
}

/// Linear in the gradient, and locally constant in the rest. Where the types of both differ, each exists as float.
void gradient_of_gradient(GradientContext& context, const std::string& name) {
  const Scope& scope = context.scope();
  std::vector<Output> inputs{context.input(0), context.input(1), context.gradient()};
  const DType dtype = scope.dtype(inputs[2]);
  if (scope.dtype(inputs[0]) == dtype) {
    context.set(2, pooled(context, name, inputs));
  } else {
    for (Output& input : inputs) input = cast(scope, input, f32);
    context.set(2, cast(scope, pooled(context, name, inputs), dtype));
  }
  for (size_t i = 0; i < 2; ++i) context.set(i, scope.add_one("ZerosLike", {context.input(i)}));
}

void max_pool_grad_gradient(GradientContext& context) {
  gradient_of_gradient(context, with_suffix(context.node().type(), "Grad"));
}

void max_pool_grad_grad_gradient(GradientContext& context) {
  std::string name = context.node().type();
  gradient_of_gradient(context, name.erase(name.find("GradGrad"), 4));
}

// ---- Definitions

/// What the ops of images and of volumes differ in.
struct Form {
  const char *lists, *formats;
};
constexpr Form image_form = {"list(int) >= 4", "data_format: {'NHWC', 'NCHW'} = 'NHWC'"};
constexpr Form volumes = {"list(int) >= 5", "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'"};
constexpr Form inputs = {nullptr, image_form.formats};  // ksize and strides are inputs

/// Adds the lists, padding and data_format.
OpDefBuilder with_windows(OpDefBuilder op, const Form& form, const char* formats, bool may_be_explicit) {
  if (form.lists)
    op.attr(std::string("ksize: ") + form.lists).attr(std::string("strides: ") + form.lists);
  else
    op.host_input("ksize: int32").host_input("strides: int32");
  if (may_be_explicit)
    op.attr("padding: {'SAME', 'VALID', 'EXPLICIT'}").attr("explicit_paddings: list(int) = []");
  else
    op.attr("padding: {'SAME', 'VALID'}");
  return op.attr(formats);
}

void add_forward(OpLibrary& library, const char* name, const char* type, const Form& form,
                 const char* formats, bool may_be_explicit, const std::string& constructor = {}) {
  OpDefBuilder op = with_windows(OpDefBuilder(name).input("input: T"), form, formats, may_be_explicit);
  if (!constructor.empty()) op.constructor(constructor + "(input, ksize, strides, padding, data_format)");
  library.op(op.output("output: T").attr(type).shape(max_pool_shape).gradient(max_pool_gradient));
  library.kernel(cpu_kernel(name, check_max_pool, compute_max_pool).on("T", dtypes(RealTypes{})));
}

void add_grad(OpLibrary& library, const char* name, const std::string& original, const Form& form,
              bool may_be_explicit) {
  OpDefBuilder op(name);
  op.input("orig_input: " + original).input("orig_output: " + original).input("grad: T").output("output: T");
  op = with_windows(op, form, form.formats, may_be_explicit);
  if (original != "T") op.attr("TInput: {half, bfloat16, float} = float");
  op.attr(original == "T" ? "T: realnumbertype = float" : "T: {half, bfloat16, float} = float");
  library.op(op.shape(gradient_shape<0>).gradient(max_pool_grad_gradient));
  library.kernel(cpu_kernel(name, check_max_pool_grad, compute_max_pool_grad));
}

void add_grad_grad(OpLibrary& library, const char* name, const Form& form, std::vector<DType> types) {
  OpDefBuilder op(name);
  op.input("orig_input: T").input("orig_output: T").input("grad: T").output("output: T");
  op = with_windows(op, form, form.formats, false);
  library.op(op.attr("T: realnumbertype").shape(gradient_shape<1>).gradient(max_pool_grad_grad_gradient));
  library.kernel(
      cpu_kernel(name, check_max_pool_grad_grad, compute_max_pool_grad_grad).on("T", std::move(types)));
}

}  // namespace

Result<MaxPoolArguments> check_max_pool(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const PoolingLists lists, pooling_lists(context, 1));
  TROUPE_ASSIGN(Pooling pooling, pooling_of(context.node(), input.shape().dims(), lists.ksize, lists.strides,
                                            context.node().type() != "MaxPool3D"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(pooling.output, input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return MaxPoolArguments{input, *output, std::move(pooling)};
}

Result<MaxPoolGradArguments> check_max_pool_grad(KernelContext& context) {
  TROUPE_ASSIGN(Pooling pooling, gradient_pooling(context));
  TROUPE_RETURN_IF_FAILED(check_dims(context.input(2), "grad", pooling.output));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, context.input(0).shape()));
  return MaxPoolGradArguments{context.input(0), context.input(2), *output, std::move(pooling)};
}

Result<MaxPoolGradArguments> check_max_pool_grad_grad(KernelContext& context) {
  TROUPE_ASSIGN(Pooling pooling, gradient_pooling(context));
  TROUPE_RETURN_IF_FAILED(check_dims(context.input(2), "grad", pooling.input));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, context.input(1).shape()));
  return MaxPoolGradArguments{context.input(0), context.input(2), *output, std::move(pooling)};
}

void add_max_pool_ops(OpLibrary& library) {
  constexpr const char* formats = "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'";
  constexpr const char* types =
      "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = float";
  add_forward(library, "MaxPool", types, image_form, formats, true, "max_pool");
  add_forward(library, "MaxPoolV2", types, inputs, formats, false);
  add_forward(library, "MaxPool3D", "T: {half, bfloat16, float}", volumes, volumes.formats, false,
              "max_pool_3d");
  add_grad(library, "MaxPoolGrad", "T", image_form, true);
  add_grad(library, "MaxPoolGradV2", "T", inputs, false);
  add_grad(library, "MaxPool3DGrad", "TInput", volumes, false);
  add_grad_grad(library, "MaxPoolGradGrad", image_form, dtypes(RealTypes{}));
  add_grad_grad(library, "MaxPoolGradGradV2", inputs, dtypes(RealTypes{}));
  add_grad_grad(library, "MaxPool3DGradGrad", volumes, dtypes(Joined<TypeList<float>, NarrowTypes>{}));
}

}  // namespace troupe
