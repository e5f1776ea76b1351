#include "kernels/runtime/step_values.h"

#include <algorithm>
#include <utility>

#include "kernels/runtime/uninitialized.h"
#include "messages/values/memory_claims.h"

namespace troupe {
namespace {

/// One of so many steps of a context measures the time of each kernel.
constexpr uint32_t steps_per_measurement = 16;

}  // namespace

// ---- the step

StepContext::StepContext(const PreparedPlan& prepared)
    : prepared_(prepared), plan_(prepared.plan()), nodes_(prepared.nodes().data()),
      device_(prepared.device().context()), in_order_(prepared.device().in_order()),
      shares_(in_order_ && prepared.device().memory_kind() != MemoryKind::Device &&
              device_.pool().threads() > 1),
      state_(prepared.plan()), slots_(state_.slots()), outputs_(plan_.max_outputs()),
      feeds_(plan_.feeds().size()), fetched_(plan_.fetches().size()) {
  if (GpuQueue* const queue = device_.queue()) faults_.emplace(queue->faults());
}

void StepContext::start(StepHost& host, const StepInfo& info, std::span<Tensor> feeds) {
  begin(host, info, 0);
  if (Status status = plan_.check_feeds(feeds); !status.ok()) return fail(std::move(status));
  for (size_t i = 0; i < feeds.size(); ++i) feeds_[i] = Slot::of(std::move(feeds[i]));
}

void StepContext::start_call(StepHost& host, const StepInfo& info, std::span<Slot> arguments, uint64_t call) {
  begin(host, info, call);
  std::move(arguments.begin(), arguments.end(), feeds_.begin());
}

void StepContext::begin(StepHost& host, const StepInfo& info, uint64_t call) {
  host_ = &host;
  call_ = call;
  info_ = info;
  info_.cancelled = &inbox_.cancelled();
  if (faults_) faults_->begin_step({info.session, info.ordinal});
  inbox_.open();
  status_ = {};
  running_ = true;
  measures_ = in_order_ && steps_ % steps_per_measurement == 0;
  if (info_.profiled) begin_profile();
  uses_records_ = may_use_records();
  ++steps_;
  state_.begin();
}

// The first steps of a context prepare what kernels keep, such as algorithms. In a profile each kernel has a time of its own.
bool StepContext::may_use_records() {
  constexpr uint32_t first_steps = 2;
  GpuQueue* const queue = device_.queue();
  if (!queue || !may_record_ || info_.profiled || steps_ < first_steps) return false;
  if (!recorded_) {
    auto recorder = queue->make_recorder();
    may_record_ = recorder != nullptr;
    if (recorder) recorded_ = std::make_unique<RecordedKernels>(prepared_, std::move(recorder));
  } else if (!recorded_->useful()) {
    may_record_ = false;
    recorded_.reset();
  }
  return recorded_ && recorded_->begin_step();
}

// A helper that was invited earlier may have ended the step after this thread was asked to drive it.
void StepContext::drive() {
  std::unique_lock lock(driving_);
  if (running_) drive(lock);
}

void StepContext::help() {
  std::unique_lock lock(driving_);
  --invited_;
  if (running_) drive(lock);
}

void StepContext::drive(std::unique_lock<std::mutex>& lock) {
  ++drivers_;
  const int64_t since = info_.profiled ? StepProfile::now() : 0;
  while (true) {
    if (inbox_.has_news()) receive(false);
    run_ready();
    if (drivers_ > 1) break;  // another thread is inside a kernel and drives the step afterwards
    if (under_way_ == 0) {
      if (info_.profiled) profile_.driven += StepProfile::now() - since;
      return end(lock);
    }
    host_->flush(FlushReason::Parking);
    await_copies();
    if (!receive(true)) break;  // parked: another thread may own the step once the lock is free
  }
  if (info_.profiled) profile_.driven += StepProfile::now() - since;
  --drivers_;
}

// Runs the ready nodes. Nodes that take long run after all others, so that it is known how many of them are ready together. With
// records the order of nodes should be that of the steps before, so arrivals wait until no node is ready.
void StepContext::run_ready() {
  Activation activation;
  while (true) {
    while (state_.next(activation)) {
      if (shares_ && takes_long(activation)) {
        long_ready_.push_back(activation);
        continue;
      }
      run(activation);
      if (inbox_.has_news() && !uses_records_) receive(false);
    }
    if (!leaving_.empty()) {
      leave_together();
      continue;
    }
    if (long_ready_.empty()) return;
    activation = long_ready_.back();
    long_ready_.pop_back();
    run(activation);
    if (inbox_.has_news()) receive(false);
  }
}

void StepContext::begin_profile() {
  profile_ = {};
  profile_.nodes.resize(plan_.nodes().size());
  profile_.begin = StepProfile::now();
  requested_.clear();
}

void StepContext::run(Activation activation) {
  if (!info_.profiled || is_skipped(activation)) return carry_out(activation);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < input_count(activation); ++i)
    if (const Slot& slot = inputs(activation)[i]; slot.kind == Slot::Kind::Value)
      bytes += slot.tensor.bytes();
  if (device_.queue() && nodes_[activation.node].action == Action::Kernel)
    return run_timed(activation, bytes);
  const NodeTimer span(profile_, activation.node, bytes);
  if (nodes_[activation.node].action == Action::Request)
    requested_.push_back({activation, StepProfile::now()});
  carry_out(activation);
}

