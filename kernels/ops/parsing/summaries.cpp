// TensorBoard's summaries as ops (features U3). Each yields a scalar string: a Summary in the binary form of protocol buffers,
// whose values have a tag and one of several contents.
//   ScalarSummary(tags, values)       a value, as a float, for each tag
//   HistogramSummary(tag, values)     least, greatest, number, sum, sum of squares, and how many values are in each bucket
//                                     (TensorFlow's default buckets; neighbours without values are one); NaN and infinities are
//                                     refused
//   TensorSummary(tensor)             a TensorProto; the name of the node instead of a tag
//   TensorSummaryV2(tag, tensor, serialized_summary_metadata)
//   ImageSummary(tag, tensor)         image_summary.cpp
//   AudioSummary(tag, tensor), AudioSummaryV2(tag, tensor, sample_rate)
//                                     the first max_outputs of [batch, frames, channels] or [batch, frames] as WAV files of 16
//                                     bits, with tags tag/audio/0, ... or tag/audio if max_outputs is 1
//   MergeSummary(inputs)              the values of all inputs in turn; no tag may be there twice
// The bytes are TensorFlow's. Fails with InvalidArgument. Source: tensorflow/core/framework/summary.proto,
// tensorflow/core/kernels/summary_op.cc, tensorflow/core/lib/histogram/histogram.cc.
#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <unordered_set>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/parsing/histogram_buckets.h"
#include "kernels/ops/parsing/summary_fields.h"
#include "messages/protobuf/tensor_proto.h"

namespace troupe {
namespace {

using protobuf::append_bytes_field;
using protobuf::append_fixed_field;
using protobuf::append_varint_field;
using namespace summaries;

// ---- ScalarSummary

struct ScalarArguments {
  const Tensor &tags, &values;
  Tensor& output;
};

Result<ScalarArguments> check_scalar(KernelContext& context) {
  const Tensor &tags = context.input(0), &values = context.input(1);
  const bool both_single = tags.elements() == 1 && values.elements() == 1 && tags.shape().rank() <= 1 &&
                           values.shape().rank() <= 1;
  if (!(tags.shape() == values.shape()) && !both_single)
    return invalid_argument("tags of shape " + tags.shape().text() + " and values of shape " +
                            values.shape().text() + " must have the same shape");
  TROUPE_ASSIGN(Tensor* const output, summary_output(context));
  return ScalarArguments{tags, values, *output};
}

void compute_scalar(const ScalarArguments& arguments, DeviceContext&) {
  std::string summary, value;
  const auto tags = arguments.tags.as<std::string>();
  with_type(RealTypes{}, arguments.values.dtype(), [&]<class T>(std::type_identity<T>) {
    for (size_t i = 0; i < tags.size(); ++i) {
      value.clear();
      append_text(value, Tag, tags[i]);
      append_fixed_field(value, SimpleValue, static_cast<float>(arguments.values.as<T>()[i]));
      append_bytes_field(summary, SummaryValue, value);
    }
  });
  arguments.output.write<std::string>()[0] = std::move(summary);
}

// ---- HistogramSummary

struct HistogramArguments {
  std::string_view tag;
  const Tensor& values;
  Tensor& output;
};

Result<HistogramArguments> check_histogram(KernelContext& context) {
  TROUPE_ASSIGN(const std::string_view tag, tag_of(context.input(0)));
  TROUPE_ASSIGN(Tensor* const output, summary_output(context));
  return HistogramArguments{tag, context.input(1), *output};
}

Status compute_histogram(const HistogramArguments& arguments, DeviceContext&) {
  HistogramBuckets histogram;
  Status status;
  with_type(RealTypes{}, arguments.values.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto values = arguments.values.as<T>();
    for (size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<double>(static_cast<ComputeType<T>>(values[i]));
      if (!std::isfinite(value)) {
        status = invalid_argument(element_name("values", arguments.values.shape(), static_cast<int64_t>(i)) +
                                  " is " + (std::isnan(value) ? "NaN" : "infinite") +
                                  "; a histogram has finite values only");
        return;
      }
      histogram.add(value);
    }
  });
  TROUPE_RETURN_IF_FAILED(status);
  std::string summary, value;
  append_text(value, Tag, arguments.tag);
  append_bytes_field(value, Histogram, histogram.proto());
  append_bytes_field(summary, SummaryValue, value);
  arguments.output.write<std::string>()[0] = std::move(summary);
  return {};
}

// ---- TensorSummary, TensorSummaryV2

struct TensorArguments {
  std::string_view tag, node_name;
  const Tensor& tensor;
  const std::string* metadata;  ///< null for TensorSummary
  Tensor& output;
};

Status tensor_summary_v2_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  return scalar_shape(context);
}

