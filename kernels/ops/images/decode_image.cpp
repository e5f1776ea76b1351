// Images from the bytes of a file (codecs.h says what becomes of bytes that are wrong).
//   DecodeJpeg, DecodePng(contents)            [height, width, channels], of a file of either format or a GIF of one frame
//   DecodeGif(contents)                        [frames, height, width, 3]; of a JPEG or PNG one frame
//   DecodeBmp(contents)
//   DecodeImage(contents)                      as the format has it; without expand_animations the first frame of a GIF
//   DecodeAndCropJpeg(contents, crop_window)   the window [y, x, height, width] of a JPEG
//   ExtractJpegShape(contents)                 height, width and channels of a JPEG
// Elements are bytes. As words of 16 bits those of a PNG are scaled to its depth, and bytes of other formats are multiplied by 256;
// as floats they are in [0, 1]. `channels` of 0 are those of the file.
#include "kernels/core/arguments.h"
#include "kernels/ops/file_kernel.h"
#include "kernels/ops/images/codecs.h"

namespace troupe {
namespace {

std::string_view name(ImageFormat format) {
  constexpr std::string_view names[] = {"unknown", "JPEG", "PNG", "GIF", "BMP"};
  return names[static_cast<size_t>(format)];
}

Status check_channels(int64_t channels) {
  if (channels == 0 || channels == 1 || channels == 3 || channels == 4) return {};
  return invalid_argument("channels is " + std::to_string(channels) + ", expected 0, 1, 3 or 4");
}

template <class T>
T attr_or(const Node& node, std::string_view name, T otherwise) {
  const AttrValue* const value = node.attrs.find(name);
  return value ? std::get<T>(*value) : otherwise;
}

/// The decoding of one file for one op.
class Decoding {
 public:
  Decoding(KernelContext& context, std::string_view bytes)
      : context_(context), node_(context.node()), bytes_(bytes), format_(image_format(bytes)),
        channels_(is("DecodeGif") ? 3 : attr_or<int64_t>(node_, "channels", 0)),
        dtype_(node_.output_types[0].dtype) {}

  Status run() {
    TROUPE_RETURN_IF_FAILED(check_channels(channels_));
    TROUPE_RETURN_IF_FAILED(check_format());
    const bool wide_png = format_ == ImageFormat::Png && dtype_ != DType::UInt8;
    if (dtype_ == DType::UInt8 || (wide_png && dtype_ == DType::UInt16))
      return decode(wide_png, [&](std::span<const int64_t> dims) { return output(dims); });
    const DType decoded = wide_png ? DType::UInt16 : DType::UInt8;
    Tensor image;
    const auto allocate = [&](std::span<const int64_t> dims) -> Result<void*> {
      TROUPE_RETURN_IF_FAILED(check_limit(dims));
      TROUPE_ASSIGN(const Shape shape, Shape::make(dims, decoded));
      TROUPE_ASSIGN(image, Tensor::allocate(decoded, shape, context_.device().host_memory()));
      return static_cast<void*>(image.mutable_data());
    };
    TROUPE_RETURN_IF_FAILED(decode(wide_png, allocate));
    return convert(image);
  }

 private:
  bool is(std::string_view op) const { return node_.type() == op; }

  /// Returns memory of the output. DecodeGif makes an animation of an image.
  Result<void*> output(std::span<const int64_t> dims) {
    TROUPE_RETURN_IF_FAILED(check_limit(dims));
    Dims all(dims);
    if (is("DecodeGif") && all.size() == 3) all = all.with(0, 1);
    TROUPE_ASSIGN(const Shape shape, Shape::make(all, dtype_));
    TROUPE_ASSIGN(Tensor* const tensor, context_.output(0, shape));
    return static_cast<void*>(tensor->mutable_data());
  }

  /// Checks the limit that the node has beside that of all images.
  Status check_limit(std::span<const int64_t> dims) const {
    const auto most = attr_or<int64_t>(node_, image_elements_attr, most_image_elements);
    int64_t elements = 1;
    for (const int64_t dim : dims) elements *= dim;
    if (elements <= most) return {};
    return invalid_argument(
        "the image has the dimensions " + PartialShape({dims.begin(), dims.end()}).text() + ", which are " +
        std::to_string(elements) + " elements; at most " + std::to_string(most) + " are allowed here");
  }