void StepContext::carry_out(Activation activation) {
  const PreparedNode& node = nodes_[activation.node];
  if (is_skipped(activation)) return skip(activation);
  if (node.takes_handles && !read_handles(activation, node)) return;
  switch (node.action) {
    case Action::Nothing: return state_.done(activation, NoValues{{*this}});
    case Action::Forward: return forward(activation);
    case Action::ForwardEach:
      return state_.done(activation,
                         EachSlotValues{{*this}, state_.first_slot(activation), input_count(activation)});
    case Action::Switch: return run_switch(activation);
    case Action::Merge: return run_merge(activation);
    case Action::Constant: return state_.done(activation, ConstantValues{{*this}, *node.constant});
    case Action::Handle: return state_.done(activation, HandleValues{{*this}, node.cell});
    case Action::Feed: return feed(activation, node);
    case Action::Kernel: {
      const GpuRange range = range_of(node);
      return run_kernel(activation, node);
    }
    case Action::Fetch:
    case Action::Request: return leave_device(activation, node);
  }
}

GpuRange StepContext::range_of(const PreparedNode& node) const {
  return {device_.queue(), node.node->name.c_str(), node.node->type().c_str(),
          faults_ ? &faults_->fault() : nullptr};
}

void StepContext::feed(Activation activation, const PreparedNode& node) {
  Slot& value = feeds_[plan_.nodes()[activation.node].index];
  if (node.crosses_memory)
    if (Status status = bring_to_device(value.tensor); !status.ok()) return fail(node, std::move(status));
  state_.done(activation, FeedValues{{*this}, value});
}

void StepContext::skip(Activation activation) {
  clear_inputs(activation);
  state_.done(activation, NoValues{{*this}});
}

void StepContext::forward(Activation activation) {
  state_.done(activation, SlotValues{{*this}, state_.first_slot(activation)});
}

void StepContext::run_switch(Activation activation) {
  const uint32_t data = state_.first_slot(activation), predicate = data + 1;
  const Tensor& condition = slots_[predicate].tensor;
  if (condition.dtype() != DType::Bool || condition.elements() != 1)
    return fail(nodes_[activation.node],
                invalid_argument("pred is " + condition.signature() + "; it must be bool[]"));
  const uint32_t taken = condition.as<bool>()[0];
  drop(slots_[predicate]);
  state_.done(activation, SwitchValues{{{*this}, data}, taken});
}

void StepContext::run_merge(Activation activation) {
  const uint32_t first = state_.first_slot(activation);
  uint32_t winner = 0;
  while (slots_[first + winner].kind == Slot::Kind::Empty) ++winner;
  state_.done(activation, MergeValues{{{*this}, first + winner}, winner});
}

void StepContext::fetch(Activation activation) {
  const uint32_t index = plan_.nodes()[activation.node].index;
  if (!activation.dead()) {
    Slot& slot = *inputs(activation);
    if (slot.kind == Slot::Kind::Handle)
      return fail(nodes_[activation.node],
                  unimplemented("result " + std::to_string(index) +
                                " of the function is the handle of a variable, queue or "
                                "table; handles can only be arguments of functions"));
    fetched_[index] = std::move(slot.tensor);
    slot.kind = Slot::Kind::Empty;
  }
  state_.done(activation, NoValues{{*this}});
}

