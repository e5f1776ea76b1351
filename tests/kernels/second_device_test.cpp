// Tests of a second type of device: it has its own compute functions for a few ops and uses the checks that those ops already
// have. Only work on the device may access its memory, so a check that read elements would end the process.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "devices/transfer.h"
#include "kernels/constructors.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops/array/gather.h"
#include "kernels/ops/array/unique.h"
#include "kernels/ops/math/matmul.h"
#include "tests/support/delayed_device.h"
#include "tests/support/net/local_host.h"
#include "tests/support/ops/op_library.h"

namespace troupe::test::second_device_test {
namespace {

constexpr const char* type = "DELAYED";

// ---- Simple compute functions for floats, and for int32 where the elements are numbers of rows

Status multiply(const MatMulArguments& arguments, DeviceContext&) {
  if (arguments.transpose_a || arguments.transpose_b) return unimplemented("transposed");
  const auto a = arguments.a.as<float>(), b = arguments.b.as<float>();
  const auto rows = static_cast<size_t>(arguments.a.shape()[0]),
             inner = static_cast<size_t>(arguments.a.shape()[1]),
             columns = static_cast<size_t>(arguments.b.shape()[1]);
  const auto product = arguments.product.write<float>();
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      product[i * columns + j] = 0;
      for (size_t k = 0; k < inner; ++k) product[i * columns + j] += a[i * inner + k] * b[k * columns + j];
    }
  return {};
}

void add_floats(const BinaryArguments& arguments, DeviceContext&) {
  const auto* const a = reinterpret_cast<const float*>(arguments.a);
  const auto* const b = reinterpret_cast<const float*>(arguments.b);
  auto* const out = reinterpret_cast<float*>(arguments.out);
  if (!arguments.broadcast) {
    for (size_t i = 0; i < arguments.n; ++i) out[i] = a[i] + b[i];
    return;
  }
  const auto steps = arguments.broadcast->inner().steps;
  arguments.broadcast->walk(0, arguments.n, [&](const auto& from, size_t at, size_t count) {
    for (size_t i = 0; i < count; ++i) out[at + i] = a[from[0] + i * steps[0]] + b[from[1] + i * steps[1]];
  });
}

Status gather_vector(const GatherArguments& arguments, DeviceContext&) {
  const auto params = arguments.params.as<float>();
  const auto output = arguments.output.write<float>();
  const auto indices = arguments.indices.as<int32_t>();
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto row = static_cast<size_t>(indices[i]);
    if (row >= arguments.slices.rows) return out_of_range("no row " + std::to_string(indices[i]));
    std::copy_n(&params[row * arguments.slices.row], arguments.slices.row, &output[i * arguments.slices.row]);
  }
  return {};
}

void find_kept(ListDiffArguments& arguments, DeviceContext&) {
  const auto x = arguments.x.as<float>(), y = arguments.y.as<float>();
  arguments.kept = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (std::ranges::find(y, x[i]) == y.end())
      arguments.positions.write<int32_t>()[static_cast<size_t>(arguments.kept++)] = static_cast<int32_t>(i);
}

void take_kept(const ListDiffArguments& arguments, DeviceContext&) {
  for (size_t i = 0; i < static_cast<size_t>(arguments.kept); ++i) {
    const int32_t position = arguments.positions.as<int32_t>()[i];
    arguments.out->write<float>()[i] = arguments.x.as<float>()[static_cast<size_t>(position)];
    arguments.idx->write<int32_t>()[i] = position;
  }
}

std::shared_ptr<const OpLibrary> library_for_both() {
  auto library = std::make_shared<OpLibrary>(*make_op_library());
  library->kernel(kernel_on<MatMulCheck>(type, "MatMul", multiply));
  library->kernel(kernel_on(type, "Add", BinaryCheck{}, add_floats));
  library->kernel(kernel_on(type, "Gather", check_gather, gather_vector));
  library->kernel(
      measured_kernel_on(type, "ListDiff", check_list_diff, find_kept, allocate_list_diff, take_kept));
  throw_if_failed(library->status);
  return library;
}

struct TwoDevices {
  std::shared_ptr<const OpLibrary> library = library_for_both();
  InlinePool pool;
  CpuDevice host{DeviceName{"test", 0, 0, "CPU", 0}, 1, pool};
  DelayedDevice delayed{DeviceName{"test", 0, 0, type, 0},
                        pool,
                        {.drive = DelayedDevice::Drive::Manual, .kernel_type = type, .guarded = true}};
  Graph graph{library->ops};
  const Scope scope{graph};

