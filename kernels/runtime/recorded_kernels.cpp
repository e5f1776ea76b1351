#include "kernels/runtime/recorded_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "devices/spin_lock.h"
#include "kernels/runtime/kernel_run.h"

namespace troupe {
namespace {

/// Work is issued when so many kernels are held back, so that the GPU begins before the host has seen the whole step.
constexpr size_t most_pending = 128;
/// How many sets of arguments are kept for a node, outside of loops and in a loop, where each iteration has one.
constexpr size_t most_records = 8, most_records_in_loops = 256;
/// Larger tensors of the host are not compared, so a node that reads them is run each time.
constexpr size_t most_host_bytes = 4096;
/// A step counts as unlike the others if it recorded more than one of so many nodes. 25 such steps in a row are too many. Joining a
/// group costs as much as recording one of so many of its nodes.
constexpr size_t nodes_per_record = 8;
constexpr unsigned unlike_step = 8, too_unlike = 200;
/// The same for one node: 10 steps in a row in which it was recorded that often are too many.
constexpr unsigned unlike_node = 4, too_unlike_node = 40;

bool is_recordable(const Node& node) {
  return (node.op->effect == Effect::Pure || node.op->effect == Effect::Guard) &&
         std::ranges::none_of(node.output_types, [](EdgeType type) { return !is_plain(type.dtype); });
}

size_t offset_of(const Tensor& tensor) { return static_cast<size_t>(tensor.data() - tensor.buffer()->data); }

/// An input of a recorded kernel.
struct RecordedInput {
  const std::byte* data;
  DType dtype;
  Shape shape;
  uint8_t layout;
  bool unique;   ///< nobody else held it, so that the kernel could write its output there
  Tensor value;  ///< of an input on the host: its elements

  explicit RecordedInput(const Tensor& tensor)
      : data(tensor.data()), dtype(tensor.dtype()), shape(tensor.shape()), layout(tensor.layout()),
        unique(tensor.unique()) {}

  bool is(const Tensor& tensor) const {
    if (tensor.dtype() != dtype || tensor.layout() != layout || tensor.shape() != shape) return false;
    if (tensor.memory() == MemoryKind::Device) return tensor.data() == data && tensor.unique() == unique;
    return value.valid() &&
           (tensor.bytes() == 0 || std::memcmp(tensor.data(), value.data(), tensor.bytes()) == 0);
  }

  /// Puts an input back whose memory, `buffer`, has become that of an output.
  void put_back(const Buffer* buffer, std::span<const Tensor> outputs, Tensor& input) const {
    const auto output =
        std::ranges::find_if(outputs, [&](const Tensor& tensor) { return tensor.buffer().get() == buffer; });
    if (output == outputs.end()) return;
    input = Tensor(dtype, shape, output->buffer(), static_cast<size_t>(data - buffer->data));
    input.set_layout(layout);
  }
};

/// Returns nothing if the input is none that can be compared later.
std::optional<RecordedInput> recorded(const Slot& slot) {
  if (slot.kind != Slot::Kind::Value || !is_plain(slot.tensor.dtype())) return std::nullopt;
  RecordedInput input(slot.tensor);
  if (slot.tensor.memory() == MemoryKind::Device) return input;
  if (slot.tensor.bytes() > most_host_bytes) return std::nullopt;
  auto copy = Tensor::allocate(slot.tensor.dtype(), slot.tensor.shape());
  if (!copy) return std::nullopt;
  if (slot.tensor.bytes() != 0) std::memcpy(copy->mutable_data(), slot.tensor.data(), slot.tensor.bytes());
  input.value = std::move(*copy);
  return input;
}

/// An output of a recorded kernel: in memory that the kernel allocated, or in that of an input.
struct RecordedOutput {
  DType dtype;
  Shape shape;
  uint8_t layout;
  size_t offset;  ///< in its buffer
  bool in_input;
  uint32_t number;  ///< of the input or the allocation
};

}  // namespace

struct RecordedKernels::Record {
  std::vector<RecordedInput> inputs;
  std::vector<RecordedOutput> outputs;
  std::vector<ReplayMemory::Event> events;
  std::unique_ptr<RecordedPiece> work;
  uint64_t used = 0;  ///< the last step that used it

  bool is_for(std::span<const Slot> slots) const {
    for (size_t i = 0; i < slots.size(); ++i)
      if (slots[i].kind != Slot::Kind::Value || !inputs[i].is(slots[i].tensor)) return false;
    return true;
  }

