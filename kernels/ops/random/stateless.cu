// StatelessRandomUniform, StatelessRandomNormal and StatelessTruncatedNormal on GPUs: see stateless.cpp.
#include "kernels/ops/random/stateless.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/ops/random/draw_on_gpu.h"

namespace troupe {
namespace {

struct Uniform {
  template <class T>
  TROUPE_ANY static void draw(const Philox& philox, uint64_t index, gpu::Wide<T>* out) {
    const Words words = philox(index);
    for (size_t i = 0; i < group_size<T>; ++i) out[i] = stateless::fraction_number<T>(words, i);
  }
};

struct Normal {
  template <class T>
  TROUPE_ANY static void draw(const Philox& philox, uint64_t index, gpu::Wide<T>* out) {
    const Words words = philox(index);
    for (size_t i = 0; i < group_size<T>; i += 2) {
      const Words pair = group_size<T> == 2 ? words : Words{words[i], words[i + 1]};
      const auto numbers = stateless::normals<gpu::Wide<T>>(pair);
      out[i] = numbers[0];
      out[i + 1] = numbers[1];
    }
  }
};

/// The normal numbers inside (-2, 2), in the order of the bits.
struct Truncated {
  template <class T>
  TROUPE_ANY static void draw(const Philox& philox, uint64_t index, gpu::Wide<T>* out) {
    constexpr size_t words_of_pair = sizeof(T) == 8 ? 4 : 2;
    const uint64_t first = index * (sizeof(T) == 8 ? 128 : 256);
    size_t found = 0;
    for (uint64_t word = 0; found < group_size<T>; word += words_of_pair) {
      const Words words = philox(first + word / 4);
      const Words pair = words_of_pair == 4 ? words : Words{words[word % 4], words[word % 4 + 1]};
      for (const auto number : stateless::normals<gpu::Wide<T>>(pair))
        if (std::fabs(number) < 2 && found < group_size<T>) out[found++] = number;
    }
  }
};

template <class Distribution>
Status compute_stateless(const StatelessArguments& arguments, DeviceContext& device) {
  Tensor& output = arguments.output;
  return gpu::for_type(gpu::AllFloats{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::draw_numbers<Distribution>(device, arguments.philox, DrawnRows{}, output.write<T>());
  });
}

}  // namespace

void add_stateless_random_on_gpu(OpLibrary& library) {
  const auto add = [&](const char* op, auto compute) {
    library.kernel(gpu_kernel(op, check_stateless, compute).on("dtype", dtypes(gpu::AllFloats{})));
  };
  add("StatelessRandomNormal", compute_stateless<Normal>);
  add("StatelessRandomUniform", compute_stateless<Uniform>);
  add("StatelessTruncatedNormal", compute_stateless<Truncated>);
}

}  // namespace troupe
