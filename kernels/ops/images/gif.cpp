#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/ops/images/codecs.h"

namespace troupe {
namespace {

int read_bytes(GifFileType* file, GifByteType* to, int count) {
  auto* const left = static_cast<std::string_view*>(file->UserData);
  const size_t read = std::min(left->size(), static_cast<size_t>(std::max(count, 0)));
  std::memcpy(to, left->data(), read);
  left->remove_prefix(read);
  return static_cast<int>(read);
}

Status failure(const char* what, int error) {
  const char* const text = GifErrorString(error);
  return invalid_argument(std::string("GIF: ") + what + ": " + (text ? text : "unknown error"));
}

/// Where a frame lies on the canvas.
struct FramePlace {
  int64_t left = 0, top = 0, width = 0, height = 0;
};

/// A file, read record by record.
class GifReader {
 public:
  explicit GifReader(std::string_view bytes) : left_(bytes) {}
  GifReader(const GifReader&) = delete;
  GifReader& operator=(const GifReader&) = delete;
  ~GifReader() {
    if (file_) DGifCloseFile(file_, nullptr);
  }

  Status open() {
    int error = 0;
    file_ = DGifOpen(&left_, read_bytes, &error);
    return file_ ? Status{} : failure("the header cannot be read", error);
  }

  /// Goes to the next frame. Returns false at the end of the file.
  Result<bool> next() {
    for (;;) {
      GifRecordType record = UNDEFINED_RECORD_TYPE;
      if (DGifGetRecordType(file_, &record) == GIF_ERROR)
        return failure("a record cannot be read", file_->Error);
      if (record == TERMINATE_RECORD_TYPE) return false;
      if (record == IMAGE_DESC_RECORD_TYPE) {
        if (DGifGetImageDesc(file_) == GIF_ERROR) return failure("a frame cannot be read", file_->Error);
        return true;
      }
      if (record == EXTENSION_RECORD_TYPE) TROUPE_RETURN_IF_FAILED(skip_extension());
    }
  }
  FramePlace place() const {
    const GifImageDesc& image = file_->Image;
    return {image.Left, image.Top, image.Width, image.Height};
  }

  Status skip_pixels() {
    int size = 0;
    GifByteType* block = nullptr;
    if (DGifGetCode(file_, &size, &block) == GIF_ERROR)
      return failure("a frame cannot be read", file_->Error);
    while (block)
      if (DGifGetCodeNext(file_, &block) == GIF_ERROR) return failure("a frame cannot be read", file_->Error);
    return {};
  }

  /// Draws the frame on a canvas of this size, which has what was there before.
  Status draw(int64_t height, int64_t width, uint8_t* canvas) {
    const FramePlace at = place();
    const ColorMapObject* const colors = file_->Image.ColorMap ? file_->Image.ColorMap : file_->SColorMap;
    if (!colors) return invalid_argument("GIF: a frame has no colours");
    std::vector<GifPixelType> row(static_cast<size_t>(at.width));
    const bool interlaced = file_->Image.Interlace;
    for (int pass = interlaced ? 0 : 4; pass < 5; ++pass) {
      constexpr int64_t first[] = {0, 4, 2, 1, 0}, step[] = {8, 8, 4, 2, 1};
      if (pass == 4 && interlaced) break;
      for (int64_t y = first[pass]; y < at.height; y += step[pass]) {
        if (DGifGetLine(file_, row.data(), static_cast<int>(at.width)) == GIF_ERROR)
          return failure("the pixels of a frame cannot be read", file_->Error);
        TROUPE_RETURN_IF_FAILED(draw_row(row, at, y, *colors, height, width, canvas));
      }
    }
    return {};
  }

 private:
  Status skip_extension() {
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(file_, &code, &block) == GIF_ERROR)
      return failure("an extension cannot be read", file_->Error);
    while (block)
      if (DGifGetExtensionNext(file_, &block) == GIF_ERROR)
        return failure("an extension cannot be read", file_->Error);
    return {};
  }

