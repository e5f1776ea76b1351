#include "tests/support/ops/op_case.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

#include "graph/build/signature.h"
#include "kernels/loops/cast.h"
#include "kernels/ops/quantized/views.h"
#include "tests/support/ops/op_coverage.h"
#include "tests/support/ops/run_on_device.h"
#include "tests/support/project_files.h"

namespace troupe::test {
namespace {

std::vector<Tensor> copies_of(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> copies;
  for (const Tensor& tensor : tensors) copies.push_back(tensor.copy());
  return copies;
}

void check_same(const OpCase& sample, const char* when, const Result<std::vector<Tensor>>& got,
                const std::vector<Tensor>& expected) {
  BOOST_TEST_REQUIRE(got.ok(), sample.op << ' ' << when << ": " << got.status().message());
  BOOST_TEST_REQUIRE(got->size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST(identical((*got)[i], expected[i]), sample.op << ' ' << when << ": output " << i << " is "
                                                            << text_of((*got)[i]) << ", elsewhere "
                                                            << text_of(expected[i]));
}

Result<std::vector<Tensor>> run_in_place(const OpCase& sample) {
  TROUPE_ASSIGN(const SingleOp op, SingleOp::make(sample.op, sample.inputs, sample.attrs, Known::Nothing));
  InlinePool pool;
  DeviceContext device(heap_allocator(), pool);
  return run_kernel(*op_library(), "CPU", op, copies_of(sample.inputs), device);
}

bool has_strings(const std::vector<Tensor>& tensors) {
  return std::ranges::any_of(tensors, [](const Tensor& tensor) { return tensor.dtype() == DType::String; });
}

}  // namespace

void OpCases::good_in_every_type(const std::string& op, const std::vector<Tensor>& inputs,
                                 const Attributes& attrs) {
  good(op, inputs, attrs);
  const SingleOp single = value_or_throw(SingleOp::make(op, inputs, attrs, Known::Shapes));
  for (const auto& [attr, dtypes] : served_types(*single.node().op))
    for (const DType dtype : dtypes) {
      OpCase sample{op, inputs, attrs};
      size_t input = 0;
      for (const ArgDef& argument : single.node().op->inputs)
        for (size_t end = input + arity(argument, single.node().attrs); input < end; ++input)
          if (argument.type_attr == attr ||
              (argument.type == DType::Resource && (attr == "T" || attr == "dtype")))
            sample.inputs[input] = converted(inputs[input], dtype);
      sample.attrs.set(attr, dtype);
      good_[op].push_back(std::move(sample));
    }
}

void check_case(const OpCase& sample) {
  const auto before = copies_of(sample.inputs);
  const auto expected = run_op(sample.op, sample.inputs, sample.attrs);
  BOOST_TEST_REQUIRE(expected.ok(), sample.op << ": " << expected.status().message());
  for (const Known known : {Known::Shapes, Known::Nothing})
    check_same(sample, "with less known of its inputs", run_op(sample.op, sample.inputs, sample.attrs, known),
               *expected);
  check_same(sample, "on two threads", run_op(sample.op, sample.inputs, sample.attrs, Known::Values, {}, 2),
             *expected);
  check_same(sample, "in place", run_in_place(sample), *expected);
  if (!has_strings(sample.inputs) && !has_strings(*expected))
    check_same(sample, "on a delayed device", run_delayed(op_library(), "CPU", sample), *expected);
  check_on_gpu(sample, *expected);
  for (size_t i = 0; i < before.size(); ++i)
    BOOST_TEST(identical(sample.inputs[i], before[i]), sample.op << " wrote into its input " << i);
}

void check_bad_case(const BadCase& bad) {
  const bool has_kernel = !op_library()->kernels.of(bad.sample.op).empty();
  for (const Known known : {Known::Values, Known::Shapes, Known::Nothing}) {
    if (known == Known::Nothing && !has_kernel) continue;  // refused only where the op is carried out
    const auto outputs = run_op(bad.sample.op, bad.sample.inputs, bad.sample.attrs, known);
    BOOST_TEST_REQUIRE(!outputs.ok(), bad.sample.op << " did not fail: " << bad.text);
    const std::string message = outputs.status().message();
    BOOST_TEST((outputs.status().code() == bad.code), message);
    BOOST_TEST(message.find(bad.text) != std::string::npos,
               '"' << message << "\" does not say \"" << bad.text << '"');
    BOOST_TEST(outputs.status().op() == bad.sample.op, message);
  }
  check_refused_on_gpu(bad);
}

void check_served_case(const ServedCase& served) {
  const auto& [op, inputs, attrs] = served.sample;
  const auto single = SingleOp::make(op, inputs, attrs, Known::Shapes);
  BOOST_TEST_REQUIRE(single.ok(), op << ": " << single.status().message());
  std::string shapes;
  for (const PartialShape& shape : single->node().output_shapes)
    shapes += (shapes.empty() ? "" : " ") + shape.text();
  BOOST_TEST(shapes == served.shapes, op << ": inferred " << shapes << ", expected " << served.shapes);
  const std::string test = project_file("tests/" + served.test);
  const bool has_version = op.ends_with("V2") || op.ends_with("V3");
  const std::string older =
      op.substr(0, op.size() - (has_version ? 2 : 0));  // the test may append the suffix
  BOOST_TEST(test.find('"' + older) != std::string::npos, served.test << " does not name " << op);
}

Tensor random_doubles(const Shape& shape, double low, double high, uint64_t seed) {
  Tensor tensor = value_or_throw(Tensor::allocate(DType::Double, shape));
  std::mt19937_64 engine(seed);
  for (double& value : tensor.write<double>())
    value = low + (high - low) * (static_cast<double>(engine() >> 11) * 0x1p-53);
  return tensor;
}

Tensor converted(const Tensor& tensor, DType dtype) {
  const auto elements = static_cast<size_t>(tensor.elements());
  if (dtype == DType::String) {
    std::vector<std::string> values;
    const Tensor digits = converted(tensor, DType::Double);
    for (const double value : digits.as<double>()) values.push_back(std::to_string(value));
    return Tensor::of<std::string>(tensor.shape(), std::span<const std::string>(values));
  }
  const DType storage = storage_of(dtype);
  Tensor result = value_or_throw(Tensor::allocate(storage, tensor.shape()));
  cast_loop(tensor.dtype(), storage)(tensor.data(), result.mutable_data(), elements);
  return Tensor(dtype, tensor.shape(), result.buffer());
}

Tensor doubles(const Shape& shape, std::initializer_list<double> values) {
  return Tensor::of<double>(shape, values);
}
Tensor bools(const Shape& shape, std::initializer_list<bool> values) {
  return Tensor::of<bool>(shape, values);
}

}  // namespace troupe::test
