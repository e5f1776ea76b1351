// Samples of the ops that write and read files of images.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor pixels(const Shape& shape, DType dtype = DType::UInt8) {
  return converted(random_doubles(shape, 0, 255), dtype);
}

Tensor file(const std::string& op, const Tensor& pixels, const Attributes& attrs = {}) {
  return value_or_throw(run_op(op, {pixels}, attrs))[0];
}

std::string bytes_of(const Tensor& tensor) { return tensor.item<std::string>(); }

/// A file of 2 by 3 pixels without compression: blue, green, red, each row followed by zeros.
std::string bmp() {
  std::string bytes = {'B', 'M'};
  for (const unsigned number : {74U, 0U, 54U, 40U, 3U, 2U, 24U << 16 | 1, 0U, 0U, 0U, 0U, 0U, 0U})
    for (const unsigned shift : {0U, 8U, 16U, 24U}) bytes += static_cast<char>(number >> shift & 0xFF);
  for (const int row : {0, 9}) {
    for (int i = 0; i < 9; ++i) bytes += static_cast<char>(row + i);
    bytes += std::string(3, '\0');
  }
  return bytes;
}

/// A file of one frame of 2 by 2 pixels of two colours.
std::string gif() {
  return std::string("GIF89a\2\0\2\0\x80\0\0\1\2\3\4\5\6,\0\0\0\0\2\0\2\0\0\2\3\x44\2\5\0;", 36);
}

void add_encoders(OpCases& cases) {
  for (const int64_t channels : {1, 3}) {
    cases.good("EncodeJpeg", {pixels(Shape{19, 21, channels})});
    cases.good("EncodeJpegVariableQuality", {pixels(Shape{19, 21, channels}), int_scalar(50)});
  }
  for (const char* flag : {"progressive", "optimize_size", "chroma_downsampling"})
    for (const bool value : {false, true})
      cases.good("EncodeJpeg", {pixels(Shape{9, 7, 3})},
                 {{flag, value}, {"density_unit", std::string("cm")}});
  cases.good("EncodeJpeg", {pixels(Shape{9, 7, 3})}, {{"xmp_metadata", std::string("two words")}});
  cases.bad("EncodeJpeg", {pixels(Shape{9, 7, 3})}, {{"xmp_metadata", std::string(70000, 'a')}}, "JPEG: ");
  cases.bad("EncodeJpeg", {pixels(Shape{9, 7, 3})}, {{"quality", int64_t{101}}}, "quality is 101");
  cases.bad("EncodeJpeg", {pixels(Shape{9, 7, 3})}, {{"x_density", int64_t{65536}}}, "x_density is 65536");
  cases.bad("EncodeJpeg", {pixels(Shape{9, 7, 3})}, {{"format", std::string("grayscale")}},
            "must have 1 channels");
  cases.bad("EncodeJpegVariableQuality", {pixels(Shape{9, 7, 3}), int_scalar(-1)}, {}, "quality is -1");
  cases.bad("EncodeJpegVariableQuality", {pixels(Shape{9, 7, 3}), ints({1})}, {}, "");
  for (const char* op : {"EncodeJpeg", "EncodeJpegVariableQuality"}) {
    const auto inputs = [&](const Tensor& pixels) {
      return std::string(op) == "EncodeJpeg" ? std::vector<Tensor>{pixels}
                                             : std::vector<Tensor>{pixels, int_scalar(9)};
    };
    cases.bad(op, inputs(pixels(Shape{9, 7, 2})), {}, "image of shape [9,7,2]");
    cases.bad(op, inputs(pixels(Shape{0, 7, 3})), {}, "JPEG: an image of shape [0,7,3]");
    cases.bad(op, inputs(pixels(Shape{1, 70000, 1})), {}, "JPEG: ");
    cases.bad(op, inputs(pixels(Shape{9, 7})), {}, "");
    cases.bad(op, inputs(pixels({})), {}, "");
  }
  cases.good_in_every_type("EncodePng", {pixels(Shape{9, 7, 3})}, {{"compression", int64_t{3}}});
  cases.good("EncodePng", {pixels(Shape{50, 40, 60, 4})});
  cases.good("EncodePng", {pixels(Shape{0, 2, 2, 1})});
  cases.bad("EncodePng", {pixels(Shape{9, 7, 5})}, {}, "must have 1 to 4 channels");
  cases.bad("EncodePng", {pixels(Shape{9, 0, 3})}, {}, "PNG: an image of shape [9,0,3]");
  cases.bad("EncodePng", {pixels(Shape{9, 7})}, {}, "must have rank 3 or more");
  cases.bad("EncodePng", {pixels({})}, {}, "must have rank 3 or more");
  cases.bad("EncodePng", {pixels(Shape{9, 7, 3})}, {{"compression", int64_t{10}}}, "compression is 10");
}

