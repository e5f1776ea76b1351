// The golden cases hold every op of the table to TensorFlow's answers.
#include <boost/test/unit_test.hpp>

#include <set>

#include "apps/golden/golden_case.h"
#include "messages/env/real_disk.h"
#include "tests/interop/graph_file.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"

namespace troupe::golden::golden_coverage_test {
namespace {

// Random numbers are Troupe's own; so are the ends of partitions, and updates in rounds. No client of TensorFlow builds a
// StackCloseV2, and none has built a PlaceholderV2 or a TopK since TensorFlow deprecated them. TensorFlow has
// MaxPoolGradGradWithArgmax on GPUs only and no CompareAndBitpack any more. It has no gradient descent, Adam, AdaMax, AddSign and
// PowerSign on rows, AMSGrad on resources alone, and no LAMB, LARS and Lion. It refuses BatchNormWithGlobalNormalization and most
// readers without V2 in new graphs. No case has files to read, a time, or a handle of a session tensor, which is another one in
// every session.
// Fused ops are compared with those that they replace (fuse_test.cpp).
const std::set<std::string> without_case = {"MaxPoolGradGradWithArgmax",
                                            "PlaceholderV2",
                                            "BatchNormWithGlobalNormalization",
                                            "BatchNormWithGlobalNormalizationGrad",
                                            "CompareAndBitpack",
                                            "DeleteSessionTensor",
                                            "GetSessionHandle",
                                            "GetSessionTensor",
                                            "FixedLengthRecordReader",
                                            "FixedLengthRecordReaderV2",
                                            "IdentityReader",
                                            "TFRecordReader",
                                            "TFRecordReaderV2",
                                            "TextLineReader",
                                            "TextLineReaderV2",
                                            "Timestamp",
                                            "QuantizeAndDequantize",
                                            "QuantizedReluX",
                                            "FixedUnigramCandidateSampler",
                                            "FractionalAvgPool",
                                            "FractionalMaxPool",
                                            "LearnedUnigramCandidateSampler",
                                            "ThreadUnsafeUnigramCandidateSampler",
                                            "LogUniformCandidateSampler",
                                            "Multinomial",
                                            "ParameterizedTruncatedNormal",
                                            "RandomBinomial",
                                            "RandomCrop",
                                            "RandomGamma",
                                            "RandomPoisson",
                                            "RandomPoissonV2",
                                            "RandomShuffle",
                                            "RandomStandardNormal",
                                            "RandomUniform",
                                            "RandomUniformInt",
                                            "SampleDistortedBoundingBox",
                                            "SampleDistortedBoundingBoxV2",
                                            "TruncatedNormal",
                                            "UniformCandidateSampler",
                                            "AllGather",
                                            "AllReduce",
                                            "BroadcastReceive",
                                            "BroadcastSend",
                                            "ReduceScatter",
                                            "WeightedAllReduce",
                                            "SyncReplicasApply",
                                            "ResourceSyncReplicasApply",
                                            "SyncReplicasAwait",
                                            "ResourceSyncReplicasAwait",
                                            "ApplyMovingAverage",
                                            "ImageProjectiveTransformGrad",
                                            "LayerNorm",
                                            "LayerNormGrad",
                                            "_CheckFinite",
                                            "_FusedApply",
                                            "_FusedConv2D",
                                            "_FusedElementwise",
                                            "_FusedMatMul",
                                            "_FusedResourceApply",
                                            "_TensorListReverse",
                                            "_Arg",
                                            "PartitionedCall",
                                            "PyFunc",
                                            "PyFuncStateless",
                                            "StatefulPartitionedCall",
                                            "_Retval",
                                            "_Send",
                                            "_Recv",
                                            "_HostSend",
                                            "_HostRecv",
                                            "_RefSend",
                                            "TopK",
                                            "SparseApplyGradientDescent",
                                            "ResourceSparseApplyGradientDescent",
                                            "SparseApplyAdam",
                                            "ResourceSparseApplyAdam",
                                            "SparseApplyAdaMax",
                                            "ResourceSparseApplyAdaMax",
                                            "ApplyAdamWithAmsgrad",
                                            "SparseApplyAdamWithAmsgrad",
                                            "ResourceSparseApplyAdamWithAmsgrad",
                                            "ApplyLamb",
                                            "ResourceApplyLamb",
                                            "ApplyLars",
                                            "ResourceApplyLars",
                                            "ApplyLion",
                                            "ResourceApplyLion",
                                            "SparseApplyLion",
                                            "ResourceSparseApplyLion",
                                            "SparseApplyAddSign",
                                            "ResourceSparseApplyAddSign",
                                            "SparseApplyPowerSign",
                                            "ResourceSparseApplyPowerSign"};

BOOST_AUTO_TEST_SUITE(golden_coverage)

BOOST_AUTO_TEST_CASE(every_op_has_a_case) {
  RealDisk disk;
  std::set<std::string> seen = without_case;
  for (const auto& folder : value_or_throw(find_cases(disk, test::project_path("tests/golden/cases")))) {
    const auto golden = load_case(disk, folder, test::op_library()->ops);
    if (!golden) continue;  // which troupe verify tells
    for (const Node& node : golden->graph.nodes()) seen.insert(node.type());
  }
  for (const auto& [name, op] : test::op_library()->ops->ops())
    BOOST_TEST(seen.contains(name), "no golden case has " << name);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::golden::golden_coverage_test
