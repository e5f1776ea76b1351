#include "tests/support/delayed_device.h"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <optional>
#include <thread>

#include "devices/transfer.h"

namespace troupe::delayed_device_test {
namespace {

BOOST_AUTO_TEST_SUITE(delayed_device)

using Drive = DelayedDevice::Drive;

struct Fixture {
  InlinePool pool;
  const DeviceName name = value_or_throw(DeviceName::parse("/job:worker/replica:0/task:0/device:DELAYED:0"));
  std::optional<DelayedDevice> device;

  explicit Fixture(Drive drive = Drive::Manual) {
    device.emplace(name, pool, DelayedDevice::Options{.drive = drive});
  }
  BufferRef get(size_t bytes) { return value_or_throw(device->context().memory().allocate(bytes)); }
};

BOOST_FIXTURE_TEST_CASE(its_memory_is_its_own, Fixture) {
  const BufferRef buffer = get(100);
  BOOST_TEST((buffer->kind == MemoryKind::Device));
  BOOST_TEST(buffer->device == device->ordinal());
  BOOST_TEST((buffer->data[0] == DelayedDevice::poison));  // not yet written
  BOOST_TEST(device->memory_statistics().in_use == 100u);
  BOOST_TEST((device->context().host_memory().allocate(1).value()->kind == MemoryKind::Host));
  BOOST_TEST(device->type() == "CPU");
  BOOST_TEST(!device->in_order());
}

BOOST_FIXTURE_TEST_CASE(executes_in_the_order_of_issue_and_only_when_told, Fixture) {
  std::vector<int> order;
  std::vector<Completion> done;
  for (int i = 0; i < 4; ++i)
    done.push_back(device->run([&order, i](DeviceContext&) {
      order.push_back(i);
      return i == 2 ? out_of_range("two") : Status{};
    }));
  BOOST_TEST(order.empty());
  BOOST_TEST(device->advance(1) == 1u);
  BOOST_TEST(done[0].ready());
  BOOST_TEST(!done[1].ready());
  BOOST_TEST((device->wait(done[2]).code() == Code::OutOfRange));
  BOOST_TEST((order == std::vector<int>{0, 1, 2}));
  BOOST_TEST(device->advance() == 1u);
  BOOST_TEST(device->advance() == 0u);
  BOOST_TEST((device->wait(Completion::pending()).code() == Code::FailedPrecondition));
}

BOOST_FIXTURE_TEST_CASE(what_is_issued_behind_a_waiting_copy_waits_too, Fixture) {
  Tensor from = Tensor::vector<int32_t>({1, 2, 3});
  const auto made = Completion::pending();
  from.set_completion(made);
  Tensor to = value_or_throw(Tensor::allocate(i32, from.shape(), device->context().memory()));
  const Completion copied = device->copy(from, to);
  int32_t seen = 0;
  const Completion read = device->run([&](DeviceContext&) {
    seen = to.as<int32_t>()[2];
    return Status{};
  });
  BOOST_TEST(device->advance() == 0u);
  made.complete({});
  BOOST_TEST(device->advance() == 2u);
  BOOST_TEST((copied.ready() && read.ready()));
  BOOST_TEST(seen == 3);
}

BOOST_FIXTURE_TEST_CASE(a_copy_keeps_both_tensors_alive_until_it_is_done, Fixture) {
  Completion done;
  {
    const Tensor from = Tensor::vector<int32_t>({1, 2, 3});
    Tensor to = value_or_throw(Tensor::allocate(i32, from.shape(), device->context().memory()));
    done = device->copy(from, to);
  }
  BOOST_TEST(device->memory_statistics().in_use == 12u);
  BOOST_TEST(device->wait(done).ok());
  BOOST_TEST(device->memory_statistics().in_use == 0u);
}

BOOST_FIXTURE_TEST_CASE(released_memory_is_poisoned_and_kept_aside, Fixture) {
  BufferRef buffer = get(64);
  std::byte* const data = buffer->data;
  std::memset(data, 1, 64);
  buffer = {};
  BOOST_TEST((data[0] == DelayedDevice::poison));
  BOOST_TEST(get(64)->data != data);
  BOOST_TEST(device->check_memory().ok());
  data[10] = std::byte{0};
  BOOST_TEST(device->check_memory().text() == "a device buffer of 64 bytes was written after its release");
}

BOOST_FIXTURE_TEST_CASE(finds_what_is_written_past_the_end, Fixture) {
  BufferRef buffer = get(10);
  buffer->data[10] = std::byte{0};
  buffer = {};
  BOOST_TEST(device->check_memory().text() == "a device buffer of 10 bytes was written past its end");
}

BOOST_FIXTURE_TEST_CASE(memory_kept_aside_is_bounded_and_does_not_count, Fixture) {
  for (int i = 0; i < 40; ++i) get(1 << 20);
  const MemoryStatistics statistics = device->memory_statistics();
  BOOST_TEST(statistics.in_use == 0u);
  BOOST_TEST(statistics.peak == 1u << 20);
  BOOST_TEST(statistics.allocations == 40u);
  BOOST_TEST(statistics.reserved <= 16u << 20);
  BOOST_TEST(device->check_memory().ok());
}

BOOST_FIXTURE_TEST_CASE(what_was_issued_is_executed_before_it_ends_and_what_still_waits_is_cancelled,
                        Fixture) {
  Tensor never = Tensor::scalar(1.0f);
  never.set_completion(Completion::pending());
  const auto to = [&] { return value_or_throw(Tensor::allocate(f32, Shape{}, device->context().memory())); };
  Tensor first = to(), second = to();
  const Completion good = device->copy(Tensor::scalar(2.0f), first);
  const Completion stuck = device->copy(never, second);
  const Completion behind = device->run([](DeviceContext&) { return Status{}; });
  device.reset();
  BOOST_TEST((good.ready() && good.status().ok()));
  BOOST_TEST((stuck.ready() && stuck.status().code() == Code::Cancelled));
  BOOST_TEST((behind.ready() && behind.status().ok()));
  BOOST_TEST(first.as<float>()[0] == 2.0f);  // buffers outlive their device
  never.completion().complete({});           // after the device has ended
}

BOOST_AUTO_TEST_CASE(a_thread_of_its_own_executes_what_many_issue) {
  Fixture fixture(Drive::Thread);
  DelayedDevice& device = *fixture.device;
  Tensor sum = value_or_throw(Tensor::allocate(i64, Shape{}, device.context().memory()));
  device.run([&](DeviceContext&) {
    sum.write<int64_t>()[0] = 0;
    return Status{};
  });
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          Completion done = device.run([&](DeviceContext&) {
            sum.write<int64_t>()[0] += 1;  // no atomics are needed, because work runs one piece at a time
            return Status{};
          });
          if (i % 100 == 99) (void)device.wait(done);
        }
      });
  }
  Tensor total = Tensor::scalar(int64_t{0});
  BOOST_TEST(device.wait(device.copy(sum, total)).ok());
  BOOST_TEST(total.as<int64_t>()[0] == 2000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::delayed_device_test
