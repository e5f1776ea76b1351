// Sounds from and to the bytes of WAV files.
//   DecodeWav(contents)            audio [frames, channels], samples in [-1, 1], and the number of frames per second
//   EncodeWav(audio, sample_rate)  a file with samples of 16 bits
// desired_samples is the number of frames of the result: others are left out, those that the file lacks are 0. desired_channels is
// that of the channels: those that the file lacks are its last one. -1: as in the file. Besides integers of 16 bits, which are all
// that TensorFlow decodes, samples may be integers of 8, 24 or 32 bits, or floats. InvalidArgument for a file that is no WAV file.
#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/audio/wav.h"
#include "kernels/ops/file_kernel.h"

namespace troupe {
namespace {

/// Returns the dimension that an attribute asks for; -1 is unknown_dim.
Result<int64_t> desired(const Node& node, std::string_view attr) {
  const auto value = node.attrs.get<int64_t>(attr);
  if (value >= -1) return value == -1 ? unknown_dim : value;
  return invalid_argument(std::string(attr) + " is " + std::to_string(value) + "; allowed are -1 and above");
}

Status decode_wav_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  TROUPE_ASSIGN(const int64_t frames, desired(context.node(), "desired_samples"));
  TROUPE_ASSIGN(const int64_t channels, desired(context.node(), "desired_channels"));
  context.set_output(0, PartialShape{frames, channels});
  context.set_output(1, PartialShape::scalar());
  return {};
}

Status encode_wav_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 2).status());
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  context.set_output(0, PartialShape::scalar());
  return {};
}

Status decode(KernelContext& context) {
  TROUPE_ASSIGN(const std::string_view bytes, contents_of(context));
  TROUPE_ASSIGN(const WavSound sound, read_wav(bytes));
  TROUPE_ASSIGN(int64_t frames, desired(context.node(), "desired_samples"));
  TROUPE_ASSIGN(int64_t channels, desired(context.node(), "desired_channels"));
  if (frames == unknown_dim) frames = sound.frames;
  if (channels == unknown_dim) channels = sound.channels;
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{frames, channels}, f32));
  TROUPE_ASSIGN(Tensor* const audio, context.output(0, shape));
  TROUPE_ASSIGN(Tensor* const rate, context.output(1, Shape{}));
  decode_wav(sound, frames, channels, audio->write<float>().data());
  rate->write<int32_t>()[0] = static_cast<int32_t>(sound.rate);
  return {};
}

Status encode(KernelContext& context) {
  const Tensor& audio = context.input(0);
  if (audio.shape().rank() != 2)
    return invalid_argument("audio of shape " + audio.shape().text() + " must be a matrix");
  TROUPE_ASSIGN(const int64_t rate, integer_scalar(context.input(1), "sample_rate"));
  TROUPE_ASSIGN(std::string file, encode_wav(audio.as<float>(), audio.shape()[1], rate));
  TROUPE_ASSIGN(Tensor* const contents, context.output(0, Shape{}));
  contents->write<std::string>()[0] = std::move(file);
  return {};
}

}  // namespace

void add_wav_ops(OpLibrary& library) {
  library.op(OpDefBuilder("DecodeWav")
                 .input("contents: string")
                 .output("audio: float")
                 .output("sample_rate: int32")
                 .attr("desired_channels: int = -1")
                 .attr("desired_samples: int = -1")
                 .constructor("decode_wav(contents, desired_channels, desired_samples)")
                 .shape(decode_wav_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("EncodeWav")
                 .input("audio: float")
                 .host_input("sample_rate: int32")
                 .output("contents: string")
                 .constructor("encode_wav(audio, sample_rate)")
                 .shape(encode_wav_shape)
                 .not_differentiable());
  library.kernel(cpu_host_kernel("DecodeWav", decode));
  library.kernel(cpu_host_kernel("EncodeWav", encode));
}

}  // namespace troupe
