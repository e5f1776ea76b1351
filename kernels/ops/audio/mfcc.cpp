// Mfcc(spectrogram, sample_rate): the mel-frequency cepstral coefficients of sounds, as features for the recognition of speech.
// spectrogram is [channels, windows, frequencies], squared magnitudes of frequencies from 0 to half of sample_rate, a scalar of
// samples per second (AudioSpectrogram with magnitude_squared); the output is [channels, windows, dct_coefficient_count]. Each
// window is summed with filterbank_channel_count triangular filters, whose centers lie at equal distances on the mel scale between
// the two limits of frequencies, which are in Hz; of the sums, at least 1e-12, the logarithms are taken, and of these the first
// coefficients of the discrete cosine transform (DCT-II). Computed in double precision. The frequency 0 belongs to no filter.
// InvalidArgument for fewer than 2 frequencies, an upper limit above half of sample_rate or not above the lower one, and counts
// that are not 1 <= dct_coefficient_count <= filterbank_channel_count <= 65,536.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"

namespace troupe {
namespace {

constexpr int64_t most_filters = 65536;
constexpr double least_sum = 1e-12;

struct MfccSettings {
  double low, high;  ///< Hz
  int64_t filters, coefficients;
};

Result<MfccSettings> settings_of(const Node& node) {
  const MfccSettings settings{
      node.attrs.get<float>("lower_frequency_limit"), node.attrs.get<float>("upper_frequency_limit"),
      node.attrs.get<int64_t>("filterbank_channel_count"), node.attrs.get<int64_t>("dct_coefficient_count")};
  if (!(settings.low >= 0 && settings.high > settings.low))
    return invalid_argument("lower_frequency_limit is " + std::to_string(settings.low) +
                            " and upper_frequency_limit " + std::to_string(settings.high) +
                            "; they must be at least 0, and the upper one above the lower one");
  if (settings.filters < 1 || settings.filters > most_filters)
    return invalid_argument("filterbank_channel_count is " + std::to_string(settings.filters) +
                            ", it must be in [1, 65536]");
  if (settings.coefficients < 1 || settings.coefficients > settings.filters)
    return invalid_argument("dct_coefficient_count is " + std::to_string(settings.coefficients) +
                            ", it must be in [1, " + std::to_string(settings.filters) +
                            "], the number of filters");
  return settings;
}

Status mfcc_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const MfccSettings settings, settings_of(context.node()));
  TROUPE_ASSIGN(const PartialShape input, context.with_rank(0, 3));
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  context.set_output(0, PartialShape{input[0], input[1], settings.coefficients});
  return {};
}

struct MfccArguments {
  const Tensor& spectrogram;  ///< [channels, windows, frequencies]
  MfccSettings settings;
  int64_t sample_rate;
  Tensor& output;  ///< [channels, windows, coefficients]
};

Result<MfccArguments> check_mfcc(KernelContext& context) {
  TROUPE_ASSIGN(const MfccSettings settings, settings_of(context.node()));
  const Tensor& spectrogram = context.input(0);
  if (spectrogram.shape().rank() != 3 || spectrogram.shape()[2] < 2)
    return invalid_argument("spectrogram of shape " + spectrogram.shape().text() +
                            " must be [channels, windows, frequencies] with at least 2 frequencies");
  TROUPE_ASSIGN(const int64_t rate, integer_scalar(context.input(1), "sample_rate"));
  if (static_cast<double>(rate) < 2 * settings.high)
    return invalid_argument("upper_frequency_limit is " + std::to_string(settings.high) +
                            "; it must be at most half of sample_rate, which is " + std::to_string(rate));
  const std::array dims{spectrogram.shape()[0], spectrogram.shape()[1], settings.coefficients};
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, f32));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return MfccArguments{spectrogram, settings, rate, *output};
}

double mel_of(double hertz) { return 1127 * std::log1p(hertz / 700); }