  Status check_format() const {
    if (format_ == ImageFormat::Unknown)
      return invalid_argument("the format of a file of " + std::to_string(bytes_.size()) +
                              " bytes is unknown, expected JPEG, PNG, GIF or BMP");
    const bool bmp = format_ == ImageFormat::Bmp;
    const bool right = is("DecodeImage")         ? true
                       : is("DecodeBmp")         ? bmp
                       : is("DecodeAndCropJpeg") ? format_ == ImageFormat::Jpeg
                                                 : !bmp;
    if (!right)
      return invalid_argument("the file is a " + std::string(name(format_)) +
                              ", which the op does not decode");
    const bool has = format_ == ImageFormat::Gif    ? channels_ == 0 || channels_ == 3
                     : format_ == ImageFormat::Jpeg ? channels_ != 4
                                                    : true;
    if (has) return {};
    return invalid_argument(std::string(name(format_)) + " does not support " + std::to_string(channels_) +
                            " channels");
  }

  Status decode(bool wide, AllocateImage allocate) {
    switch (format_) {
      case ImageFormat::Png: return decode_png(bytes_, static_cast<int>(channels_), wide, allocate);
      case ImageFormat::Bmp: return decode_bmp(bytes_, static_cast<int>(channels_), allocate);
      case ImageFormat::Gif: return decode_gif(bytes_, frames(), allocate);
      default: break;
    }
    TROUPE_ASSIGN(const JpegDecoding decoding, jpeg_decoding());
    return decode_jpeg(bytes_, decoding, allocate);
  }

  GifFrames frames() const {
    if (is("DecodeGif")) return GifFrames::All;
    if (!is("DecodeImage")) return GifFrames::Only;
    return node_.attrs.get<bool>("expand_animations") ? GifFrames::All : GifFrames::First;
  }

  Result<JpegDecoding> jpeg_decoding() const {
    JpegDecoding decoding;
    decoding.channels = static_cast<int>(channels_);
    const auto ratio = attr_or<int64_t>(node_, "ratio", 1);
    if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8)
      return invalid_argument("ratio is " + std::to_string(ratio) + ", expected 1, 2, 4 or 8");
    decoding.ratio = static_cast<int>(ratio);
    decoding.fancy_upscaling = attr_or(node_, "fancy_upscaling", true);
    decoding.recovers = attr_or(node_, "try_recover_truncated", false);
    decoding.acceptable_part = attr_or(node_, "acceptable_fraction", 1.0F);
    const auto method = attr_or<std::string>(node_, "dct_method", "");
    if (!method.empty() && method != "INTEGER_FAST" && method != "INTEGER_ACCURATE")
      return invalid_argument("dct_method is '" + method +
                              "', expected '', 'INTEGER_FAST' or 'INTEGER_ACCURATE'");
    decoding.fast_dct = method != "INTEGER_ACCURATE";
    if (is("DecodeAndCropJpeg")) {
      TROUPE_ASSIGN(const Dims window, integer_vector(context_.input(1), "crop_window"));
      if (window.size() != 4)
        return invalid_argument("crop_window has " + std::to_string(window.size()) +
                                " elements, expected y, x, height and width");
      decoding.window = ImageWindow{window[0], window[1], window[2], window[3]};
    }
    return decoding;
  }

  /// Writes an image in the type of the output.
  Status convert(const Tensor& image) {
    TROUPE_ASSIGN(void* const memory, output(image.shape().dims()));
    const auto fill = [&](auto from, auto* to, auto scale) {
      for (size_t i = 0; i < from.size(); ++i)
        to[i] = static_cast<std::decay_t<decltype(*to)>>(from[i] * scale);
    };
    if (image.dtype() == DType::UInt16)
      fill(image.as<uint16_t>(), static_cast<float*>(memory), 1 / 65535.0F);
    else if (dtype_ == DType::UInt16)
      fill(image.as<uint8_t>(), static_cast<uint16_t*>(memory), 256);
    else
      fill(image.as<uint8_t>(), static_cast<float*>(memory), 1 / 255.0F);
    return {};
  }

