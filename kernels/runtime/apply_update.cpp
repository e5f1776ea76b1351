#include "kernels/runtime/apply_update.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "devices/gpu_queue.h"
#include "kernels/runtime/kernel_run.h"
#include "kernels/runtime/uninitialized.h"

namespace troupe {
namespace {

/// Returns a tensor that is unique, in the memory of another one, which it keeps.
Tensor writable_alias(const Tensor& tensor) {
  auto* const alias = new Buffer;
  alias->data = tensor.buffer()->data;
  alias->bytes = tensor.buffer()->bytes;
  alias->owner = new BufferRef(tensor.buffer());
  alias->release = [](Buffer* buffer) {
    delete static_cast<BufferRef*>(buffer->owner);
    delete buffer;
  };
  const auto offset = static_cast<size_t>(tensor.data() - tensor.buffer()->data);
  return {tensor.dtype(), tensor.shape(), BufferRef::adopt(alias), offset};
}

class Update {
 public:
  Update(const Node& node, std::span<Slot> inputs) : node_(node), inputs_(inputs) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].kind == Slot::Kind::Handle) refs_.push_back({i, inputs[i].cell});
  }

  /// Takes the values that are unlocked in the phase. Returns whether all are.
  bool unlock(const UnlockedPhase& phase) {
    size_t unlocked = 0;
    for (Ref& ref : refs_)
      if (auto value = ref.cell->unlocked(phase)) {
        ref.unlocked = std::move(*value);
        ++unlocked;
      }
    return unlocked == refs_.size();
  }

  Status run(const Kernel& rule, DeviceContext& device, const StepInfo& step) {
    TROUPE_RETURN_IF_FAILED(check());
    take();
    std::vector<Tensor> outputs(std::max(refs_.size(), node_.output_types.size()));
    KernelContext context(node_, inputs_.data(), inputs_.size(), outputs.data(), device, step, 0);
    const GpuRange range(device.queue(), node_.name.c_str(), node_.type().c_str());
    Status status = call_guarded([&] { return rule.run(context); });
    for (size_t i = 0; i < refs_.size() && status.ok(); ++i)
      if (!outputs[i].valid())
        status =
            internal("the update rule produced no value for the variable '" + refs_[i].cell->name() + "'");
    for (size_t i = 0; i < refs_.size(); ++i)
      end(refs_[i], std::move(outputs[i]), status.ok(), step.unlocked);
    return std::move(status).at_node(node_.type(), node_.name);
  }

 private:
  struct Ref {
    size_t input;
    StateCell* cell;
    bool taken = false;
    Tensor unlocked = {};  ///< the value, if it is changed in place while others hold it
  };

  Status check() const {
    if (const StateCell* const cell = repeated_cell())
      return refused("the variable '" + cell->name() +
                     "' is passed as two inputs; each must be a different variable");
    for (const Ref& ref : refs_) {
      const StateCell& cell = *ref.cell;
      // The edge of a resource carries no dtype, so the dtype is checked here.
      if (const DType dtype = updated_type(); cell.dtype() != dtype)
        return refused("the variable '" + cell.name() + "' is " + std::string(name(cell.dtype())) +
                       ", but the op updates " + std::string(name(dtype)));
      if (!node_.op->allows_uninitialized_input && cell.reading() == StateCell::Reading::Uninitialized)
        return uninitialized(cell.name()).at_node(node_.type(), node_.name);
    }
    return {};
  }

  /// Returns a cell that is passed as two inputs; null if there is none.
  const StateCell* repeated_cell() const {
    if (refs_.size() < 2) return nullptr;
    std::vector<const StateCell*> cells;
    cells.reserve(refs_.size());
    for (const Ref& ref : refs_) cells.push_back(ref.cell);
    std::ranges::sort(cells);
    const auto found = std::ranges::adjacent_find(cells);
    return found == cells.end() ? nullptr : *found;
  }

  Status refused(std::string text) const {
    return invalid_argument(std::move(text)).at_node(node_.type(), node_.name);
  }

  DType updated_type() const {
    const AttrValue* const dtype = node_.attrs.find("dtype");
    return dtype ? std::get<DType>(*dtype) : node_.attrs.get<DType>("T");
  }

  void take() {
    for (Ref& ref : refs_) {
      if (ref.unlocked.valid()) {
        inputs_[ref.input] = Slot::of(writable_alias(ref.unlocked));
        continue;
      }
      Snapshot held;
      auto taken = ref.cell->take_for_write();
      ref.taken = taken.has_value();
      if (!taken) (void)ref.cell->try_read(held);
      inputs_[ref.input] = Slot::of(taken ? std::move(*taken) : std::move(held.value));
    }
  }

  void end(Ref& ref, Tensor output, bool ok, const UnlockedPhase& phase) {
    Tensor input = std::move(inputs_[ref.input].tensor);
    if (ok && ref.unlocked.valid() && output.data() == ref.unlocked.data())
      ref.cell->count_unlocked_change();
    else if (ok)
      ref.cell->publish(std::move(output), phase);
    else if (ref.taken)  // if forward() has moved the input, the output holds its memory
      ref.cell->put_back(input.buffer() ? std::move(input) : std::move(output));
    inputs_[ref.input] = Slot::of(ref.cell);
  }

  const Node& node_;
  std::span<Slot> inputs_;
  std::vector<Ref> refs_;
};

}  // namespace

Status apply_update(const Kernel& rule, const Node& node, std::span<Slot> inputs, DeviceContext& device,
                    const StepInfo& step) {
  Update update(node, inputs);
  if (step.unlocked) (void)update.unlock(step.unlocked);
  return update.run(rule, device, step);
}

std::optional<Status> apply_unlocked_update(const Kernel& rule, const Node& node, std::span<Slot> inputs,
                                            DeviceContext& device, const StepInfo& step) {
  Update update(node, inputs);
  if (!update.unlock(step.unlocked)) return std::nullopt;
  return update.run(rule, device, step);
}

}  // namespace troupe