void StepContext::request(Activation activation, const PreparedNode& node) {
  ++under_way_;
  Slot* const first = inputs(activation);
  host_->request({activation,
                  *node.node,
                  state_.where(activation),
                  activation.dead(),
                  {first, input_count(activation)},
                  node.cell});
  // Handles stay in their slots: the reply may make one an output.
  for (Slot* slot = first; slot != first + input_count(activation); ++slot)
    if (slot->kind != Slot::Kind::Handle) drop(*slot);
}

// ---- references

// Replaces handles by the values of their variables, where the op needs values. Returns false if the node cannot run yet, or
// has failed.
bool StepContext::read_handles(Activation activation, const PreparedNode& node) {
  const size_t before = under_way_;
  const uint32_t count = input_count(activation);
  for (uint32_t i = 0; i < count; ++i) {
    Slot& slot = inputs(activation)[i];
    if (slot.kind == Slot::Kind::Handle) {
      if (!read_handle(activation, node, i, slot)) return false;
    } else if (slot.kind == Slot::Kind::Value && !node.takes_step_objects && is_resource(node, i)) {
      fail(node, invalid_argument("input " + std::to_string(i) +
                                  " is the handle of a stack or a TensorArray, which this op cannot use"));
      return false;
    }
  }
  if (under_way_ == before) return true;
  reads_.push_back({activation, static_cast<uint32_t>(under_way_ - before)});
  return false;
}

bool StepContext::is_resource(const PreparedNode& node, uint32_t input) const {
  return node.action != Action::Fetch && plan_.graph().dtype(node.node->inputs[input]) == DType::Resource;
}

bool StepContext::read_handle(Activation activation, const PreparedNode& node, uint32_t input, Slot& slot) {
  const bool is_fetch = node.action == Action::Fetch;
  const EdgeType type = is_fetch ? EdgeType{} : plan_.graph().type(node.node->inputs[input]);
  const bool wants_reference = !is_fetch && type.is_ref && node.node->expects_ref[input];
  const bool is_resource = type.dtype == DType::Resource;
  if (is_resource && !node.reads_handles) return true;
  StateCell& cell = *slot.cell;
  const AttrValue* const dtype = is_resource ? node.node->attrs.find("dtype") : nullptr;
  if (dtype && cell.dtype() != std::get<DType>(*dtype)) {
    fail(node, invalid_argument("the variable '" + cell.name() + "' is " + std::string(name(cell.dtype())) +
                                ", but the node's dtype is " + std::string(name(std::get<DType>(*dtype)))));
    return false;
  }
  Snapshot snapshot;
  const auto reading = wants_reference ? cell.reading() : cell.try_read(snapshot);
  if (reading == StateCell::Reading::Uninitialized && node.needs_initialized) {
    fail(node, cell.dtype() == DType::Resource
                   ? unimplemented("'" + cell.name() + "' is no variable: its handle has no value to read")
                   : uninitialized(cell.name()));
    return false;
  }
  if (wants_reference) return true;
  if (reading == StateCell::Reading::Busy) {
    ++under_way_;
    host_->read(activation, input, cell);
  } else {
    slot = Slot::of(std::move(snapshot.value));
  }
  return true;
}

// ---- arrivals

// Returns false if nothing has arrived; if `park` is set, the step is then parked.
bool StepContext::receive(bool park) {
  Status reason;
  if (!inbox_.take(taken_, reason, park)) return false;
  if (!reason.ok()) fail(std::move(reason));
  for (StepArrival& arrival : taken_) settle(arrival);
  taken_.clear();
  return true;
}

void StepContext::settle(StepArrival& arrival) {
  if (arrival.run && !end_run(arrival)) return;
  --under_way_;
  if (arrival.input == StepArrival::copy_to_host) --copies_;
  StepReply& reply = arrival.reply;
  if (!status_.ok()) return;
  if (!reply.status.ok()) return fail(nodes_[arrival.activation.node], std::move(reply.status));
  if (arrival.input == StepArrival::copy_to_host) return leave(arrival.activation);
  if (arrival.input != StepArrival::whole_node) return settle_read(arrival, std::move(reply.outputs[0]));
  if (info_.profiled && !arrival.run) note_reply(arrival);
  settle_outputs(arrival.activation, reply);
}

// Adds the time since a request to the profile.
void StepContext::note_reply(const StepArrival& arrival) {
  const auto asked = std::ranges::find(requested_, arrival.activation, &Requested::activation);
  if (asked == requested_.end()) return;
  uint64_t bytes = 0;
  for (const Tensor& output : arrival.reply.outputs)
    if (output.valid()) bytes += output.bytes();
  profile_.add({arrival.activation.node, true, asked->since, StepProfile::now(), bytes});
  requested_.erase(asked);
}