void add_bad_files(OpCases& cases, const char* op, const std::vector<Tensor>& more) {
  const auto bad = [&](const Tensor& contents, const char* what) {
    std::vector<Tensor> inputs = {contents};
    inputs.insert(inputs.end(), more.begin(), more.end());
    cases.bad(op, inputs, {}, what);
  };
  bad(text(""), "");
  bad(text("no image"), "");
  bad(Tensor::vector<std::string>({""}), "");
  bad(Tensor::of<std::string>(Shape{0}, std::span<const std::string>()), "");
}

void add_jpeg_decoders(OpCases& cases, const std::string& jpeg) {
  const std::vector<Tensor> window = {ints({3, 2, 5, 7})};
  for (const char* op : {"DecodeJpeg", "DecodeAndCropJpeg"}) {
    const bool crops = std::string(op) != "DecodeJpeg";
    const auto inputs = [&](const std::string& bytes) {
      return crops ? std::vector<Tensor>{text(bytes), window[0]} : std::vector<Tensor>{text(bytes)};
    };
    for (const bool flag : {false, true})
      cases.good(op, inputs(jpeg), {{"fancy_upscaling", flag}, {"try_recover_truncated", flag}});
    cases.good(op, inputs(jpeg.substr(0, jpeg.size() - 20)), {{"acceptable_fraction", 0.1F}});
    cases.bad(op, inputs(jpeg.substr(0, jpeg.size() / 2)), {}, "JPEG: the file ends after");
    cases.bad(op, inputs(jpeg.substr(0, 40)), {}, "JPEG: ");
    cases.bad(op, inputs(jpeg), {{"ratio", int64_t{3}}}, "ratio is 3");
    cases.bad(op, inputs(jpeg), {{"channels", int64_t{4}}}, "JPEG does not support 4 channels");
    cases.bad(op, inputs(jpeg), {{"channels", int64_t{2}}}, "channels is 2");
    cases.bad(op, inputs(jpeg), {{"dct_method", std::string("SLOW")}}, "dct_method is 'SLOW'");
    cases.bad(op, inputs(bmp()), {}, "the file is a BMP");
    std::string huge = jpeg;  // with a header of 65,500 by 65,500 pixels
    const size_t at = huge.find("\xff\xc0");
    for (const size_t i : {at + 5, at + 7}) huge.replace(i, 2, "\xff\xdc");
    cases.bad(op, inputs(huge), {}, "JPEG: ");
    std::string large = jpeg;  // of 8,192 by 8,192
    for (const size_t i : {at + 5, at + 7}) large.replace(i, 2, std::string("\x20\0", 2));
    for (const bool recovers : {false, true})
      cases.bad(op, inputs(large), {{"try_recover_truncated", recovers}},
                "JPEG: 8192 by 8192 pixels cannot be in a file of");
    add_bad_files(cases, op, crops ? window : std::vector<Tensor>{});
  }
  for (const Tensor& wrong :
       {ints({0, 0, 20, 5}), ints({0, -1, 5, 5}), ints({0, 0, 0, 5}), ints({INT32_MAX, 1, INT32_MAX, 1})})
    cases.bad("DecodeAndCropJpeg", {text(jpeg), wrong}, {}, "JPEG: the crop window");
  cases.bad("DecodeAndCropJpeg", {text(jpeg), ints({0, 0, 5})}, {}, "crop_window has 3 elements");
  cases.good_in_every_type("ExtractJpegShape", {text(jpeg)});
  cases.bad("ExtractJpegShape", {text(jpeg.substr(0, 40))}, {}, "JPEG: ");
  add_bad_files(cases, "ExtractJpegShape", {});
}

