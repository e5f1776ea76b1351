// The bytes of a file from an image [height, width, channels].
//   EncodeJpeg(image)                            1 or 3 channels
//   EncodeJpegVariableQuality(images, quality)   the same, with the quality as an input
//   EncodePng(image)                             1 to 4 channels; of images [..., height, width, channels] one file each
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/file_kernel.h"
#include "kernels/ops/images/codecs.h"

namespace troupe {
namespace {

/// The dimensions of an image: the last three.
Result<std::array<int64_t, 3>> image_dims(const Shape& shape, bool many) {
  const auto dims = shape.dims();
  if (dims.size() < 3 || (!many && dims.size() != 3))
    return invalid_argument("image of shape " + shape.text() + " must have rank 3" +
                            (many ? " or more" : ""));
  const auto last = dims.last(3);
  return std::array{last[0], last[1], last[2]};
}

Result<std::string*> scalar_output(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape{}));
  return output->write<std::string>().data();
}

Result<uint16_t> density(const Node& node, const char* name) {
  const auto value = node.attrs.get<int64_t>(name);
  if (value >= 0 && value <= 65535) return static_cast<uint16_t>(value);
  return invalid_argument(std::string(name) + " is " + std::to_string(value) + ", allowed are 0 to 65535");
}

Status check_quality(int64_t quality) {
  if (quality >= 0 && quality <= 100) return {};
  return invalid_argument("quality is " + std::to_string(quality) + ", allowed are 0 to 100");
}

Result<JpegEncoding> jpeg_encoding(const Node& node) {
  JpegEncoding encoding;
  TROUPE_RETURN_IF_FAILED(check_quality(node.attrs.get<int64_t>("quality")));
  encoding.quality = static_cast<int>(node.attrs.get<int64_t>("quality"));
  encoding.progressive = node.attrs.get<bool>("progressive");
  encoding.optimize_size = node.attrs.get<bool>("optimize_size");
  encoding.chroma_downsampling = node.attrs.get<bool>("chroma_downsampling");
  encoding.density_unit = node.attrs.get<std::string>("density_unit") == "in" ? 1 : 2;
  TROUPE_ASSIGN(encoding.x_density, density(node, "x_density"));
  TROUPE_ASSIGN(encoding.y_density, density(node, "y_density"));
  encoding.xmp_metadata = node.attrs.get<std::string>("xmp_metadata");
  return encoding;
}

/// Encodes input 0. The channels must be `channels`, or 1 or 3 if that is 0.
Status write_jpeg(KernelContext& context, int64_t channels, const JpegEncoding& encoding) {
  const Tensor& image = context.input(0);
  TROUPE_ASSIGN(const auto dims, image_dims(image.shape(), false));
  const bool fits = channels == 0 ? dims[2] == 1 || dims[2] == 3 : dims[2] == channels;
  if (!fits)
    return invalid_argument("image of shape " + image.shape().text() + " must have " +
                            (channels == 0 ? "1 or 3" : std::to_string(channels)) + " channels");
  TROUPE_ASSIGN(std::string file, encode_jpeg(image.as<uint8_t>().data(), dims, encoding));
  TROUPE_ASSIGN(std::string* const output, scalar_output(context));
  *output = std::move(file);
  return {};
}

Status encode_jpeg_op(KernelContext& context) {
  const auto& format = context.node().attrs.get<std::string>("format");
  TROUPE_ASSIGN(const JpegEncoding encoding, jpeg_encoding(context.node()));
  return write_jpeg(context, format == "grayscale" ? 1 : format == "rgb" ? 3 : 0, encoding);
}

Status encode_with_quality(KernelContext& context) {
  const Tensor& quality = context.input(1);
  if (!quality.shape().is_scalar())
    return invalid_argument("quality of shape " + quality.shape().text() + " must be a scalar");
  JpegEncoding encoding;
  encoding.quality = quality.as<int32_t>()[0];
  TROUPE_RETURN_IF_FAILED(check_quality(encoding.quality));
  return write_jpeg(context, 0, encoding);
}

Status encode_png_op(KernelContext& context) {
  const Tensor& images = context.input(0);
  TROUPE_ASSIGN(const auto dims, image_dims(images.shape(), true));
  const auto compression = context.node().attrs.get<int64_t>("compression");
  if (compression < -1 || compression > 9)
    return invalid_argument("compression is " + std::to_string(compression) + ", allowed are -1 to 9");
  if (dims[2] < 1 || dims[2] > 4)
    return invalid_argument("image of shape " + images.shape().text() + " must have 1 to 4 channels");
  const auto all = images.shape().dims();
  TROUPE_ASSIGN(const Shape shape, Shape::make(all.first(all.size() - 3), DType::String));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  const auto files = output->write<std::string>();
  const size_t image = files.empty() ? 0 : images.bytes() / files.size();
  std::vector<Status> results(files.size());
  parallel_rows(context.device().pool(), files.size(), 50 * image, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      auto file = encode_png(images.data() + i * image, dims, images.dtype() == DType::UInt16,
                             static_cast<int>(compression));
      if (file)
        files[i] = std::move(*file);
      else
        results[i] = file.status();
    }
  });
  for (const Status& result : results) TROUPE_RETURN_IF_FAILED(result);
  return {};
}

Status one_file_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 3).status());
  if (context.inputs() == 2) TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  context.set_output(0, PartialShape::scalar());
  return {};
}

Status many_files_shape(ShapeContext& context) {
  const PartialShape& images = context.input(0);
  if (!images.known_rank()) return {};
  if (images.rank() < 3)
    return invalid_argument("image of shape " + images.text() + " must have rank 3 or more");
  context.set_output(0, partial(images.dims().first(images.rank() - 3)));
  return {};
}

}  // namespace

void add_encode_image_ops(OpLibrary& library) {
  library.op(OpDefBuilder("EncodeJpeg")
                 .input("image: uint8")
                 .output("contents: string")
                 .attr("format: {'', 'grayscale', 'rgb'} = ''")
                 .attr("quality: int = 95")
                 .attr("progressive: bool = false")
                 .attr("optimize_size: bool = false")
                 .attr("chroma_downsampling: bool = true")
                 .attr("density_unit: {'in', 'cm'} = 'in'")
                 .attr("x_density: int = 300")
                 .attr("y_density: int = 300")
                 .attr("xmp_metadata: string = ''")
                 .constructor("encode_jpeg(image, quality = 95)")
                 .shape(one_file_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("EncodeJpegVariableQuality")
                 .input("images: uint8")
                 .host_input("quality: int32")
                 .output("contents: string")
                 .shape(one_file_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("EncodePng")
                 .input("image: T")
                 .output("contents: string")
                 .attr("compression: int = -1")
                 .attr("T: {uint8, uint16} = uint8")
                 .constructor("encode_png(image, compression)")
                 .shape(many_files_shape)
                 .not_differentiable());
  library.kernel(cpu_host_kernel("EncodeJpeg", encode_jpeg_op));
  library.kernel(cpu_host_kernel("EncodeJpegVariableQuality", encode_with_quality));
  library.kernel(cpu_host_kernel("EncodePng", encode_png_op));
}

}  // namespace troupe
