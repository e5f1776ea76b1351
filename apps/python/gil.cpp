#include "apps/python/gil.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "apps/python/forks.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// The calls of Python that C++ makes. Atomics, and no mutex, so that a process that is forked in the middle of a call can go on.
class PythonCalls {
 public:
  static PythonCalls& get() {
    static auto* const calls = new PythonCalls;
    return *calls;
  }

  /// Returns whether a call may begin; end() must follow then. The thread that ends the interpreter may always call it.
  bool begin() {
    running_.fetch_add(1);
    if (!closed_.load() || std::this_thread::get_id() == closing_thread_) return true;
    running_.fetch_sub(1);
    return false;
  }
  void end() { running_.fetch_sub(1); }
  /// Lets no further call begin, and waits for those that run, but not for ever. Threads that a fork has not taken along are not
  /// waited for.
  void close() {
    constexpr std::chrono::milliseconds patience{10'000}, moment{1};
    closing_thread_ = std::this_thread::get_id();
    closed_.store(true);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (running_.load() > 0 && forks_ == forks_so_far() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(moment);
  }

 private:
  const uint64_t forks_ = forks_so_far();
  std::atomic<int> running_{0};
  std::atomic<bool> closed_{false};
  std::thread::id closing_thread_;  ///< written before `closed_`
};

[[noreturn]] void wait_for_the_end() {
  for (;;) ::pause();
}

}  // namespace

GilReleased::GilReleased() : state_(PyEval_SaveThread()) {}

GilReleased::~GilReleased() {
  const PythonCall call;
  if (!call.allowed()) wait_for_the_end();
  PyEval_RestoreThread(state_);
}

PythonCall::PythonCall() : allowed_(PythonCalls::get().begin()) {}

PythonCall::~PythonCall() {
  if (allowed_) PythonCalls::get().end();
}

GilTaken::GilTaken()
    : state_([this] {
        if (!call_.allowed()) wait_for_the_end();
        return PyGILState_Ensure();
      }()) {}

GilTaken::~GilTaken() { PyGILState_Release(state_); }

void watch_end_of_interpreter() {
  PythonCalls::get();
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    PyThreadState* const state = PyEval_SaveThread();
    PythonCalls::get().close();
    PyEval_RestoreThread(state);
  }));
}

}  // namespace troupe::python