  Output input(const char* name, const Tensor& like) {
    return placeholder(scope.with_name(name), like.dtype(), PartialShape::of_rank(like.shape().rank()));
  }
  Result<std::vector<Tensor>> on_host(const Feeds& feeds, const std::vector<Output>& fetches) {
    return LocalRuntime(library, host).run(graph, feeds, fetches);
  }
  Result<std::vector<Tensor>> on_delayed(Feeds feeds, const std::vector<Output>& fetches) {
    for (auto& [output, value] : feeds) value = value_or_throw(transfer(value, host, delayed));
    TROUPE_ASSIGN(auto results,
                  LocalRuntime(library, delayed, [this] { delayed.advance(); }).run(graph, feeds, fetches));
    for (Tensor& result : results) {
      TROUPE_ASSIGN(result, transfer(result, delayed, host));
      TROUPE_RETURN_IF_FAILED(delayed.wait(result.completion()));
    }
    return results;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(second_device, TwoDevices)

BOOST_AUTO_TEST_CASE(computes_by_functions_of_its_own_behind_the_same_checks) {
  const Tensor a = Tensor::of<float>(Shape{2, 3}, {1, 2, 3, 4, 5, 6}),
               b = Tensor::of<float>(Shape{3, 2}, {1, 0, 0, 1, 1, 1}), c = Tensor::vector<float>({10, 7}),
               table = Tensor::vector<float>({5, 7, 5, 9}), rows = Tensor::vector<int32_t>({3, 0, 2, 1});
  const Output x = input("a", a), y = input("b", b), z = input("c", c), t = input("table", table),
               r = input("rows", rows);
  const Output sum = add(scope, matmul(scope, x, y), z);
  const NodeId kept = scope.add("ListDiff", {gather(scope, t, r), z});
  const Feeds feeds = {{x, a}, {y, b}, {z, c}, {t, table}, {r, rows}};
  const std::vector<Output> fetches = {sum, {kept, 0}, {kept, 1}};
  const auto expected = value_or_throw(on_host(feeds, fetches));
  const auto got = value_or_throw(on_delayed(feeds, fetches));
  for (size_t i = 0; i < fetches.size(); ++i) BOOST_TEST(identical(got[i], expected[i]));
  BOOST_TEST(got[1].elements() == 3);
  BOOST_TEST(delayed.check_memory().ok());
}

BOOST_AUTO_TEST_CASE(errors_are_the_same_as_on_a_cpu) {
  const Tensor a = Tensor::of<float>(Shape{1, 3}, {1, 2, 3}), b = Tensor::of<float>(Shape{2, 1}, {1, 2});
  const Output x = placeholder(scope.with_name("a"), DType::Float, {}),
               y = placeholder(scope.with_name("b"), DType::Float, {}),
               product = matmul(scope.with_name("product"), x, y);
  const auto reason = [](const Status& status) {
    const size_t at = status.message().find("a [");
    return at == std::string::npos ? status.message() : status.message().substr(at);
  };
  const Status host_says = on_host({{x, a}, {y, b}}, {product}).status(),
               delayed_says = on_delayed({{x, a}, {y, b}}, {product}).status();
  BOOST_TEST(reason(host_says) == reason(delayed_says));
  BOOST_TEST(delayed_says.message().find("inner dimensions differ") != std::string::npos);
  BOOST_TEST(delayed_says.message().find(type) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(names_what_its_functions_refuse) {
  const Tensor table = Tensor::vector<float>({5}), rows = Tensor::vector<int32_t>({1});
  const Output t = input("table", table), r = input("rows", rows);
  const Output taken = gather(scope.with_name("taken"), t, r);
  const Status refused = on_delayed({{t, table}, {r, rows}}, {taken}).status();
  BOOST_TEST(
      refused.message().find("[Gather] taken on /job:test/replica:0/task:0/device:DELAYED:0: no row 1") !=
          std::string::npos,
      refused.message());
}

BOOST_AUTO_TEST_CASE(an_op_without_a_function_of_its_own_is_refused_by_name) {
  const Tensor a = Tensor::vector<float>({1});
  const Output x = input("a", a);
  const Status refused = on_delayed({{x, a}}, {neg(scope.with_name("minus"), x)}).status();
  BOOST_TEST(refused.message().find("[Neg] minus on") != std::string::npos, refused.message());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::second_device_test
