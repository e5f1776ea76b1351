#include "actors/engine/control_thread.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio.hpp>

#include "devices/held_place.h"
#include "devices/spin_lock.h"

namespace troupe {
namespace {

namespace asio = boost::asio;

using namespace std::chrono_literals;

using Done = std::function<bool()>;

/// How long a thread looks for work before it sleeps. Waking a thread of another core takes 25 us or more (bench/README.md), and an
/// answer needs two of these.
constexpr std::chrono::microseconds spin_time{60};
/// The control thread looks this often whether guests still come.
constexpr auto min_guest_pause = 200us, max_guest_pause = 2000us;
constexpr int max_spin_luck = 4;
constexpr unsigned spin_again = 32;  ///< without luck, it spins one time in so many

std::chrono::steady_clock::time_point at(int64_t nanoseconds) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(nanoseconds));
}

/// While all processors are busy, this thread gets a tenth of the time that another one gets.
constexpr int background_nice = 10;

/// Moves this thread behind the others. If the system refuses, the thread stays as it is.
void move_to_background() {
  const sched_param none{};
  (void)::sched_setscheduler(0, SCHED_BATCH, &none);
  const auto thread = static_cast<id_t>(::gettid());
  (void)::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + background_nice);
}

}  // namespace

struct ControlThread::Impl {
  explicit Impl(Pool& p) : pool(p) {}

  template <class Function>
  bool any_polled(const Function& function);
  bool is_polling() {
    return any_polled([](Polled& one) { return one.is_active(); });
  }
  bool run_one(const Done& done = {}, int64_t deadline = 0);
  bool find_work(const Done& done);
  void serve(Unit& unit);
  void make_way(std::unique_lock<std::mutex>& role);
  bool serve_as_guest(ControlThread& owner, const Done& done, int64_t deadline);
  void leave();

  Pool& pool;
  std::vector<std::weak_ptr<Polled>> polled;  ///< used on the control thread only
  const bool several_cores = std::thread::hardware_concurrency() > 1;
  /// Grows when work is found by spinning, and shrinks when none is. At 0 the control thread rests: it seldom spins.
  int spin_luck = max_spin_luck;
  unsigned rests = 0;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
  std::thread thread;

  /// Held by the thread that runs the handlers: the control thread, or a guest. A guest is a thread that waits, and meanwhile takes
  /// over the work of the control thread, so that what it waits for needs no switch of threads.
  std::mutex role;
  std::atomic<int> guests{0};        ///< that have the role or want it: 0 or 1
  std::atomic<uint64_t> visits{0};   ///< of guests that have ended
  std::atomic<bool> polling{false};  ///< whether something active is polled
  std::atomic<bool> guest_sleeps{false};
  std::atomic<bool> ending{false};

  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<int> sleeping{0};

  std::once_flag files_needed, background_needed;
  std::optional<asio::thread_pool> files, background;

  // The timers are used on the control thread only, the counter on any thread.
  std::unordered_map<TimerId, std::unique_ptr<asio::steady_timer>> timers;
  std::atomic<TimerId> last_timer{0};
};

ControlThread::ControlThread(Pool& pool) : impl_(std::make_unique<Impl>(pool)) {
  impl_->thread = std::thread([this] {
    Unit unit(*this, Unit::Computes::No);  // the unit of all handlers: of sockets, timers and jobs
    impl_->serve(unit);
  });
}

/// Calls the function for each Polled that still exists. Returns whether one of the calls returned true.
template <class Function>
bool ControlThread::Impl::any_polled(const Function& function) {
  bool any = false;
  for (const auto& weak : polled)
    if (const auto one = weak.lock()) any |= function(*one);
  return any;
}

/// Runs a handler, or does other work that has been found. Returns false when the io_context has been stopped. With `done`, returns
/// also when that is true, or at the deadline.
bool ControlThread::Impl::run_one(const Done& done, int64_t deadline) {
  polling.store(is_polling(), std::memory_order_relaxed);
  if (polling && (io.poll_one() != 0 || find_work(done))) return true;
  if (!done) return io.run_one() != 0;
  // Either wake() sees that this thread sleeps, or this thread sees that `done` has become true.
  guest_sleeps.store(true);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!done()) deadline == 0 ? io.run_one() : io.run_one_until(at(deadline));
  guest_sleeps.store(false);
  return !io.stopped();
}

