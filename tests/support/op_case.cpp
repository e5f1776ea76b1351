#include "tests/support/op_case.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

#include "devices/transfer.h"
#include "graph/scope.h"
#include "kernels/cast.h"
#include "tests/support/delayed_device.h"
#include "tests/support/local_host.h"

namespace troupe::test {
namespace {

Tensor copy_of(const Tensor& tensor) {
  Tensor copy = value_or_throw(Tensor::allocate(tensor.dtype(), tensor.shape()));
  if (tensor.dtype() == DType::String) {
    std::ranges::copy(tensor.as<std::string>(), copy.write<std::string>().begin());
  } else if (tensor.bytes() != 0) {
    std::memcpy(copy.mutable_data(), tensor.data(), tensor.bytes());
  }
  return copy;
}

std::vector<Tensor> copies_of(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> copies;
  for (const Tensor& tensor : tensors) copies.push_back(copy_of(tensor));
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

/// One op on placeholders of open shape, as a graph.
struct OpGraph {
  explicit OpGraph(const OpCase& sample) : graph(op_library()->ops) {
    const Scope scope(graph);
    for (const Tensor& tensor : sample.inputs)
      inputs.push_back(
          scope.add_one("Placeholder", {}, {{"dtype", tensor.dtype()}, {"shape", PartialShape()}}));
    node = scope.with_name("node").add(sample.op, inputs, sample.attrs);  // random ops go by the name
    for (uint32_t i = 0; i < graph.node(node).output_types.size(); ++i) outputs.push_back({node, i});
    if (outputs.empty()) outputs.push_back({node, Output::control});
  }
  Graph graph;
  NodeId node = 0;
  std::vector<Output> inputs, outputs;
};

/// With inputs that nobody else holds, so that a kernel may write its output over them.
Result<std::vector<Tensor>> run_in_place(const OpCase& sample) {
  const OpGraph op(sample);
  const Node& node = op.graph.node(op.node);
  InlinePool pool;
  DeviceContext device(heap_allocator(), pool);
  TROUPE_ASSIGN(const KernelDef* const def, op_library()->kernels.find(node, "CPU"));
  TROUPE_ASSIGN(const auto kernel, def->prepare({op.graph, node, device}));
  std::vector<Slot> slots;
  for (Tensor& input : copies_of(sample.inputs)) slots.push_back(Slot::of(std::move(input)));
  std::vector<Tensor> outputs(node.output_types.size());
  const StepInfo step;
  KernelContext context(node, slots.data(), slots.size(), outputs.data(), device, step, 0);
  TROUPE_RETURN_IF_FAILED(std::get<Status>(kernel->run(context)));
  return outputs;
}

/// On a device with memory of its own that does its work later.
Result<std::vector<Tensor>> run_delayed(const OpCase& sample) {
  InlinePool pool;
  CpuDevice host(value_or_throw(DeviceName::parse("/job:test/replica:0/task:0/device:CPU:0")), 1, pool);
  DelayedDevice device(value_or_throw(DeviceName::parse("/job:test/replica:0/task:0/device:CPU:1")), pool,
                       {});
  const OpGraph op(sample);
  const Node& node = op.graph.node(op.node);
  TROUPE_ASSIGN(const KernelDef* const def, op_library()->kernels.find(node, "CPU"));
  Feeds feeds;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    Tensor value = copy_of(sample.inputs[i]);
    if (!in_host_memory(*def, node, i, true)) {
      TROUPE_ASSIGN(value, transfer(sample.inputs[i], host, device));
    }
    feeds.emplace_back(op.inputs[i], std::move(value));
  }
  TROUPE_ASSIGN(auto outputs, LocalRuntime(op_library(), device).run(op.graph, feeds, op.outputs));
  for (Tensor& output : outputs) {
    TROUPE_ASSIGN(output, transfer(output, device, host));
    TROUPE_RETURN_IF_FAILED(device.wait(output.completion()));
  }
  TROUPE_RETURN_IF_FAILED(device.check_memory());
  return outputs;
}

bool has_strings(const std::vector<Tensor>& tensors) {
  return std::ranges::any_of(tensors, [](const Tensor& tensor) { return tensor.dtype() == DType::String; });
}

}  // namespace

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
    check_same(sample, "on a delayed device", run_delayed(sample), *expected);
  for (size_t i = 0; i < before.size(); ++i)
    BOOST_TEST(identical(sample.inputs[i], before[i]), sample.op << " wrote into its input " << i);
}

void check_bad_case(const BadCase& bad) {
  for (const Known known : {Known::Values, Known::Shapes, Known::Nothing}) {
    const auto outputs = run_op(bad.sample.op, bad.sample.inputs, bad.sample.attrs, known);
    BOOST_TEST_REQUIRE(!outputs.ok(), bad.sample.op << " did not fail: " << bad.text);
    const std::string message = outputs.status().message();
    BOOST_TEST((outputs.status().code() == bad.code), message);
    BOOST_TEST(message.find(bad.text) != std::string::npos,
               '"' << message << "\" does not say \"" << bad.text << '"');
    BOOST_TEST(outputs.status().op() == bad.sample.op, message);
  }
}

Tensor random_doubles(const Shape& shape, double low, double high, uint64_t seed) {
  Tensor tensor = value_or_throw(Tensor::allocate(DType::Double, shape));
  std::mt19937_64 engine(seed);
  for (double& value : tensor.write<double>())
    value = low + (high - low) * (static_cast<double>(engine() >> 11) * 0x1p-53);
  return tensor;
}

Tensor converted(const Tensor& tensor, DType dtype) {
  Tensor result = value_or_throw(Tensor::allocate(dtype, tensor.shape()));
  cast_loop(tensor.dtype(), dtype)(tensor.data(), result.mutable_data(),
                                   static_cast<size_t>(tensor.elements()));
  return result;
}

Tensor doubles(const Shape& shape, std::initializer_list<double> values) {
  return Tensor::of<double>(shape, values);
}
Tensor bools(const Shape& shape, std::initializer_list<bool> values) {
  return Tensor::of<bool>(shape, values);
}

}  // namespace troupe::test
