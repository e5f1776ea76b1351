#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/ops/images/codecs.h"
#include "kernels/ops/images/jpeg.h"
#include "messages/values/shape.h"
// Of libjpeg, after its main header.
#include <jerror.h>

namespace troupe {
namespace {

constexpr float least_part = 1.0F / 64;  ///< of a file, without which it is not completed
constexpr int most_repeats = 16;         ///< of bytes with which libjpeg does not come to a result
constexpr int most_scans = 100;          ///< of a progressive file; each reads and writes the whole image

/// libjpeg's source. As in TensorFlow, where a file ends inside of the rows, libjpeg is told to wait, and so stops; elsewhere that
/// is an error. With `recovers` the file goes on with what libjpeg has not used yet, and then an end of the image.
struct MemorySource {
  jpeg_source_mgr manager;  ///< first, so that libjpeg's pointer to it is one to this
  const JOCTET* bytes;
  size_t size;
  bool recovers;
  size_t unused;  ///< bytes, when libjpeg last asked for more
  int repeats;    ///< how often it has been given those
};

constexpr JOCTET end_of_image[2] = {0xFF, JPEG_EOI};

MemorySource& source_of(j_decompress_ptr info) { return *reinterpret_cast<MemorySource*>(info->src); }

void begin_source(j_decompress_ptr info) {
  MemorySource& source = source_of(info);
  source.manager.next_input_byte = source.bytes;
  source.manager.bytes_in_buffer = source.size;
}

boolean end_of_bytes(j_decompress_ptr info) {
  MemorySource& source = source_of(info);
  const size_t unused = source.manager.bytes_in_buffer;
  source.repeats = unused == source.unused ? source.repeats + 1 : 0;
  source.unused = unused;
  const bool ended = source.manager.next_input_byte == end_of_image;
  if (unused != 0 && !source.recovers) return FALSE;
  if (unused != 0 && !ended && source.repeats < most_repeats) return TRUE;
  if (!source.recovers || ended || source.size == 0) ERREXIT(info, JERR_INPUT_EOF);
  source.manager.next_input_byte = end_of_image;
  source.manager.bytes_in_buffer = sizeof end_of_image;
  return TRUE;
}

void skip_bytes(j_decompress_ptr info, long count) {
  jpeg_source_mgr& manager = source_of(info).manager;
  if (count <= 0) return;
  const size_t skipped = std::min(static_cast<size_t>(count), manager.bytes_in_buffer);
  manager.next_input_byte += skipped;
  manager.bytes_in_buffer -= skipped;
  if (skipped < static_cast<size_t>(count)) end_of_bytes(info);
}

void end_source(j_decompress_ptr) {}

void limit_scans(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= most_scans) return;
  auto* const errors = reinterpret_cast<JpegErrors*>(info->err);
  std::snprintf(errors->text, sizeof errors->text, "the file has more than %d scans", most_scans);
  longjmp(errors->jump, 1);
}

/// A row of cyan, magenta, yellow and black as red, green and blue; Adobe's files have them inverted.
void convert_cmyk(const uint8_t* from, bool inverted, size_t pixels, uint8_t* to) {
  for (size_t i = 0; i < pixels; ++i, from += 4, to += 3) {
    const int black = inverted ? from[3] : 255 - from[3];
    for (size_t c = 0; c < 3; ++c)
      to[c] = static_cast<uint8_t>(black * (inverted ? from[c] : 255 - from[c]) / 255);
  }
}

class JpegReader {
 public:
  JpegReader(std::string_view bytes, const JpegDecoding& decoding) : decoding_(decoding) {
    info_.err = &errors_.manager;
    source_.bytes = reinterpret_cast<const JOCTET*>(bytes.data());
    source_.size = bytes.size();
    source_.recovers = decoding.recovers;
    source_.manager.init_source = begin_source;
    source_.manager.fill_input_buffer = end_of_bytes;
    source_.manager.skip_input_data = skip_bytes;
    source_.manager.resync_to_restart = jpeg_resync_to_restart;
    source_.manager.term_source = end_source;
    progress_.progress_monitor = limit_scans;
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&info_); }

