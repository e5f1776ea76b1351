// ExtractGlimpse(input, size, offsets), ExtractGlimpseV2: of each image [batch, height, width, channels] a window of one size,
// whose place offsets, [batch, 2], say: y and x, in pixels, or with `normalized` in heights and widths; with `centered` from the
// centre of the image to the centre of the window, the distance to a border being 1. As in TensorFlow, positions round towards 0,
//   ExtractGlimpse    takes offsets that are not centered for those of the centre of the window, and with `centered` halves also
//                     offsets in pixels
//   ExtractGlimpseV2  takes offsets that are not centered, and those in pixels, for those of the first pixel of the window
// Beyond the image there is noise, drawn for each window:
//   "uniform"   between the least and the greatest element of the image
//   "gaussian"  with the mean and the deviation of the image in that channel, inside of its range
//   "zero"      none
//   ""          "uniform" with uniform_noise, else "gaussian"
// The counter of the generator (kernels/ops/random/generator.h) counts the elements of the output.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/images/resize.h"
#include "kernels/ops/random/generator.h"

namespace troupe {
namespace {

enum class Noise : uint8_t { Uniform, Gaussian, Zero };

struct GlimpseArguments {
  const Tensor& input;
  const Tensor& offsets;
  Tensor& output;
  bool centered, normalized, first_version;
  Noise noise;
  Philox philox;
};

Result<Noise> noise_of(const Node& node) {
  const auto& noise = node.attrs.get<std::string>("noise");
  const bool uniform = node.attrs.get<bool>("uniform_noise");
  if (uniform && !noise.empty() && noise != "uniform")
    return invalid_argument("uniform_noise and noise '" + noise + "' exclude each other");
  if (noise == "uniform" || (noise.empty() && uniform)) return Noise::Uniform;
  if (noise == "gaussian" || noise.empty()) return Noise::Gaussian;
  if (noise == "zero") return Noise::Zero;
  return invalid_argument("noise is '" + noise + "', expected 'uniform', 'gaussian' or 'zero'");
}

Status glimpse_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto input, context.with_rank(0, 4));
  TROUPE_ASSIGN(const auto offsets, context.with_rank(2, 2));
  TROUPE_ASSIGN(const auto merged, merge(offsets, PartialShape{input[0], 2}));
  TROUPE_ASSIGN(auto shape, sized_images(context, 1, merged[0], input[3]));
  context.set_output(0, std::move(shape));
  return {};
}

Result<GlimpseArguments> check_glimpse(KernelContext& context) {
  const Node& node = context.node();
  TROUPE_ASSIGN(const Noise noise, noise_of(node));
  const Shape &input = context.input(0).shape(), &offsets = context.input(2).shape();
  if (input.rank() != 4 || offsets.rank() != 2 || offsets[0] != input[0] || offsets[1] != 2)
    return invalid_argument("input of shape " + input.text() + " and offsets of shape " + offsets.text() +
                            " must have shapes [batch,height,width,channels] and [batch,2]");
  TROUPE_ASSIGN(const Dims size, integer_vector(context.input(1), "size"));
  if (size.size() != 2 || size[0] < 0 || size[1] < 0)
    return invalid_argument("size is " + text_of({size.data(), size.size()}) +
                            ", expected a height and a width");
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(std::array{input[0], size[0], size[1], input[3]}, DType::Float));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return GlimpseArguments{context.input(0),
                          context.input(2),
                          *output,
                          node.attrs.get<bool>("centered"),
                          node.attrs.get<bool>("normalized"),
                          node.type() == "ExtractGlimpse",
                          noise,
                          generator_of(context)};
}

/// Returns the pixel of the image at which a window begins.
int64_t begin_of(const GlimpseArguments& arguments, float offset, int64_t pixels, int64_t window) {
  const auto image = static_cast<float>(pixels), glimpse = static_cast<float>(window);
  float place = arguments.normalized ? offset * image : offset;
  const bool old = arguments.first_version;
  if (arguments.centered) place = (old || arguments.normalized ? place / 2 : place) + image / 2;
  if (old || (arguments.centered && arguments.normalized)) place -= glimpse / 2;
  constexpr float far = 1e15F;  // beyond every image
  return static_cast<int64_t>(std::isnan(place) ? -far : std::clamp(place, -far, far));
}

/// What noise is made of, for one channel of an image.
struct Range {
  float least = 0, most = 0, mean = 0, deviation = 0;
};