  /// Notes where the outputs are. Returns false if one of them cannot be made again from the notes.
  bool note_outputs(std::span<const Tensor> tensors, std::span<Buffer* const> input_buffers,
                    MemoryKind memory) {
    std::vector<bool> alive;
    std::vector<const std::byte*> addresses;
    for (const ReplayMemory::Event& event : events) {
      if (event.releases) {
        alive[event.allocation] = false;
      } else {
        alive.push_back(true);
        addresses.push_back(event.data);
      }
    }
    for (const Tensor& tensor : tensors) {
      if (!tensor.valid() || tensor.memory() != memory) return false;
      RecordedOutput output{tensor.dtype(), tensor.shape(), tensor.layout(), offset_of(tensor), true, 0};
      const auto input = std::ranges::find(input_buffers, tensor.buffer().get());
      if (input != input_buffers.end()) {
        output.number = static_cast<uint32_t>(input - input_buffers.begin());
      } else {
        size_t at = addresses.size();
        while (at != 0 && !(addresses[at - 1] == tensor.buffer()->data && alive[at - 1])) --at;
        if (at == 0) return false;
        output.in_input = false;
        output.number = static_cast<uint32_t>(at - 1);
      }
      outputs.push_back(std::move(output));
    }
    for (const RecordedOutput& output : outputs)
      if (!output.in_input) alive[output.number] = false;
    return std::ranges::none_of(alive, [](bool left) { return left; });  // the kernel itself keeps nothing
  }
};

struct RecordedKernels::Group {
  std::vector<const Record*> records;
  std::unique_ptr<RecordedGroup> work;
};

RecordedKernels::RecordedKernels(const PreparedPlan& plan, std::unique_ptr<GpuRecorder> recorder)
    : plan_(plan), recorder_(std::move(recorder)), memory_(plan.device().context().memory()),
      rounded_(memory_), recording_(memory_, plan.device().context().host_memory(),
                                    plan.device().context().pool(), &recorder_->queue()),
      issuing_(rounded_, plan.device().context().host_memory(), plan.device().context().pool(),
               plan.device().context().queue()),
      nodes_(plan.nodes().size()) {
  for (PlanId id = 0; id < nodes_.size(); ++id) {
    const PreparedNode& node = plan.nodes()[id];
    nodes_[id].unrecorded = node.action != Action::Kernel || !is_recordable(*node.node);
  }
}
RecordedKernels::~RecordedKernels() = default;

bool RecordedKernels::useful() const { return unlike_ < too_unlike; }

// Who got a tensor of the step before may be about to release it.
bool RecordedKernels::begin_step() {
  for (int tries = 0; tries < 1000 && !memory_.empty(); ++tries) cpu_relax();
  if (!memory_.empty()) return false;
  ++step_;
  repeated_ = recorded_ = 0;
  return true;
}

void RecordedKernels::end_step() {
  pending_.clear();
  readable_.clear();
  kept_.clear();
  const bool unlike = recorded_ * nodes_per_record > repeated_ + recorded_;
  unlike_ = unlike ? unlike_ + unlike_step : unlike_ - std::min(unlike_, 1u);
}

Status RecordedKernels::run(PlanId id, std::span<Slot> inputs, std::span<Tensor> outputs,
                            const StepInfo& step, uint64_t frame_key) {
  NodeRecords& known = nodes_[id];
  if (plan_.nodes()[id].host_only) return run_now(id, inputs, outputs, step, frame_key);
  if (known.step != step_) note_step(known);
  if (Record* const record = find_record(known, inputs)) {
    keep_readable(inputs);
    if (repeat(*record, inputs, outputs)) {
      ++repeated_;
      ++known.repeated;
      return hold_back(*record);
    }
  }
  if (known.unlike >= too_unlike_node) drop_records(known);
  if (!known.unrecorded) return record(id, inputs, outputs, step);
  TROUPE_RETURN_IF_FAILED(flush());
  return run_now(id, inputs, outputs, step, frame_key);
}

/// Looks back at the last step in which a node has run, before its first run in another one.
void RecordedKernels::note_step(NodeRecords& known) const {
  const bool unlike = known.recorded * nodes_per_record > known.repeated + known.recorded;
  known.unlike = unlike ? known.unlike + unlike_node : known.unlike - std::min(known.unlike, 1u);
  known.step = step_;
  known.repeated = known.recorded = known.expected = 0;
}

/// Returns the record of these inputs, or null. Iterations of a loop follow each other as they did before.
RecordedKernels::Record* RecordedKernels::find_record(NodeRecords& known,
                                                      std::span<const Slot> inputs) const {
  const size_t count = known.records.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t at = (known.expected + i) % count;
    if (!known.records[at]->is_for(inputs)) continue;
    known.expected = at + 1;
    return known.records[at].get();
  }
  return nullptr;
}

Status RecordedKernels::run_now(PlanId id, std::span<Slot> inputs, std::span<Tensor> outputs,
                                const StepInfo& step, uint64_t frame_key) {
  const PreparedNode& node = plan_.nodes()[id];
  DeviceContext& device = node.by_cpu_kernel ? plan_.context_of(node) : issuing_;
  KernelContext context(*node.node, inputs.data(), inputs.size(), outputs.data(), device, step, frame_key);
  return call_guarded([&] { return node.kernel->run(context); });
}

