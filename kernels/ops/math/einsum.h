// Einsum: what every type of device computes after the check on the host. The contraction is made of copies and products of
// matrices, which a Machine provides:
//   Result<Tensor> allocate(Dims)                                       a tensor of the dtype of the op
//   Result<Tensor> ones(int64_t n)                                      a vector
//   Status clear(Tensor&)
//   Status copy(const BoxCopy&, const Tensor& from, Tensor& to)
//   Status multiply(int64_t count, const Matrices& a, const Matrices& b, Tensor& products)
#pragma once

#include <algorithm>
#include <map>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/strided_copy.h"

namespace troupe::einsum_op {

// ---- The equation

/// Letters by their code; dimension d of those that "..." stands for, counted from the last, is first_broadcast + d.
using Label = int;
using Labels = ShortList<Label>;
constexpr Label ellipsis = -1, first_broadcast = 256;

inline std::string text_of(Label letter) { return {static_cast<char>(letter)}; }
inline bool has(const Labels& labels, Label label) {
  return std::ranges::find(labels, label) != labels.end();
}

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

/// The equation for tensors of certain dimensions: no "..." any more, and the size of each label; -1 is unknown.
struct Sized {
  Equation equation;
  std::map<Label, int64_t> sizes;

  Dims dims_of(const Labels& labels) const {
    Dims dims;
    for (const Label label : labels) dims.push_back(sizes.at(label));
    return dims;
  }
};

struct Arguments {
  std::span<const Slot> inputs;
  Tensor& output;
  Sized sized;
};

Result<Arguments> check(KernelContext& context);

// ---- Views

/// A tensor seen along labels, each with one stride. Dimensions of 1 are left out: they broadcast.
struct View {
  struct Axis {
    Label label;
    int64_t size, stride;
  };
  Tensor tensor;
  ShortList<Axis> axes;

  View(Tensor data, const Labels& labels) : tensor(std::move(data)) {
    const auto dims = tensor.shape().dims();
    const Dims strides = strides_of(dims);
    for (size_t i = 0; i < labels.size(); ++i) {
      if (dims[i] == 1) continue;
      const auto same = std::ranges::find(axes, labels[i], &Axis::label);
      if (same == axes.end())
        axes.push_back({labels[i], dims[i], strides[i]});
      else
        same->stride += strides[i];  // along the diagonal
    }
  }
  Labels labels() const {
    Labels result;
    for (const Axis& axis : axes) result.push_back(axis.label);
    return result;
  }
  const Axis& axis(Label label) const { return *std::ranges::find(axes, label, &Axis::label); }
  Dims sizes(const Labels& order) const {
    Dims result;
    for (const Label label : order) result.push_back(axis(label).size);
    return result;
  }
  Dims strides(const Labels& order) const {
    Dims result;
    for (const Label label : order) result.push_back(axis(label).stride);
    return result;
  }
  /// Whether its elements lie in the order of these labels, without gaps.
  bool runs_along(const Labels& order) const { return strides(order) == strides_of(sizes(order)); }
};

inline Labels joined(const Labels& a, const Labels& b, const Labels& c = {}) {
  Labels result(a);
  result.append(b);
  result.append(c);
  return result;
}

inline Labels chosen(const Labels& from, const auto& holds) {
  Labels result;
  for (const Label label : from)
    if (holds(label) && !has(result, label)) result.push_back(label);
  return result;
}

/// A view as a matrix for each entry of a batch; the matrices follow each other.
struct Matrices {
  View view;
  int64_t rows, columns;
  bool transposed;  ///< stored as [columns, rows]
};

// ---- The contraction

template <class Machine>
class Contraction {
 public:
  Contraction(Machine machine, const Arguments& arguments)
      : machine_(std::move(machine)), arguments_(arguments), labels_(arguments.sized.equation.output) {}

  /// The output has elements.
  Status run() {
    const Equation& equation = arguments_.sized.equation;
    std::vector<View> views;
    for (size_t i = 0; i < arguments_.inputs.size(); ++i) {
      const View view(arguments_.inputs[i].tensor, equation.inputs[i]);
      const auto is_needed = [&](Label label) {
        const bool in_other = arguments_.inputs.size() == 2 && has(equation.inputs[1 - i], label);
        return has(equation.output, label) || in_other;
      };
      TROUPE_ASSIGN(View needed, summed_to(view, chosen(view.labels(), is_needed)));
      views.push_back(std::move(needed));
    }
    return views.size() == 2 ? contract(views[0], views[1]) : write_output(views[0]);
  }

