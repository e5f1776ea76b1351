#include "actors/services/reader/reader.h"

#include <deque>
#include <variant>

#include "actors/engine/offloading_role.h"
#include "actors/services/reader/reader_state.h"
#include "actors/services/reader/work_unit.h"
#include "actors/site/device_site.h"
#include "messages/schemas/queue.capnp.h"
#include "messages/schemas/reader.capnp.h"
#include "messages/schemas/waiting.capnp.h"
#include "messages/wire/wire.h"

// A read, when it is the first of the line:
//
//   no unit ------> asks the queue ----> unit, nothing waits ----> reads on the file thread ----> records wait --> answered
//      ^                 |                      |                                                      |
//      |                 +--> failed            +-- the unit is read: it is complete                   +--> failed
//      +----------------------------------------+

namespace troupe {
namespace {

constexpr size_t max_copied_bytes = size_t{64} << 10;  ///< a longer record shares the memory of its batch

/// The only element of a vector, as a scalar of its own.
Tensor scalar_of(const Tensor& vector) {
  const std::string& value = vector.as<std::string>()[0];
  return value.size() <= max_copied_bytes ? Tensor::scalar(value) : vector.reshaped(Shape{});
}

Result<std::string> name_of(const Result<AnyMessage>& dequeued) {
  if (!dequeued) return dequeued.status();
  TROUPE_ASSIGN(const Tensor name, dequeued->attachment(0));
  if (dequeued->attachments().size() == 1 && name.dtype() == DType::String && name.elements() == 1)
    return name.as<std::string>()[0];
  return invalid_argument("the queue of a reader yields names of files, but this one yielded " +
                          name.signature());
}

class ReaderRole final : public OffloadingRole {
 public:
  ReaderRole(ActorNode& node, ReaderSpec spec) : OffloadingRole(node), spec_(std::move(spec)) {
    on<wire::ReadRecords>([this](const auto& message, Reply reply) { read(message, std::move(reply)); });
    on<wire::CancelRequests>([this](const auto& message, Reply) {
      cancel({message->getStep().getSession(), message->getStep().getOrdinal(), 0});
    });
    on<wire::GetReaderCounts>([this](const auto&, Reply reply) {
      Draft<wire::ReaderCounts> draft;
      draft->setRecords(records_);
      draft->setUnits(units_);
      reply(draft.finish());
    });
    on<wire::SaveReader>([this](const auto&, Reply reply) {
      wait_in_line([this](Reply& to) { to(Draft<wire::ReaderSaved>().finish({Tensor::scalar(state())})); },
                   std::move(reply));
    });
    on<wire::RestoreReader>([this](const auto& message, Reply reply) {
      wait_in_line([this, message](Reply& to) { restore(message, to); }, std::move(reply));
    });
    on<wire::ResetReader>([this](const auto&, Reply reply) {
      wait_in_line(
          [this](Reply& to) {
            reset();
            to(Draft<wire::ReaderReset>().finish());
          },
          std::move(reply));
    });
  }

 private:
  struct Read {
    StepKey step;
    Address queue;
    uint64_t count = 0;
    bool single = false;
  };
  using Action = std::function<void(Reply&)>;

  struct Request {
    uint64_t number = 0;
    std::variant<Read, Action> what;
    Reply reply;
  };

  // ---- The line

  void read(const Message<wire::ReadRecords>& message, Reply reply) {
    const auto step = message->getStep();
    Read read{{step.getSession(), step.getOrdinal(), 0},
              troupe::read(message->getQueue()),
              message->getSingle() ? 1 : message->getCount(),
              message->getSingle()};
    line_.push_back({++last_request_, std::move(read), std::move(reply)});
    advance();
  }

  void wait_in_line(Action action, Reply reply) {
    line_.push_back({++last_request_, std::move(action), std::move(reply)});
    advance();
  }

  /// What the reader waits for is kept when it comes.
  void cancel(const StepKey& step) {
    std::erase_if(line_, [&](Request& request) {
      const Read* const read = std::get_if<Read>(&request.what);
      if (!read || read->step != step) return false;
      request.reply(cancelled("the step ended while it waited for reader '" + spec_.name + "'"));
      return true;
    });
    if (!asked_queue_ || asked_for_ != step) return;
    Draft<wire::CancelRequests> draft;
    set_step(draft->initStep(), step.session, step.ordinal);
    tell(asked_queue_, draft.finish());
  }

  /// Carries out the requests of the line until it must wait.
  void advance() {
    while (!busy_ && !line_.empty()) {
      Request& first = line_.front();
      if (const auto* const action = std::get_if<Action>(&first.what))
        (*action)(first.reply);
      else if (!progress(first, std::get<Read>(first.what)))
        continue;
      line_.pop_front();
    }
  }