Result<TensorArguments> check_tensor(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const output, summary_output(context));
  return TensorArguments{{}, context.node().name, context.input(0), nullptr, *output};
}

Result<TensorArguments> check_tensor_v2(KernelContext& context) {
  TROUPE_ASSIGN(const std::string_view tag, tag_of(context.input(0)));
  const Tensor& metadata = context.input(2);
  if (!metadata.shape().is_scalar())
    return invalid_argument("serialized_summary_metadata has shape " + metadata.shape().text() +
                            "; it must be a scalar");
  TROUPE_ASSIGN(Tensor* const output, summary_output(context));
  return TensorArguments{tag, {}, context.input(1), &metadata.as<std::string>()[0], *output};
}

void compute_tensor(const TensorArguments& arguments, DeviceContext&) {
  std::string summary, value;
  append_text(value, Tag, arguments.tag);
  append_text(value, NodeName, arguments.node_name);
  append_bytes_field(value, TensorValue,
                     protobuf::write_tensor_proto(arguments.tensor, protobuf::StringForm::Values));
  if (arguments.metadata) append_bytes_field(value, Metadata, *arguments.metadata);
  append_bytes_field(summary, SummaryValue, value);
  arguments.output.write<std::string>()[0] = std::move(summary);
}

// ---- AudioSummary, AudioSummaryV2

struct AudioArguments {
  std::string_view tag;
  const Tensor& tensor;
  float sample_rate;
  bool has_numbers;  ///< whether tags have the number of the clip
  size_t clips, frames, channels;
  Tensor& output;
};

Status audio_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  if (const PartialShape& tensor = context.input(1);
      tensor.known_rank() && (tensor.rank() < 2 || tensor.rank() > 3))
    return invalid_argument("tensor has shape " + tensor.text() + "; its rank must be 2 or 3");
  if (context.inputs() == 3) TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  return scalar_shape(context);
}

/// A WAV file counts its bytes in 32 bits, its channels in 16.
Status check_wav(float sample_rate, uint64_t frames, uint64_t channels) {
  constexpr uint64_t header = 44, bytes_per_sample = 2;
  const std::string what = std::to_string(frames) + " frames of " + std::to_string(channels) +
                           " channels with sample_rate " + std::to_string(sample_rate);
  if (!(sample_rate > 0) ||
      sample_rate * static_cast<float>(bytes_per_sample * std::max<uint64_t>(channels, 1)) >= 0x1p32f)
    return invalid_argument(
        what + " make no WAV file: sample_rate must be positive, and the bytes of a second less than 2^32");
  if (frames == 0 || channels == 0 || channels > UINT16_MAX ||
      frames > (UINT32_MAX - header) / (bytes_per_sample * channels))
    return invalid_argument(
        what + " make no WAV file: there must be one of each, at most 65535 channels and 2^32 bytes");
  return {};
}

