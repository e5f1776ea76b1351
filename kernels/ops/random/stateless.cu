// Stateless random tensors on GPUs: see stateless.cpp and stateless_v2.cpp.
#include "kernels/ops/random/stateless.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/ops/random/draw_on_gpu.h"

namespace troupe {
namespace {

struct CountedUniform {
  template <class T>
  TROUPE_ANY static void draw(const CountedPhilox& philox, uint64_t index, gpu::Wide<T>* out) {
    const Words words = philox(index);
    for (size_t i = 0; i < group_size<T>; ++i) out[i] = stateless::fraction_number<T>(words, i);
  }
};

struct CountedNormal {
  template <class T>
  TROUPE_ANY static void draw(const CountedPhilox& philox, uint64_t index, gpu::Wide<T>* out) {
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
struct CountedTruncated {
  template <class T>
  TROUPE_ANY static void draw(const CountedPhilox& philox, uint64_t index, gpu::Wide<T>* out) {
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

/// The bits of the ops whose generator follows from a seed.
CountedPhilox counted(const Philox& philox) { return {philox.key(), 0, philox.stream()}; }

// ---- Floats

template <class Distribution>
Status compute_counted(const CountedArguments& arguments, DeviceContext& device) {
  Tensor& output = arguments.output;
  return gpu::for_type(gpu::AllFloats{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::draw_numbers(device, gpu::DrawFrom<Distribution, T, CountedPhilox>{arguments.bits},
                             DrawnRows{}, output.write<T>());
  });
}

// ---- Integers

template <class T>
struct DrawBits {
  CountedPhilox philox;

  TROUPE_ANY void operator()(uint64_t index, T* out) const {
    const Words words = philox(index);
    for (size_t i = 0; i < group_size<T>; ++i) out[i] = bits_of<T>(words, i);
  }
};

template <class T>
struct DrawCountedInteger {
  CountedPhilox philox;
  int64_t least;
  uint64_t range;

  TROUPE_ANY void operator()(uint64_t index, T* out) const {
    const Words words = philox(index);
    for (size_t i = 0; i < group_size<T>; ++i) out[i] = stateless::integer_in<T>(words, i, least, range);
  }
};

Status compute_counted_bits(const CountedArguments& arguments, DeviceContext& device) {
  return gpu::draw_integers<DrawBits>(device, arguments.output, arguments.bits);
}

Status compute_counted_integers(const CountedIntegerArguments& arguments, DeviceContext& device) {
  const auto& [counted, least, range] = arguments;
  return gpu::draw_integers<DrawCountedInteger>(device, counted.output, counted.bits, least, range);
}

// ---- Kernels

/// Returns the compute function of an op whose generator follows from a seed, from that of the op whose generator is an input.
template <class Compute>
auto of_seed(Compute compute) {
  return [=](const StatelessArguments& arguments, DeviceContext& device) {
    return compute({arguments.output, counted(arguments.philox)}, device);
  };
}

Status compute_stateless_integers(const StatelessIntegerArguments& arguments, DeviceContext& device) {
  const auto& [output, philox, least, range] = arguments;
  return compute_counted_integers({{output, counted(philox)}, least, range}, device);
}

}  // namespace

void add_stateless_random_on_gpu(OpLibrary& library) {
  const auto add = [&](const std::string& op, auto compute, const std::vector<DType>& types) {
    library.kernel(gpu_kernel(op, check_stateless, of_seed(compute)).on("dtype", types));
    library.kernel(gpu_kernel(op + "V2", check_counted, compute).on("dtype", types));
  };
  const auto floats = dtypes(gpu::AllFloats{});
  add("StatelessRandomNormal", compute_counted<CountedNormal>, floats);
  add("StatelessRandomUniform", compute_counted<CountedUniform>, floats);
  add("StatelessTruncatedNormal", compute_counted<CountedTruncated>, floats);
  add("StatelessRandomUniformFullInt", compute_counted_bits,
      dtypes(TypeList<int32_t, int64_t, uint32_t, uint64_t>{}));
  const auto integers = dtypes(TypeList<int32_t, int64_t>{});
  library.kernel(gpu_kernel("StatelessRandomUniformInt", check_stateless_integers, compute_stateless_integers)
                     .on("dtype", integers));
  library.kernel(gpu_kernel("StatelessRandomUniformIntV2", check_counted_integers, compute_counted_integers)
                     .on("dtype", integers));
}

}  // namespace troupe