  KernelContext& context_;
  const Node& node_;
  const std::string_view bytes_;
  const ImageFormat format_;
  const int64_t channels_;
  const DType dtype_;
};

Status decode(KernelContext& context) {
  TROUPE_ASSIGN(const std::string_view bytes, contents_of(context));
  return Decoding(context, bytes).run();
}

Status extract_shape(KernelContext& context) {
  TROUPE_ASSIGN(const std::string_view bytes, contents_of(context));
  TROUPE_ASSIGN(const auto dims, jpeg_shape(bytes));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape{3}));
  if (output->dtype() == DType::Int64)
    std::ranges::copy(dims, output->write<int64_t>().begin());
  else
    std::ranges::transform(dims, output->write<int32_t>().begin(),
                           [](int64_t dim) { return static_cast<int32_t>(dim); });
  return {};
}

// ---- Shapes

Status image_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  const auto channels = context.attr<int64_t>("channels");
  if (channels < 0)
    return check_channels(channels);  // other numbers are refused when the op runs, as in TensorFlow
  PartialShape image{unknown_dim, unknown_dim, channels == 0 ? unknown_dim : channels};
  if (context.inputs() == 2) {
    TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
    if (const auto window = context.partial_integers(1); window && window->size() == 4) {
      const auto dim = [&](size_t i) { return (*window)[i] < 0 ? unknown_dim : (*window)[i]; };
      image = PartialShape{dim(2), dim(3), image[2]};
    }
  }
  context.set_output(0, std::move(image));
  return {};
}

Status any_image_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  const auto channels = context.attr<int64_t>("channels");
  return channels < 0 ? check_channels(channels) : Status{};
}

Status animation_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  context.set_output(0, PartialShape{unknown_dim, unknown_dim, unknown_dim, 3});
  return {};
}

Status extracted_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  context.set_output(0, PartialShape{3});
  return {};
}

OpDefBuilder jpeg_op(const char* name) {
  return OpDefBuilder(name)
      .input("contents: string")
      .attr("channels: int = 0")
      .attr("ratio: int = 1")
      .attr("fancy_upscaling: bool = true")
      .attr("try_recover_truncated: bool = false")
      .attr("acceptable_fraction: float = 1")
      .attr("dct_method: string = ''")
      .output("image: uint8")
      .shape(image_shape)
      .not_differentiable();
}

}  // namespace

void add_decode_image_ops(OpLibrary& library) {
  library.op(jpeg_op("DecodeJpeg").constructor("decode_jpeg(contents, channels, ratio)"));
  library.op(jpeg_op("DecodeAndCropJpeg").host_input("crop_window: int32"));
  library.op(OpDefBuilder("DecodePng")
                 .input("contents: string")
                 .output("image: dtype")
                 .attr("channels: int = 0")
                 .attr("dtype: {uint8, uint16} = uint8")
                 .constructor("decode_png(contents, channels, dtype)")
                 .shape(image_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("DecodeGif")
                 .input("contents: string")
                 .output("image: uint8")
                 .constructor("decode_gif(contents)")
                 .shape(animation_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("DecodeBmp")
                 .input("contents: string")
                 .output("image: uint8")
                 .attr("channels: int = 0")
                 .constructor("decode_bmp(contents, channels)")
                 .shape(image_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("DecodeImage")
                 .input("contents: string")
                 .output("image: dtype")
                 .attr("channels: int = 0")
                 .attr("dtype: {uint8, uint16, float} = uint8")
                 .attr("expand_animations: bool = true")
                 .constructor("decode_image(contents, channels, dtype, expand_animations)")
                 .shape(any_image_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("ExtractJpegShape")
                 .input("contents: string")
                 .output("image_shape: output_type")
                 .attr("output_type: {int32, int64} = int32")
                 .shape(extracted_shape)
                 .not_differentiable());
  for (const char* op :
       {"DecodeJpeg", "DecodeAndCropJpeg", "DecodePng", "DecodeGif", "DecodeBmp", "DecodeImage"})
    library.kernel(cpu_host_kernel(op, decode));
  library.kernel(cpu_host_kernel("ExtractJpegShape", extract_shape));
}

}  // namespace troupe
