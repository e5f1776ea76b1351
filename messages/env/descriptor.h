// Descriptor: owns a file descriptor and closes it in its destructor. Movable; one thread at a time.
#pragma once

#include <utility>

namespace troupe {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  /// Returns the file descriptor, or -1 if there is none.
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Returns the file descriptor, which the caller then owns.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace troupe