void StepContext::settle_read(const StepArrival& arrival, Tensor value) {
  inputs(arrival.activation)[arrival.input] = Slot::of(std::move(value));
  const auto waiting = std::find_if(reads_.begin(), reads_.end(), [&](const PendingReads& reads) {
    return reads.activation == arrival.activation;
  });
  if (--waiting->count != 0) return;
  reads_.erase(waiting);
  state_.put_back(arrival.activation);
}

void StepContext::settle_outputs(Activation activation, StepReply& reply) {
  const PreparedNode& node = nodes_[activation.node];
  const auto& types = node.node->output_types;
  reply.outputs.resize(types.size());
  const auto is_handle = [&](EdgeType type) {
    return type.is_ref || (node.cell && type.dtype == DType::Resource);
  };
  if (!reply.dead)
    for (size_t i = 0; i < types.size(); ++i)
      if (!is_handle(types[i]) && !reply.outputs[i].valid())
        return fail(node, internal("the reply has no value for output " + std::to_string(i)));
  if (node.crosses_memory && !reply.dead && reply.outputs.size() == 1)
    if (Status status = bring_to_device(reply.outputs[0]); !status.ok()) return fail(node, std::move(status));
  StateCell* cell = node.cell;
  for (uint32_t i = input_count(activation); i-- != 0;)
    if (const Slot& slot = inputs(activation)[i]; slot.kind == Slot::Kind::Handle) cell = slot.cell;
  if (reply.cell) cell = own_cells_.emplace_back(std::move(reply.cell)).get();
  clear_inputs(activation);
  state_.done(activation, ReplyValues{{*this}, reply, *node.node, cell});
}

// ---- the end

void StepContext::fail(const PreparedNode& node, Status status) {
  fail(std::move(status).at_node(node.node->type(), node.node->name).at_device(prepared_.device_name()));
}

void StepContext::fail(Status status) {
  if (!status_.ok()) return;
  status_ = std::move(status).at_step(info_.ordinal);
  state_.stop();
  long_ready_.clear();
  leaving_.clear();
  inbox_.cancelled().store(true, std::memory_order_relaxed);
  host_->failing(status_);
}

// Fails the step if a fetched value is dead, or if its node waits for something that never comes.
void StepContext::check_fetches() {
  for (size_t i = 0; i < fetched_.size() && status_.ok(); ++i)
    if (!fetched_[i].valid()) {
      const Output output = plan_.fetches()[i];
      const Node& node = plan_.graph().node(output.node);
      status_ = invalid_argument("the tensor fetched for " + plan_.graph().name_of(output) +
                                 " was not valid (dead)")
                    .at_node(node.type(), node.name)
                    .at_device(prepared_.device_name())
                    .at_step(info_.ordinal);
    }
}

void StepContext::end(std::unique_lock<std::mutex>& lock) {
  if (uses_records_ && status_.ok()) issue_records();
  if (status_.ok()) check_fetches();
  if (!status_.ok() || !state_.complete()) {
    for (Slot& slot : slots_) drop(slot);
    for (Tensor& output : outputs_) drop(output);
    reads_.clear();
  }
  own_cells_.clear();
  if (uses_records_) recorded_->end_step();
  if (info_.profiled) {
    read_gpu_times();
    profile_.elapsed = StepProfile::now() - profile_.begin;
  }
  StepHost* const host = host_;
  const Status status = std::exchange(status_, {});
  --drivers_;
  running_ = false;
  lock.unlock();
  host->ended(status);  // the last statement: the context may belong to another step by now
}

void StepContext::recycle() {
  for (Slot& feed : feeds_) feed = {};
  for (Tensor& fetched : fetched_) fetched = {};
}

void StepContext::clear_inputs(Activation activation) {
  Slot* const first = inputs(activation);
  for (Slot* slot = first; slot != first + input_count(activation); ++slot) drop(*slot);
}

uint64_t StepContext::frame_key(Activation activation) const {
  if (!plan_.has_loops()) return call_;
  const Where where = state_.where(activation);
  const uint64_t key = iteration_key(where.frame, where.iteration);
  return call_ == 0 ? key : troupe::frame_key(call_, key, 0);
}

}  // namespace troupe
