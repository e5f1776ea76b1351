// Descriptor: a file descriptor that closes itself. A value that moves; one thread.
#pragma once

#include <utility>

namespace troupe::cluster {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  int number() const { return number_; }  ///< -1: none

 private:
  int number_;
};

}  // namespace troupe::cluster