  /// Reads the header, and finds the size of the output.
  Status read_header() {
    const bool ok = errors_.guarded([&] {
      jpeg_create_decompress(&info_);
      info_.src = &source_.manager;
      info_.progress = &progress_;
      jpeg_read_header(&info_, TRUE);
      jpeg_calc_output_dimensions(&info_);
    });
    return ok ? Status{} : errors_.status();
  }
  std::array<int64_t, 3> shape() const {
    return {info_.output_height, info_.output_width, info_.output_components};
  }

  /// Prepares the decoding of the rows.
  Status start() {
    channels_ = decoding_.channels != 0 ? decoding_.channels : std::min(info_.num_components, 3);
    const bool cmyk = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    if (channels_ == 2) return invalid_argument("JPEG: the file has 2 channels, supported are 1, 3 and 4");
    info_.out_color_space = channels_ == 1 ? JCS_GRAYSCALE : cmyk ? JCS_CMYK : JCS_RGB;
    info_.do_fancy_upsampling = decoding_.fancy_upscaling ? TRUE : FALSE;
    info_.dct_method = decoding_.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
    info_.scale_num = 1;
    info_.scale_denom = static_cast<unsigned>(decoding_.ratio);
    if (!errors_.guarded([&] { jpeg_calc_output_dimensions(&info_); })) return errors_.status();
    TROUPE_RETURN_IF_FAILED(check_size());
    TROUPE_RETURN_IF_FAILED(choose_window());
    const bool ok = errors_.guarded([&] {
      jpeg_start_decompress(&info_);
      if (decoding_.window) skip_to_window();
    });
    return ok ? Status{} : errors_.status();
  }
  std::array<int64_t, 3> dims() const { return {window_.height, window_.width, channels_}; }

  Status read_rows(uint8_t* to) {
    std::vector<uint8_t> row;  // as libjpeg decodes it, where that is not what is wanted
    const bool direct = info_.out_color_space != JCS_CMYK && info_.output_width == window_.width;
    if (!direct)
      row.resize(static_cast<size_t>(info_.output_width) * static_cast<size_t>(info_.output_components));
    uint8_t* const decoded = direct ? nullptr : row.data();
    if (!errors_.guarded([&] { read_some(to, decoded); })) return errors_.status();
    if (rows_ == window_.height) return finish();
    return complete(to);
  }

 private:
  size_t row_size() const { return static_cast<size_t>(window_.width) * static_cast<size_t>(channels_); }

  Status check_size() const {
    TROUPE_RETURN_IF_FAILED(check_image_dims(
        "JPEG", std::array<int64_t, 3>{info_.output_height, info_.output_width, info_.num_components}));
    const int64_t height = info_.image_height, width = info_.image_width;
    if (jpeg_has_multiple_scans(const_cast<j_decompress_ptr>(&info_)))  // then all coefficients are kept
      TROUPE_RETURN_IF_FAILED(
          check_image_dims("JPEG", std::array<int64_t, 3>{height, width, info_.num_components}));
    // Huffman codes have a bit or more for each block of 8 by 8 pixels. Arithmetic codes may have less, and of a file that is to be
    // completed a part may be there.
    const float part = decoding_.recovers || info_.arith_code ? 0 : decoding_.acceptable_part;
    const double least = static_cast<double>(std::clamp(part, least_part, 1.0F)) / 512;
    if (static_cast<double>(height * width) * least <= static_cast<double>(source_.size)) return {};
    return invalid_argument("JPEG: " + std::to_string(height) + " by " + std::to_string(width) +
                            " pixels cannot be in a file of " + std::to_string(source_.size) + " bytes");
  }

