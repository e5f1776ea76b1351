#include "actors/engine/control_thread.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio.hpp>

namespace troupe {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::microseconds spin_time{20};

std::chrono::steady_clock::time_point at(int64_t nanoseconds) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(nanoseconds));
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct ControlThread::Impl {
  explicit Impl(Pool& p) : pool(p) {}

  Pool& pool;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
  std::thread thread;

  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<int> sleeping{0};

  std::once_flag files_needed;
  std::optional<asio::thread_pool> files;

  // The timers are used on the control thread only, the counter on any thread.
  std::unordered_map<TimerId, std::unique_ptr<asio::steady_timer>> timers;
  std::atomic<TimerId> last_timer{0};
};

ControlThread::ControlThread(Pool& pool) : impl_(std::make_unique<Impl>(pool)) {
  impl_->thread = std::thread([this] {
    Unit unit(*this, Unit::Computes::No);  // the unit of all handlers: of sockets, timers and jobs
    while (impl_->io.run_one() != 0) unit.run();
  });
}

ControlThread::~ControlThread() {
  if (impl_->files) impl_->files->join();
  impl_->io.stop();
  impl_->thread.join();
}

void ControlThread::enqueue(Job job) { asio::post(impl_->io, job); }

void ControlThread::compute(Job job) {
  impl_->pool.submit([this, job] {
    Unit unit(*this);
    unit.push_computation(job, Computation::Yields);
    unit.run();
  });
}

bool ControlThread::try_compute(std::function<void()> computation) {
  return impl_->pool.try_submit([this, computation = std::move(computation)] {
    Unit unit(*this);
    computation();
    unit.run();
  });
}

void ControlThread::block(Job job) {
  std::call_once(impl_->files_needed, [this] { impl_->files.emplace(1); });
  asio::post(*impl_->files, job);
}

bool ControlThread::wait(const std::function<bool()>& done, int64_t deadline) {
  Unit* unit = Unit::current(*this);
  if (unit) unit->run_until([&] { return done() || (deadline != 0 && now() >= deadline); });
  const auto spin_until = std::chrono::steady_clock::now() + spin_time;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= spin_until) break;
    for (int i = 0; i < 32 && !done(); ++i) pause();
  }
  if (done()) return true;
  std::unique_lock lock(impl_->mutex);
  // The fences here and in wake() are sequentially consistent: either wake() sees that this thread sleeps, or this thread sees that
  // `done` has become true.
  impl_->sleeping.fetch_add(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  bool result = true;
  if (deadline == 0)
    impl_->changed.wait(lock, done);
  else
    result = impl_->changed.wait_until(lock, at(deadline), done);
  impl_->sleeping.fetch_sub(1);
  return result;
}

void ControlThread::wake() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (impl_->sleeping.load() == 0) return;
  const std::lock_guard lock(impl_->mutex);
  impl_->changed.notify_all();
}

int64_t ControlThread::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

TimerId ControlThread::call_at(int64_t time, std::function<void()> function) {
  const TimerId id = ++impl_->last_timer;
  asio::post(impl_->io, [this, id, time, function = std::move(function)]() mutable {
    auto& timer = impl_->timers[id] = std::make_unique<asio::steady_timer>(impl_->io, at(time));
    timer->async_wait([this, id, function = std::move(function)](const boost::system::error_code& error) {
      impl_->timers.erase(id);
      if (!error) function();
    });
  });
  return id;
}

void ControlThread::cancel(TimerId id) {
  asio::post(impl_->io, [this, id] { impl_->timers.erase(id); });
}

asio::io_context& ControlThread::io() { return impl_->io; }

}  // namespace troupe
