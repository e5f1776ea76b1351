// Random tensors as a function of the input seed, an integer vector [2], alone; the numbers are those of TensorFlow.
//   StatelessRandomUniform(shape, seed)             [0, 1)
//   StatelessRandomNormal(shape, seed)              mean 0, standard deviation 1
//   StatelessTruncatedNormal(shape, seed)           the same, without values outside (-2, 2)
//   StatelessRandomUniformInt(shape, seed, minval, maxval)  [minval, maxval)
//   StatelessRandomUniformFullInt(shape, seed)      every value of the type
//   StatelessMultinomial(logits, num_samples, seed) [batch, num_samples]: classes with the probabilities softmax(logits[batch])
// The bits are those of Philox 4x32-10: words of a first group, made of the seed, are key and stream. The counter is the
// index of a group of four numbers (two of 64 bits); a group of truncated numbers takes 256 groups of bits (128 for double).
#include "kernels/ops/random/stateless.h"

#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/random/categorical.h"

namespace troupe {
namespace {

// ---- Kernels

template <class Distribution>
void compute_stateless(const StatelessArguments& arguments, DeviceContext& device) {
  stateless::fill_with<Distribution>(device.pool(), arguments.philox, arguments.output);
}

void compute_full_integers(const StatelessArguments& arguments, DeviceContext& device) {
  stateless::fill_with_bits(device.pool(), arguments.philox, arguments.output);
}

void compute_stateless_integers(const StatelessIntegerArguments& arguments, DeviceContext& device) {
  stateless::fill_with_integers(device.pool(), arguments.philox, arguments.least, arguments.range,
                                arguments.output);
}

// ---- Definitions

Status stateless_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  return random_shape(context);
}

Status stateless_integer_shape(ShapeContext& context) {
  for (size_t i = 2; i < 4; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  return stateless_shape(context);
}

Status stateless_multinomial_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 1).status());
  return categorical_shape(context);
}

OpDefBuilder stateless_op(const char* name, const char* types) {
  return OpDefBuilder(name)
      .host_input("shape: T")
      .host_input("seed: Tseed")
      .output("output: dtype")
      .attr(types)
      .attr("T: {int32, int64} = int32")
      .attr("Tseed: {int32, int64} = int64")
      .not_differentiable();
}

template <class Distribution>
void add_stateless_float(OpLibrary& library, const char* name, const std::string& constructor) {
  library.op(stateless_op(name, "dtype: floattype = float")
                 .constructor(constructor + "(shape, seed, dtype)")
                 .shape(stateless_shape));
  library.kernel(cpu_kernel(name, check_stateless, compute_stateless<Distribution>));
}

}  // namespace

Result<Philox> generator_of_seed(const Tensor& seed) {
  TROUPE_ASSIGN(const Dims numbers, integer_vector(seed, "seed"));
  if (numbers.size() != 2)
    return invalid_argument("seed has shape " + seed.shape().text() + ", expected [2]");
  const Words mix =
      Philox(0x02461E293EC8F720, static_cast<uint64_t>(numbers[1]))(static_cast<uint64_t>(numbers[0]));
  return Philox(wide_word(mix, 0), wide_word(mix, 1));
}

Result<StatelessArguments> check_stateless(KernelContext& context) {
  TROUPE_ASSIGN(const Philox philox, generator_of_seed(context.input(1)));
  TROUPE_ASSIGN(Tensor* const output, random_output(context));
  return StatelessArguments{*output, philox};
}

Result<StatelessIntegerArguments> check_stateless_integers(KernelContext& context) {
  TROUPE_ASSIGN(const Philox philox, generator_of_seed(context.input(1)));
  TROUPE_ASSIGN(const IntegerRange range, integer_range(context, 2));
  TROUPE_ASSIGN(Tensor* const output, random_output(context));
  TROUPE_RETURN_IF_FAILED(range.check(*output));
  return StatelessIntegerArguments{*output, philox, range.least, range.size()};
}

Result<DrawnCategories<StatelessFractions>> check_stateless_multinomial(KernelContext& context) {
  TROUPE_ASSIGN(const Philox philox, generator_of_seed(context.input(2)));
  TROUPE_ASSIGN(const CategoricalArguments categorical, check_categorical(context));
  return DrawnCategories<StatelessFractions>{categorical, {philox, categorical.samples}};
}

void add_stateless_random_ops(OpLibrary& library) {
  add_stateless_float<stateless::Uniform>(library, "StatelessRandomUniform", "stateless_random_uniform");
  add_stateless_float<stateless::Normal>(library, "StatelessRandomNormal", "stateless_random_normal");
  add_stateless_float<stateless::Truncated>(library, "StatelessTruncatedNormal",
                                            "stateless_truncated_normal");
  library.op(stateless_op("StatelessRandomUniformFullInt", "dtype: {int32, int64, uint32, uint64} = uint64")
                 .constructor("stateless_random_uniform_full_int(shape, seed, dtype)")
                 .shape(stateless_shape));
  library.kernel(cpu_kernel("StatelessRandomUniformFullInt", check_stateless, compute_full_integers));
  library.op(stateless_op("StatelessRandomUniformInt", "dtype: {int32, int64}")
                 .host_input("minval: dtype")
                 .host_input("maxval: dtype")
                 .constructor("stateless_random_uniform_int(shape, seed, minval, maxval)")
                 .shape(stateless_integer_shape));
  library.kernel(
      cpu_kernel("StatelessRandomUniformInt", check_stateless_integers, compute_stateless_integers));
  library.op(OpDefBuilder("StatelessMultinomial")
                 .input("logits: T")
                 .host_input("num_samples: int32")
                 .host_input("seed: Tseed")
                 .output("output: output_dtype")
                 .attr("T: realnumbertype")
                 .attr("Tseed: {int32, int64} = int64")
                 .attr("output_dtype: {int32, int64} = int64")
                 .constructor("stateless_multinomial(logits, num_samples, seed, output_dtype)")
                 .shape(stateless_multinomial_shape)
                 .not_differentiable());
  library.kernel(
      cpu_kernel("StatelessMultinomial", check_stateless_multinomial, draw_categories<StatelessFractions>)
          .on("T", dtypes(RealTypes{})));
}

}  // namespace troupe
