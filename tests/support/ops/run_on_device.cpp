#include "tests/support/ops/run_on_device.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <condition_variable>

#include "devices/transfer.h"
#include "graph/build/signature.h"
#include "kernels/loops/cast.h"
#include "tests/support/delayed_device.h"
#include "tests/support/gpu/gpu_library.h"
#include "tests/support/gpu/test_gpu.h"
#include "tests/support/net/local_host.h"

namespace troupe::test {
namespace {

DeviceName name_of(const std::string& type, int id) { return {"test", 0, 0, type, id}; }

/// Runs only the kernel of an op on variables, because variables are changed by their owner and cannot be fed.
bool takes_variables(const OpDef& op) {
  return op.is_of_service(variable_service) ||
         std::ranges::any_of(op.inputs, [](const ArgDef& input) { return input.type == DType::Resource; });
}

/// Waits for a completion on a device that works by itself.
Status wait_for(const Completion& completion) {
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  completion.then([&](const Status&) {
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ended; });
  return completion.status();
}

Status wait_for(const OpDevice& where, const Completion& completion) {
  if (!where.advance) return wait_for(completion);
  while (!completion.ready()) where.advance();
  return completion.status();
}

/// Runs a step with one op, or only its kernel.
Result<std::vector<Tensor>> run_op_there(const OpDevice& where, const SingleOp& op,
                                         std::vector<Tensor> inputs) {
  if (takes_variables(*op.node().op)) {
    std::vector<Tensor> outputs;
    const Completion done = where.device.run([&](DeviceContext& context) -> Status {
      TROUPE_ASSIGN(outputs, run_kernel(*where.library, where.device.type(), op, std::move(inputs), context));
      return {};
    });
    TROUPE_RETURN_IF_FAILED(wait_for(where, done));
    return outputs;
  }
  Feeds feeds;
  for (size_t i = 0; i < inputs.size(); ++i) feeds.emplace_back(op.sources[i], std::move(inputs[i]));
  std::vector<Output> fetches;
  for (uint32_t i = 0; i < op.results(); ++i)
    if (!is_local(op.node().output_types[i].dtype)) fetches.push_back({op.id, i});
  if (fetches.empty()) fetches.push_back({op.id, Output::control});
  return LocalRuntime(where.library, where.device, where.advance).run(op.graph, feeds, fetches);
}

/// The relative error that a kernel of another device may have. In a product, the roundings of all factors add up.
double tolerance_of(const std::string& op, DType dtype) {
  if (op == "Prod" && dtype == DType::Float) return 1e-4;
  switch (dtype) {
    case DType::Double: return 1e-11;
    case DType::Half: return 4e-3;
    case DType::BFloat16: return 3e-2;
    default: return 3e-5;
  }
}

bool is_inexact(DType dtype) {
  return dtype == DType::Float || dtype == DType::Double || dtype == DType::Half || dtype == DType::BFloat16;
}

/// Returns the largest difference of two floating-point tensors over the largest number; infinity if one has a NaN or an
/// infinity where the other has none.
double difference_of(const Tensor& a, const Tensor& b) {
  const Tensor left = converted(a, DType::Double), right = converted(b, DType::Double);
  double largest = 1e-30, difference = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    const double x = left.as<double>()[static_cast<size_t>(i)],
                 y = right.as<double>()[static_cast<size_t>(i)];
    if (std::isfinite(x) && std::isfinite(y)) {
      largest = std::max(largest, std::max(std::abs(x), std::abs(y)));
      difference = std::max(difference, std::abs(x - y));
    } else if (!(x == y || (std::isnan(x) && std::isnan(y)))) {
      return INFINITY;
    }
  }
  return difference / std::max(largest, 1e-6);
}

void check_close(const OpCase& sample, const char* where, const Result<std::vector<Tensor>>& got,
                 const std::vector<Tensor>& expected) {
  BOOST_TEST_REQUIRE(got.ok(), sample.op << " " << where << ": " << got.status().message());
  BOOST_TEST_REQUIRE(got->size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const Tensor &there = (*got)[i], &here = expected[i];
    BOOST_TEST_REQUIRE(there.signature() == here.signature(), sample.op << " " << where << ": output " << i);
    const bool same = is_inexact(here.dtype())
                          ? difference_of(there, here) <= tolerance_of(sample.op, here.dtype())
                          : identical(there, here);
    BOOST_TEST(same, sample.op << " " << where << ": output " << i << " is " << text_of(there)
                               << ", on a CPU " << text_of(here));
  }
}

/// Returns whether a kernel of GPUs refuses with this text. If the device has found a wrong index, the kernel does not say where it
/// is, nor the other indices of a position.
bool says(std::string_view message, std::string_view text) {
  if (message.find(text) != std::string_view::npos) return true;
  for (const std::string_view part : {" = ", "is outside"}) {
    const size_t at = text.find(part);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = part == " = " ? text.substr(at) : part;
    if (message.find(rest) != std::string_view::npos) return true;
  }
  return false;
}

bool has_gpu_kernel(const OpCase& sample) {
  if (gpu_library()->kernels.of(sample.op).empty()) return false;
  const auto op = SingleOp::make(sample.op, sample.inputs, sample.attrs, Known::Nothing);
  if (!op) return false;
  const auto kernel = gpu_library()->kernels.find(op->node(), "GPU");
  return kernel.ok() && (*kernel)->device_type == "GPU";
}

}  // namespace

