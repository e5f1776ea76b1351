// Coordinator: ends the threads of a program together, as TensorFlow's Coordinator does. The first failure of any of them stops
// all, and is thrown where they are joined; OutOfRange, the end of the input, stops them without a failure. Owned by the program,
// which destroys it before what its threads use. Any thread may call the functions, but only one at a time may join. Public
// header: it uses only std and Troupe's own types.
//
//   Coordinator coordinator;
//   coordinator.at_stop([&] { session.stop_queue_runners(); });      // throws the failure of a step that fills a queue
//   for (int i = 0; i < 4; ++i)
//     coordinator.start("trainer", [&] { while (!coordinator.should_stop()) session.run({train}); });
//   coordinator.join();
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "kernels/runtime/cancellation.h"

#pragma GCC visibility push(default)
namespace troupe {

class Coordinator {
 public:
  Coordinator();
  /// Requests a stop, calls the functions of at_stop() unless join() has, ignores what they throw, and waits for all threads,
  /// however long they run.
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Starts a thread that calls `body` once. What it throws is the failure with which it requests a stop. `name` is for errors.
  void start(std::string name, std::function<void()> body);
  /// Starts a thread that calls `body` at once, and again every `period`, until a stop is requested: if that happens before the
  /// thread has begun, as when join() finds no thread of start(), there is no call. A call that takes longer delays the next ones.
  /// Throws Error(InvalidArgument) if the period is not positive.
  void start_every(std::string name, std::chrono::nanoseconds period, std::function<void()> body);
  /// Calls `body` in this thread; what it throws becomes the failure of a stop, as in start(). For threads of the program's own,
  /// for which join() does not wait.
  void run(const std::function<void()>& body);
  /// Has join() call `function` once a stop is requested or the threads have ended, before it waits for the others: it ends what
  /// they wait for. What it throws counts as a failure if there was none, also after a stop without a failure.
  void at_stop(std::function<void()> function);

  /// Stops the threads: should_stop() becomes true, and cancellation() is cancelled. Only the first request counts. A failure
  /// that is an Error with code OutOfRange, or null, is none.
  void request_stop(std::exception_ptr failure = nullptr);
  bool should_stop() const;
  /// Waits until a stop is requested.
  void wait_for_stop() const;
  /// Does so for this time at most, and returns should_stop().
  bool wait_for_stop(std::chrono::nanoseconds timeout) const;
  /// Is cancelled when a stop is requested: steps that are given it (StepOptions::cancellation) do not delay the end of their
  /// threads.
  const Cancellation& cancellation() const;

  /// Waits until a stop is requested, or all threads of start() have ended; then stops the others, and gives them `grace` to end.
  /// Throws the failure, if there is one, and otherwise Error(DeadlineExceeded), which names the threads that still run. May be
  /// called again.
  void join(std::chrono::nanoseconds grace = std::chrono::seconds(120));

 private:
  struct State;
  void add(std::string name, bool repeats, std::function<void()> body);
  const std::unique_ptr<State> state_;
};

}  // namespace troupe
#pragma GCC visibility pop