/// Triangular filters, each from the center of the one before to that of the one after it.
class FilterBank {
 public:
  FilterBank(const MfccSettings& settings, int64_t sample_rate, int64_t frequencies) {
    const double hertz = 0.5 * static_cast<double>(sample_rate) / static_cast<double>(frequencies - 1);
    const double low = mel_of(settings.low);
    const double spacing = (mel_of(settings.high) - low) / static_cast<double>(settings.filters + 1);
    const auto first = static_cast<size_t>(1.5 + settings.low / hertz),
               last =
                   std::min(static_cast<size_t>(settings.high / hertz), static_cast<size_t>(frequencies) - 1);
    first_ = first;
    size_t above = 0;  // the filter whose center is the next one at or above the frequency
    for (size_t i = first; i <= last; ++i) {
      const double mel = mel_of(static_cast<double>(i) * hertz);
      const auto center = [&](size_t filter) { return low + spacing * static_cast<double>(filter + 1); };
      while (above < static_cast<size_t>(settings.filters) && center(above) < mel) ++above;
      parts_.push_back({above, (center(above) - mel) / spacing});
    }
  }

  /// Adds the magnitudes of a window to the sums of the filters, which are 0.
  void add(const float* window, std::vector<double>& sums) const {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const auto [above, below_share] = parts_[i];
      const double magnitude = std::sqrt(static_cast<double>(window[first_ + i]));
      const double below = magnitude * below_share;
      if (above > 0) sums[above - 1] += below;
      if (above < sums.size()) sums[above] += magnitude - below;
    }
  }

 private:
  /// A frequency lies between the centers of two filters. `below` is the weight that it has in the lower one.
  struct Part {
    size_t above;
    double below;
  };

  size_t first_ = 0;  ///< the frequency of the first part
  std::vector<Part> parts_;
};

/// The cosines of the transform: [coefficients, filters].
std::vector<double> cosines(const MfccSettings& settings) {
  std::vector<double> result;
  const auto filters = static_cast<double>(settings.filters);
  for (int64_t i = 0; i < settings.coefficients; ++i)
    for (int64_t j = 0; j < settings.filters; ++j)
      result.push_back(std::sqrt(2 / filters) * std::cos(static_cast<double>(i) * std::numbers::pi / filters *
                                                         (static_cast<double>(j) + 0.5)));
  return result;
}

void compute_mfcc(const MfccArguments& arguments, DeviceContext& device) {
  const MfccSettings& settings = arguments.settings;
  const auto filters = static_cast<size_t>(settings.filters);
  const auto coefficients = static_cast<size_t>(settings.coefficients);
  const int64_t frequencies = arguments.spectrogram.shape()[2];
  const FilterBank bank(settings, arguments.sample_rate, frequencies);
  const std::vector<double> weights = cosines(settings);
  const float* const windows = arguments.spectrogram.as<float>().data();
  float* const output = arguments.output.write<float>().data();
  const size_t rows = static_cast<size_t>(arguments.output.elements()) / coefficients;
  const size_t cost = sizeof(double) * (static_cast<size_t>(frequencies) * 4 + coefficients * filters);
  parallel_rows(device.pool(), rows, cost, [&](size_t begin, size_t end) {
    std::vector<double> sums(filters);
    for (size_t row = begin; row < end; ++row) {
      std::ranges::fill(sums, 0);
      bank.add(windows + row * static_cast<size_t>(frequencies), sums);
      for (double& sum : sums) sum = std::log(std::max(sum, least_sum));
      for (size_t i = 0; i < coefficients; ++i) {
        double total = 0;
        for (size_t j = 0; j < filters; ++j) total += weights[i * filters + j] * sums[j];
        output[row * coefficients + i] = static_cast<float>(total);
      }
    }
  });
}

}  // namespace

void add_mfcc(OpLibrary& library) {
  library.op(OpDefBuilder("Mfcc")
                 .input("spectrogram: float")
                 .host_input("sample_rate: int32")
                 .output("output: float")
                 .attr("upper_frequency_limit: float = 4000")
                 .attr("lower_frequency_limit: float = 20")
                 .attr("filterbank_channel_count: int = 40")
                 .attr("dct_coefficient_count: int = 13")
                 .constructor("mfcc(spectrogram, sample_rate, upper_frequency_limit, lower_frequency_limit, "
                              "filterbank_channel_count, dct_coefficient_count)")
                 .shape(mfcc_shape));
  library.kernel(cpu_kernel("Mfcc", check_mfcc, compute_mfcc));
}

}  // namespace troupe
