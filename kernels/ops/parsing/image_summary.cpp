// ImageSummary(tag, tensor): the first max_images of [batch, height, width, channels] with 1, 3 or 4 channels as PNG files in a
// Summary (summaries.cpp), with tags tag/image/0, ... or tag/image if max_images is 1. Bytes are taken as they are. Numbers are
// scaled, image by image: with negative ones the greatest absolute value becomes 127 from the middle, 128; else the greatest
// becomes 255. A pixel with NaN or an infinity does not count, and gets the colour `bad_color`. Fails with InvalidArgument.
// Source: tensorflow/core/kernels/summary_image_op.cc.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/images/codecs.h"
#include "kernels/ops/parsing/summary_fields.h"

namespace troupe {
namespace {

using namespace summaries;

struct ImageArguments {
  std::string_view tag;
  const Tensor &images, &bad_color;
  std::array<int64_t, 3> dims;  ///< of an image
  size_t count;
  bool has_numbers;  ///< whether tags have the number of the image
  Tensor& output;
};

Result<ImageArguments> check_images(KernelContext& context) {
  TROUPE_ASSIGN(const std::string_view tag, tag_of(context.input(0)));
  const Tensor& images = context.input(1);
  const Shape& shape = images.shape();
  if (shape.rank() != 4 || (shape[3] != 1 && shape[3] != 3 && shape[3] != 4))
    return invalid_argument("tensor has shape " + shape.text() +
                            "; it must have rank 4, and 1, 3 or 4 channels");
  const std::array dims{shape[1], shape[2], shape[3]};
  TROUPE_RETURN_IF_FAILED(check_image_dims("PNG", dims));
  const auto& bad_color = context.node().attrs.get<Tensor>("bad_color");
  if (bad_color.dtype() != DType::UInt8 || bad_color.shape().rank() != 1 ||
      (images.dtype() != DType::UInt8 && bad_color.elements() < shape[3]))
    return invalid_argument(
        "bad_color is " + std::string(name(bad_color.dtype())) + " of shape " + bad_color.shape().text() +
        "; it must be a vector of uint8 with a number for each of " + std::to_string(shape[3]) + " channels");
  const auto most = context.node().attrs.get<int64_t>("max_images");
  TROUPE_ASSIGN(Tensor* const output, summary_output(context));
  return ImageArguments{tag,      images, bad_color, dims, static_cast<size_t>(std::min(most, shape[0])),
                        most > 1, *output};
}

template <class T>
bool is_finite(std::span<const T> pixel) {
  return std::ranges::all_of(pixel,
                             [](T value) { return std::isfinite(static_cast<ComputeType<T>>(value)); });
}

/// value * scale + offset, each rounded to T, in a byte.
template <class T>
struct Scaling {
  ComputeType<T> scale = 0, offset = 0;

  Scaling(std::span<const T> values, size_t channels) {
    float least = std::numeric_limits<float>::infinity(), greatest = -least;
    for (size_t i = 0; i < values.size(); i += channels) {
      const auto pixel = values.subspan(i, channels);
      if (!is_finite(pixel)) continue;
      for (const T value : pixel) {
        least = std::min(least, static_cast<float>(value));
        greatest = std::max(greatest, static_cast<float>(value));
      }
    }
    const float size = least < 0 ? std::max(std::abs(least), std::abs(greatest)) : greatest;
    const float wanted = least < 0 ? 127.0F : 255.0F;
    scale = rounded(size < 1e-6F ? 0.0F : wanted / size);
    offset = least < 0 ? 128.0F : 0.0F;
  }

  static ComputeType<T> rounded(ComputeType<T> value) {
    return static_cast<ComputeType<T>>(static_cast<T>(value));
  }

  uint8_t operator()(T value) const {
    const ComputeType<T> result = rounded(rounded(static_cast<ComputeType<T>>(value) * scale) + offset);
    return result > 0 ? static_cast<uint8_t>(std::min<ComputeType<T>>(result, 255)) : uint8_t{0};  // NaN: 0
  }
};

template <class T>
void scale_to_bytes(std::span<const T> values, size_t channels, const uint8_t* bad_color, uint8_t* to) {
  const Scaling<T> scaling(values, channels);
  for (size_t i = 0; i < values.size(); i += channels, to += channels) {
    const auto pixel = values.subspan(i, channels);
    if (is_finite(pixel))
      std::ranges::transform(pixel, to, scaling);
    else
      std::copy_n(bad_color, channels, to);
  }
}

Status compute_images(const ImageArguments& arguments, DeviceContext&) {
  const auto [height, width, channels] = arguments.dims;
  const auto size = static_cast<size_t>(height * width * channels);
  const bool scales = arguments.images.dtype() != DType::UInt8;
  std::vector<uint8_t> scaled(scales && arguments.count != 0 ? size : 0);
  std::string summary;
  for (size_t i = 0; i < arguments.count; ++i) {
    if (scales)
      with_type(TypeList<float, Half, double>{}, arguments.images.dtype(),
                [&]<class T>(std::type_identity<T>) {
                  scale_to_bytes(arguments.images.as<T>().subspan(i * size, size),
                                 static_cast<size_t>(arguments.dims[2]),
                                 arguments.bad_color.as<uint8_t>().data(), scaled.data());
                });
    const uint8_t* const pixels = scales ? scaled.data() : arguments.images.as<uint8_t>().data() + i * size;
    TROUPE_ASSIGN(const std::string file, encode_png(pixels, arguments.dims, false, -1));
    std::string image, value;
    for (uint32_t field = 1; field <= 3; ++field)
      protobuf::append_varint_field(image, field, static_cast<uint64_t>(arguments.dims[field - 1]));
    protobuf::append_bytes_field(image, 4, file);
    protobuf::append_bytes_field(value, Tag, numbered_tag(arguments.tag, "/image", arguments.has_numbers, i));
    protobuf::append_bytes_field(value, Image, image);
    protobuf::append_bytes_field(summary, SummaryValue, value);
  }
  arguments.output.write<std::string>()[0] = std::move(summary);
  return {};
}

}  // namespace

void add_image_summary(OpLibrary& library) {
  library.op(summary("ImageSummary")
                 .input("tag: string")
                 .input("tensor: T")
                 .attr("max_images: int >= 1 = 3")
                 .attr("T: {uint8, float, half, double} = float")
                 .attr("bad_color: tensor = uint8 [255, 0, 0, 255]"));
  library.kernel(cpu_kernel("ImageSummary", check_images, compute_images));
}

}  // namespace troupe
