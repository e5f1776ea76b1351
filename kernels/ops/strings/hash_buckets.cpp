// Strings and rows as numbers that are the same on every machine (fingerprints.h).
//   StringToHashBucketFast(input), StringToHashBucketStrong(input), StringToHashBucket(string_tensor)
//                              for each string a number in [0, num_buckets): a hash modulo num_buckets
//   Fingerprint(data, method)  for each row of data eight bytes: the fingerprint of the bytes of the row, the least first. A row of
//                              one string has its fingerprint; a row of other numbers of strings, that of their fingerprints.
#include <cstring>

#include "graph/build/shape_context.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/strings/elements.h"
#include "kernels/ops/strings/fingerprints.h"

namespace troupe {
namespace {

// ---- Buckets

template <uint64_t hash(std::string_view)>
struct Bucket {
  explicit Bucket(const PrepareContext& context)
      : buckets(static_cast<uint64_t>(context.attr<int64_t>("num_buckets"))) {}
  void operator()(const std::string& x, int64_t& y) const { y = static_cast<int64_t>(hash(x) % buckets); }
  uint64_t buckets;
};

struct KeyedBucket {
  explicit KeyedBucket(const PrepareContext& context)
      : buckets(static_cast<uint64_t>(context.attr<int64_t>("num_buckets"))) {
    const auto& numbers = context.attr<std::vector<int64_t>>("key");
    key = {static_cast<uint64_t>(numbers[0]), static_cast<uint64_t>(numbers[1])};
  }
  void operator()(const std::string& x, int64_t& y) const {
    y = static_cast<int64_t>(keyed_hash(key, x) % buckets);
  }
  uint64_t buckets;
  std::array<uint64_t, 2> key;
};

Status keyed_shape(ShapeContext& context) {
  const auto& key = context.attr<std::vector<int64_t>>("key");
  if (key.size() != 2)
    return invalid_argument("key has " + std::to_string(key.size()) + " elements; it must have 2");
  return unchanged_shape(context);
}

OpDefBuilder bucket_op(const char* name, const char* input) {
  return OpDefBuilder(name)
      .input(std::string(input) + ": string")
      .output("output: int64")
      .attr("num_buckets: int >= 1")
      .not_differentiable();
}

// ---- Fingerprint

using HashedTypes = Joined<PlainTypes, TypeList<std::string>>;
constexpr int64_t fingerprint_bytes = sizeof(uint64_t);

Status check_is_no_scalar(bool is_scalar) {
  return is_scalar ? invalid_argument("data of shape [] is a scalar, expected rank 1 or more") : ok_status();
}

Status check_method(const Tensor& method) {
  if (method.shape().is_scalar() && method.item<std::string>() == "farmhash64") return {};
  const bool is_scalar = method.shape().is_scalar();
  return invalid_argument(
      "method " +
      (is_scalar ? "is " + quoted(method.item<std::string>()) : "has shape " + method.shape().text()) +
      ", expected the scalar 'farmhash64'");
}

Status fingerprint_shape(ShapeContext& context) {
  const PartialShape& data = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_is_no_scalar(data.has_rank(0)));
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  if (const Tensor* const method = context.constant(1)) TROUPE_RETURN_IF_FAILED(check_method(*method));
  context.set_output(0, PartialShape{data.known_rank() ? data[0] : unknown_dim, fingerprint_bytes});
  return {};
}

Result<ElementsArguments> check_fingerprint(KernelContext& context) {
  const Tensor& data = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_is_no_scalar(data.shape().is_scalar()));
  TROUPE_RETURN_IF_FAILED(check_method(context.input(1)));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{data.shape()[0], fingerprint_bytes}, DType::UInt8));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return ElementsArguments{data, *output};
}

/// Returns the fingerprint of a row of strings.
uint64_t fingerprint_of(std::span<const std::string> row) {
  if (row.size() == 1) return fingerprint(row[0]);
  std::string each(row.size() * sizeof(uint64_t), '\0');
  for (size_t i = 0; i < row.size(); ++i) {
    const uint64_t one = fingerprint(row[i]);
    std::memcpy(each.data() + i * sizeof one, &one, sizeof one);
  }
  return fingerprint(each);
}

void compute_fingerprint(const ElementsArguments& arguments, DeviceContext& device) {
  const Tensor& data = arguments.x;
  const auto rows = static_cast<size_t>(data.shape()[0]);
  if (rows == 0) return;
  uint8_t* const to = arguments.y.write<uint8_t>().data();
  const bool is_text = data.dtype() == DType::String;
  const size_t bytes = data.bytes() / rows, size = static_cast<size_t>(data.elements()) / rows;
  parallel_rows(
      device.pool(), rows, is_text ? string_cost * (size + 1) : bytes, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          const uint64_t value =
              is_text ? fingerprint_of(data.as<std::string>().subspan(i * size, size))
                      : fingerprint({reinterpret_cast<const char*>(data.data()) + i * bytes, bytes});
          std::memcpy(to + i * sizeof value, &value, sizeof value);
        }
      });
}

}  // namespace

void add_hash_buckets(OpLibrary& library) {
  library.op(bucket_op("StringToHashBucketFast", "input")
                 .constructor("string_to_hash_bucket_fast(input, num_buckets)")
                 .shape(unchanged_shape));
  library.kernel(string_map_kernel<int64_t, Bucket<fingerprint>>("StringToHashBucketFast"));
  library.op(bucket_op("StringToHashBucket", "string_tensor")
                 .constructor("string_to_hash_bucket(string_tensor, num_buckets)")
                 .shape(unchanged_shape));
  library.kernel(string_map_kernel<int64_t, Bucket<murmur_hash>>("StringToHashBucket"));
  library.op(bucket_op("StringToHashBucketStrong", "input")
                 .attr("key: list(int)")
                 .constructor("string_to_hash_bucket_strong(input, num_buckets, key)")
                 .shape(keyed_shape));
  library.kernel(string_map_kernel<int64_t, KeyedBucket>("StringToHashBucketStrong"));
  library.op(OpDefBuilder("Fingerprint")
                 .input("data: T")
                 .host_input("method: string")
                 .output("fingerprint: uint8")
                 .attr("T: type")
                 .constructor("fingerprint(data, method)")
                 .shape(fingerprint_shape)
                 .not_differentiable());
  library.kernel(
      cpu_kernel("Fingerprint", check_fingerprint, compute_fingerprint).on("T", dtypes(HashedTypes{})));
}

}  // namespace troupe
