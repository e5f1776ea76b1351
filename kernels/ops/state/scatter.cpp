// Writes to rows of variables (features.md P5), by update rules as in assign.cpp.
//   ScatterUpdate, ScatterAdd, ScatterSub, ScatterMul, ScatterDiv, ScatterMin, ScatterMax(ref, indices, updates)
//     replaces rows indices[i] of the variable by updates[i], or combines them, in order, repeats included; a scalar `updates`
//     stands for every row. The greater or the less of a NaN and a number is NaN. If an index is out of range, or an integer
//     would be divided by zero, nothing is written
//   ScatterNdUpdate, ScatterNdAdd, ScatterNdSub(ref, indices, updates)
//     does the same for the rows at positions indices[i...], each a position in the first dimensions of the variable
//   ResourceScatter..., ResourceScatterNd...: the same on resources
#include "kernels/ops/state/scatter.h"

#include <algorithm>

#include "kernels/core/check_integers.h"
#include "kernels/loops/combine.h"

namespace troupe {
namespace {

using MovableTypes = Joined<PlainTypes, TypeList<std::string>>;

/// The function of the scatter ops that replace instead of combining.
struct Replace {
  template <class T>
  static T apply(const T&, const T& update) {
    return update;
  }
};

/// updates = indices.shape + ref.shape[1:], or a scalar.
Status scatter_shape(ShapeContext& context) {
  const PartialShape &variable = context.input(0), &updates = context.input(2);
  if (variable.known_rank()) {
    if (variable.rank() == 0)
      return invalid_argument("the variable is a scalar; it must have at least one dimension");
    const PartialShape row = partial(variable.dims().subspan(1));
    if (!updates.known_rank() || updates.rank() > 0)
      TROUPE_RETURN_IF_FAILED(merge(updates, concatenate(context.input(1), row)).status());
  }
  if (!context.node().output_types.empty()) context.set_output(0, variable);
  return {};
}

/// The rows of the updates: row i begins at i * step. A scalar is one row, which is filled with it.
struct Updates {
  Tensor rows;
  size_t step = 0;
};

Result<Updates> updates_of(const Tensor& updates, size_t row, Allocator& memory) {
  if (!updates.shape().is_scalar()) return Updates{updates, row};
  TROUPE_ASSIGN(Tensor filled,
                Tensor::allocate(updates.dtype(), Shape::vector(static_cast<int64_t>(row)), memory));
  with_type(MovableTypes{}, updates.dtype(), [&]<class T>(std::type_identity<T>) {
    std::ranges::fill(filled.write<T>(), updates.as<T>()[0]);
  });
  return Updates{std::move(filled), 0};
}

template <class Function, class T>
void scatter_rows(Pool& pool, const RowNumbers& rows, const Updates& updates, Tensor& variable) {
  const auto from = updates.rows.as<T>();
  const auto to = variable.write<T>();
  change_rows(pool, rows.numbers, 3 * rows.row * sizeof(T), [&](size_t i) {
    const auto source = from.subspan(i * updates.step, rows.row);
    const auto target = to.subspan(static_cast<size_t>(rows.numbers[i]) * rows.row, rows.row);
    if constexpr (std::is_same_v<Function, Replace>)
      std::ranges::copy(source, target.begin());
    else
      combine_into<Function, T>(target, source);
  });
}

template <class Function, class List>
Status compute_scatter(const ScatterArguments& arguments, DeviceContext& device) {
  const NewValue& variable = arguments.variable;
  const Tensor& updates = arguments.updates;
  const RowNumbers& rows = arguments.rows;
  const bool changes = !rows.numbers.empty() && rows.row != 0;
  if (std::is_same_v<Function, Div> && changes) TROUPE_RETURN_IF_FAILED(check_divisors(updates, "updates"));
  variable.bring_over(device.pool());
  if (!changes) return {};
  TROUPE_ASSIGN(const Updates from, updates_of(updates, rows.row, device.memory()));
  with_type(List{}, updates.dtype(), [&]<class T>(std::type_identity<T>) {
    scatter_rows<Function, T>(device.pool(), rows, from, *variable.after);
  });
  return {};
}

// ---- ScatterNd

Status scatter_nd_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape updates, shape_of_rows_at(context.input(1), context.input(0)));
  TROUPE_RETURN_IF_FAILED(merge(context.input(2), updates).status());
  if (!context.node().output_types.empty()) context.set_output(0, context.input(0));
  return {};
}

// ---- Definitions

