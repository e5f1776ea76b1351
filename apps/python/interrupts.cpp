#include "apps/python/interrupts.h"

#include <pybind11/pybind11.h>
#include <semaphore.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>

#include "apps/python/forks.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// What the handler may touch: lock-free atomics and a semaphore.
std::atomic<bool> interrupted{false};
std::atomic<struct sigaction*> next_handler{nullptr};
sem_t wake;  // posted by the handler, and when waiting begins while the watcher sleeps

void on_interrupt(int signal, siginfo_t* info, void* context) {
  interrupted.store(true);
  const int error = errno;
  sem_post(&wake);
  errno = error;
  const struct sigaction* const next = next_handler.load();
  if (next->sa_flags & SA_SIGINFO)
    next->sa_sigaction(signal, info, context);
  else
    next->sa_handler(signal);
}

/// Puts the handler in front of the present one, unless SIGINT is ignored or ends the process. Former entries are leaked, because a
/// running handler may use them.
void install_handler() {
  struct sigaction present {};
  if (sigaction(SIGINT, nullptr, &present) != 0) return;
  const bool is_ours = (present.sa_flags & SA_SIGINFO) && present.sa_sigaction == on_interrupt;
  const bool calls_nothing = present.sa_handler == SIG_DFL || present.sa_handler == SIG_IGN;
  if (is_ours || calls_nothing) return;
  next_handler.store(new struct sigaction(present));
  struct sigaction ours = present;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = on_interrupt;
  sigaction(SIGINT, &ours, nullptr);
}

/// The thread that cancels. It exists from the first wait of the main thread on, until the process ends.
class Watcher {
 public:
  /// A process that was forked gets a watcher of its own.
  static Watcher& get() {
    static auto* watcher = new Watcher;
    if (watcher->forks_ != forks_so_far()) watcher = new Watcher;
    return *watcher;
  }

  /// Returns what was waited for before.
  Cancellation* begin(Cancellation* cancellation) {
    Cancellation* outer = nullptr;
    {
      const std::lock_guard lock(mutex_);
      outer = std::exchange(waiting_, cancellation);
    }
    used_.store(true, std::memory_order_relaxed);
    if (asleep_.load()) sem_post(&wake);
    return outer;
  }
  void end(Cancellation* outer) {
    const std::lock_guard lock(mutex_);
    waiting_ = outer;
  }

 private:
  Watcher() {
    sem_init(&wake, 0, 0);
    install_handler();
    std::thread([this] { watch(); }).detach();
  }

  [[noreturn]] void watch() {
    for (;;) {
      const bool sleeps = !used_.exchange(false) && !is_waiting();
      if (sleeps) {
        asleep_.store(true);
        while (sem_wait(&wake) != 0) {
        }
        asleep_.store(false);
      } else {
        wait_a_moment();
      }
      install_handler();
      if (interrupted.exchange(false)) cancel();
    }
  }

  static void wait_a_moment() {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50'000'000;
    until.tv_sec += until.tv_nsec / 1'000'000'000;
    until.tv_nsec %= 1'000'000'000;
    (void)sem_timedwait(&wake, &until);
  }

  bool is_waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_ != nullptr;
  }
  void cancel() {
    const std::lock_guard lock(mutex_);
    if (waiting_) waiting_->cancel();
  }

  const uint64_t forks_ = forks_so_far();
  std::mutex mutex_;
  Cancellation* waiting_ = nullptr;
  std::atomic<bool> used_{true}, asleep_{false};
};

}  // namespace

CancelOnInterrupt::CancelOnInterrupt(Cancellation* cancellation) : active_(on_main_thread()) {
  if (active_) outer_ = Watcher::get().begin(cancellation);
}

CancelOnInterrupt::~CancelOnInterrupt() {
  if (active_) Watcher::get().end(outer_);
}

bool on_main_thread() {
  // Guarded by the GIL, which an initializer that runs Python would lend to other threads.
  static unsigned long main = 0;
  if (main == 0)
    main = py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
  return PyThread_get_thread_ident() == main;
}

Cancellation& main_cancellation() {
  static auto* current = new std::unique_ptr<Cancellation>(std::make_unique<Cancellation>());
  if ((*current)->cancelled()) *current = std::make_unique<Cancellation>();
  return **current;
}

void raise_signals() {
  if (PyErr_CheckSignals() == 0) return;
  interrupted.store(false);  // or it would cancel what the program does next
  throw py::error_already_set();
}

void raise_signals_if_cancelled(const Error& error) {
  if (error.status().code() == Code::Cancelled) raise_signals();
}

}  // namespace troupe::python