Result<AudioArguments> check_audio(KernelContext& context) {
  TROUPE_ASSIGN(const std::string_view tag, tag_of(context.input(0)));
  const Shape& shape = context.input(1).shape();
  if (shape.rank() < 2 || shape.rank() > 3)
    return invalid_argument("tensor has shape " + shape.text() + "; its rank must be 2 or 3");
  float sample_rate = 0;
  if (context.inputs() == 2) {
    sample_rate = context.node().attrs.get<float>("sample_rate");
  } else {
    if (!context.input(2).shape().is_scalar())
      return invalid_argument("sample_rate has shape " + context.input(2).shape().text() +
                              "; it must be a scalar");
    sample_rate = context.input(2).as<float>()[0];
  }
  const auto most = context.node().attrs.get<int64_t>("max_outputs");
  const int64_t channels = shape.rank() == 2 ? 1 : shape[2], clips = std::min(most, shape[0]);
  if (clips != 0 || !(sample_rate > 0))
    TROUPE_RETURN_IF_FAILED(
        check_wav(sample_rate, static_cast<uint64_t>(shape[1]), static_cast<uint64_t>(channels)));
  TROUPE_ASSIGN(Tensor* const output, summary_output(context));
  return AudioArguments{tag,
                        context.input(1),
                        sample_rate,
                        most > 1,
                        static_cast<size_t>(clips),
                        static_cast<size_t>(shape[1]),
                        static_cast<size_t>(channels),
                        *output};
}

template <class T>
void append_number(std::string& bytes, T number) {
  char storage[sizeof number];
  std::memcpy(storage, &number, sizeof number);
  bytes.append(storage, sizeof storage);
}

int16_t sample_of(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int16_t>(std::clamp(std::round(value * 0x1p15f), -0x1p15f, 0x1p15f - 1));
}

/// Returns a WAV file (RIFF, PCM of 16 bits).
std::string wav_of(std::span<const float> samples, uint32_t sample_rate, uint16_t channels) {
  constexpr uint16_t bytes_per_sample = 2;
  const auto data_size = static_cast<uint32_t>(samples.size() * bytes_per_sample);
  std::string file;
  file.reserve(44 + data_size);
  file += "RIFF";
  append_number<uint32_t>(file, data_size + 36);
  file += "WAVEfmt ";
  append_number<uint32_t>(file, 16);  // the size of what follows, up to "data"
  append_number<uint16_t>(file, 1);   // PCM
  append_number<uint16_t>(file, channels);
  append_number<uint32_t>(file, sample_rate);
  append_number<uint32_t>(file, sample_rate * bytes_per_sample * channels);
  append_number<uint16_t>(file, static_cast<uint16_t>(bytes_per_sample * channels));
  append_number<uint16_t>(file, 8 * bytes_per_sample);
  file += "data";
  append_number<uint32_t>(file, data_size);
  for (const float sample : samples) append_number(file, sample_of(sample));
  return file;
}

void compute_audio(const AudioArguments& arguments, DeviceContext&) {
  std::string summary;
  const size_t size = arguments.frames * arguments.channels;
  const auto rate = std::max<uint32_t>(static_cast<uint32_t>(std::lrint(arguments.sample_rate)), 1);
  for (size_t i = 0; i < arguments.clips; ++i) {
    std::string audio, value;
    append_fixed_field(audio, 1, arguments.sample_rate);
    append_varint_field(audio, 2, arguments.channels);
    append_varint_field(audio, 3, arguments.frames);
    append_bytes_field(audio, 4,
                       wav_of(arguments.tensor.as<float>().subspan(i * size, size), rate,
                              static_cast<uint16_t>(arguments.channels)));
    append_bytes_field(audio, 5, "audio/wav");
    append_bytes_field(value, Tag, numbered_tag(arguments.tag, "/audio", arguments.has_numbers, i));
    append_bytes_field(value, Audio, audio);
    append_bytes_field(summary, SummaryValue, value);
  }
  arguments.output.write<std::string>()[0] = std::move(summary);
}

// ---- MergeSummary

struct MergeArguments {
  std::span<const Slot> inputs;
  Tensor& output;
};

