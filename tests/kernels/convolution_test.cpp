// Convolutions of float by their several algorithms, compared with those of double, which are plain sums of products.
#include "kernels/loops/convolution.h"

#include <boost/test/unit_test.hpp>
#include <thread>

#include "kernels/loops/cast.h"
#include "kernels/loops/winograd.h"
#include "tests/support/ops/op_case.h"

namespace troupe::convolution_test {
namespace {

struct Sample {
  const char* name;
  int64_t batch, in_channels, out_channels, groups;
  ConvolutionAxis down, across;
};

ConvolutionAxis axis(int64_t input, int64_t window, int64_t stride, int64_t pad_before, int64_t pad_after,
                     int64_t dilation = 1) {
  const int64_t output = (input + pad_before + pad_after - (window - 1) * dilation - 1) / stride + 1;
  return {input, window, output, stride, dilation, pad_before};
}

const Sample samples[] = {
    {"Winograd", 2, 32, 48, 1, axis(11, 3, 1, 1, 1), axis(9, 3, 1, 1, 1)},
    {"Winograd without padding", 1, 48, 32, 1, axis(9, 3, 1, 0, 0), axis(14, 3, 1, 0, 0)},
    {"Winograd with uneven padding", 3, 64, 80, 1, axis(8, 3, 1, 2, 0), axis(7, 3, 1, 0, 2)},
    {"Winograd of many tiles", 9, 32, 32, 1, axis(45, 3, 1, 1, 1), axis(45, 3, 1, 1, 1)},
    {"3 x 3 of few channels", 2, 3, 20, 1, axis(17, 3, 1, 1, 1), axis(9, 3, 1, 1, 1)},
    {"1 x 1", 4, 40, 24, 1, axis(7, 1, 1, 0, 0), axis(7, 1, 1, 0, 0)},
    {"first layer", 2, 3, 64, 1, axis(31, 7, 2, 2, 3), axis(33, 7, 2, 3, 3)},
    {"stride beyond the window", 2, 8, 8, 1, axis(13, 1, 2, 0, 0), axis(12, 2, 3, 0, 0)},
    {"dilated", 2, 16, 16, 1, axis(15, 3, 1, 2, 2, 2), axis(15, 3, 1, 2, 2, 2)},
    {"groups", 2, 12, 24, 3, axis(9, 3, 1, 1, 1), axis(9, 3, 1, 1, 1)},
    {"depthwise", 3, 32, 32, 32, axis(14, 3, 1, 1, 1), axis(14, 3, 1, 1, 1)},
    {"depthwise with two outputs a channel", 1, 5, 10, 5, axis(6, 3, 2, 1, 1), axis(6, 3, 2, 1, 1)},
    {"more padding than window", 1, 4, 4, 1, axis(3, 2, 1, 3, 3), axis(3, 2, 1, 3, 3)},
    {"rows of one image", 1, 24, 40, 1, axis(61, 5, 1, 2, 2), axis(60, 5, 1, 2, 2)},
    {"one row", 8, 16, 32, 1, axis(1, 1, 1, 0, 0), axis(200, 7, 1, 3, 3)},
};

ConvolutionSizes sizes_of(const Sample& sample) {
  return {sample.batch, sample.groups, sample.in_channels, sample.out_channels, {sample.down, sample.across}};
}

Tensor run(ConvolutionPass pass, const ConvolutionSizes& sizes, const Tensor& a, const Tensor& b,
           int64_t elements) {
  const auto pool = value_or_throw(ThreadPool::make(2));
  DeviceContext device(heap_allocator(), *pool);
  Tensor out = value_or_throw(Tensor::allocate(a.dtype(), Shape{elements}));
  throw_if_failed(Convolution(pass).run(device, sizes, a, b, out));
  return out;
}

/// The norm of the difference over the norm of the expected.
double error(const Tensor& got, const Tensor& expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < static_cast<size_t>(got.elements()); ++i) {
    const double e = expected.as<double>()[i], d = static_cast<double>(got.as<float>()[i]) - e;
    difference += d * d;
    norm += e * e;
  }
  return std::sqrt(difference / norm);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(convolutions)

BOOST_AUTO_TEST_CASE(every_algorithm_computes_what_plain_sums_do) {
  for (const Sample& sample : samples) {
    const ConvolutionSizes sizes = sizes_of(sample);
    const Tensor images = test::random_doubles(Shape{sizes.batch * sizes.image_elements()}, -1, 1, 1);
    const Tensor filter = test::random_doubles(Shape{sizes.filter_elements()}, -1, 1, 2);
    const Tensor outputs = test::random_doubles(Shape{sizes.batch * sizes.output_elements()}, -1, 1, 3);
    const auto check = [&](ConvolutionPass pass, const char* what, const Tensor& a, const Tensor& b,
                           const Tensor& like) {
      const Tensor expected = run(pass, sizes, a, b, like.elements());
      const Tensor got = run(pass, sizes, test::converted(a, DType::Float), test::converted(b, DType::Float),
                             like.elements());
      BOOST_TEST(error(got, expected) < 5e-6, sample.name << ", " << what << ": " << error(got, expected));
    };
    check(ConvolutionPass::Forward, "forward", images, filter, outputs);
    check(ConvolutionPass::ImageGradient, "gradient by the images", outputs, filter, images);
    check(ConvolutionPass::FilterGradient, "gradient by the filter", images, outputs, filter);
  }
}

BOOST_AUTO_TEST_CASE(the_first_convolution_of_a_thread_has_the_same_bits_as_later_ones) {
  for (const Sample& sample : samples) {
    const ConvolutionSizes sizes = sizes_of(sample);
    const auto floats = [](int64_t elements, uint64_t seed) {
      return test::converted(test::random_doubles(Shape{elements}, -1, 1, seed), DType::Float);
    };
    const Tensor images = floats(sizes.batch * sizes.image_elements(), 1);
    const Tensor gradients = floats(sizes.batch * sizes.output_elements(), 2);
    Tensor first, second;
    std::thread([&] {
      for (Tensor* const out : {&first, &second})
        *out = run(ConvolutionPass::FilterGradient, sizes, images, gradients, sizes.filter_elements());
    }).join();
    BOOST_TEST(identical(first, second), sample.name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::convolution_test
