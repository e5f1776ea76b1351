#include "kernels/ops/audio/wav.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/ops/file_numbers.h"

namespace troupe {
namespace {

constexpr uint16_t integer_code = 1, float_code = 3, extensible_code = 0xFFFE;
constexpr uint32_t unknown_size = UINT32_MAX;  ///< of samples, in files that were written to a pipe
constexpr size_t chunk_header = 8, least_format = 16, extended_format = 26, file_header = 12;

Status wrong(const std::string& what) { return invalid_argument("WAV: " + what); }

std::optional<WavSample> sample_of(uint16_t code, uint16_t bits) {
  if (code == integer_code && bits == 8) return WavSample::UInt8;
  if (code == integer_code && bits == 16) return WavSample::Int16;
  if (code == integer_code && bits == 24) return WavSample::Int24;
  if (code == integer_code && bits == 32) return WavSample::Int32;
  if (code == float_code && bits == 32) return WavSample::Float;
  if (code == float_code && bits == 64) return WavSample::Double;
  return {};
}

int64_t bytes_of(WavSample sample) {
  constexpr int64_t sizes[] = {1, 2, 3, 4, 4, 8};
  return sizes[static_cast<size_t>(sample)];
}

/// Reads the chunk "fmt ".
Status read_format(std::string_view chunk, WavSound& sound) {
  if (chunk.size() < least_format)
    return wrong("the chunk 'fmt ' has " + std::to_string(chunk.size()) + " bytes, at least 16 are needed");
  auto code = number_at<uint16_t>(chunk, 0);
  if (code == extensible_code && chunk.size() >= extended_format) code = number_at<uint16_t>(chunk, 24);
  const auto bits = number_at<uint16_t>(chunk, 14), frame = number_at<uint16_t>(chunk, 12);
  const auto sample = sample_of(code, bits);
  if (!sample)
    return wrong("samples of format " + std::to_string(code) + " and " + std::to_string(bits) +
                 " bits are not supported; supported are integers (format 1) of 8, 16, 24 or 32 bits and "
                 "floats (format 3) of 32 or 64 bits");
  sound.sample = *sample;
  sound.channels = number_at<uint16_t>(chunk, 2);
  sound.rate = number_at<uint32_t>(chunk, 4);
  if (sound.channels == 0) return wrong("the file has no channels");
  if (sound.rate == 0 || sound.rate > INT32_MAX)
    return wrong("the sample rate is " + std::to_string(sound.rate) + ", it must be in [1, 2^31)");
  if (frame == sound.channels * bytes_of(*sample)) return {};
  return wrong("a frame has " + std::to_string(frame) + " bytes, " + std::to_string(sound.channels) +
               " channels of " + std::to_string(bits) + " bits have " +
               std::to_string(sound.channels * bytes_of(*sample)));
}

/// Returns the sample that begins at byte `at`, in [-1, 1].
float sample_at(WavSample sample, std::string_view bytes, size_t at) {
  switch (sample) {
    case WavSample::UInt8: return static_cast<float>(number_at<uint8_t>(bytes, at) - 128) / 128;
    case WavSample::Int16: return static_cast<float>(number_at<int16_t>(bytes, at)) / 32768;
    case WavSample::Int24: {
      const int upper = number_at<int16_t>(bytes, at + 1), lowest = number_at<uint8_t>(bytes, at);
      return static_cast<float>(upper * 256 + lowest) / 8388608;
    }
    case WavSample::Int32: return static_cast<float>(number_at<int32_t>(bytes, at)) / 2147483648.0F;
    case WavSample::Float: break;
    case WavSample::Double: return static_cast<float>(std::bit_cast<double>(number_at<uint64_t>(bytes, at)));
  }
  return std::bit_cast<float>(number_at<uint32_t>(bytes, at));
}

}  // namespace

Result<WavSound> read_wav(std::string_view bytes) {
  if (bytes.size() < file_header || !bytes.starts_with("RIFF") || bytes.substr(8, 4) != "WAVE")
    return wrong("a file of " + std::to_string(bytes.size()) +
                 " bytes does not begin with 'RIFF', a size and 'WAVE'");
  WavSound sound;
  for (size_t at = file_header; at < bytes.size();) {
    if (bytes.size() - at < chunk_header) return wrong("the file ends inside the header of a chunk");
    const std::string_view name = bytes.substr(at, 4);
    const auto size = number_at<uint32_t>(bytes, at + 4);
    at += chunk_header;
    const size_t left = bytes.size() - at;
    const bool has_samples = name == "data";
    if (size > left && !(has_samples && size == unknown_size))
      return wrong("a chunk has " + std::to_string(size) + " bytes, " + std::to_string(left) +
                   " are left in the file");
    const std::string_view chunk = bytes.substr(at, size);
    if (name == "fmt ") TROUPE_RETURN_IF_FAILED(read_format(chunk, sound));
    if (has_samples) {
      if (sound.channels == 0) return wrong("the samples come before the chunk 'fmt '");
      sound.frames = static_cast<int64_t>(chunk.size()) / (sound.channels * bytes_of(sound.sample));
      sound.samples = chunk;
      return sound;
    }
    at += std::min<size_t>(size + size % 2, left);
  }
  return wrong("the file has no chunk 'data'");
}

void decode_wav(const WavSound& sound, int64_t frames, int64_t channels, float* to) {
  const auto size = static_cast<size_t>(bytes_of(sound.sample));
  const int64_t known = std::min(frames, sound.frames);
  for (int64_t i = 0; i < known; ++i)
    for (int64_t c = 0; c < channels; ++c) {
      const auto sample = static_cast<size_t>(i * sound.channels + std::min(c, sound.channels - 1));
      *to++ = sample_at(sound.sample, sound.samples, sample * size);
    }
  std::fill_n(to, (frames - known) * channels, 0.0F);
}

Result<std::string> encode_wav(std::span<const float> samples, int64_t channels, int64_t rate) {
  constexpr size_t header = file_header + chunk_header + least_format + chunk_header;
  if (channels < 1 || channels > UINT16_MAX)
    return wrong("there are " + std::to_string(channels) + " channels, allowed are 1 to 65535");
  if (rate < 1) return wrong("the sample rate is " + std::to_string(rate) + ", it must be positive");
  if (samples.size() > (UINT32_MAX - header) / sizeof(int16_t))
    return wrong(std::to_string(samples.size()) + " samples do not fit a file of 4 GiB");
  std::string file;
  const auto add = [&file]<class T>(T number) {
    file.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  const size_t bytes = samples.size() * sizeof(int16_t),
               frame = static_cast<size_t>(channels) * sizeof(int16_t);
  file.reserve(header + bytes);
  file += "RIFF";
  add(static_cast<uint32_t>(header - chunk_header + bytes));
  file += "WAVEfmt ";
  add(static_cast<uint32_t>(least_format));
  add(integer_code);
  add(static_cast<uint16_t>(channels));
  add(static_cast<uint32_t>(rate));
  add(static_cast<uint32_t>(static_cast<size_t>(rate) * frame));
  add(static_cast<uint16_t>(frame));
  add(uint16_t{16});
  file += "data";
  add(static_cast<uint32_t>(bytes));
  for (const float sample : samples) {
    const float scaled =
        std::round(sample * 32768.0F);  // of a NaN the larger of it and a number is the number
    add(static_cast<int16_t>(std::fmin(std::fmax(scaled, -32768.0F), 32767.0F)));
  }
  return file;
}

}  // namespace troupe