void add_decoders(OpCases& cases) {
  const std::string jpeg = bytes_of(file("EncodeJpeg", pixels(Shape{19, 21, 3})));
  const std::string png = bytes_of(file("EncodePng", pixels(Shape{5, 7, 3})));
  add_jpeg_decoders(cases, jpeg);
  cases.good_in_every_type("DecodePng", {text(png)});
  cases.good("DecodeGif", {text(gif())});
  cases.good("DecodeGif", {text(gif().substr(0, 35))});
  cases.good("DecodeGif", {file("EncodePng", pixels(Shape{5, 7, 1}))});
  cases.good("DecodeBmp", {text(bmp())});
  cases.good("DecodeBmp", {text(bmp())}, {{"channels", int64_t{4}}});
  for (const std::string& bytes : {jpeg, png, gif(), bmp()})
    for (const bool expands : {false, true})
      cases.good_in_every_type("DecodeImage", {text(bytes)}, {{"expand_animations", expands}});
  for (const char* op : {"DecodePng", "DecodeGif", "DecodeBmp", "DecodeImage"}) add_bad_files(cases, op, {});
  cases.bad("DecodePng", {text(png.substr(0, png.size() - 30))}, {}, "PNG: the file ends too early");
  cases.bad("DecodePng", {text(png)}, {{"channels", int64_t{2}}}, "channels is 2");
  std::string damaged = png;
  damaged[30] = '\1';
  cases.bad("DecodePng", {text(damaged)}, {}, "PNG: ");
  cases.bad("DecodeGif", {text(gif().substr(0, 32))}, {}, "GIF: ");
  cases.bad("DecodeGif", {text(gif().substr(0, 9))}, {}, "GIF: the header cannot be read");
  cases.bad("DecodeGif", {text(bmp())}, {}, "the file is a BMP");
  cases.bad("DecodeBmp", {text(bmp().substr(0, 60))}, {}, "BMP: the pixels end at byte");
  cases.bad("DecodeBmp", {text(bmp().substr(0, 30))}, {}, "BMP: a header has at least 32 bytes");
  cases.bad("DecodeBmp", {text(bmp())}, {{"channels", int64_t{1}}}, "cannot be made 1");
  cases.bad("DecodeBmp", {text(png)}, {}, "the file is a PNG");
  cases.bad("DecodeImage", {text(gif())}, {{"channels", int64_t{1}}}, "GIF does not support 1 channels");
  for (const size_t at : {22, 18}) {
    std::string large = bmp();
    large.replace(at, 4, std::string("\xff\xff\xff\x7f", 4));
    cases.bad("DecodeBmp", {text(large)}, {}, "BMP: ");
  }
}

void add_image_summaries(OpCases& cases) {
  const Tensor tag = text("tag");
  for (const int64_t channels : {1, 3, 4})
    cases.good_in_every_type("ImageSummary", {tag, pixels(Shape{3, 5, 7, channels}, f32)});
  const Attributes gray = {{"bad_color", Tensor::vector<uint8_t>({7})}};
  cases.good("ImageSummary", {tag, floats(Shape{1, 1, 2, 1}, {1, NAN})}, gray);
  cases.bad("ImageSummary", {tag, pixels(Shape{1, 2, 2, 3}, f32)}, gray, "bad_color is uint8 of shape [1]");
  cases.bad("ImageSummary", {tag, pixels(Shape{1, 2, 2, 3})}, {{"bad_color", floats(Shape{3}, {1, 2, 3})}},
            "bad_color is float of shape [3]");
  cases.bad("ImageSummary", {tag, pixels(Shape{1, 2, 2, 2}, f32)}, {}, "tensor has shape [1,2,2,2]");
  cases.bad("ImageSummary", {tag, pixels(Shape{2, 2, 3}, f32)}, {}, "tensor has shape [2,2,3]");
  cases.bad("ImageSummary", {tag, pixels(Shape{1, 0, 2, 3}, f32)}, {}, "PNG: an image of shape [0,2,3]");
  cases.bad("ImageSummary", {Tensor::vector<std::string>({"a", "b"}), pixels(Shape{1, 2, 2, 3}, f32)}, {},
            "tag has shape [2]");
}

}  // namespace

void add_file_cases(OpCases& cases) {
  add_image_summaries(cases);
  add_encoders(cases);
  add_decoders(cases);
}

}  // namespace troupe::test
