// _FusedApply on GPUs: see fused_updates.cpp. One launch changes many variables.
#include "kernels/ops/state/fused_updates.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/ops/state/training_on_gpu.h"

namespace troupe {
namespace {

/// How many variables, and arrays of them, one launch changes: its arguments are limited to 4,096 bytes.
constexpr size_t most_updates = 64, most_arrays = 384;

/// Changes pack i of the variables, counted through all of them.
template <class T, size_t Width>
struct UpdateMany {
  ElementRule<T> rule;
  unsigned count = 0;                ///< of the updates
  uint32_t ends[most_updates] = {};  ///< the number of packs of the variables up to and with each one
  /// For each update its gradient, then the values before it and the values after it.
  const T* arrays[most_arrays] = {};

  explicit UpdateMany(const TrainingArguments& first) : rule(first) {}

  size_t packs() const { return count == 0 ? 0 : ends[count - 1]; }
  TROUPE_ANY size_t arrays_each() const { return 2 * rule.states + 1; }
  bool has_room(size_t more) const {
    return count < most_updates && (count + 1) * arrays_each() <= most_arrays && packs() + more <= UINT32_MAX;
  }
  void add(const RuleArrays<T>& update, size_t elements) {
    const T** const to = arrays + count * arrays_each();
    to[0] = update.gradient;
    for (size_t v = 0; v < rule.states; ++v) {
      to[1 + v] = update.before[v];
      to[1 + rule.states + v] = update.after[v];
    }
    ends[count] = static_cast<uint32_t>(packs() + elements / Width);
    ++count;
  }

  TROUPE_ANY void operator()(size_t i) const {
    unsigned first = 0, last = count - 1;
    while (first < last) {
      const unsigned middle = (first + last) / 2;
      if (i < ends[middle])
        last = middle;
      else
        first = middle + 1;
    }
    const T* const* const from = arrays + first * arrays_each();
    RuleArrays<T> update;
    update.gradient = from[0];
    for (unsigned v = 0; v < max_states; ++v) {
      if (v >= rule.states) continue;
      update.before[v] = from[1 + v];
      update.after[v] = const_cast<T*>(from[1 + rule.states + v]);
    }
    rule.template change_pack<Width>(update, i - (first == 0 ? 0 : ends[first - 1]));
  }
};
static_assert(sizeof(UpdateMany<double, 1>) < 4000);

/// Collects updates and launches them when there is no room for more.
template <class T, size_t Width>
class Sweep {
 public:
  Sweep(const TrainingArguments& first, DeviceContext& device) : many_(first), device_(device) {}

  Status add(const RuleArrays<T>& update, size_t elements) {
    if (!many_.has_room(elements / Width)) TROUPE_RETURN_IF_FAILED(launch());
    many_.add(update, elements);
    return {};
  }
  Status launch() {
    const size_t packs = many_.packs();
    Status launched = packs == 0 ? Status() : gpu::each(device_, packs, many_);
    many_.count = 0;
    return launched;
  }

 private:
  UpdateMany<T, Width> many_;
  DeviceContext& device_;
};

template <class T>
Status update_many(const FusedUpdates& updates, DeviceContext& device) {
  Sweep<T, pack_width<T>> packed(updates.front(), device);
  Sweep<T, 1> single(updates.front(), device);
  for (const TrainingArguments& update : updates) {
    const RuleArrays<T> arrays = arrays_of<T>(update);
    const auto count = static_cast<size_t>(update.gradient->elements());
    if (count == 0) continue;
    TROUPE_RETURN_IF_FAILED(consists_of_packs(arrays, count) ? packed.add(arrays, count)
                                                             : single.add(arrays, count));
  }
  TROUPE_RETURN_IF_FAILED(packed.launch());
  return single.launch();
}

Status compute_fused_updates(const FusedUpdates& updates, DeviceContext& device) {
  if (has_trust_ratio(updates.front().rule)) {  // each variable has its own
    for (const TrainingArguments& update : updates)
      TROUPE_RETURN_IF_FAILED(compute_training_on_gpu(update, device));
    return {};
  }
  return gpu::for_type(TrainingTypes{}, updates.front().gradient->dtype(),
                       [&]<class T>(std::type_identity<T>) { return update_many<T>(updates, device); });
}

}  // namespace

void add_fused_updates_on_gpu(OpLibrary& library) {
  add_fused_update_kernels(library, "GPU", compute_fused_updates);
}

}  // namespace troupe