  /// Returns whether the request was answered; otherwise, the reader waits or has made progress.
  bool progress(Request& request, const Read& read) {
    if (unit_ && unit_->waiting() == 0 && unit_->is_read()) complete_unit();
    if (read.count == 0) return answer(request.reply, read, none());
    if (!unit_) return take_unit(request, read);
    if (unit_->has_failed() && unit_->waiting() == 0) return fail(request.reply, unit_->take_failure());
    const bool is_enough =
        unit_->waiting() >= read.count || (unit_->waiting() != 0 && request.number == was_read_for_);
    if (!is_enough && !unit_->is_read() && !unit_->has_failed()) return read_unit(request.number, read.count);
    const uint64_t wanted = read.count;
    RecordBatch batch = unit_->yield(wanted);
    const auto yielded = static_cast<uint64_t>(batch.keys.elements());
    records_ += yielded;
    // As in TensorFlow, a unit is not complete before a read has met its end.
    if (spec_.has_one_record() || (yielded < wanted && unit_->is_read() && unit_->waiting() == 0))
      complete_unit();
    return answer(request.reply, read, Result<RecordBatch>(std::move(batch)));
  }

  static Result<RecordBatch> none() {
    TROUPE_ASSIGN(const Tensor empty, Tensor::allocate(DType::String, Shape::vector(0)));
    return RecordBatch{empty, empty};
  }

  static bool answer(Reply& reply, const Read& read, Result<RecordBatch> batch) {
    if (!batch) return fail(reply, batch.status());
    std::vector<Tensor> tensors = {std::move(batch->keys), std::move(batch->bytes)};
    if (read.single)
      for (Tensor& tensor : tensors) tensor = scalar_of(tensor);
    reply(Draft<wire::RecordsRead>().finish(std::move(tensors)));
    return true;
  }

  static bool fail(Reply& reply, Status status) {
    reply(std::move(status));
    return true;
  }

  // ---- Units

  bool take_unit(Request& request, const Read& read) {
    const auto queue = node_.directory.find(read.queue);
    if (!queue) return fail(request.reply, queue.status());
    Draft<wire::Dequeue> draft;
    set_step(draft->initStep(), read.step.session, read.step.ordinal);
    busy_ = true;
    asked_queue_ = *queue;
    asked_for_ = read.step;
    ask(*queue, draft.finish(), [this, number = request.number](const Result<AnyMessage>& answer) {
      busy_ = false;
      asked_queue_ = {};
      auto name = name_of(answer);
      if (name)
        unit_ = std::make_shared<WorkUnit>(spec_, std::move(*name));
      else
        fail_first(number, name.status());
      advance();
    });
    return false;
  }

  bool read_unit(uint64_t number, uint64_t wanted) {
    busy_ = true;
    block<bool>(
        [unit = unit_, &disk = node_.env.disk, wanted]() -> Result<bool> {
          unit->read(disk, wanted);
          return true;
        },
        [this, number](const Result<bool>& worked) {
          busy_ = false;
          was_read_for_ = number;
          if (!worked) fail_first(number, worked.status());
          if (!unit_->is_open()) {  // as in TensorFlow, the next read takes the next name
            fail_first(number, unit_->take_failure());
            unit_.reset();
          }
          advance();
        });
    return false;
  }

  /// Answers the request with this number, unless it was answered meanwhile.
  void fail_first(uint64_t number, Status status) {
    if (line_.empty() || line_.front().number != number) return;
    line_.front().reply(std::move(status));
    line_.pop_front();
  }

  void complete_unit() {
    last_name_ = unit_->name();
    unit_.reset();
    ++units_;
  }

  // ---- State

  void reset() {
    unit_.reset();
    last_name_.clear();
    records_ = units_ = 0;
  }

  std::string state() const {
    ReaderState state{units_, units_, records_, last_name_, 0};
    if (unit_) {
      ++state.units_started;
      state.unit = unit_->name();
      state.unit_records = unit_->yielded();
    }
    return state.bytes();
  }

  void restore(const AnyMessage& message, Reply& reply) {
    reset();
    const auto bytes = message.attachment(0);
    if (!bytes) return reply(bytes.status());
    const auto state = bytes->dtype() == DType::String && bytes->elements() == 1
                           ? ReaderState::parse(bytes->as<std::string>()[0])
                           : std::nullopt;
    if (!state)
      return reply(
          invalid_argument("the " + bytes->signature() + " is no state of reader '" + spec_.name + "'"));
    units_ = state->units_completed;
    records_ = state->records;
    last_name_ = state->unit;
    if (state->has_unit()) unit_ = std::make_shared<WorkUnit>(spec_, state->unit, state->unit_records);
    reply(Draft<wire::ReaderRestored>().finish());
  }

  const ReaderSpec spec_;
  std::deque<Request> line_;
  uint64_t last_request_ = 0;
  bool busy_ = false;               ///< the reader waits for the queue or the file thread
  ActorRef asked_queue_;            ///< null if the reader does not wait for it
  StepKey asked_for_;               ///< the step for which it waits
  uint64_t was_read_for_ = 0;       ///< the last request for which the unit was read
  std::shared_ptr<WorkUnit> unit_;  ///< null if there is none
  std::string last_name_;           ///< of the last unit that was completed
  uint64_t records_ = 0, units_ = 0;
};

}  // namespace

std::unique_ptr<Role> make_reader(ActorNode& node, ReaderSpec spec) {
  return std::make_unique<ReaderRole>(node, std::move(spec));
}

}  // namespace troupe
