// The stateless random ops whose generator is an input: key, uint64 [1], counter, uint64 [2 or more], of which the first two
// elements are the low and the high half, and alg, the number of an algorithm. 1 is Philox 4x32-10, 3 lets the device choose,
// which is Philox, too; 2, ThreeFry, is refused with Unimplemented. The numbers are those of stateless.cpp; the counter has
// 128 bits.
//   StatelessRandomGetKeyCounter(seed)     the key and counter that the ops of stateless.cpp make of a seed
//   StatelessRandomGetAlg()                1
//   StatelessRandomGetKeyCounterAlg(seed)  all three
//   StatelessRandomUniformV2, StatelessRandomNormalV2, StatelessTruncatedNormalV2,
//   StatelessRandomUniformFullIntV2(shape, key, counter, alg), StatelessRandomUniformIntV2(..., minval, maxval)
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/random/stateless.h"

namespace troupe {
namespace {

constexpr int32_t philox_number = 1, threefry_number = 2, device_number = 3;

// ---- Keys and counters

Status key_counter_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto seed, context.with_rank(0, 1));
  TROUPE_RETURN_IF_FAILED(merge(seed, PartialShape{2}).status());
  context.set_output(0, PartialShape{1});
  context.set_output(1, PartialShape{2});
  if (context.node().output_types.size() == 3) context.set_output(2, PartialShape::scalar());
  return {};
}

Status set_words(KernelContext& context, size_t i, std::initializer_list<uint64_t> words) {
  TROUPE_ASSIGN(Tensor* const output, context.output(i, Shape{static_cast<int64_t>(words.size())}));
  std::ranges::copy(words, output->write<uint64_t>().begin());
  return {};
}

Status set_algorithm(KernelContext& context, size_t i) {
  TROUPE_ASSIGN(Tensor* const output, context.output(i, Shape{}));
  output->write<int32_t>()[0] = philox_number;
  return {};
}

Status run_key_counter(KernelContext& context) {
  TROUPE_ASSIGN(const Philox philox, generator_of_seed(context.input(0)));
  TROUPE_RETURN_IF_FAILED(set_words(context, 0, {philox.key()}));
  TROUPE_RETURN_IF_FAILED(set_words(context, 1, {0, philox.stream()}));
  return context.outputs().size() == 3 ? set_algorithm(context, 2) : Status();
}

Status run_algorithm(KernelContext& context) { return set_algorithm(context, 0); }

// ---- Numbers

Result<CountedPhilox> counted_philox(const KernelContext& context) {
  const Tensor &key = context.input(1), &counter = context.input(2), &algorithm = context.input(3);
  if (key.shape() != Shape{1} || counter.shape().rank() != 1 || counter.shape()[0] < 2)
    return invalid_argument("key of shape " + key.shape().text() + " and counter of shape " +
                            counter.shape().text() + " must have shapes [1] and [2]");
  if (!algorithm.shape().is_scalar())
    return invalid_argument("alg has shape " + algorithm.shape().text() + ", expected []");
  const int32_t number = algorithm.as<int32_t>()[0];
  if (number == threefry_number) return unimplemented("alg is 2, ThreeFry, which this device does not have");
  if (number != philox_number && number != device_number)
    return invalid_argument("alg is " + std::to_string(number) + ", expected 1, 2 or 3");
  const auto words = counter.as<uint64_t>();
  return CountedPhilox{key.as<uint64_t>()[0], words[0], words[1]};
}

template <class Distribution>
void compute_counted(const CountedArguments& arguments, DeviceContext& device) {
  stateless::fill_with<Distribution>(device.pool(), arguments.bits, arguments.output);
}

void compute_counted_bits(const CountedArguments& arguments, DeviceContext& device) {
  stateless::fill_with_bits(device.pool(), arguments.bits, arguments.output);
}

void compute_counted_integers(const CountedIntegerArguments& arguments, DeviceContext& device) {
  stateless::fill_with_integers(device.pool(), arguments.counted.bits, arguments.least, arguments.range,
                                arguments.counted.output);
}

// ---- Definitions

Status counted_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto key, context.with_rank(1, 1));
  TROUPE_RETURN_IF_FAILED(merge(key, PartialShape{1}).status());
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 1).status());
  for (size_t i = 3; i < context.inputs(); ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  return random_shape(context);
}

OpDefBuilder counted_op(const char* name, const char* types) {
  return OpDefBuilder(name)
      .host_input("shape: Tshape")
      .host_input("key: uint64")
      .host_input("counter: uint64")
      .host_input("alg: int32")
      .output("output: dtype")
      .attr(types)
      .attr("Tshape: {int32, int64} = int32")
      .shape(counted_shape)
      .not_differentiable();
}

template <class Distribution>
void add_keyed_float(OpLibrary& library, const char* name) {
  library.op(counted_op(name, "dtype: floattype = float"));
  library.kernel(cpu_kernel(name, check_counted, compute_counted<Distribution>));
}

void add_key_counter_op(OpLibrary& library, const char* name, bool with_algorithm) {
  OpDefBuilder op(name);
  op.host_input("seed: Tseed").host_output("key: uint64").host_output("counter: uint64");
  if (with_algorithm) op.host_output("alg: int32");
  op.attr("Tseed: {int32, int64} = int64").shape(key_counter_shape).not_differentiable();
  library.op(op);
  library.kernel(host_kernel(name, run_key_counter));
}

}  // namespace

Result<CountedArguments> check_counted(KernelContext& context) {
  TROUPE_ASSIGN(const CountedPhilox bits, counted_philox(context));
  TROUPE_ASSIGN(Tensor* const output, random_output(context));
  return CountedArguments{*output, bits};
}

Result<CountedIntegerArguments> check_counted_integers(KernelContext& context) {
  TROUPE_ASSIGN(const IntegerRange range, integer_range(context, 4));
  TROUPE_ASSIGN(const CountedArguments counted, check_counted(context));
  TROUPE_RETURN_IF_FAILED(range.check(counted.output));
  return CountedIntegerArguments{counted, range.least, range.size()};
}

void add_stateless_random_v2_ops(OpLibrary& library) {
  add_key_counter_op(library, "StatelessRandomGetKeyCounter", false);
  add_key_counter_op(library, "StatelessRandomGetKeyCounterAlg", true);
  library.op(OpDefBuilder("StatelessRandomGetAlg")
                 .host_output("alg: int32")
                 .shape(scalar_shape)
                 .not_differentiable());
  library.kernel(host_kernel("StatelessRandomGetAlg", run_algorithm));
  add_keyed_float<stateless::Uniform>(library, "StatelessRandomUniformV2");
  add_keyed_float<stateless::Normal>(library, "StatelessRandomNormalV2");
  add_keyed_float<stateless::Truncated>(library, "StatelessTruncatedNormalV2");
  library.op(counted_op("StatelessRandomUniformFullIntV2", "dtype: {int32, int64, uint32, uint64} = uint64"));
  library.kernel(cpu_kernel("StatelessRandomUniformFullIntV2", check_counted, compute_counted_bits));
  library.op(counted_op("StatelessRandomUniformIntV2", "dtype: {int32, int64, uint32, uint64}")
                 .host_input("minval: dtype")
                 .host_input("maxval: dtype"));
  library.kernel(cpu_kernel("StatelessRandomUniformIntV2", check_counted_integers, compute_counted_integers)
                     .on("dtype", {i32, i64}));
}

}  // namespace troupe
