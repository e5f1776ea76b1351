// File content: tells what a file is by its first bytes, for errors about files of another form than the run file says, or by its
// name. Functions without state; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::data {

/// Returns what a file is that is no text in UTF-8, and what to do about it: "a NumPy array; data.format = \"npy\" reads it".
/// Returns nothing if the bytes are not known.
std::string_view content_of(std::string_view first_bytes);

/// The most bytes of an image or sound that is a file of its own.
inline constexpr uint64_t max_sample_bytes = uint64_t{64} << 20;

/// Returns whether the name of a file ends as those of images do: .jpg, .jpeg, .png, .gif or .bmp, in any case.
bool is_image_name(std::string name);
/// Returns whether the name of a file ends as those of sounds do: .wav, in any case.
bool is_sound_name(std::string name);

}  // namespace troupe::data