  static Status draw_row(const std::vector<GifPixelType>& row, const FramePlace& at, int64_t y,
                         const ColorMapObject& colors, int64_t height, int64_t width, uint8_t* canvas) {
    if (at.top + y >= height) return {};
    const int64_t pixels = std::min(at.width, width - at.left);
    if (pixels <= 0) return {};
    uint8_t* to = canvas + ((at.top + y) * width + at.left) * 3;
    for (int64_t x = 0; x < pixels; ++x, to += 3) {
      const GifPixelType color = row[static_cast<size_t>(x)];
      if (color >= colors.ColorCount)
        return invalid_argument("GIF: a pixel has colour " + std::to_string(color) + " of " +
                                std::to_string(colors.ColorCount));
      to[0] = colors.Colors[color].Red;
      to[1] = colors.Colors[color].Green;
      to[2] = colors.Colors[color].Blue;
    }
    return {};
  }

  std::string_view left_;
  GifFileType* file_ = nullptr;
};

/// The frames of a file: how many there are, and the greatest height and width.
struct GifSummary {
  int64_t frames = 0, height = 0, width = 0;
};

/// Summarizes at most `most` frames; without them, what is wrong with the first.
Result<GifSummary> summarize(std::string_view bytes, int64_t most) {
  GifReader reader(bytes);
  TROUPE_RETURN_IF_FAILED(reader.open());
  GifSummary summary;
  int64_t pixels = 0;
  while (summary.frames < most) {
    const auto more = reader.next();
    if (more && !*more) break;
    const FramePlace place = reader.place();
    const Status read = more ? reader.skip_pixels() : more.status();
    if (!read.ok() && summary.frames == 0) return read;
    if (!read.ok()) break;
    ++summary.frames;
    summary.height = std::max(summary.height, place.height);
    summary.width = std::max(summary.width, place.width);
    pixels += place.height * place.width;
  }
  if (summary.frames == 0) return invalid_argument("GIF: the file has no frame");
  // A code of 12 bits stands for fewer than 4096 pixels.
  if (pixels / 2731 > static_cast<int64_t>(bytes.size()))
    return invalid_argument("GIF: frames of " + std::to_string(pixels) + " pixels cannot be in a file of " +
                            std::to_string(bytes.size()) + " bytes");
  return summary;
}

/// Draws frames, until all are drawn or one is damaged. Returns how many are drawn; without any, what is wrong with the first.
Result<int64_t> draw_frames(std::string_view bytes, const GifSummary& summary, uint8_t* canvas) {
  const auto size = static_cast<size_t>(summary.height * summary.width * 3);
  GifReader reader(bytes);
  TROUPE_RETURN_IF_FAILED(reader.open());
  std::memset(canvas, 0, size);
  for (int64_t i = 0; i < summary.frames; ++i, canvas += size) {
    TROUPE_RETURN_IF_FAILED(reader.next().status());
    if (i != 0) std::memcpy(canvas, canvas - size, size);
    const Status drawn = reader.draw(summary.height, summary.width, canvas);
    if (!drawn.ok() && i == 0) return drawn;
    if (!drawn.ok()) return i;
  }
  return summary.frames;
}

}  // namespace

Status decode_gif(std::string_view bytes, GifFrames frames, AllocateImage allocate) {
  int64_t most = std::numeric_limits<int64_t>::max();
  for (;;) {
    TROUPE_ASSIGN(GifSummary summary, summarize(bytes, most));
    if (frames == GifFrames::Only && summary.frames != 1)
      return invalid_argument("GIF: the file has " + std::to_string(summary.frames) +
                              " frames; DecodeGif and DecodeImage decode animations");
    if (frames == GifFrames::First) summary.frames = 1;
    const std::array dims{summary.frames, summary.height, summary.width, int64_t{3}};
    TROUPE_RETURN_IF_FAILED(check_image_dims("GIF", dims));
    TROUPE_ASSIGN(void* const memory,
                  allocate(std::span<const int64_t>(dims).subspan(frames == GifFrames::All ? 0 : 1)));
    TROUPE_ASSIGN(most, draw_frames(bytes, summary, static_cast<uint8_t*>(memory)));
    if (most == summary.frames) return {};
  }
}

}  // namespace troupe
