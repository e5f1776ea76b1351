#include <png.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "kernels/ops/images/codecs.h"

namespace troupe {
namespace {

/// Where libpng goes after an error, with what it says. It jumps over its own frames only: what a guarded function does between
/// calls of libpng has nothing to destroy.
struct PngErrors {
  jmp_buf jump;
  char text[128] = "";

  template <class Work>
  __attribute__((noinline)) bool guarded(const Work& work) {
    if (setjmp(jump) != 0) return false;
    work();
    return true;
  }
  Status status() const { return invalid_argument("PNG: " + std::string(text)); }
};

[[noreturn]] void fail(png_structp png, png_const_charp text) {
  auto* const errors = static_cast<PngErrors*>(png_get_error_ptr(png));
  std::strncpy(errors->text, text, sizeof errors->text - 1);
  longjmp(errors->jump, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void read_png_bytes(png_structp png, png_bytep to, size_t count) {
  auto* const left = static_cast<std::string_view*>(png_get_io_ptr(png));
  if (left->size() < count) png_error(png, "the file ends too early");
  std::memcpy(to, left->data(), count);
  left->remove_prefix(count);
}

/// The names, each with a zero, of chunks that are skipped: a few bytes of them can become megabytes of texts and profiles.
constexpr png_byte unused_chunks[] = {'e', 'X', 'I', 'f', 0, 'i', 'C', 'C', 'P', 0, 'i', 'T', 'X', 't', 0,
                                      's', 'P', 'L', 'T', 0, 't', 'E', 'X', 't', 0, 'z', 'T', 'X', 't', 0};

/// A file of which the header is read.
class PngReader {
 public:
  explicit PngReader(std::string_view bytes) : bytes_(bytes), left_(bytes) {}
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  Status read_header(int channels, bool wide) {
    const bool ok = errors_.guarded([&] {
      png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &errors_, fail, ignore_warning);
      if (png_) info_ = png_create_info_struct(png_);
      if (!info_) return;
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, unused_chunks, std::size(unused_chunks) / 5);
      png_set_read_fn(png_, &left_, read_png_bytes);
      png_read_info(png_, info_);
      width_ = png_get_image_width(png_, info_);
      height_ = png_get_image_height(png_, info_);
      promised_ = png_get_rowbytes(png_, info_);
      transform(channels, wide);
    });
    if (!ok) return errors_.status();
    if (!info_) return resource_exhausted("PNG: there is no memory for a decoder");
    return check_size();
  }

  std::array<int64_t, 3> dims() const { return {height_, width_, channels_}; }

  Status read_pixels(bool wide, uint8_t* to) {
    const size_t row = static_cast<size_t>(width_ * channels_) * (wide ? 2 : 1);
    const bool ok = errors_.guarded([&] {
      for (int pass = 0; pass < passes_; ++pass)
        for (int64_t y = 0; y < height_; ++y) png_read_row(png_, to + static_cast<size_t>(y) * row, nullptr);
      png_read_end(png_, nullptr);
    });
    if (!ok) return errors_.status();
    if (wide && depth_ <= 8) widen(to, row);
    return {};
  }

 private:
  /// Asks for the channels and the depth that are wanted.
  void transform(int channels, bool wide) {
    const int color = png_get_color_type(png_, info_);
    depth_ = png_get_bit_depth(png_, info_);
    const bool transparent = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    const bool alpha = (color & PNG_COLOR_MASK_ALPHA) != 0, gray = (color & PNG_COLOR_MASK_COLOR) == 0;
    channels_ = channels != 0                     ? channels
                : color != PNG_COLOR_TYPE_PALETTE ? png_get_channels(png_, info_)
                : transparent                     ? 4
                                                  : 3;
    if (channels_ % 2 == 0 && !alpha && transparent)
      png_set_tRNS_to_alpha(png_);
    else if (channels_ % 2 == 0 && !alpha)
      png_set_add_alpha(png_, (1U << depth_) - 1, PNG_FILLER_AFTER);
    else if (channels_ % 2 == 1 && (alpha || transparent))
      png_set_strip_alpha(png_);
    if (depth_ > 8 && !wide) png_set_strip_16(png_);
    png_set_packing(png_);
    passes_ = png_set_interlace_handling(png_);
    if (wide) png_set_swap(png_);
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (gray && depth_ < 8) png_set_expand_gray_1_2_4_to_8(png_);
    if (channels_ < 3 && !gray) png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
    if (channels_ >= 3 && gray) png_set_gray_to_rgb(png_);
    png_read_update_info(png_, info_);
    row_ = png_get_rowbytes(png_, info_);
    wide_pixels_ = wide && depth_ > 8;
  }

  Status check_size() const {
    TROUPE_RETURN_IF_FAILED(check_image_dims("PNG", dims()));
    constexpr uint64_t most_inflated = 1032;  // bytes that a byte of a deflated stream can become
    if (promised_ * static_cast<uint64_t>(height_) / most_inflated > bytes_.size())
      return invalid_argument("PNG: " + std::to_string(height_) + " rows of " + std::to_string(promised_) +
                              " bytes cannot be in a file of " + std::to_string(bytes_.size()) + " bytes");
    if (row_ == static_cast<size_t>(width_ * channels_) * (wide_pixels_ ? 2 : 1)) return {};
    return invalid_argument("PNG: its pixels cannot be made " + std::to_string(channels_) + " channels");
  }

  /// Makes the bytes at the beginning of each row words: 0xab becomes 0xabab.
  void widen(uint8_t* to, size_t row) const {
    for (int64_t y = 0; y < height_; ++y, to += row)
      for (size_t i = row / 2; i-- > 0;) {
        const uint8_t byte = to[i];
        to[2 * i] = byte;
        to[2 * i + 1] = byte;
      }
  }

  PngErrors errors_;
  const std::string_view bytes_;
  std::string_view left_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int64_t width_ = 0, height_ = 0, channels_ = 0;
  size_t promised_ = 0, row_ = 0;  ///< bytes of a row, in the file and as it is read
  int depth_ = 8, passes_ = 1;
  bool wide_pixels_ = false;
};

/// The bytes that are written. libpng must not meet exceptions, so that the memory is libc's.
struct PngOutput {
  char* bytes = nullptr;
  size_t size = 0, capacity = 0;

