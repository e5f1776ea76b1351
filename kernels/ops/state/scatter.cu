// ScatterUpdate, ScatterAdd and the like, and the ScatterNd ops, on GPUs: see scatter.cpp. The numbers of the rows are known on the
// host, which groups them, so that one team applies all updates of a row in their order.
#include "kernels/ops/state/scatter.h"

#include <numeric>

#include "kernels/gpu/functions.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

struct Replace {
  template <class W>
  TROUPE_ANY W operator()(W, W update) const {
    return update;
  }
};

template <class Function, class T>
struct UpdateRow {
  Function function;
  const T* updates;
  T* variable;
  size_t row, step;       ///< step: between neighbouring updates; 0: a scalar stands for all elements
  const int64_t* order;   ///< the updates in the order of their rows
  const int64_t* starts;  ///< of the updates of each distinct row, in `order`
  const int64_t* rows;    ///< the distinct rows

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t i) const {
    T* const to = variable + static_cast<size_t>(rows[i]) * row;
    for (int64_t k = starts[i]; k < starts[i + 1]; ++k) {
      const T* const from = updates + static_cast<size_t>(order[k]) * step;
      for (size_t e = team.rank; e < row; e += team.size)
        gpu::store(to[e], function(gpu::load(to[e]), gpu::load(from[step == 0 ? 0 : e])));
    }
  }
};

/// The updates of `numbers`, by distinct rows.
struct GroupedRows {
  std::vector<int64_t> order, starts, rows;

  explicit GroupedRows(const Dims& numbers) : order(numbers.size()) {
    std::iota(order.begin(), order.end(), int64_t{0});
    const auto number = [&](int64_t update) { return numbers[static_cast<size_t>(update)]; };
    std::ranges::stable_sort(order, {}, number);
    for (size_t i = 0; i < order.size(); ++i) {
      if (i != 0 && number(order[i]) == number(order[i - 1])) continue;
      starts.push_back(static_cast<int64_t>(i));
      rows.push_back(number(order[i]));
    }
    starts.push_back(static_cast<int64_t>(order.size()));
  }
};

template <class Function, class T>
Status scatter(const ScatterArguments& arguments, DeviceContext& device, const T* updates, T* variable) {
  const auto& [numbers, row] = arguments.rows;
  const GroupedRows grouped(numbers);
  const auto on_device = [&](const std::vector<int64_t>& values) {
    return gpu::uploaded(device, std::span<const int64_t>(values));
  };
  TROUPE_ASSIGN(const BufferRef order, on_device(grouped.order));
  TROUPE_ASSIGN(const BufferRef starts, on_device(grouped.starts));
  TROUPE_ASSIGN(const BufferRef rows, on_device(grouped.rows));
  const auto data = [](const BufferRef& buffer) { return reinterpret_cast<const int64_t*>(buffer->data); };
  return gpu::each_row(device, grouped.rows.size(), row,
                       UpdateRow<Function, T>{Function{}, updates, variable, row,
                                              arguments.updates.shape().is_scalar() ? 0 : row, data(order),
                                              data(starts), data(rows)});
}

template <class Function>
Status compute_scatter(const ScatterArguments& arguments, DeviceContext& device) {
  const NewValue& variable = arguments.variable;
  Tensor& after = *variable.after;
  TROUPE_RETURN_IF_FAILED(gpu::copy(device, variable.old, after.mutable_data(), after.bytes()));
  if (arguments.rows.numbers.empty() || arguments.rows.row == 0) return {};
  const auto run = [&]<class T>(std::type_identity<T>) {
    return scatter<Function, T>(arguments, device, gpu::stored<T>(arguments.updates), gpu::stored<T>(after));
  };
  if constexpr (std::is_same_v<Function, Replace>)
    return gpu::with_stored(after.dtype(), run);
  else
    return gpu::for_type(gpu::AllFloats{}, after.dtype(), run);
}

template <class Function>
void add_scatter(OpLibrary& library, const std::string& verb, const std::vector<DType>& types) {
  constexpr auto compute = compute_scatter<Function>;
  library.kernel(gpu_kernel("Scatter" + verb, check_scatter, compute).on("T", types));
  library.kernel(gpu_kernel("ResourceScatter" + verb, check_scatter, compute).on("dtype", types));
}
template <class Function>
void add_scatter_nd(OpLibrary& library, const std::string& verb, const std::vector<DType>& types) {
  for (const std::string prefix : {"ScatterNd", "ResourceScatterNd"})
    library.kernel(
        gpu_kernel(prefix + verb, check_scatter_nd_update, compute_scatter<Function>).on("T", types));
}

}  // namespace

void add_scatter_on_gpu(OpLibrary& library) {
  const auto moved = dtypes(gpu::MovedTypesAndIntegers{}), floats = dtypes(gpu::AllFloats{});
  add_scatter<Replace>(library, "Update", moved);
  add_scatter<gpu::Add>(library, "Add", floats);
  add_scatter<gpu::Sub>(library, "Sub", floats);
  add_scatter<gpu::Mul>(library, "Mul", floats);
  add_scatter<gpu::Div>(library, "Div", floats);
  add_scatter<gpu::Minimum>(library, "Min", floats);
  add_scatter<gpu::Maximum>(library, "Max", floats);
  add_scatter_nd<Replace>(library, "Update", moved);
  add_scatter_nd<gpu::Add>(library, "Add", floats);
  add_scatter_nd<gpu::Sub>(library, "Sub", floats);
}

}  // namespace troupe