Result<std::vector<Tensor>> run_kernel(const OpLibrary& library, std::string_view device_type,
                                       const SingleOp& op, std::vector<Tensor> inputs,
                                       DeviceContext& device) {
  TROUPE_ASSIGN(const KernelDef* const def, library.kernels.find(op.node(), device_type));
  TROUPE_ASSIGN(const auto kernel, def->prepare({op.graph, op.node(), device}));
  std::vector<Slot> slots;
  for (Tensor& input : inputs) slots.push_back(Slot::of(std::move(input)));
  inputs.clear();
  std::vector<Tensor> outputs(op.results());
  const StepInfo step;
  KernelContext context(op.node(), slots.data(), slots.size(), outputs.data(), device, step, 0);
  TROUPE_RETURN_IF_FAILED(kernel->run(context));
  return outputs;
}

Result<std::vector<Tensor>> run_on_device(const OpDevice& where, const OpCase& sample) {
  InlinePool pool;
  CpuDevice host(name_of("CPU", 0), 1, pool);
  TROUPE_ASSIGN(const SingleOp op, SingleOp::make(sample.op, sample.inputs, sample.attrs, Known::Nothing));
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const bool on_host = in_host_memory(op.node(), i, true) || is_local(sample.inputs[i].dtype());
    TROUPE_ASSIGN(inputs.emplace_back(),
                  on_host ? sample.inputs[i].copy() : transfer(sample.inputs[i], host, where.device));
  }
  TROUPE_ASSIGN(auto outputs, run_op_there(where, op, std::move(inputs)));
  for (Tensor& output : outputs) {
    TROUPE_ASSIGN(output, transfer(output, where.device, host));
    TROUPE_RETURN_IF_FAILED(wait_for(where, output.completion()));
  }
  return outputs;
}

Result<std::vector<Tensor>> run_delayed(const std::shared_ptr<const OpLibrary>& library,
                                        const std::string& device_type, const OpCase& sample) {
  InlinePool pool;
  DelayedDevice device(name_of(device_type, 1), pool,
                       {.drive = DelayedDevice::Drive::Manual, .kernel_type = device_type, .guarded = true});
  TROUPE_ASSIGN(auto outputs, run_on_device({library, device, [&] { device.advance(); }}, sample));
  TROUPE_RETURN_IF_FAILED(device.check_memory());
  return outputs;
}

void check_on_gpu(const OpCase& sample, const std::vector<Tensor>& expected) {
  if (!has_gpu_kernel(sample)) return;
  BOOST_TEST_CHECKPOINT(sample.op << " by the kernel of GPUs");
  check_close(sample, "by the kernel of GPUs on the host", run_delayed(gpu_library(), "GPU", sample),
              expected);
  if (Device* const gpu = test_gpu())
    check_close(sample, "on a GPU", run_on_device({gpu_library(), *gpu, {}}, sample), expected);
}

void check_refused_on_gpu(const BadCase& bad) {
  if (!has_gpu_kernel(bad.sample)) return;
  const auto check = [&](const char* where, const Status& refused) {
    BOOST_TEST(says(refused.message(), bad.text), bad.sample.op << " " << where << ": '" << refused.message()
                                                                << "' does not say '" << bad.text << "'");
  };
  check("by the kernel of GPUs on the host", run_delayed(gpu_library(), "GPU", bad.sample).status());
  if (Device* const gpu = test_gpu())
    check("on a GPU", run_on_device({gpu_library(), *gpu, {}}, bad.sample).status());
}

}  // namespace troupe::test