  PngOutput() = default;
  PngOutput(const PngOutput&) = delete;
  PngOutput& operator=(const PngOutput&) = delete;
  ~PngOutput() { std::free(bytes); }
};

void write_bytes(png_structp png, png_bytep from, size_t count) {
  auto* const output = static_cast<PngOutput*>(png_get_io_ptr(png));
  if (output->capacity - output->size < count) {
    const size_t capacity = 2 * output->capacity + count;
    void* const grown = std::realloc(output->bytes, capacity);
    if (!grown) png_error(png, "there is no memory for the file");
    output->bytes = static_cast<char*>(grown);
    output->capacity = capacity;
  }
  std::memcpy(output->bytes + output->size, from, count);
  output->size += count;
}

void flush(png_structp) {}

class PngWriter {
 public:
  PngWriter() = default;
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }

  Result<std::string> write(const uint8_t* pixels, const std::array<int64_t, 3>& dims, bool wide,
                            int compression) {
    const auto [height, width, channels] = dims;
    const size_t row = static_cast<size_t>(width * channels) * (wide ? 2 : 1);
    const bool ok = errors_.guarded([&, rows = height, columns = width, depth = channels] {
      constexpr int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA};
      png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &errors_, fail, ignore_warning);
      if (png_) info_ = png_create_info_struct(png_);
      if (!info_) return;
      png_set_write_fn(png_, &output_, write_bytes, flush);
      png_set_compression_level(png_, compression);
      png_set_compression_mem_level(png_, 9);
      png_set_IHDR(png_, info_, static_cast<png_uint_32>(columns), static_cast<png_uint_32>(rows),
                   wide ? 16 : 8, types[depth - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                   PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png_, info_);
      if (wide) png_set_swap(png_);
      for (int64_t y = 0; y < rows; ++y) png_write_row(png_, pixels + static_cast<size_t>(y) * row);
      png_write_end(png_, nullptr);
    });
    if (!ok) return errors_.status();
    if (!info_) return resource_exhausted("PNG: there is no memory for an encoder");
    return std::string(output_.bytes, output_.size);
  }

 private:
  PngErrors errors_;
  PngOutput output_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

Status decode_png(std::string_view bytes, int channels, bool wide, AllocateImage allocate) {
  PngReader reader(bytes);
  TROUPE_RETURN_IF_FAILED(reader.read_header(channels, wide));
  TROUPE_ASSIGN(void* const memory, allocate(reader.dims()));
  return reader.read_pixels(wide, static_cast<uint8_t*>(memory));
}

Result<std::string> encode_png(const void* pixels, const std::array<int64_t, 3>& dims, bool wide,
                               int compression) {
  TROUPE_RETURN_IF_FAILED(check_image_dims("PNG", dims));
  return PngWriter().write(static_cast<const uint8_t*>(pixels), dims, wide, compression);
}

}  // namespace troupe
