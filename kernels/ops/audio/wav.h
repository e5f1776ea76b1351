// Files of sound: WAV (RIFF). Every byte of a file may be wrong or hostile; a file that cannot be decoded ends with
// InvalidArgument, which says what is wrong. Pure functions; any thread may call them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "messages/values/status.h"

namespace troupe {

enum class WavSample : uint8_t { UInt8, Int16, Int24, Int32, Float, Double };

/// What the header of a file says.
struct WavSound {
  WavSample sample = WavSample::Int16;
  int64_t channels = 0;      ///< 1 to 65,535
  int64_t rate = 0;          ///< frames per second, 1 to 2^31 - 1
  int64_t frames = 0;        ///< how many times there is a sample of each channel
  std::string_view samples;  ///< in the file: those of the first frame, then those of the next
};

/// Reads the header. Chunks that are neither the format nor the samples are passed over.
Result<WavSound> read_wav(std::string_view bytes);

/// Fills `to`, which has the dimensions [frames, channels], with samples in [-1, 1]. Frames that the sound lacks are 0; channels
/// that it lacks are its last one.
void decode_wav(const WavSound& sound, int64_t frames, int64_t channels, float* to);

/// Returns a file with samples of 16 bits. `samples` has the dimensions [frames, channels]; what is outside [-1, 1) is clipped.
/// Fails with InvalidArgument if there are no channels or more than 65,535, the rate is not positive, or the file would have 4 GiB
/// or more.
Result<std::string> encode_wav(std::span<const float> samples, int64_t channels, int64_t rate);

}  // namespace troupe
