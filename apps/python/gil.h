// The global interpreter lock (GIL) of Python, released and taken again by C++. While the interpreter ends, Python ends every other
// thread that asks for the GIL, by unwinding its stack; C++ functions that must not throw turn that into the end of the process by
// SIGABRT. So from then on such threads wait here until the process has ended.
#pragma once

#include <pybind11/pybind11.h>

namespace troupe::python {

/// Releases the GIL while the object lives. Needs the GIL when it is made.
class GilReleased {
 public:
  GilReleased();
  ~GilReleased();
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* const state_;
};

/// Whether this thread, which has no GIL, may call Python while the object lives. The interpreter does not end meanwhile, unless
/// the call takes more than ten seconds.
class PythonCall {
 public:
  PythonCall();
  ~PythonCall();
  PythonCall(const PythonCall&) = delete;
  PythonCall& operator=(const PythonCall&) = delete;
  bool allowed() const { return allowed_; }

 private:
  const bool allowed_;
};

/// Takes the GIL while the object lives, on a thread that has released it. Waits for the end of the process if the interpreter
/// ends.
class GilTaken {
 public:
  GilTaken();
  ~GilTaken();
  GilTaken(const GilTaken&) = delete;
  GilTaken& operator=(const GilTaken&) = delete;

 private:
  const PythonCall call_;
  const PyGILState_STATE state_;
};

/// Lets no further call of Python begin when the interpreter ends. Called once, when the module is loaded.
void watch_end_of_interpreter();

}  // namespace troupe::python
