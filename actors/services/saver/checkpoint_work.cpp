#include "actors/services/saver/checkpoint_work.h"

#include <algorithm>
#include <numeric>

#include "messages/tensor_files/bundle.h"
#include "messages/tensor_files/bundle_writer.h"
#include "messages/tensor_files/checkpoint_v1.h"

namespace troupe {
namespace {

/// Returns the slice that a tensor is to be saved as.
Result<SliceSpec> spec_of(const NamedSlice& slice, const Tensor& tensor) {
  if (slice.slice.empty()) {
    const std::vector<int64_t> start(tensor.shape().rank(), 0),
        length(tensor.shape().rank(), TensorSlice::all);
    return SliceSpec{tensor.shape(), {start, length}, tensor.shape()};
  }
  TROUPE_ASSIGN(SliceSpec spec, SliceSpec::parse(slice.slice, tensor.dtype()));
  if (spec.slice_shape == tensor.shape()) return spec;
  return invalid_argument("'" + slice.name + "' is to be saved as the slice '" + slice.slice +
                          "', which has shape " + spec.slice_shape.text() + ", but the tensor is " +
                          tensor.signature());
}

/// Returns the slice of a stored variable that a request names.
Result<TensorSlice> range_of(const NamedSlice& slice, const Shape& stored, DType dtype) {
  if (slice.slice.empty()) return TensorSlice::whole(stored);
  TROUPE_ASSIGN(const SliceSpec spec, SliceSpec::parse(slice.slice, dtype));
  if (spec.shape == stored) return spec.range();
  return invalid_argument("'" + slice.name + "' is to be restored as the slice '" + slice.slice +
                          "', but the checkpoint has it with shape " + stored.text());
}

Status wrong_type(const NamedSlice& slice, DType stored) {
  return invalid_argument("'" + slice.name + "' has the original dtype " + std::string(name(stored)) +
                          " in the checkpoint, but " + std::string(name(slice.dtype)) + " is expected");
}

/// Returns the indices of the slices by the names, so that reading goes forward through the files.
std::vector<size_t> by_name(const std::vector<NamedSlice>& slices) {
  std::vector<size_t> order(slices.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) -> const std::string& { return slices[i].name; });
  return order;
}

/// Reads from a Bundle or a CheckpointV1. All names and types are checked before the first tensor is read.
template <class Checkpoint>
Result<std::vector<Tensor>> restore_from(const Checkpoint& checkpoint,
                                         const std::vector<NamedSlice>& slices) {
  const std::vector<size_t> order = by_name(slices);
  std::vector<TensorSlice> ranges(slices.size());
  for (const size_t i : order) {
    TROUPE_ASSIGN(const auto* const stored, checkpoint.find(slices[i].name));
    if (stored->dtype != slices[i].dtype) return wrong_type(slices[i], stored->dtype);
    TROUPE_ASSIGN(ranges[i], range_of(slices[i], stored->shape, stored->dtype));
  }
  std::vector<Tensor> tensors(slices.size());
  for (const size_t i : order) {
    TROUPE_ASSIGN(tensors[i], checkpoint.read(slices[i].name, ranges[i]));
  }
  return tensors;
}

Status save_v1(Disk& disk, const CheckpointRequest& request) {
  std::vector<SliceToSave> slices;
  for (size_t i = 0; i < request.slices.size(); ++i) {
    TROUPE_ASSIGN(const SliceSpec spec, spec_of(request.slices[i], request.tensors[i]));
    slices.push_back({request.slices[i].name, spec.shape, spec.slice, request.tensors[i]});
  }
  return write_saved_slices(disk, request.path, slices, request.cancelled);
}

}  // namespace

Status save_tensors(Disk& disk, const CheckpointRequest& request) {
  if (request.format == CheckpointFormat::V1) return save_v1(disk, request);
  TROUPE_ASSIGN(BundleWriter writer, BundleWriter::create(disk, request.path, request.cancelled));
  for (size_t i = 0; i < request.slices.size(); ++i) {
    TROUPE_ASSIGN(const SliceSpec spec, spec_of(request.slices[i], request.tensors[i]));
    TROUPE_RETURN_IF_FAILED(writer.add(request.slices[i].name, spec, request.tensors[i]));
  }
  return writer.finish();
}

Result<std::vector<Tensor>> restore_tensors(Disk& disk, const CheckpointRequest& request, Allocator& memory) {
  const TensorReading reading{&memory, request.cancelled};
  if (request.format == CheckpointFormat::V2) {
    const auto bundle = Bundle::open(disk, request.path, reading);
    if (bundle) return restore_from(*bundle, request.slices);
    if (bundle.status().code() != Code::NotFound) return bundle.status();
  }
  const auto checkpoint = CheckpointV1::open(disk, request.path, reading);
  if (checkpoint) return restore_from(*checkpoint, request.slices);
  if (request.format == CheckpointFormat::V1 || checkpoint.status().code() != Code::NotFound)
    return checkpoint.status();
  return not_found("there is no checkpoint " + request.path + ": neither " + bundle_index_file(request.path) +
                   " nor a file of that name");
}

void remove_old_folders(Disk& disk, const std::vector<std::string>& prefixes,
                        const std::string& destination) {
  const std::string kept = folder_of(destination);
  for (const std::string& prefix : prefixes)
    if (const std::string folder = folder_of(prefix); folder != kept)
      static_cast<void>(
          disk.remove(folder));  // fails if the folder has other files, or was removed for another prefix
}

}  // namespace troupe