/// The range of the elements from `first` on that are `step` apart.
Range range_of(std::span<const float> image, size_t first, size_t step) {
  Range range;
  double sum = 0, squares = 0;
  if (image.empty()) return range;
  const size_t count = (image.size() - first + step - 1) / step;
  range.least = range.most = image[first];
  for (size_t i = first; i < image.size(); i += step) {
    range.least = std::min(range.least, image[i]);
    range.most = std::max(range.most, image[i]);
    sum += double{image[i]};
  }
  const double mean = sum / static_cast<double>(count);
  for (size_t i = first; i < image.size(); i += step) squares += (image[i] - mean) * (image[i] - mean);
  range.mean = static_cast<float>(mean);
  range.deviation = static_cast<float>(std::sqrt(squares / static_cast<double>(count)));
  return range;
}

/// One window, with the noise around what it has of the image.
class Glimpse {
 public:
  Glimpse(const GlimpseArguments& arguments, int64_t number)
      : arguments_(arguments), dims_(arguments.input.shape().dims()), size_(arguments.output.shape().dims()),
        number_(number) {
    const auto pixels = static_cast<size_t>(dims_[1] * dims_[2] * dims_[3]);
    image_ = arguments.input.as<float>().subspan(static_cast<size_t>(number) * pixels, pixels);
    const float* const offset = arguments.offsets.as<float>().data() + 2 * number;
    top_ = begin_of(arguments, offset[0], dims_[1], size_[1]);
    left_ = begin_of(arguments, offset[1], dims_[2], size_[2]);
  }

  void write(float* to) {
    const bool inside =
        top_ >= 0 && left_ >= 0 && top_ + size_[1] <= dims_[1] && left_ + size_[2] <= dims_[2];
    if (!inside) write_noise(to);
    const int64_t channels = dims_[3], first = std::max<int64_t>(-left_, 0),
                  last = std::min(size_[2], dims_[2] - left_);
    if (first >= last) return;
    for (int64_t y = std::max<int64_t>(-top_, 0); y < std::min(size_[1], dims_[1] - top_); ++y)
      std::copy_n(image_.data() + ((y + top_) * dims_[2] + left_ + first) * channels,
                  (last - first) * channels, to + (y * size_[2] + first) * channels);
  }

 private:
  void write_noise(float* to) const {
    const int64_t channels = dims_[3], elements = size_[1] * size_[2] * channels;
    if (arguments_.noise == Noise::Zero) return static_cast<void>(std::fill_n(to, elements, 0.0F));
    const bool uniform = arguments_.noise == Noise::Uniform;
    for (int64_t c = 0; c < channels; ++c) {
      const Range range = uniform ? range_of(image_, 0, 1) : range_of(image_, c, channels);
      for (int64_t i = c; i < elements; i += channels) {
        const Words words = arguments_.philox(static_cast<uint64_t>(number_ * elements + i));
        const float value = uniform
                                ? range.least + troupe::uniform<float>(words, 0) * (range.most - range.least)
                                : range.mean + normal_pair<float>(words, 0)[0] * range.deviation;
        to[i] = std::max(std::min(value, range.most), range.least);
      }
    }
  }

  const GlimpseArguments& arguments_;
  std::span<const int64_t> dims_, size_;  ///< of the images and of the windows
  std::span<const float> image_;
  int64_t number_, top_, left_;
};

void compute_glimpse(const GlimpseArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return;
  const Shape& shape = arguments.output.shape();
  const int64_t elements = shape[1] * shape[2] * shape[3];
  float* const to = reinterpret_cast<float*>(arguments.output.mutable_data());
  parallel_rows(device.pool(), static_cast<size_t>(shape[0]), static_cast<size_t>(elements) * 16,
                [&](size_t begin, size_t end) {
                  for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i)
                    Glimpse(arguments, i).write(to + i * elements);
                });
}

}  // namespace

void add_extract_glimpse_ops(OpLibrary& library) {
  const auto glimpse = [](const char* name) {
    return OpDefBuilder(name)
        .input("input: float")
        .host_input("size: int32")
        .input("offsets: float")
        .output("glimpse: float")
        .attr("centered: bool = true")
        .attr("normalized: bool = true")
        .attr("uniform_noise: bool = true")
        .attr("noise: string = 'uniform'")
        .effect(Effect::Random)
        .shape(glimpse_shape);
  };
  library.op(
      glimpse("ExtractGlimpse")
          .constructor("extract_glimpse(input, size, offsets, centered, normalized, uniform_noise, noise)")
          .not_differentiable());
  library.op(glimpse("ExtractGlimpseV2"));
  for (const char* op : {"ExtractGlimpse", "ExtractGlimpseV2"})
    library.kernel(cpu_kernel(op, check_glimpse, compute_glimpse));
}

}  // namespace troupe
