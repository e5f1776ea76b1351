#include "devices/cpu_device.h"

#include <boost/test/unit_test.hpp>

#include <numeric>
#include <optional>

namespace troupe::cpu_device_test {
namespace {

BOOST_AUTO_TEST_SUITE(cpu_device)

constexpr size_t mebibyte = 1 << 20;

struct Fixture {
  InlinePool pool;
  CpuDevice cpu{value_or_throw(DeviceName::parse("/job:worker/replica:0/task:0/device:CPU:0")), 42, pool,
                Arena::Options{.cap = 64 * mebibyte}};

  Tensor empty(DType dtype, const Shape& shape) {
    return value_or_throw(Tensor::allocate(dtype, shape, cpu.context().memory()));
  }
};

BOOST_FIXTURE_TEST_CASE(says_what_it_is, Fixture) {
  BOOST_TEST(cpu.name().text() == "/job:worker/replica:0/task:0/device:CPU:0");
  BOOST_TEST(cpu.type() == "CPU");
  BOOST_TEST(cpu.incarnation() == 42u);
  BOOST_TEST(cpu.in_order());
  BOOST_TEST(&cpu.context().pool() == &pool);
  const Tensor tensor = empty(f32, Shape{1000, 1000});
  BOOST_TEST(cpu.holds(tensor));
  BOOST_TEST(cpu.memory_statistics().in_use == 4000000u);
  BOOST_TEST(cpu.memory_statistics().cap == 64 * mebibyte);
}

BOOST_FIXTURE_TEST_CASE(runs_work_at_once, Fixture) {
  bool ran = false;
  const Completion good = cpu.run([&](DeviceContext& context) {
    ran = &context == &cpu.context();
    return Status{};
  });
  BOOST_TEST(ran);
  BOOST_TEST((good.ready() && good.status().ok()));
  const Completion bad = cpu.run([](DeviceContext&) { return data_loss("no"); });
  BOOST_TEST((bad.ready() && bad.status().code() == Code::DataLoss));
}

BOOST_FIXTURE_TEST_CASE(copies_any_size_and_strings, Fixture) {
  for (const int64_t n : {0, 1, 1000, 100000}) {
    Tensor from = empty(i32, Shape::vector(n)), to = empty(i32, Shape::vector(n));
    auto values = from.write<int32_t>();
    std::iota(values.begin(), values.end(), 0);
    const Completion done = cpu.copy(from, to);
    BOOST_TEST((done.ready() && done.status().ok()));
    BOOST_TEST(identical(from, to));
  }
  const Tensor words = Tensor::vector<std::string>({"a", std::string("b\0c", 3), std::string(100, 'x')});
  Tensor copy = empty(DType::String, words.shape());
  BOOST_TEST(cpu.copy(words, copy).status().ok());
  BOOST_TEST(identical(words, copy));
}

BOOST_FIXTURE_TEST_CASE(copies_when_the_source_is_ready, Fixture) {
  for (const int64_t n : {10, 100000}) {  // the pool copies the larger one
    Tensor from = empty(i32, Shape::vector(n)), to = empty(i32, Shape::vector(n));
    const auto made = Completion::pending();
    from.set_completion(made);
    const Completion done = cpu.copy(from, to);
    BOOST_TEST(!done.ready());
    std::fill(from.write<int32_t>().begin(), from.write<int32_t>().end(), 5);
    made.complete({});
    pool.run_pending();
    BOOST_TEST(done.ready());
    BOOST_TEST(to.as<int32_t>().back() == 5);
  }
}

BOOST_FIXTURE_TEST_CASE(a_copy_fails_as_its_source_did, Fixture) {
  Tensor from = empty(i32, Shape::vector(3)), to = empty(i32, Shape::vector(3));
  const auto made = Completion::pending();
  from.set_completion(made);
  const Completion early = cpu.copy(from, to);
  made.complete(aborted("the producer"));
  BOOST_TEST((early.status().code() == Code::Aborted));
  BOOST_TEST((cpu.copy(from, to).status().code() == Code::Aborted));
}

BOOST_FIXTURE_TEST_CASE(refuses_what_does_not_match, Fixture) {
  const Tensor from = empty(i32, Shape{2, 3});
  Tensor wrong = empty(i32, Shape{3, 2});
  BOOST_TEST(cpu.copy(from, wrong).status().message() ==
             "InvalidArgument: on /job:worker/replica:0/task:0/device:CPU:0: cannot copy int32[2,3] to "
             "int32[3,2]: dtype and shape must be equal");
}

BOOST_AUTO_TEST_CASE(its_tensors_outlive_it) {
  std::optional<Fixture> runtime(std::in_place);
  Tensor small = runtime->empty(f32, Shape::vector(3)), large = runtime->empty(f32, Shape::vector(100000));
  small.write<float>()[2] = 2.0f;
  large.write<float>()[99999] = 3.0f;
  runtime.reset();
  BOOST_TEST(small.as<float>()[2] == 2.0f);
  BOOST_TEST(large.as<float>()[99999] == 3.0f);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::cpu_device_test
