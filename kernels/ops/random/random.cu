// Random tensors on GPUs: the numbers are those of CPUs, see random.cpp.
#include "kernels/ops/random/random.h"

#include "kernels/gpu/row_sources.h"
#include "kernels/gpu/storage.h"
#include "kernels/ops/random/draw_on_gpu.h"

namespace troupe {
namespace {

struct Uniform {
  template <class T>
  TROUPE_ANY static void draw(const Philox& philox, uint64_t index, gpu::Wide<T>* out) {
    const Words words = philox(index);
    for (size_t i = 0; i < group_size<T>; ++i) out[i] = uniform_number<T>(words, i);
  }
};

struct Normal {
  template <class T>
  TROUPE_ANY static void draw(const Philox& philox, uint64_t index, gpu::Wide<T>* out) {
    const Words words = philox(index);
    for (size_t i = 0; i < group_size<T>; i += 2) {
      const auto pair = normal_pair<gpu::Wide<T>>(words, i / 2);
      out[i] = pair[0];
      out[i + 1] = pair[1];
    }
  }
};

/// The normal numbers inside [-2, 2]; more of them from other groups for those that are outside.
struct Truncated {
  template <class T>
  TROUPE_ANY static void draw(const Philox& philox, uint64_t index, gpu::Wide<T>* out) {
    constexpr size_t size = group_size<T>;
    size_t found = 0;
    for (uint64_t attempt = 0; found < size; ++attempt) {
      gpu::Wide<T> normals[size];
      Normal::draw<T>(philox, index + (attempt << 48), normals);
      for (size_t i = 0; i < size && found < size; ++i)
        if (std::fabs(normals[i]) <= 2) out[found++] = normals[i];
    }
  }
};

using RandomTypes = TypeList<Half, float, double>;

template <class Distribution>
Status compute_random(const RandomArguments& arguments, DeviceContext& device) {
  Tensor& output = arguments.output;
  return gpu::for_type(RandomTypes{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::draw_numbers(device, gpu::DrawFrom<Distribution, T, Philox>{arguments.philox}, arguments.rows,
                             output.write<T>());
  });
}

template <class T>
struct DrawInteger {
  Philox philox;
  int64_t least;
  uint64_t range;

  TROUPE_ANY void operator()(uint64_t index, T* out) const {
    const Words words = philox(index);
    for (size_t i = 0; i < group_size<T>; ++i) out[i] = uniform_integer<T>(words, i, least, range);
  }
};

Status compute_uniform_int(const RandomUniformIntArguments& arguments, DeviceContext& device) {
  return gpu::draw_integers<DrawInteger>(device, arguments.output, arguments.philox, arguments.least,
                                         arguments.range);
}

Status compute_shuffle(const RandomShuffleArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  const size_t bytes = arguments.row * size_of(arguments.value.dtype());
  std::vector<const std::byte*> sources;
  for (const int64_t row : shuffled_order(arguments))
    sources.push_back(arguments.value.data() + static_cast<size_t>(row) * bytes);
  return gpu::copy_rows(device, sources, arguments.row, arguments.output);
}

}  // namespace

void add_random_on_gpu(OpLibrary& library) {
  const auto types = dtypes(RandomTypes{});
  library.kernel(gpu_kernel("RandomStandardNormal", check_random, compute_random<Normal>).on("dtype", types));
  library.kernel(gpu_kernel("RandomUniform", check_random, compute_random<Uniform>).on("dtype", types));
  library.kernel(gpu_kernel("TruncatedNormal", check_random, compute_random<Truncated>).on("dtype", types));
  library.kernel(
      gpu_kernel("RandomShuffle", check_random_shuffle, compute_shuffle).on("T", dtypes(gpu::MovedTypes{})));
  library.kernel(gpu_kernel("RandomUniformInt", check_random_uniform_int, compute_uniform_int)
                     .on("Tout", {DType::Int32, DType::Int64}));
}

}  // namespace troupe