/// Makes the outputs as the kernel did. Returns false if its memory is not free.
bool RecordedKernels::repeat(const Record& record, std::span<Slot> inputs, std::span<Tensor> outputs) {
  if (!memory_.replay(record.events, buffers_)) return false;
  for (size_t i = 0; i < record.outputs.size(); ++i) {
    const RecordedOutput& output = record.outputs[i];
    const BufferRef& buffer =
        output.in_input ? inputs[output.number].tensor.buffer() : buffers_[output.number];
    outputs[i] = Tensor(output.dtype, output.shape, buffer, output.offset);
    outputs[i].set_layout(output.layout);
  }
  buffers_.clear();
  return true;
}

/// Keeps the inputs that do not belong to this step: while others hold them, nobody writes them.
void RecordedKernels::keep_readable(std::span<const Slot> inputs) {
  for (const Slot& slot : inputs)
    if (slot.tensor.memory() == MemoryKind::Device && !memory_.owns(*slot.tensor.buffer().get()) &&
        !slot.tensor.unique())
      readable_.push_back(slot.tensor.buffer());
}

Status RecordedKernels::hold_back(Record& record) {
  record.used = step_;
  if (!record.work->empty()) pending_.push_back(&record);
  return pending_.size() < most_pending ? Status() : flush();
}

Status RecordedKernels::record(PlanId id, std::span<Slot> inputs, std::span<Tensor> outputs,
                               const StepInfo& step) {
  NodeRecords& known = nodes_[id];
  auto made = std::make_unique<Record>();
  std::vector<Buffer*> buffers;
  for (const Slot& slot : inputs) {
    auto input = recorded(slot);
    known.unrecorded |= !input;
    if (!input) break;
    made->inputs.push_back(std::move(*input));
    buffers.push_back(slot.tensor.buffer().get());
  }
  if (known.unrecorded) return run(id, inputs, outputs, step, 0);
  ++recorded_;
  ++known.recorded;
  keep_readable(inputs);
  const PreparedNode& node = plan_.nodes()[id];
  KernelContext context(*node.node, inputs.data(), inputs.size(), outputs.data(), recording_, step, 0);
  memory_.begin_notes();
  Status status = recorder_->begin();
  bool recordable = status.ok();
  if (recordable) {
    status = call_guarded([&] { return node.kernel->run(context); });
    auto work = recorder_->end();
    recordable = work.ok();
    if (recordable) made->work = std::move(*work);
  }
  made->events = memory_.end_notes();
  if (recordable && !status.ok()) return status;
  if (recordable && made->note_outputs(outputs, buffers, plan_.device().memory_kind())) {
    make_room(known);
    return hold_back(*known.records.emplace_back(std::move(made)));
  }
  known.unrecorded = true;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].tensor.valid()) made->inputs[i].put_back(buffers[i], outputs, inputs[i].tensor);
  for (Tensor& output : outputs) output.reset();
  return run(id, inputs, outputs, step, 0);
}

/// Drops the groups with a record that is about to be dropped.
void RecordedKernels::drop_groups(const Record& record) {
  std::erase_if(groups_,
                [&](const auto& group) { return std::ranges::count(group.second->records, &record) != 0; });
}

/// Drops the record of a node that was not used for the longest time.
void RecordedKernels::make_room(NodeRecords& known) {
  if (known.records.size() < (plan_.plan().has_loops() ? most_records_in_loops : most_records)) return;
  const auto oldest =
      std::ranges::min_element(known.records, {}, [](const auto& record) { return record->used; });
  drop_groups(**oldest);
  known.records.erase(oldest);
}

void RecordedKernels::drop_records(NodeRecords& known) {
  known.unrecorded = true;
  for (const auto& record : known.records) drop_groups(*record);
  known.records.clear();
}

/// Rounds to powers of two, or to quarters of them where that would cost much.
Result<BufferRef> RecordedKernels::RoundedMemory::allocate(size_t bytes) {
  constexpr size_t least = 4096, much = size_t{1} << 20;
  const size_t power = std::bit_ceil(std::max(bytes, least)), unit = power <= much ? power : power / 8;
  return memory_.allocate((std::max(bytes, least) + unit - 1) / unit * unit);
}

Result<RecordedKernels::Group*> RecordedKernels::pending_group() {
  const auto [begin, end] = groups_.equal_range(pending_.front());
  for (auto at = begin; at != end; ++at)
    if (at->second->records == pending_) return at->second.get();
  std::vector<const RecordedPiece*> pieces;
  for (const Record* record : pending_) pieces.push_back(record->work.get());
  auto group = std::make_unique<Group>();
  TROUPE_ASSIGN(group->work, recorder_->join(pieces));
  group->records = pending_;
  recorded_ += pending_.size() / nodes_per_record;
  return groups_.emplace(pending_.front(), std::move(group))->second.get();
}

Status RecordedKernels::flush() {
  if (pending_.empty()) return {};
  TROUPE_ASSIGN(Group* const group, pending_group());
  const GpuRange range(issuing_.queue(), "recorded kernels", "");
  pending_.clear();
  Status issued = recorder_->issue(*group->work);
  readable_.clear();
  return issued;
}

}  // namespace troupe
