#include "devices/transfer.h"

#include <boost/test/unit_test.hpp>

#include "devices/cpu_device.h"
#include "tests/support/delayed_device.h"

namespace troupe::transfer_test {
namespace {

BOOST_AUTO_TEST_SUITE(transfer)

DeviceName device_name(const std::string& device) {
  return value_or_throw(DeviceName::parse("/job:worker/replica:0/task:0/device:" + device));
}

struct Fixture {
  InlinePool pool;
  CpuDevice cpu{device_name("CPU:0"), 1, pool, Arena::Options{.cap = 64 << 20}};
  CpuDevice other_cpu{device_name("CPU:1"), 2, pool, Arena::Options{.cap = 64 << 20}};
  DelayedDevice first{device_name("DELAYED:0"), pool, {.drive = DelayedDevice::Drive::Manual, .ordinal = 1}};
  DelayedDevice second{device_name("DELAYED:1"),
                       pool,
                       {.drive = DelayedDevice::Drive::Manual, .ordinal = 2, .memory_cap = 1000}};
  const Tensor values = Tensor::vector<float>({1, 2, 3});

  // host -> first, after its work was executed
  Tensor on_first() {
    Tensor tensor = value_or_throw(troupe::transfer(values, cpu, first));
    BOOST_TEST(first.wait(tensor.completion()).ok());
    return tensor;
  }
};

BOOST_FIXTURE_TEST_CASE(shares_what_already_lies_there, Fixture) {
  BOOST_TEST(value_or_throw(troupe::transfer(values, cpu, other_cpu)).shares_buffer_with(values));
  const Tensor words = Tensor::vector<std::string>({"a"});
  BOOST_TEST(value_or_throw(troupe::transfer(words, cpu, other_cpu)).shares_buffer_with(words));
  const Tensor there = on_first();
  BOOST_TEST(value_or_throw(troupe::transfer(there, first, first)).shares_buffer_with(there));
}

BOOST_FIXTURE_TEST_CASE(host_to_device_and_back, Fixture) {
  const Tensor there = value_or_throw(troupe::transfer(values, cpu, first));
  BOOST_TEST((there.memory() == MemoryKind::Device));
  BOOST_TEST(first.holds(there));
  BOOST_TEST(!there.completion().ready());
  BOOST_TEST(!identical(there, values));  // the copy has not been executed yet
  const Tensor back = value_or_throw(troupe::transfer(there, first, cpu));  // waits for the first copy
  BOOST_TEST((back.memory() == MemoryKind::Host));
  BOOST_TEST(first.wait(back.completion()).ok());
  BOOST_TEST(identical(back, values));
  BOOST_TEST(cpu.memory_statistics().in_use > 0u);
}

BOOST_FIXTURE_TEST_CASE(a_tensor_on_its_host_side_needs_no_help_of_its_device, Fixture) {
  // `first` made it in host memory, as kernels do with shapes.
  const Tensor shape = value_or_throw(Tensor::allocate(i32, Shape::vector(2), first.context().host_memory()));
  BOOST_TEST(value_or_throw(troupe::transfer(shape, first, cpu)).shares_buffer_with(shape));
}

BOOST_FIXTURE_TEST_CASE(device_to_device_goes_by_way_of_the_host, Fixture) {
  const Tensor there = on_first();
  const Tensor across = value_or_throw(troupe::transfer(there, first, second));
  BOOST_TEST(second.holds(across));
  BOOST_TEST(second.advance() == 0u);  // its copy waits for the copy on `first`
  BOOST_TEST(first.advance() == 1u);
  BOOST_TEST(second.advance() == 1u);
  BOOST_TEST((across.completion().ready() && across.completion().status().ok()));
  const Tensor back = value_or_throw(troupe::transfer(across, second, cpu));
  BOOST_TEST(second.wait(back.completion()).ok());
  BOOST_TEST(identical(back, values));
}

BOOST_FIXTURE_TEST_CASE(a_failed_tensor_fails_on_the_other_side_too, Fixture) {
  Tensor failing = values;
  const auto made = Completion::pending();
  failing.set_completion(made);
  const Tensor there = value_or_throw(troupe::transfer(failing, cpu, first));
  made.complete(aborted("the producer"));
  BOOST_TEST((first.wait(there.completion()).code() == Code::Aborted));
  BOOST_TEST((troupe::transfer(failing, cpu, second).ok()));  // it fails when the copy runs
  BOOST_TEST(second.advance() == 1u);
}

BOOST_FIXTURE_TEST_CASE(strings_cannot_leave_the_host, Fixture) {
  const auto words = troupe::transfer(Tensor::vector<std::string>({"a", "b"}), cpu, first);
  BOOST_TEST(
      words.status().message() ==
      "InvalidArgument: on /job:worker/replica:0/task:0/device:DELAYED:0: Non-DMA-safe: string[2] cannot "
      "be copied to or from a device");
}

BOOST_FIXTURE_TEST_CASE(says_when_the_destination_is_full, Fixture) {
  const Tensor large = Tensor::vector<uint8_t>(std::vector<uint8_t>(1001));
  BOOST_TEST((troupe::transfer(large, cpu, second).status().code() == Code::ResourceExhausted));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::transfer_test
