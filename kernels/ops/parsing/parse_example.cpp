// Serialized Examples become tensors, one or three for each feature that is asked for; other features are skipped.
//   ParseExample(serialized, names, sparse_keys..., dense_keys..., dense_defaults...)
//                        of a vector of strings
//   ParseExampleV2(serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults...)
//                        of a vector, or of a scalar, whose outputs have no dimension for the batch; with ragged features
//   ParseSingleExample(serialized, dense_defaults...)
//                        of a scalar; the keys are attributes
// A sparse feature yields indices, values and the dense shape [examples, most values of one]. A dense feature has the same shape in
// each example; where it is missing its default stands, and without one that is an error. If the first dimension of its shape is
// unknown, it is as long as the longest example needs, and the default, one element, fills up shorter ones. A ragged feature yields
// the values and their splits (of a scalar: none). `names` are for errors. Fails with InvalidArgument, naming example and key, for
// bytes that are no Example and values of another type or number. Where a key occurs twice in an example, the last one counts.
// Source: tensorflow/core/util/example_proto_fast_parsing.cc.
#include "kernels/ops/parsing/example_parser.h"

namespace troupe {
namespace {

using namespace parsing;  // NOLINT: the room's own helpers

// ---- Shapes

Status parse_example_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_lengths(context.node(), {"Nsparse", "sparse_types"}));
  TROUPE_RETURN_IF_FAILED(check_lengths(context.node(), {"Ndense", "Tdense", "dense_shapes"}));
  TROUPE_ASSIGN(PartialShape batch, context.with_rank(0, 1));
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  FeatureShapes shapes(context, std::move(batch));
  shapes.add_sparse(types(context.node(), "sparse_types").size(), 1);
  shapes.add_dense("dense_shapes", 0);
  return {};
}

Status parse_example_v2_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_lengths(context.node(), {"num_sparse", "sparse_types"}));
  TROUPE_RETURN_IF_FAILED(check_lengths(context.node(), {"Tdense", "dense_shapes"}));
  TROUPE_RETURN_IF_FAILED(check_lengths(context.node(), {"ragged_value_types", "ragged_split_types"}));
  for (size_t i = 2; i < 5; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 1).status());
  const PartialShape& batch = context.input(0);
  FeatureShapes shapes(context, batch);
  shapes.add_sparse(types(context.node(), "sparse_types").size(), 1);
  shapes.add_dense("dense_shapes", 0);
  const size_t ragged = types(context.node(), "ragged_value_types").size();
  shapes.add_each(ragged, PartialShape{unknown_dim});
  const bool known = batch.has_rank(0) || (batch.has_rank(1) && batch[0] != unknown_dim);
  shapes.add_each(ragged, PartialShape{!known ? unknown_dim : batch.rank() == 0 ? 0 : batch[0] + 1});
  return {};
}

Status parse_single_example_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_lengths(context.node(), {"num_sparse", "sparse_keys", "sparse_types"}));
  TROUPE_RETURN_IF_FAILED(check_lengths(context.node(), {"dense_keys", "Tdense", "dense_shapes"}));
  TROUPE_ASSIGN(PartialShape batch, context.with_rank(0, 0));
  FeatureShapes shapes(context, std::move(batch));
  shapes.add_sparse(types(context.node(), "sparse_types").size(), 1);
  shapes.add_dense("dense_shapes", 0);
  return {};
}

// ---- Checks

Result<ExampleArguments> check_parse_example(KernelContext& context) {
  const Types &sparse_types = types(context.node(), "sparse_types"), &dense = types(context.node(), "Tdense");
  TROUPE_ASSIGN(const Examples examples, read_examples(context, 1));
  if (!examples.batched) return invalid_argument("serialized is a scalar; it must be a vector");
  TROUPE_ASSIGN(const auto sparse_keys, keys_of_scalars(context, 2, sparse_types.size()));
  TROUPE_ASSIGN(const auto dense_keys, keys_of_scalars(context, 2 + sparse_types.size(), dense.size()));
  FeatureList features;
  features.add_sparse(sparse_keys, sparse_types);
  TROUPE_RETURN_IF_FAILED(
      features.add_dense(context, dense_keys, "dense_shapes", 2 + sparse_types.size() + dense.size(), true));
  return std::move(features).arguments(examples);
}

