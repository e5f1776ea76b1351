// Walks the op table: every op must have samples, and the properties that it declares are checked on them. An op without a
// kernel names the test that runs it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "devices/flush_denormals.h"
#include "graph/build/host_integers.h"
#include "tests/kernels/cases/all_cases.h"
#include "tests/support/gpu/gpu_library.h"
#include "tests/support/ops/gradient_check.h"
#include "tests/support/ops/op_coverage.h"

namespace troupe::test::op_table_test {
namespace {

/// The thread of the tests computes beside those of a pool, with denormal floats treated as zero like in every step.
struct AsInSteps {
  FlushDenormals flush;
};
BOOST_TEST_GLOBAL_FIXTURE(AsInSteps);

bool has_kernel(const OpDef& op) {
  return op.effect != Effect::Step && !deals_in_lists(op) && !op_library()->kernels.of(op.name).empty();
}

template <class Visit>
void for_each_op(const Visit& visit) {
  for (const auto& [name, op] : op_library()->ops->ops()) visit(*op);
}

/// Returns whether an input of the op is a handle, which finite differences cannot change; state_ops_test.cpp tests such
/// gradients.
bool reads_a_variable(const OpDef& op) {
  return std::ranges::any_of(op.inputs, [](const ArgDef& input) { return input.type == DType::Resource; });
}

/// Returns whether the op is a function of |z|: its gradient is TensorFlow's formula for real numbers.
bool has_no_complex_derivative(const OpCase& sample) {
  return (sample.op == "Sign" || sample.op == "SquaredDifference" || sample.op == "EuclideanNorm") &&
         is_complex(sample.inputs[0].dtype());
}

/// Returns whether the op takes statistics beside x. As in TensorFlow, its gradient is that through y only, with statistics
/// that follow from x; golden cases compare it with TensorFlow's.
bool takes_statistics(const OpDef& op) { return op.name.starts_with("FusedBatchNorm"); }

/// Returns whether the op reads one triangle of a symmetric matrix, and its gradient is, as in TensorFlow, symmetric: half of
/// it belongs to the triangle that is not read. Golden cases compare it with TensorFlow's.
bool has_symmetric_gradient(const OpDef& op) { return op.name == "Cholesky"; }

/// Returns whether the op rounds: as in TensorFlow, its gradient is that of the identity inside the range. Golden cases
/// compare it.
bool rounds(const OpDef& op) {
  return op.name.starts_with("FakeQuant") || op.name.starts_with("QuantizeAndDequantize");
}

/// Returns whether the op has a gradient by some inputs alone, or through some outputs, as in TensorFlow. Golden
/// cases compare it, or layer_norm_test.cpp.
bool lacks_a_partial_gradient(const OpDef& op) {
  static const std::set<std::string_view> ops = {
      "Betainc",       "BlockLSTM",     "BlockLSTMV2",       "GRUBlockCell", "LayerNorm",
      "LayerNormGrad", "LSTMBlockCell", "ScaleAndTranslate", "Polygamma",    "Zeta"};
  return ops.contains(op.name);
}

/// Returns whether the gradient of a number drawn is that of the quantile of its distribution, while the algorithm that draws
/// it moves it in another way. distributions_test.cpp tests it.
bool moves_with_its_distribution(const OpDef& op) { return op.name == "RandomGamma"; }

/// Returns whether an output of the op is its gradient, which has no gradient itself. Golden cases compare it.
bool yields_its_gradient(const OpDef& op) { return op.name == "CTCLoss"; }

/// Returns whether the op is differentiable but has no gradient here: a request for one is an error.
bool lacks_gradient(const OpDef& op) {
  static const std::set<std::string_view> others = {"AdjustContrast",
                                                    "AdjustContrastv2",
                                                    "AdjustHue",
                                                    "AdjustSaturation",
                                                    "AudioSpectrogram",
                                                    "BatchNormWithGlobalNormalizationGrad",
                                                    "Bincount",
                                                    "Bitcast",
                                                    "BlockLSTMGrad",
                                                    "BlockLSTMGradV2",
                                                    "Bucketize",
                                                    "CholeskyGrad",
                                                    "CombinedNonMaxSuppression",
                                                    "Conv3DBackpropFilter",
                                                    "Conv3DBackpropInput",
                                                    "CropAndResizeGradBoxes",
                                                    "CropAndResizeGradImage",
                                                    "DecodeCSV",
                                                    "DeepCopy",
                                                    "DenseBincount",
                                                    "DenseCountSparseOutput",
                                                    "Dequantize",
                                                    "DeserializeManySparse",
                                                    "DeserializeSparse",
                                                    "Dilation2DBackpropFilter",
                                                    "Dilation2DBackpropInput",
                                                    "DrawBoundingBoxesV2",
                                                    "Empty",
                                                    "ExtractGlimpseV2",
                                                    "FractionalAvgPoolGrad",
                                                    "FractionalMaxPoolGrad",
                                                    "FusedPadConv2D",
                                                    "GRUBlockCellGrad",
                                                    "GuaranteeConst",
                                                    "HistogramFixedWidth",
                                                    "IgammaGradA",
                                                    "InplaceAdd",
                                                    "InplaceSub",
                                                    "InplaceUpdate",
                                                    "LRNGrad",
                                                    "LSTMBlockCellGrad",
                                                    "ListDiff",
                                                    "LowerBound",
                                                    "Lu",
                                                    "MatrixLogarithm",
                                                    "Mfcc",
                                                    "NonMaxSuppressionV5",
                                                    "ParallelConcat",
                                                    "ParseExample",
                                                    "ParseExampleV2",
                                                    "ParseSequenceExample",
                                                    "ParseSequenceExampleV2",
                                                    "ParseSingleExample",
                                                    "ParseSingleSequenceExample",
                                                    "QuantizeDownAndShrinkRange",
                                                    "QuantizeV2",
                                                    "QuantizedAdd",
                                                    "QuantizedAvgPool",
                                                    "QuantizedBatchNormWithGlobalNormalization",
                                                    "QuantizedBiasAdd",
                                                    "QuantizedConcat",
                                                    "QuantizedConv2D",
                                                    "QuantizedInstanceNorm",
                                                    "QuantizedMatMul",
                                                    "QuantizedMaxPool",
                                                    "QuantizedMul",
                                                    "QuantizedRelu",
                                                    "QuantizedRelu6",
                                                    "QuantizedReluX",
                                                    "QuantizedReshape",
                                                    "RaggedBincount",
                                                    "RaggedCountSparseOutput",
                                                    "RaggedRange",
                                                    "RandomBinomial",
                                                    "RandomGammaGrad",
                                                    "RandomPoisson",
                                                    "RandomPoissonV2",
                                                    "RequantizationRange",
                                                    "Requantize",
                                                    "ResizeArea",
                                                    "ResourceStridedSliceAssign",
                                                    "ScaleAndTranslateGrad",
                                                    "SelfAdjointEig",
                                                    "SerializeManySparse",
                                                    "SerializeSparse",
                                                    "SparseBincount",
                                                    "SparseCountSparseOutput",
                                                    "SparseDenseCwiseAdd",
                                                    "SparseFillEmptyRowsGrad",
                                                    "SparseReduceMax",
                                                    "SparseReduceMaxSparse",
                                                    "SparseReduceSumSparse",
                                                    "SparseSegmentMeanGrad",
                                                    "SparseSegmentMeanGradV2",
                                                    "SparseSegmentSqrtNGrad",
                                                    "SparseSegmentSqrtNGradV2",
                                                    "SparseSegmentSumGrad",
                                                    "SparseSegmentSumGradV2",
                                                    "SparseSliceGrad",
                                                    "SparseSparseMaximum",
                                                    "SparseSparseMinimum",
                                                    "SparseSplit",
                                                    "StridedSliceAssign",
                                                    "UnbatchGrad",
                                                    "Unique",
                                                    "UniqueV2",
                                                    "UniqueWithCounts",
                                                    "UniqueWithCountsV2",
                                                    "UpperBound",
                                                    "_FusedConv2D",
                                                    "_FusedElementwise",
                                                    "_FusedMatMul",
                                                    "_TensorListReverse"};
  const bool has_own_gradient = op.gradient || op.not_differentiable;
  return (op.effect == Effect::Step && !has_own_gradient) || op.name.find("Apply") != std::string::npos ||
         others.contains(op.name);
}

/// Returns whether a kernel of the library for CPUs serves the type, too.
bool is_served_by_cpu(const OpLibrary& library, const KernelDef& kernel, const std::string& attr,
                      DType type) {
  return std::ranges::any_of(library.kernels.of(kernel.op), [&](const KernelDef& other) {
    const auto types = other.types.find(attr);
    return other.device_type != "GPU" &&
           (types == other.types.end() || std::ranges::find(types->second, type) != types->second.end());
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(op_table)

BOOST_AUTO_TEST_CASE(every_definition_is_sound) { BOOST_TEST(op_library()->status.message() == "Ok"); }

BOOST_AUTO_TEST_CASE(every_op_has_samples) {
  for_each_op([](const OpDef& op) {
    BOOST_TEST(has_kernel(op) != all_cases().good(op.name).empty(),
               op.name << " has a kernel and samples, or neither");
    BOOST_TEST(has_kernel(op) == all_cases().served(op.name).empty(),
               op.name << " has a kernel, or a sample that says where it is tested");
    BOOST_TEST(!all_cases().bad(op.name).empty(), op.name << " has no inputs that it must refuse");
  });
}

BOOST_AUTO_TEST_CASE(samples_leave_nothing_out) {
  for_each_op([](const OpDef& op) {
    if (has_kernel(op))
      for (const std::string& what : left_out(op, all_cases()))
        BOOST_TEST(false, op.name << " has no sample of " << what);
  });
}

BOOST_AUTO_TEST_CASE(gpus_serve_no_types_that_cpus_do_not) {
  const auto library = gpu_library();
  for_each_op([&](const OpDef& op) {
    for (const KernelDef& kernel : library->kernels.of(op.name))
      if (kernel.device_type == "GPU")
        for (const auto& [attr, types] : kernel.types)
          for (const DType type : types)
            BOOST_TEST(is_served_by_cpu(*library, kernel, attr, type),
                       op.name << " of " << attr << " " << name(type));
  });
}

BOOST_AUTO_TEST_CASE(samples_give_equal_bits_however_they_run) {
  for_each_op([](const OpDef& op) {
    for (const OpCase& sample : all_cases().good(op.name)) check_case(sample);
  });
}

BOOST_AUTO_TEST_CASE(samples_of_ops_without_a_kernel) {
  for_each_op([](const OpDef& op) {
    for (const ServedCase& served : all_cases().served(op.name)) check_served_case(served);
  });
}

BOOST_AUTO_TEST_CASE(every_op_says_whether_it_is_differentiable) {
  for_each_op([](const OpDef& op) {
    BOOST_TEST((lacks_gradient(op) || (op.gradient != nullptr) != op.not_differentiable),
               op.name << " has a gradient or is not differentiable");
    BOOST_TEST(!(lacks_gradient(op) && (op.gradient || op.not_differentiable)),
               op.name << " does not lack a gradient any more");
  });
}

// A gradient ends without an error at an op that is declared not differentiable. Among the ops whose output changes with a
// float input, TensorFlow declares only these; all other ops without a gradient fail if one is requested.
BOOST_AUTO_TEST_CASE(gradients_end_without_an_error_only_where_they_do_in_tensorflow) {
  const std::vector<AttrValue> no_limit;
  const std::set<std::string_view> constant_almost_everywhere = {"ArgMax",      "ArgMin",   "Ceil", "Floor",
                                                                 "FloorDiv",    "OnesLike", "Rint", "Round",
                                                                 "TruncateDiv", "ZerosLike"};
  const std::set<std::string_view> declared = {"Assign",
                                               "CTCBeamSearchDecoder",
                                               "CTCGreedyDecoder",
                                               "AssignAdd",
                                               "AssignSub",
                                               "EditDistance",
                                               "FakeQuantWithMinMaxArgsGradient",
                                               "LookupTableFind",
                                               "LookupTableFindV2",
                                               "FakeQuantWithMinMaxVarsGradient",
                                               "FakeQuantWithMinMaxVarsPerChannelGradient",
                                               "LinSpace",
                                               "LoadAndRemapMatrix",
                                               "OneHot",
                                               "ParameterizedTruncatedNormal",
                                               "RandomShuffle",
                                               "Range",
                                               "ScatterAdd",
                                               "ScatterDiv",
                                               "ScatterMax",
                                               "ScatterMin",
                                               "ScatterMul",
                                               "ScatterNdAdd",
                                               "ScatterNdSub",
                                               "ScatterNdUpdate",
                                               "ScatterSub",
                                               "ScatterUpdate",
                                               "SparseAddGrad",
                                               "SparseConcat",
                                               "StopGradient",
                                               "DrawBoundingBoxes",
                                               "ExtractGlimpse",
                                               "HSVToRGB",
                                               "RandomCrop",
                                               "ResizeBilinearGrad",
                                               "SampleDistortedBoundingBox",
                                               "SampleDistortedBoundingBoxV2"};
  for_each_op([&](const OpDef& op) {
    const auto may_be_float = [&](const ArgDef& arg) {
      if (arg.type != DType::Invalid) return arg.type == DType::Variant || is_differentiable(arg.type);
      const auto& allowed = arg.type_attr.empty() ? no_limit : op.find_attr(arg.type_attr)->allowed;
      return allowed.empty() || std::ranges::any_of(allowed, [](const AttrValue& type) {
               return is_differentiable(std::get<DType>(type));
             });
    };
    if (!op.not_differentiable || !std::ranges::any_of(op.inputs, may_be_float) ||
        !std::ranges::any_of(op.outputs, may_be_float))
      return;
    BOOST_TEST((constant_almost_everywhere.contains(op.name) || declared.contains(op.name)), op.name);
  });
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_finite_differences) {
  for_each_op([](const OpDef& op) {
    if (!op.gradient || !has_kernel(op) || reads_a_variable(op) || takes_statistics(op) ||
        has_symmetric_gradient(op) || rounds(op) || lacks_a_partial_gradient(op) ||
        moves_with_its_distribution(op) || yields_its_gradient(op) || op.name == "PreventGradient")
      return;  // the gradient of PreventGradient is an error
    size_t compared = 0;
    for (const OpCase& sample : all_cases().good(op.name)) {
      if (has_no_complex_derivative(sample)) continue;
      for (const Known known : {Known::Values, Known::Shapes, Known::Nothing})
        if (const auto mismatch = gradient_mismatch(sample, known)) {
          BOOST_TEST(mismatch->empty(),
                     op.name << ", known " << static_cast<int>(known) << ": " << *mismatch);
          ++compared;
        }
    }
    BOOST_TEST(compared > 0, op.name << " has a gradient, and no sample of dtype double or complex128");
  });
}

BOOST_AUTO_TEST_CASE(bad_inputs_are_refused_by_name) {
  for_each_op([](const OpDef& op) {
    for (const BadCase& bad : all_cases().bad(op.name)) check_bad_case(bad);
  });
}

// GPUs compute floats, and the host what counts them.
BOOST_AUTO_TEST_CASE(integers_on_the_host_have_no_kernel_of_gpus) {
  size_t counting = 0;
  for_each_op([&](const OpDef& op) {
    for (const DType dtype : {DType::Int32, DType::Int64}) {
      Node node;
      node.op = value_or_throw(op_library()->ops->require(op.name));
      node.attrs.set("T", dtype);
      if (!computes_integers_on_host(node)) continue;
      ++counting;
      for (const KernelDef& kernel : gpu_library()->kernels.of(op.name)) {
        const auto types = kernel.types.find("T");
        const bool serves = types == kernel.types.end() || std::ranges::count(types->second, dtype) != 0;
        BOOST_TEST(!(serves && kernel.device_type == "GPU"), op.name << " of " << name(dtype));
      }
    }
  });
  BOOST_TEST(counting > 60u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::op_table_test
