// Polled: something that can find work for the control thread without a system call. The control thread asks it while it spins,
// before it sleeps. Used on the control thread only.
#pragma once

namespace troupe {

class Polled {
 public:
  virtual bool is_active() const = 0;  ///< whether there may be work to find
  /// Does the work that is there, and returns whether there was any.
  virtual bool poll() = 0;
  /// From now on work must wake the control thread. Returns false if there is some already.
  virtual bool sleep() = 0;

 protected:
  ~Polled() = default;
};

}  // namespace troupe