Result<ExampleArguments> check_parse_example_v2(KernelContext& context) {
  const Types &sparse_types = types(context.node(), "sparse_types"),
              &ragged_types = types(context.node(), "ragged_value_types");
  TROUPE_ASSIGN(const Examples examples, read_examples(context, 1));
  TROUPE_ASSIGN(const auto sparse_keys, keys_of_vector(context, 2, sparse_types.size()));
  TROUPE_ASSIGN(const auto dense_keys, keys_of_vector(context, 3, types(context.node(), "Tdense").size()));
  TROUPE_ASSIGN(const auto ragged_keys, keys_of_vector(context, 4, ragged_types.size()));
  FeatureList features;
  features.add_sparse(sparse_keys, sparse_types);
  TROUPE_RETURN_IF_FAILED(features.add_dense(context, dense_keys, "dense_shapes", 5, true));
  features.add_ragged(ragged_keys, ragged_types);
  return std::move(features).arguments(examples);
}

Result<ExampleArguments> check_parse_single_example(KernelContext& context) {
  const Tensor& serialized = context.input(0);
  if (!serialized.shape().is_scalar())
    return invalid_argument("serialized has shape " + serialized.shape().text() + "; it must be a scalar");
  FeatureList features;
  features.add_sparse(keys_of_attr(context.node(), "sparse_keys"), types(context.node(), "sparse_types"));
  TROUPE_RETURN_IF_FAILED(
      features.add_dense(context, keys_of_attr(context.node(), "dense_keys"), "dense_shapes", 1, true));
  return std::move(features).arguments({serialized.as<std::string>(), {}, false});
}

}  // namespace

void add_parse_example_ops(OpLibrary& library) {
  library.op(OpDefBuilder("ParseExample")
                 .input("serialized: string")
                 .input("names: string")
                 .host_input("sparse_keys: Nsparse * string")
                 .host_input("dense_keys: Ndense * string")
                 .input("dense_defaults: Tdense")
                 .output("sparse_indices: Nsparse * int64")
                 .output("sparse_values: sparse_types")
                 .host_output("sparse_shapes: Nsparse * int64")
                 .output("dense_values: Tdense")
                 .attr("Nsparse: int >= 0")
                 .attr("Ndense: int >= 0")
                 .attr("sparse_types: list({float, int64, string}) >= 0")
                 .attr("Tdense: list({float, int64, string}) >= 0")
                 .attr("dense_shapes: list(shape) >= 0")
                 .shape(parse_example_shape));
  library.op(OpDefBuilder("ParseExampleV2")
                 .input("serialized: string")
                 .input("names: string")
                 .host_input("sparse_keys: string")
                 .host_input("dense_keys: string")
                 .host_input("ragged_keys: string")
                 .input("dense_defaults: Tdense")
                 .output("sparse_indices: num_sparse * int64")
                 .output("sparse_values: sparse_types")
                 .host_output("sparse_shapes: num_sparse * int64")
                 .output("dense_values: Tdense")
                 .output("ragged_values: ragged_value_types")
                 .output("ragged_row_splits: ragged_split_types")
                 .attr("Tdense: list({float, int64, string}) >= 0")
                 .attr("num_sparse: int >= 0")
                 .attr("sparse_types: list({float, int64, string}) >= 0")
                 .attr("ragged_value_types: list({float, int64, string}) >= 0")
                 .attr("ragged_split_types: list({int32, int64}) >= 0")
                 .attr("dense_shapes: list(shape) >= 0")
                 .shape(parse_example_v2_shape));
  library.op(OpDefBuilder("ParseSingleExample")
                 .input("serialized: string")
                 .input("dense_defaults: Tdense")
                 .output("sparse_indices: num_sparse * int64")
                 .output("sparse_values: sparse_types")
                 .host_output("sparse_shapes: num_sparse * int64")
                 .output("dense_values: Tdense")
                 .attr("num_sparse: int >= 0")
                 .attr("sparse_keys: list(string) >= 0")
                 .attr("dense_keys: list(string) >= 0")
                 .attr("sparse_types: list({float, int64, string}) >= 0")
                 .attr("Tdense: list({float, int64, string}) >= 0")
                 .attr("dense_shapes: list(shape) >= 0")
                 .shape(parse_single_example_shape));
  const auto add = [&](const char* name, auto check) {
    library.kernel(measured_cpu_kernel(name, check, measure_examples, allocate_examples, compute_examples));
  };
  add("ParseExample", check_parse_example);
  add("ParseExampleV2", check_parse_example_v2);
  add("ParseSingleExample", check_parse_single_example);
}

}  // namespace troupe
