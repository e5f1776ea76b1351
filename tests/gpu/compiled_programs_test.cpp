// Kernels that are compiled at run time give the bits that the device gives without compiling them.
#include <boost/test/unit_test.hpp>

#include <cstring>

#include "kernels/gpu/compiled.h"
#include "tests/gpu/elementwise_programs.h"
#include "tests/support/gpu/gpu_library.h"
#include "tests/support/gpu/test_gpu.h"
#include "tests/support/ops/run_on_device.h"

namespace troupe::test::compiled_programs_test {
namespace {

Tensor part_of(const Tensor& tensor, int64_t first, int64_t count) {
  Tensor part = value_or_throw(Tensor::allocate(DType::Float, Shape{count}));
  std::memcpy(part.mutable_data(), tensor.data() + static_cast<size_t>(first) * sizeof(float), part.bytes());
  return part;
}

Tensor run(const ProgramText& program, const std::vector<Tensor>& args) {
  const OpCase sample{
      "_FusedElementwise", args, {{"program", program}, {"num_args", static_cast<int64_t>(args.size())}}};
  return value_or_throw(run_on_device({gpu_library(), *test_gpu(), {}}, sample))[0];
}

/// Checks that large tensors, for which programs are compiled, get the same bits as small parts of them.
void check_parts(const ProgramText& program, const std::vector<Tensor>& args) {
  constexpr int64_t part = 4'093;
  const Tensor whole = run(program, args);
  const int64_t count = whole.shape().elements();
  for (int64_t first = 0; first < count; first += part) {
    const int64_t size = std::min(part, count - first);
    std::vector<Tensor> parts;
    for (const Tensor& arg : args)
      parts.push_back(arg.shape().elements() == 1 ? arg : part_of(arg, first, size));
    const Tensor expected = run(program, parts), given = part_of(whole, first, size);
    BOOST_REQUIRE_MESSAGE(std::memcmp(expected.data(), given.data(), given.bytes()) == 0,
                          "elements from " << first << " on differ");
  }
}

Tensor numbers(int64_t count, double low, double high, uint64_t seed) {
  return converted(random_doubles(Shape{count}, low, high, seed), DType::Float);
}

constexpr int64_t many = (1 << 16) + 3;

BOOST_AUTO_TEST_SUITE(compiled_programs, *boost::unit_test::precondition([](auto) { return test_gpu(); }))

BOOST_AUTO_TEST_CASE(functions_of_one_operand_keep_their_bits) {
  check_parts(all_unary_functions(), {numbers(many, 0.01, 3, 1)});
}

BOOST_AUTO_TEST_CASE(functions_of_two_operands_keep_their_bits) {
  check_parts(all_binary_functions(), {numbers(many, 0.1, 3, 2), numbers(many, -2, 2, 3)});
}

BOOST_AUTO_TEST_CASE(scalars_belong_to_all_elements) {
  check_parts({"Mul 0 1", "Tanh 2", "Sub 3 1"}, {numbers(many, -1, 1, 4), Tensor::scalar(0.7f)});
}

BOOST_AUTO_TEST_CASE(a_mistake_in_a_source_is_said) {
  const auto ran = gpu::run_compiled(test_gpu()->context(), gpu::compiled_source("this is no program"), {});
  BOOST_REQUIRE(!ran);
  BOOST_TEST(ran.status().message().find("error") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::compiled_programs_test