/// The control thread: runs handlers unless a guest does.
void ControlThread::Impl::serve(Unit& unit) {
  std::unique_lock held(role);
  while (!ending) {
    if (guests.load() != 0) {
      make_way(held);
    } else if (run_one()) {
      unit.run();
    } else {
      return;
    }
  }
}

/// Leaves the role to guests until there have been none for some time: those who come often find it free.
void ControlThread::Impl::make_way(std::unique_lock<std::mutex>& held) {
  held.unlock();
  auto pause = min_guest_pause;
  for (uint64_t seen = visits; !ending;) {
    {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, pause, [&] { return ending || (sleeping.load() != 0 && guests.load() == 0); });
    }
    const bool same = std::exchange(seen, visits.load()) == seen;
    if (guests.load() == 0 && (same || sleeping.load() != 0)) break;
    pause = same ? std::min(2 * pause, max_guest_pause) : min_guest_pause;
  }
  held.lock();
}

/// Takes over the work of the control thread until done() is true or the deadline has passed. Returns false if another guest does
/// that. The computations that result run on this thread, too, but without the role: if one takes long, the control thread comes
/// back.
bool ControlThread::Impl::serve_as_guest(ControlThread& owner, const Done& done, int64_t deadline) {
  Unit unit(owner);
  const auto over = [&] { return done() || (deadline != 0 && owner.now() >= deadline); };
  while (!over() && !ending) {
    int none = 0;
    if (!polling.load(std::memory_order_relaxed) || !guests.compare_exchange_strong(none, 1)) return false;
    {
      std::unique_lock held(role, std::try_to_lock);
      if (!held) {
        asio::post(io, [] {});  // the control thread may sleep
        held.lock();
      }
      while (unit.idle() && !over() && run_one(over, deadline)) unit.run_actors();
    }
    leave();
    unit.run_until(over);
  }
  return true;
}

/// Ends the visit of a guest. If others wait for what only the control thread may do now, it comes back at once.
void ControlThread::Impl::leave() {
  visits.fetch_add(1);
  guests.store(0);
  if (sleeping.load() == 0) return;
  const std::lock_guard lock(mutex);
  changed.notify_all();
}

/// Looks for work for some time, unless that was in vain lately. Returns true if there is some, or some was done.
bool ControlThread::Impl::find_work(const Done& done) {
  const bool spins = several_cores && (spin_luck > 0 || ++rests % spin_again == 0);
  const auto end = std::chrono::steady_clock::now() + (spins ? spin_time : 0us);
  bool spun = false;
  do {
    if (any_polled([](Polled& one) { return one.poll(); }) || io.poll_one() != 0) {
      if (spun && spins) spin_luck = std::min(spin_luck + 1, max_spin_luck);
      return true;
    }
    spun = true;
    if (done && done()) return true;
    for (int i = 0; i < 16; ++i) cpu_relax();
  } while (std::chrono::steady_clock::now() < end);
  if (spins) spin_luck = std::max(spin_luck - 2, 0);
  return any_polled([](Polled& one) { return !one.sleep(); });
}

void ControlThread::add(std::weak_ptr<Polled> one) {
  asio::post(impl_->io, [impl = impl_.get(), one = std::move(one)] {
    std::erase_if(impl->polled, [](const auto& other) { return other.expired(); });
    impl->polled.push_back(one);
  });
}

ControlThread::~ControlThread() {
  if (impl_->files) impl_->files->join();
  if (impl_->background) impl_->background->join();
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->ending = true;
  }
  impl_->changed.notify_all();
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

void ControlThread::block_in_background(Job job) {
  std::call_once(impl_->background_needed, [this] {
    impl_->background.emplace(1);
    asio::post(*impl_->background, move_to_background);
  });
  asio::post(*impl_->background, job);
}

bool ControlThread::wait(const std::function<bool()>& done, int64_t deadline) {
  Unit* unit = Unit::current(*this);
  if (unit) unit->run_until([&] { return done() || (deadline != 0 && now() >= deadline); });
  if (done()) return true;
  const LentPlaces lent;
  Unit::hand_over_all();  // also what has got a place now
  if (impl_->serve_as_guest(*this, done, deadline)) return done();
  const auto spin_until = std::chrono::steady_clock::now() + spin_time;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= spin_until) break;
    for (int i = 0; i < 32 && !done(); ++i) cpu_relax();
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
  if (impl_->guest_sleeps.load()) asio::post(impl_->io, [] {});
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