 private:
  /// The elements in the order of these labels, without gaps: a copy unless they lie so.
  Result<View> in_order(const View& view, const Labels& order) {
    if (view.runs_along(order)) return view;
    const Dims sizes = view.sizes(order);
    TROUPE_ASSIGN(Tensor copy, machine_.allocate(sizes));
    const BoxCopy box(sizes, {0, view.strides(order)}, {0, strides_of(sizes)});
    TROUPE_RETURN_IF_FAILED(machine_.copy(box, view.tensor, copy));
    return View(std::move(copy), order);
  }

  Result<Matrices> matrices(const View& view, const Labels& batch, const Labels& rows,
                            const Labels& columns) {
    const Labels order = joined(batch, rows, columns);
    const bool transposed = !view.runs_along(order) && view.runs_along(joined(batch, columns, rows));
    const auto height = static_cast<int64_t>(count_of(view.sizes(rows))),
               width = static_cast<int64_t>(count_of(view.sizes(columns)));
    TROUPE_ASSIGN(View data, transposed ? Result<View>(view) : in_order(view, order));
    return Matrices{std::move(data), height, width, transposed};
  }

  /// The sum over all labels but these: a product with ones.
  Result<View> summed_to(const View& view, const Labels& kept) {
    const Labels summed = chosen(view.labels(), [&](Label label) { return !has(kept, label); });
    if (summed.empty()) return view;
    TROUPE_ASSIGN(const Matrices values, matrices(view, {}, kept, summed));
    TROUPE_ASSIGN(Tensor ones, machine_.ones(values.columns));
    const Matrices column{View(std::move(ones), {}), values.columns, 1, false};
    TROUPE_ASSIGN(Tensor sums, machine_.allocate(view.sizes(kept)));
    TROUPE_RETURN_IF_FAILED(machine_.multiply(1, values, column, sums));
    return View(std::move(sums), kept);
  }

  /// Puts the elements of a view where the labels of the output have them; zeros outside of the diagonals of labels that come
  /// twice.
  Status write_output(const View& view) {
    const View to(output(), labels_);
    const bool has_diagonal = chosen(labels_, [](Label) { return true; }).size() != labels_.size();
    if (has_diagonal) TROUPE_RETURN_IF_FAILED(machine_.clear(arguments_.output));
    const Labels order = to.labels();
    const BoxCopy box(to.sizes(order), {0, view.strides(order)}, {0, to.strides(order)});
    return machine_.copy(box, view.tensor, arguments_.output);
  }

  Status contract(const View& a, const View& b) {
    const Labels in_a = a.labels(), in_b = b.labels();
    const auto in_output = [&](Label label) { return has(labels_, label); };
    const Labels batch = chosen(labels_, [&](Label label) { return has(in_a, label) && has(in_b, label); });
    const Labels rows = chosen(labels_, [&](Label label) { return has(in_a, label) && !has(in_b, label); });
    const Labels columns =
        chosen(labels_, [&](Label label) { return !has(in_a, label) && has(in_b, label); });
    const Labels inner = chosen(in_a, [&](Label label) { return has(in_b, label) && !in_output(label); });
    TROUPE_ASSIGN(const Matrices left, matrices(a, batch, rows, inner));
    TROUPE_ASSIGN(const Matrices right, matrices(b, batch, inner, columns));
    const auto count = static_cast<int64_t>(count_of(a.sizes(batch)));
    const Labels order = joined(batch, rows, columns);
    const View target(output(), labels_);
    if (target.labels() == order && target.runs_along(order))
      return machine_.multiply(count, left, right, arguments_.output);
    Dims dims = a.sizes(joined(batch, rows));
    dims.append(b.sizes(columns));
    TROUPE_ASSIGN(Tensor product, machine_.allocate(dims));
    TROUPE_RETURN_IF_FAILED(machine_.multiply(count, left, right, product));
    return write_output(View(std::move(product), order));
  }

  Tensor output() const { return arguments_.output.reshaped(arguments_.output.shape()); }

  Machine machine_;
  const Arguments& arguments_;
  const Labels& labels_;  ///< of the output
};

}  // namespace troupe::einsum_op
