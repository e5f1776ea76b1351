// Multinomial and StatelessMultinomial on GPUs: the numbers are those of CPUs, see categorical.cpp and stateless.cpp.
#include "kernels/ops/random/categorical.h"

#include <cmath>

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

/// Writes the sums of exp(logit - the largest logit) over the classes up to each one. Each thread of a team adds up a part of the
/// classes, and then to its part what the parts before it have.
template <class T>
struct AddWeights {
  const T* logits;
  double* sums;
  size_t classes;

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t row) const {
    const T* const from = logits + row * classes;
    double* const to = sums + row * classes;
    const size_t part = (classes + team.size - 1) / team.size;
    const size_t begin = part * team.rank < classes ? part * team.rank : classes;
    const size_t end = begin + part < classes ? begin + part : classes;
    double most = -HUGE_VAL;
    for (size_t i = begin; i < end; ++i)
      if (const double logit = finite(from[i]); logit > most) most = logit;
    most = team.max(most);
    double sum = 0;
    for (size_t i = begin; i < end; ++i) {
      const double logit = finite(from[i]);
      if (logit > -HUGE_VAL) sum += std::exp(logit - most);
      to[i] = sum;
    }
    team.sync();
    double before = 0;
    for (size_t last = part; last <= begin && begin < end; last += part) before += to[last - 1];
    team.sync();
    for (size_t i = begin; i < end; ++i) to[i] += before;
  }

 private:
  TROUPE_ANY static double finite(const T& element) {
    const auto logit = static_cast<double>(gpu::load(element));
    return std::isfinite(logit) ? logit : -HUGE_VAL;
  }
};

template <class Fractions, class Category>
struct ChooseCategories {
  Fractions fractions;
  const double* sums;
  Category* categories;
  size_t classes, samples;

  TROUPE_ANY void operator()(size_t i) const {
    const size_t row = i / samples, sample = i - row * samples;
    categories[i] = static_cast<Category>(category_of(sums + row * classes, classes, fractions(row, sample)));
  }
};

template <class Fractions>
Status compute_categories(const DrawnCategories<Fractions>& drawn, DeviceContext& device) {
  const CategoricalArguments& arguments = drawn.categorical;
  const Tensor& logits = arguments.logits;
  Tensor& output = arguments.output;
  const size_t rows = arguments.rows, classes = arguments.classes;
  const auto n = static_cast<size_t>(output.elements());
  if (n == 0) return {};
  TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device, rows * classes * sizeof(double)));
  auto* const sums = reinterpret_cast<double*>(memory->data);
  TROUPE_RETURN_IF_FAILED(
      gpu::for_type(gpu::AllFloats{}, logits.dtype(), [&]<class T>(std::type_identity<T>) {
        return gpu::each_row(device, rows, classes, AddWeights<T>{logits.as<T>().data(), sums, classes});
      }));
  return gpu::for_type(
      TypeList<int32_t, int64_t>{}, output.dtype(), [&]<class Category>(std::type_identity<Category>) {
        return gpu::each(
            device, n,
            ChooseCategories<Fractions, Category>{drawn.fractions, sums, output.write<Category>().data(),
                                                  classes, arguments.samples});
      });
}

}  // namespace

void add_categorical_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::AllFloats{});
  library.kernel(
      gpu_kernel("Multinomial", check_multinomial, compute_categories<SessionFractions>).on("T", types));
  library.kernel(
      gpu_kernel("StatelessMultinomial", check_stateless_multinomial, compute_categories<StatelessFractions>)
          .on("T", types));
}

}  // namespace troupe
