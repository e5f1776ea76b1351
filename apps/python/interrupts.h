// Ctrl-C during calls that hold no global interpreter lock (GIL). Python notes the signal, but runs its handler only when the main
// thread interprets Python again, so a thread of this file cancels what the main thread waits for. It sees the signal because a
// handler of this file is called before that of Python. If a program sets another handler, this file's is put back in front of it
// within a twentieth of a second of waiting.
#pragma once

#include "apps/python/gil.h"
#include "kernels/runtime/cancellation.h"
#include "messages/values/status.h"

namespace troupe::python {

/// Cancels `cancellation` if Ctrl-C is pressed while the object lives. Does nothing on other threads than the main one, for which
/// Python has no Ctrl-C. Needs the GIL when it is made and destroyed.
class CancelOnInterrupt {
 public:
  explicit CancelOnInterrupt(Cancellation* cancellation);
  ~CancelOnInterrupt();
  CancelOnInterrupt(const CancelOnInterrupt&) = delete;
  CancelOnInterrupt& operator=(const CancelOnInterrupt&) = delete;

 private:
  bool active_ = false;
  Cancellation* outer_ = nullptr;  ///< what was to be cancelled before
};

/// Returns whether this is the main thread of Python. Needs the GIL.
bool on_main_thread();
/// Returns the cancellation of the steps of the main thread, which has not been cancelled. Needs the GIL.
Cancellation& main_cancellation();
/// Throws what the handlers of pending signals raise, KeyboardInterrupt for Ctrl-C. Needs the GIL.
void raise_signals();
/// Does so if the error says that a step was cancelled. Needs the GIL.
void raise_signals_if_cancelled(const Error& error);

/// Returns what `call` returns. It gets a cancellation that Ctrl-C cancels, or null on other threads than the main one. What the
/// handler of Ctrl-C raises is thrown in place of the error that the call then fails with. Needs the GIL, with which `call` begins.
template <class Call>
auto interruptible_with_gil(const Call& call) {
  try {
    Cancellation* const cancellation = on_main_thread() ? &main_cancellation() : nullptr;
    const CancelOnInterrupt interrupt(cancellation);
    raise_signals();
    return call(cancellation);
  } catch (const Error& error) {
    raise_signals_if_cancelled(error);
    throw;
  }
}

/// Does the same for a call that runs without the GIL.
template <class Call>
auto interruptible(const Call& call) {
  return interruptible_with_gil([&](const Cancellation* cancellation) {
    const GilReleased released;
    return call(cancellation);
  });
}

}  // namespace troupe::python