  Status choose_window() {
    const int64_t height = info_.output_height, width = info_.output_width;
    window_ = decoding_.window.value_or(ImageWindow{0, 0, height, width});
    const auto inside = [](int64_t begin, int64_t size, int64_t all) {
      return size > 0 && begin >= 0 && size <= all && begin <= all - size;
    };
    if (inside(window_.y, window_.height, height) && inside(window_.x, window_.width, width)) return {};
    return invalid_argument(
        "JPEG: the crop window " + text_of(std::array{window_.y, window_.x, window_.height, window_.width}) +
        " is not inside of " + std::to_string(height) + " by " + std::to_string(width) + " pixels");
  }

  /// libjpeg decodes whole blocks, so that a row may begin before the window.
  void skip_to_window() {
    auto x = static_cast<JDIMENSION>(window_.x), width = static_cast<JDIMENSION>(window_.width);
    jpeg_crop_scanline(&info_, &x, &width);
    before_ = static_cast<size_t>(window_.x) - x;
    jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(window_.y));
  }

  /// Decodes rows to `to`, or by way of `decoded` if that is not null, until all are there or the file ends.
  void read_some(uint8_t* to, uint8_t* decoded) {
    const auto components = static_cast<size_t>(info_.output_components);
    for (to += static_cast<size_t>(rows_) * row_size(); rows_ < window_.height; ++rows_, to += row_size()) {
      JSAMPROW row = decoded ? decoded : to;
      if (jpeg_read_scanlines(&info_, &row, 1) == 0) return;
      const uint8_t* const first = decoded + before_ * components;
      if (decoded && info_.out_color_space == JCS_CMYK)
        convert_cmyk(first, info_.saw_Adobe_marker != FALSE, static_cast<size_t>(window_.width), to);
      else if (decoded)
        std::memcpy(to, first, row_size());
    }
  }

  Status finish() {
    const bool ok = errors_.guarded([&] {
      if (info_.output_scanline < info_.output_height)
        jpeg_skip_scanlines(&info_, info_.output_height - info_.output_scanline);
      jpeg_finish_decompress(&info_);
    });
    return ok ? Status{} : errors_.status();
  }

  /// Fills the rows that the file does not have.
  Status complete(uint8_t* to) const {
    const size_t row = row_size();
    if (decoding_.recovers) {  // they are like the one above
      for (int64_t y = rows_; y < window_.height; ++y) {
        uint8_t* const at = to + static_cast<size_t>(y) * row;
        if (y == 0)
          std::memset(at, 0, row);
        else
          std::memcpy(at, at - row, row);
      }
      return {};
    }
    const float part = static_cast<float>(rows_) / static_cast<float>(window_.height);
    if (part < std::min(decoding_.acceptable_part, 1.0F))
      return invalid_argument("JPEG: the file ends after " + std::to_string(rows_) + " of " +
                              std::to_string(window_.height) + " rows");
    std::memset(to + static_cast<size_t>(rows_) * row, 0, static_cast<size_t>(window_.height - rows_) * row);
    return {};
  }

  const JpegDecoding& decoding_;
  JpegErrors errors_;
  MemorySource source_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct info_{};
  ImageWindow window_;
  int channels_ = 0;
  int64_t rows_ = 0;   ///< that were read
  size_t before_ = 0;  ///< pixels of a decoded row before the window
};

}  // namespace

Status decode_jpeg(std::string_view bytes, const JpegDecoding& decoding, AllocateImage allocate) {
  JpegReader reader(bytes, decoding);
  TROUPE_RETURN_IF_FAILED(reader.read_header());
  TROUPE_RETURN_IF_FAILED(reader.start());
  TROUPE_ASSIGN(void* const memory, allocate(reader.dims()));
  return reader.read_rows(static_cast<uint8_t*>(memory));
}

Result<std::array<int64_t, 3>> jpeg_shape(std::string_view bytes) {
  const JpegDecoding decoding;
  JpegReader reader(bytes, decoding);
  TROUPE_RETURN_IF_FAILED(reader.read_header());
  return reader.shape();
}

}  // namespace troupe
