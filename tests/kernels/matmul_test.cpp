// Tests of matrix products of every type, against sums in the order of the definition, for sizes that are no multiples of the
// blocks.
#include <pthread.h>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <csignal>
#include <thread>

#include "kernels/loops/gemm.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::matmul_test {
namespace {

/// Small integers, so that sums are exact in every type.
template <class T>
Tensor whole(int64_t rows, int64_t columns, int64_t seed) {
  std::vector<T> values;
  for (int64_t i = 0; i < rows * columns; ++i) {
    const auto value = static_cast<float>((i * 7 + seed) % 11 - 5);
    if constexpr (std::is_same_v<T, std::complex<double>> || std::is_same_v<T, std::complex<float>>)
      values.push_back(T(typename T::value_type(value), typename T::value_type(i % 3)));
    else
      values.push_back(static_cast<T>(value));
  }
  return Tensor::of<T>(Shape{rows, columns}, std::span<const T>(values));
}

template <class T>
T add_product(T sum, T x, T y) {
  if constexpr (std::is_same_v<T, Half>)
    return Half(float(sum) + float(x) * float(y));
  else
    return sum + x * y;
}

template <class T>
Tensor product(const Tensor& a, const Tensor& b, bool ta, bool tb) {
  const auto at = [](const Tensor& m, int64_t i, int64_t j, bool transposed) {
    return m.as<T>()[static_cast<size_t>(transposed ? j * m.shape()[1] + i : i * m.shape()[1] + j)];
  };
  const int64_t rows = a.shape()[ta], inner = a.shape()[!ta], columns = b.shape()[!tb];
  std::vector<T> values;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      T sum{};
      for (int64_t k = 0; k < inner; ++k) sum = add_product(sum, at(a, i, k, ta), at(b, k, j, tb));
      values.push_back(sum);
    }
  return Tensor::of<T>(Shape{rows, columns}, std::span<const T>(values));
}

struct Size {
  int64_t rows, inner, columns;
};

template <class T>
void check_products(std::initializer_list<Size> sizes) {
  for (const Size& size : sizes)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        const Tensor a = ta ? whole<T>(size.inner, size.rows, 1) : whole<T>(size.rows, size.inner, 1);
        const Tensor b = tb ? whole<T>(size.columns, size.inner, 2) : whole<T>(size.inner, size.columns, 2);
        check_op("MatMul", {a, b}, {{"transpose_a", ta}, {"transpose_b", tb}}, {product<T>(a, b, ta, tb)});
      }
}

/// Sends a signal to the thread that made it, again and again, and counts the handlers that ran outside the stack of that thread.
class Signals {
 public:
  Signals() {
    pthread_attr_t attributes;
    void* low = nullptr;
    size_t size = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    lowest = reinterpret_cast<uintptr_t>(low), highest = lowest + size;
    handled = astray = 0;
    former_ = std::signal(SIGUSR1, handle);
    sender_ = std::jthread([to = pthread_self()](const std::stop_token& stop) {
      for (int sent = 0; !stop.stop_requested();)
        if (handled == sent && pthread_kill(to, SIGUSR1) == 0) ++sent;
    });
  }
  ~Signals() {
    sender_ = {};
    std::signal(SIGUSR1, former_);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  static inline std::atomic<int> handled, astray;

 private:
  static void handle(int) {
    const int here = 0;
    const auto address = reinterpret_cast<uintptr_t>(&here);
    ++handled;
    if (address < lowest || address > highest) ++astray;
  }

  static inline uintptr_t lowest, highest;
  void (*former_)(int);
  std::jthread sender_;
};

BOOST_AUTO_TEST_SUITE(matmul)

// A service may handle signals on any thread. Its handlers must not write over the memory of a running product.
BOOST_AUTO_TEST_CASE(handlers_of_signals_run_on_the_stack) {
  const auto pool = value_or_throw(ThreadPool::make(1));
  DeviceContext device(heap_allocator(), *pool);
  const Tensor a = counting(Shape{32, 300}), b = counting(Shape{300, 96});
  std::vector<float> c(size_t{32} * 96);
  const Signals signals;
  for (int i = 0; i < 1000 || Signals::handled < 1000; ++i)
    throw_if_failed(gemm(device, 1, MatrixView<float>::of(a.as<float>().data(), 32, 300, false),
                         MatrixView<float>::of(b.as<float>().data(), 300, 96, false), c.data()));
  BOOST_TEST(Signals::astray == 0);
}

BOOST_AUTO_TEST_CASE(floats_of_all_sizes) {
  check_products<float>(
      {{1, 1, 1}, {2, 3, 4}, {64, 64, 100}, {64, 100, 10}, {1, 5, 7}, {7, 5, 1}, {5, 1, 6}, {130, 67, 33}});
}

// Both matrices are copied first. The sizes are no multiples of what is copied and multiplied at a time.
BOOST_AUTO_TEST_CASE(large_products_of_floats) {
  check_products<float>({{48, 1100, 700}, {301, 600, 200}, {97, 700, 513}, {1000, 513, 77}});
}

// The elements repeat after 15 steps along the inner dimension, so that sums of a period give the expected product.
BOOST_AUTO_TEST_CASE(products_of_which_only_parts_are_copied_at_a_time) {
  constexpr int64_t rows = 50, period = 15, periods = 4667, inner = period * periods, columns = 300;
  const auto left = [](int64_t i, int64_t k) { return static_cast<float>((i + k) % 3); };
  const auto right = [](int64_t k, int64_t j) { return static_cast<float>((j + 2 * k) % 5 - 2); };
  Tensor a = value_or_throw(Tensor::allocate(DType::Float, Shape{rows, inner})),
         b = value_or_throw(Tensor::allocate(DType::Float, Shape{inner, columns}));
  for (int64_t k = 0; k < inner; ++k) {
    for (int64_t i = 0; i < rows; ++i) a.write<float>()[static_cast<size_t>(i * inner + k)] = left(i, k);
    for (int64_t j = 0; j < columns; ++j)
      b.write<float>()[static_cast<size_t>(k * columns + j)] = right(k, j);
  }
  const auto got = value_or_throw(run_op("MatMul", {a, b}));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      float expected = 0;
      for (int64_t k = 0; k < period; ++k) expected += left(i, k) * right(k, j);
      BOOST_REQUIRE_EQUAL(got[0].as<float>()[static_cast<size_t>(i * columns + j)], periods * expected);
    }
}

