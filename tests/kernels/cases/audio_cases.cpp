// Samples of the ops on sounds.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

/// Returns the number's bytes, the lowest first.
template <class T>
std::string bytes(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string chunk(const std::string& name, const std::string& content) {
  return name + bytes(static_cast<uint32_t>(content.size())) + content;
}

/// Returns a format chunk for samples of `code`: 1 for integers, 3 for floats.
std::string format(uint16_t code, uint16_t channels, uint16_t bits, uint32_t rate = 8000) {
  const auto frame = static_cast<uint16_t>(channels * bits / 8);
  return chunk(
      "fmt ", bytes(code) + bytes(channels) + bytes(rate) + bytes(rate * frame) + bytes(frame) + bytes(bits));
}

std::string riff(const std::string& chunks) {
  return "RIFF" + bytes(static_cast<uint32_t>(chunks.size() + 4)) + "WAVE" + chunks;
}

std::string samples(std::initializer_list<int16_t> values) {
  std::string all;
  for (const int16_t value : values) all += bytes(value);
  return all;
}

void add_decoding(OpCases& cases) {
  const char* const op = "DecodeWav";
  const std::string stereo = samples({0, 1, -1, 300, 32767, -32768}), header = format(1, 2, 16);
  const std::string file = riff(header + chunk("data", stereo));
  cases.good(op, {text(file)});
  for (const int64_t channels : {1, 2, 5})
    for (const int64_t frames : {0, 2, 9})
      cases.good(op, {text(file)}, {{"desired_channels", channels}, {"desired_samples", frames}});
  for (const uint16_t bits : {uint16_t{8}, uint16_t{24}, uint16_t{32}})
    cases.good(op, {text(riff(format(1, 1, bits) + chunk("data", std::string(24, 'a'))))});
  cases.good(op, {text(riff(format(3, 1, 32) + chunk("data", bytes(0.5F) + bytes(-0.25F))))});
  cases.good(op, {text(riff(format(3, 2, 64) + chunk("data", bytes(0.5) + bytes(-0.25))))});
  cases.good(op, {text(riff(chunk("LIST", "odd") + '\0' + header + chunk("data", stereo) + "more"))});
  cases.good(op, {text(riff(header + "data" + bytes(UINT32_MAX) + stereo))});  // as programs write to a pipe
  cases.bad(op, {text("")}, {}, "does not begin with 'RIFF'");
  cases.bad(op, {text(file.substr(0, 15))}, {}, "WAV: the file ends inside the header of a chunk");
  cases.bad(op, {text(file.substr(0, 50))}, {}, "WAV: a chunk has 12 bytes, 6 are left in the file");
  cases.bad(op, {text(riff(header))}, {}, "WAV: the file has no chunk 'data'");
  cases.bad(op, {text(riff(chunk("data", stereo)))}, {}, "the samples come before the chunk 'fmt '");
  cases.bad(op, {text(riff(chunk("fmt ", "short")))}, {}, "the chunk 'fmt ' has 5 bytes");
  cases.bad(op, {text(riff(format(6, 1, 8)))}, {}, "samples of format 6 and 8 bits are not supported");
  cases.bad(op, {text(riff(format(1, 0, 16)))}, {}, "the file has no channels");
  cases.bad(op, {text(riff(format(1, 1, 16, 0)))}, {}, "the sample rate is 0");
  std::string wrong = header;
  wrong[20] = 7;
  cases.bad(op, {text(riff(wrong))}, {}, "a frame has 7 bytes, 2 channels of 16 bits have 4");
  cases.bad(op, {Tensor::vector<std::string>({file})}, {}, "contents of shape [1]");
  cases.bad(op, {text(file)}, {{"desired_samples", int64_t{-2}}}, "desired_samples is -2");
}

void add_encoding(OpCases& cases) {
  const Tensor rate = int_scalar(16000);
  cases.good("EncodeWav", {floats(Shape{4, 2}, {0, 1, -1, 2, -2, 0.1, NAN, INFINITY}), rate});
  cases.good("EncodeWav", {large(Shape{67, 3}), rate});
  cases.good("EncodeWav", {floats(Shape{0, 1}, {}), rate});
  cases.bad("EncodeWav", {floats(Shape{2, 0}, {}), rate}, {}, "there are 0 channels");
  cases.bad("EncodeWav", {floats(Shape{2}, {1, 1}), rate}, {}, "[2]");
  cases.bad("EncodeWav", {floats(Shape{1, 1}, {1}), int_scalar(0)}, {}, "the sample rate is 0");
}

void add_features(OpCases& cases) {
  const auto windows = [](int64_t size, int64_t stride) {
    return Attributes{{"window_size", size}, {"stride", stride}};
  };
  for (const Shape& shape : {Shape{200, 1}, Shape{90, 3}, Shape{9, 2}, Shape{0, 1}, Shape{40, 0}})
    for (const int64_t size : {2, 20, 32})
      for (const bool squared : {false, true}) {
        Attributes attrs = windows(size, 7);
        attrs.set("magnitude_squared", squared);
        cases.good("AudioSpectrogram", {large(shape)}, attrs);
      }
  cases.good("AudioSpectrogram", {large(Shape{70000, 2})}, windows(256, 128));
  cases.bad("AudioSpectrogram", {large(Shape{9, 1})}, windows(1, 1), "window_size is 1");
  cases.bad("AudioSpectrogram", {large(Shape{9, 1})}, windows(4, 0), "stride is 0");
  cases.bad("AudioSpectrogram", {large(Shape{9})}, windows(4, 1), "[9]");
  cases.bad("AudioSpectrogram", {large(Shape{})}, windows(4, 1), "[]");
  const Tensor powers = large(Shape{2, 5, 33}), rate = int_scalar(16000);
  cases.good("Mfcc", {powers, rate});
  cases.good("Mfcc", {large(Shape{1, 900, 129}), rate}, {{"filterbank_channel_count", int64_t{20}}});
  cases.good("Mfcc", {large(Shape{0, 5, 33}), rate});
  cases.bad("Mfcc", {powers, int_scalar(6000)}, {}, "at most half of sample_rate, which is 6000");
  cases.bad("Mfcc", {large(Shape{2, 5, 1}), rate}, {}, "[2,5,1]");
  cases.bad("Mfcc", {powers, rate}, {{"lower_frequency_limit", 4000.0F}}, "lower_frequency_limit is 4000");
  cases.bad("Mfcc", {powers, rate}, {{"filterbank_channel_count", int64_t{0}}},
            "filterbank_channel_count is 0");
  cases.bad("Mfcc", {powers, rate}, {{"dct_coefficient_count", int64_t{41}}}, "dct_coefficient_count is 41");
}

}  // namespace

void add_audio_cases(OpCases& cases) {
  add_decoding(cases);
  add_encoding(cases);
  add_features(cases);
}

}  // namespace troupe::test