Result<MergeArguments> check_merge(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const output, summary_output(context));
  return MergeArguments{context.input_slots(0, context.inputs()), *output};
}

/// Returns the tag of a value, or nothing if the message is damaged.
std::optional<std::string_view> read_tag(std::string_view value) {
  std::string_view tag;
  protobuf::FieldReader reader(value);
  protobuf::Field field;
  while (reader.next(field))
    if (field.number == Tag && field.kind == protobuf::FieldKind::Bytes) tag = field.bytes;
  return reader.damaged() ? std::nullopt : std::optional(tag);
}

Status append_values(std::string_view summary, std::unordered_set<std::string_view>& tags, std::string& to) {
  protobuf::FieldReader reader(summary);
  protobuf::Field field;
  while (reader.next(field)) {
    if (field.number != SummaryValue) continue;
    const auto tag = field.kind == protobuf::FieldKind::Bytes ? read_tag(field.bytes) : std::nullopt;
    if (!tag) return invalid_argument("an input is no Summary");
    if (!tag->empty() && !tags.insert(*tag).second)
      return invalid_argument("tag \"" + std::string(*tag) + "\" is in the inputs twice");
    append_bytes_field(to, SummaryValue, field.bytes);
  }
  return reader.damaged() ? invalid_argument("an input is no Summary") : Status{};
}

Status compute_merge(const MergeArguments& arguments, DeviceContext&) {
  std::string merged;
  std::unordered_set<std::string_view> tags;
  for (const Slot& input : arguments.inputs)
    for (const std::string& summary : input.tensor.as<std::string>())
      TROUPE_RETURN_IF_FAILED(append_values(summary, tags, merged));
  arguments.output.write<std::string>()[0] = std::move(merged);
  return {};
}

// ---- Definitions

constexpr const char* numbers =
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}";

void add_tensor_summaries(OpLibrary& library) {
  library.op(summary("TensorSummary")
                 .input("tensor: T")
                 .attr("T: type")
                 .attr("description: string = ''")
                 .attr("labels: list(string) = []")
                 .attr("display_name: string = ''"));
  library.op(summary("TensorSummaryV2")
                 .input("tag: string")
                 .input("tensor: T")
                 .input("serialized_summary_metadata: string")
                 .attr("T: type")
                 .shape(tensor_summary_v2_shape));
  library.kernel(cpu_kernel("TensorSummary", check_tensor, compute_tensor));
  library.kernel(cpu_kernel("TensorSummaryV2", check_tensor_v2, compute_tensor));
}

void add_audio_summaries(OpLibrary& library) {
  for (const char* const name : {"AudioSummary", "AudioSummaryV2"}) {
    const bool has_input = std::string_view(name).ends_with("V2");
    OpDefBuilder op = summary(name).input("tag: string").input("tensor: float");
    if (has_input) op.host_input("sample_rate: float");
    if (!has_input) op.attr("sample_rate: float");
    library.op(op.attr("max_outputs: int >= 1 = 3").shape(audio_shape));
    library.kernel(cpu_kernel(name, check_audio, compute_audio));
  }
}

}  // namespace

void add_summary_ops(OpLibrary& library) {
  library.op(summary("ScalarSummary").input("tags: string").input("values: T").attr(numbers));
  library.op(summary("HistogramSummary")
                 .input("tag: string")
                 .input("values: T")
                 .attr(std::string(numbers) + " = float"));
  library.op(summary("MergeSummary").input("inputs: N * string").attr("N: int >= 1"));
  library.kernel(cpu_kernel("ScalarSummary", check_scalar, compute_scalar));
  library.kernel(cpu_kernel("HistogramSummary", check_histogram, compute_histogram));
  library.kernel(cpu_kernel("MergeSummary", check_merge, compute_merge));
  add_tensor_summaries(library);
  add_audio_summaries(library);
}

}  // namespace troupe