// These columns are computed apart from the whole tiles.
BOOST_AUTO_TEST_CASE(floats_a_few_columns_beyond_a_tile) {
  check_products<float>(
      {{1, 1, 49}, {5, 17, 52}, {33, 600, 53}, {100, 30, 56}, {70, 513, 100}, {6, 1100, 97}});
}

BOOST_AUTO_TEST_CASE(every_other_type) {
  check_products<double>(
      {{1, 1, 1}, {2, 3, 4}, {37, 29, 41}, {1, 5, 7}, {33, 400, 16}, {9, 385, 8}, {8, 800, 24}});
  check_products<int32_t>({{2, 3, 4}, {37, 29, 41}, {9, 385, 32}});
  check_products<Half>({{2, 3, 4}, {5, 9, 7}});
  check_products<std::complex<float>>({{2, 3, 4}});
  check_products<std::complex<double>>({{3, 2, 5}});
}

BOOST_AUTO_TEST_CASE(empty_dimensions_give_zeros_or_nothing) {
  const Tensor zeros = floats(Shape{2, 3}, {0, 0, 0, 0, 0, 0});
  check_op("MatMul", {counting(Shape{2, 0}), counting(Shape{0, 3})}, {}, {zeros});
  check_op("MatMul", {counting(Shape{0, 2}), counting(Shape{2, 3})}, {}, {counting(Shape{0, 3})});
  check_op("BatchMatMul", {counting(Shape{0, 2, 2}), counting(Shape{0, 2, 3})}, {},
           {counting(Shape{0, 2, 3})});
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_fit_are_reported) {
  check_refused("MatMul", {counting(Shape{2, 3}), counting(Shape{4, 5})}, {},
                "a [2,3] x b [4,5]: inner dimensions differ");
  check_refused("MatMul", {counting(Shape{2, 3}), counting(Shape{4, 5})}, {{"transpose_a", true}},
                "a [2,3] transposed x b [4,5]: inner dimensions differ");
  check_refused("MatMul", {counting(Shape{3}), counting(Shape{3, 5})}, {}, "");
  check_refused("BatchMatMul", {counting(Shape{2, 1, 3}), counting(Shape{3, 3, 1})}, {}, "");
  check_refused("BatchMatMul", {counting(Shape{3}), counting(Shape{3})}, {}, "");
}

BOOST_AUTO_TEST_CASE(batches_multiply_pair_by_pair) {
  const Tensor x = floats(Shape{2, 1, 2}, {1, 2, 3, 4}), y = floats(Shape{2, 2, 1}, {5, 6, 7, 8});
  check_op("BatchMatMul", {x, y}, {}, {floats(Shape{2, 1, 1}, {17, 53})});
  check_op("BatchMatMul", {x, x}, {{"adj_x", true}}, {floats(Shape{2, 2, 2}, {1, 2, 2, 4, 9, 12, 12, 16})});
  using Complex = std::complex<float>;
  const Tensor z = Tensor::of<Complex>(Shape{1, 1, 1}, {Complex(1, 2)});
  check_op("BatchMatMul", {z, z}, {{"adj_x", true}}, {Tensor::of<Complex>(Shape{1, 1, 1}, {Complex(5, 0)})});
}

BOOST_AUTO_TEST_CASE(any_number_of_threads_gives_the_same_bits) {
  for (const Size& size :
       {Size{300, 200, 150}, Size{90, 300, 700}, Size{1000, 30, 20}, Size{400, 500, 300}}) {
    std::vector<float> values;
    for (int64_t i = 0; i < size.inner * std::max(size.rows, size.columns); ++i)
      values.push_back(1.0f / static_cast<float>(i % 1009 + 3));
    const auto matrix = [&](int64_t rows, int64_t columns) {
      return Tensor::of<float>(Shape{rows, columns},
                               std::span<const float>(values).first(static_cast<size_t>(rows * columns)));
    };
    const std::vector<Tensor> inputs{matrix(size.rows, size.inner), matrix(size.inner, size.columns)};
    const auto one = value_or_throw(run_op("MatMul", inputs, {}, Known::Values, {}, 1));
    for (int round = 0; round < 3; ++round) {
      const auto three = value_or_throw(run_op("MatMul", inputs, {}, Known::Values, {}, 3));
      BOOST_TEST(identical(one[0], three[0]));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::matmul_test
