// The discrete Fourier transform of single lines: y[k] = sum over j of x[j] exp(-2 pi i j k / n), without scaling. One object
// belongs to one thread.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

namespace troupe {

/// The number of elements of the longest line.
inline constexpr int64_t longest_line = int64_t{1} << 27;

template <class T>
class LineTransform {
 public:
  /// For lines of 1 to longest_line elements; `inverse` takes the exponent with the other sign.
  LineTransform(int64_t n, bool inverse);
  ~LineTransform();
  LineTransform(const LineTransform&) = delete;
  LineTransform& operator=(const LineTransform&) = delete;

  /// Transforms n elements from `from` to `to`, which do not overlap.
  void operator()(const std::complex<T>* from, std::complex<T>* to);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace troupe
