#include "kernels/ops/linalg/fourier.h"

#include <cmath>
#include <numbers>
#include <unsupported/Eigen/FFT>
#include <vector>

namespace troupe {
namespace {

/// Eigen's transform (kissfft) takes a time proportional to n times the largest prime factor of n.
constexpr int64_t largest_fast_factor = 64;

int64_t largest_prime_factor(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) largest = p;
  return std::max(largest, n);
}

template <class T>
using Line = std::vector<std::complex<T>>;

template <class T>
Eigen::FFT<T> unscaled() {
  Eigen::FFT<T> fft;
  fft.SetFlag(Eigen::FFT<T>::Unscaled);
  return fft;
}

}  // namespace

/// A line whose length has a large prime factor is transformed by Bluestein's algorithm (1970): with w[k] = exp(-pi i k^2 / n),
/// y[k] is w[k] times element k of the convolution of x w with the conjugate of w, which transforms of a power of 2 compute.
template <class T>
struct LineTransform<T>::State {
  int64_t n;
  bool inverse;
  Eigen::FFT<T> fft = unscaled<T>();
  Line<T> chirp = {};   ///< w; empty if Eigen transforms the line itself
  Line<T> kernel = {};  ///< the transform of the conjugate of w, divided by its length
  Line<T> padded = {}, spectrum = {};

  void prepare() {
    if (largest_prime_factor(n) <= largest_fast_factor) return;
    const auto count = static_cast<size_t>(n);
    size_t length = 1;
    while (length < 2 * count - 1) length *= 2;
    chirp.resize(count);
    for (size_t k = 0; k < count; ++k) {
      const double angle =
          std::numbers::pi * static_cast<double>(k * k % (2 * count)) / static_cast<double>(n);
      chirp[k] = {static_cast<T>(std::cos(angle)),
                  static_cast<T>(inverse ? std::sin(angle) : -std::sin(angle))};
    }
    padded.assign(length, {});
    spectrum.resize(length);
    kernel.resize(length);
    for (size_t k = 0; k < count; ++k) padded[k] = padded[(length - k) % length] = std::conj(chirp[k]);
    fft.fwd(kernel.data(), padded.data(), static_cast<Eigen::Index>(length));
    for (auto& element : kernel) element /= static_cast<T>(length);
  }

  void convolve(const std::complex<T>* from, std::complex<T>* to) {
    const auto length = static_cast<Eigen::Index>(padded.size());
    std::fill(padded.begin(), padded.end(), std::complex<T>());
    for (size_t k = 0; k < chirp.size(); ++k) padded[k] = from[k] * chirp[k];
    fft.fwd(spectrum.data(), padded.data(), length);
    for (size_t k = 0; k < spectrum.size(); ++k) spectrum[k] *= kernel[k];
    fft.inv(padded.data(), spectrum.data(), length);
    for (size_t k = 0; k < chirp.size(); ++k) to[k] = padded[k] * chirp[k];
  }
};

template <class T>
LineTransform<T>::LineTransform(int64_t n, bool inverse)
    : state_(std::make_unique<State>(State{.n = n, .inverse = inverse})) {
  state_->prepare();
}

template <class T>
LineTransform<T>::~LineTransform() = default;

template <class T>
void LineTransform<T>::operator()(const std::complex<T>* from, std::complex<T>* to) {
  if (state_->n == 1)
    *to = *from;
  else if (!state_->chirp.empty())
    state_->convolve(from, to);
  else if (state_->inverse)
    state_->fft.inv(to, from, state_->n);
  else
    state_->fft.fwd(to, from, state_->n);
}

template class LineTransform<float>;
template class LineTransform<double>;

}  // namespace troupe