/// Adds the op for references (ScatterAdd if `verb` is Add) and the op for resources.
template <class Function, class List>
void add_scatter(OpLibrary& library, const std::string& verb, const std::string& constructor,
                 const std::string& types, bool locks = false) {
  const std::string name = "Scatter" + verb, resource_name = "Resource" + name;
  library.op(write_op(name, scatter_shape)
                 .input("ref: Ref(T)")
                 .host_input("indices: Tindices")
                 .input("updates: T")
                 .output("output_ref: Ref(T)")
                 .attr("T: " + types)
                 .attr("Tindices: {int32, int64}")
                 .attr(std::string("use_locking: bool = ") + (locks ? "true" : "false"))
                 .constructor(constructor + "(ref, indices, updates, use_locking)"));
  library.op(write_op(resource_name, scatter_shape)
                 .input("resource: resource")
                 .host_input("indices: Tindices")
                 .input("updates: dtype")
                 .attr("dtype: " + types)
                 .attr("Tindices: {int32, int64}"));
  constexpr auto compute = compute_scatter<Function, List>;
  library.kernel(cpu_kernel(name, check_scatter, compute).on("T", dtypes(List{})));
  library.kernel(cpu_kernel(resource_name, check_scatter, compute).on("dtype", dtypes(List{})));
}

template <class Function, class List>
void add_scatter_nd(OpLibrary& library, const std::string& verb, const std::string& types, bool locks) {
  for (const bool resource : {false, true}) {
    const std::string name = (resource ? "ResourceScatterNd" : "ScatterNd") + verb;
    OpDefBuilder op = write_op(name, scatter_nd_shape);
    op.input(resource ? "ref: resource" : "ref: Ref(T)").host_input("indices: Tindices").input("updates: T");
    if (!resource) op.output("output_ref: Ref(T)");
    op.attr("T: " + types).attr("Tindices: {int32, int64}");
    op.attr(std::string("use_locking: bool = ") + (locks || resource ? "true" : "false"));
    library.op(op);
    library.kernel(
        cpu_kernel(name, check_scatter_nd_update, compute_scatter<Function, List>).on("T", dtypes(List{})));
  }
}

}  // namespace

Result<ScatterArguments> check_scatter(KernelContext& context) {
  const Tensor &indices = context.input(1), &updates = context.input(2);
  const Shape& variable = context.input(0).shape();
  if (variable.rank() == 0)
    return invalid_argument("the variable is a scalar; it must have at least one dimension");
  Dims expected(indices.shape().dims());
  expected.append(variable.dims().subspan(1));
  if (!updates.shape().is_scalar() && !std::ranges::equal(expected, updates.shape().dims()))
    return invalid_argument("updates has shape " + updates.shape().text() + ", but indices of shape " +
                            indices.shape().text() + " and a variable of shape " + variable.text() +
                            " require a scalar or shape " + text_of(expected));
  TROUPE_RETURN_IF_FAILED(check_indices(indices, variable[0]));
  const size_t row = count_of(variable.dims().subspan(1));
  TROUPE_ASSIGN(NewValue value, new_value(context, 0));
  return ScatterArguments{std::move(value), updates, {integers(indices), row}};
}

Result<ScatterArguments> check_scatter_nd_update(KernelContext& context) {
  const Tensor &indices = context.input(1), &updates = context.input(2);
  const auto dims = context.input(0).shape().dims();
  TROUPE_RETURN_IF_FAILED(check_updates(indices, updates, dims));
  TROUPE_ASSIGN(RowNumbers rows, rows_at(indices, dims));
  TROUPE_ASSIGN(NewValue value, new_value(context, 0));
  return ScatterArguments{std::move(value), updates, std::move(rows)};
}

void add_scatter_ops(OpLibrary& library) {
  add_scatter<Replace, MovableTypes>(library, "Update", "scatter_update", "type", true);
  add_scatter<Add, NumberTypes>(library, "Add", "scatter_add", "numbertype");
  add_scatter<Sub, NumberTypes>(library, "Sub", "scatter_sub", "numbertype");
  add_scatter<Mul, NumberTypes>(library, "Mul", "scatter_mul", "numbertype");
  add_scatter<Div, NumberTypes>(library, "Div", "scatter_div", "numbertype");
  add_scatter<Minimum, RealTypes>(library, "Min", "scatter_min", "realnumbertype");
  add_scatter<Maximum, RealTypes>(library, "Max", "scatter_max", "realnumbertype");
  add_scatter_nd<Replace, MovableTypes>(library, "Update", "type", true);
  add_scatter_nd<Add, NumberTypes>(library, "Add", "numbertype", false);
  add_scatter_nd<Sub, NumberTypes>(library, "Sub", "numbertype", false);
}

}  // namespace troupe
