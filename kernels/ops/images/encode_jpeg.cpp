#include <algorithm>
#include <cstdlib>

#include "kernels/ops/images/codecs.h"
#include "kernels/ops/images/jpeg.h"

namespace troupe {
namespace {

[[noreturn]] void fail(j_common_ptr info) {
  auto* const errors = reinterpret_cast<JpegErrors*>(info->err);
  errors->manager.format_message(info, errors->text);
  longjmp(errors->jump, 1);
}

void ignore(j_common_ptr) {}

class JpegWriter {
 public:
  JpegWriter() { info_.err = &errors_.manager; }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;
  ~JpegWriter() {
    jpeg_destroy_compress(&info_);
    std::free(bytes_);
  }

  Result<std::string> write(const uint8_t* pixels, const std::array<int64_t, 3>& dims,
                            const JpegEncoding& encoding) {
    std::string metadata;
    if (!encoding.xmp_metadata.empty())
      metadata = std::string("http://ns.adobe.com/xap/1.0/") + '\0' + encoding.xmp_metadata;
    const bool ok = errors_.guarded([&] {
      jpeg_create_compress(&info_);
      jpeg_mem_dest(&info_, &bytes_, &size_);
      configure(dims, encoding);
      jpeg_start_compress(&info_, TRUE);
      if (!metadata.empty())
        jpeg_write_marker(&info_, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(metadata.data()),
                          static_cast<unsigned>(metadata.size()));
      const size_t size = static_cast<size_t>(dims[1] * dims[2]);
      while (info_.next_scanline < info_.image_height) {
        JSAMPROW row = const_cast<JSAMPROW>(pixels + info_.next_scanline * size);
        jpeg_write_scanlines(&info_, &row, 1);
      }
      jpeg_finish_compress(&info_);
    });
    if (!ok) return errors_.status();
    return std::string(reinterpret_cast<const char*>(bytes_), size_);
  }

 private:
  void configure(const std::array<int64_t, 3>& dims, const JpegEncoding& encoding) {
    info_.image_height = static_cast<JDIMENSION>(dims[0]);
    info_.image_width = static_cast<JDIMENSION>(dims[1]);
    info_.input_components = static_cast<int>(dims[2]);
    info_.in_color_space = dims[2] == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    info_.optimize_coding = encoding.optimize_size ? TRUE : FALSE;
    info_.density_unit = static_cast<UINT8>(encoding.density_unit);
    info_.X_density = encoding.x_density;
    info_.Y_density = encoding.y_density;
    jpeg_set_quality(&info_, encoding.quality, TRUE);
    if (encoding.progressive) jpeg_simple_progression(&info_);
    if (encoding.chroma_downsampling) return;
    for (int i = 0; i < info_.num_components; ++i)
      info_.comp_info[i].h_samp_factor = info_.comp_info[i].v_samp_factor = 1;
  }

  JpegErrors errors_;
  jpeg_compress_struct info_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

JpegErrors::JpegErrors() : manager() {
  jpeg_std_error(&manager);
  manager.error_exit = fail;
  manager.output_message = ignore;
}

Status JpegErrors::status() const { return invalid_argument("JPEG: " + std::string(text)); }

Result<std::string> encode_jpeg(const uint8_t* pixels, const std::array<int64_t, 3>& dims,
                                const JpegEncoding& encoding) {
  TROUPE_RETURN_IF_FAILED(check_image_dims("JPEG", dims));
  return JpegWriter().write(pixels, dims, encoding);
}

}  // namespace troupe
