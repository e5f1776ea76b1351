#include "actors/services/table/table.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>

#include "actors/engine/offloading_role.h"
#include "kernels/tables/table_contents.h"
#include "kernels/tables/vocabulary_file.h"
#include "messages/schemas/table.capnp.h"
#include "messages/wire/wire.h"

// A request:  arrives --> waits for those before it --> is carried out here, on the pool, or on the file thread --> answered

namespace troupe {
namespace {

constexpr int64_t max_elements_in_handler = 4096;  ///< more are worked on outside the handler

using Work = std::function<Result<AnyMessage>(TableContents&)>;

struct Request {
  Work work;
  int64_t elements = 0;  ///< how many it reads or writes, beside those that are in the table
  int64_t added = 0;     ///< how many keys it may add
  bool whole = false;    ///< whether it reads the whole table
  Reply reply;
  std::optional<VocabularyFile> file = {};  ///< if it reads a file
};

template <class T>
Result<AnyMessage> answer(Status status) {
  if (!status.ok()) return status;
  return AnyMessage(Draft<T>().finish());
}

class TableRole final : public OffloadingRole {
 public:
  TableRole(ActorNode& node, TableSpec spec, std::shared_ptr<Device> device)
      : OffloadingRole(node), table_(std::make_shared<TableContents>(std::move(spec), std::move(device))) {
    on_changing<wire::ReserveKeys>(1, [](auto& table, const auto& message) {
      const auto keys = message.attachments();
      return table.reserve_keys(keys[0], keys.size() > 1 ? keys[1] : Tensor());
    });
    on<wire::FindValues>([this](const auto& message, Reply reply) { find(message, std::move(reply)); });
    on_changing<wire::InsertValues>(2, [](auto& table, const auto& message) {
      return table.insert(message.attachments()[0], message.attachments()[1], message->getClear());
    });
    on_changing<wire::RemoveKeys>(
        1, [](auto& table, const auto& message) { return table.remove(message.attachments()[0]); });
    on_changing<wire::InitializeTable>(2, [](auto& table, const auto& message) {
      return table.initialize(message.attachments()[0], message.attachments()[1]);
    });
    on<wire::InitializeTableFromFile>(
        [this](const auto& message, Reply reply) { initialize(message, std::move(reply)); });
    on<wire::ExportTable>([this](const auto&, Reply reply) {
      add({[](TableContents& table) -> Result<AnyMessage> {
             TROUPE_ASSIGN(auto exported, table.exported());
             return AnyMessage(Draft<wire::TableExported>().finish(std::move(exported)));
           },
           0, 0, true, std::move(reply)});
    });
    on<wire::GetTableSize>([this](const auto&, Reply reply) {
      add({[](TableContents& table) -> Result<AnyMessage> {
             Draft<wire::TableSize> draft;
             draft->setSize(static_cast<uint64_t>(table.size()));
             return AnyMessage(draft.finish());
           },
           0, 0, false, std::move(reply)});
    });
    on<wire::TableWorked>([this](const auto&, Reply) { worked(); });
  }

 private:
  static Status check_count(const AnyMessage& message, size_t count) {
    const size_t got = message.attachments().size();
    if (got >= count) return {};
    return invalid_argument("a request to a table needs " + std::to_string(count) + " tensors, but has " +
                            std::to_string(got));
  }

  static int64_t elements_of(const AnyMessage& message) {
    int64_t elements = 0;
    for (const Tensor& tensor : message.attachments()) elements += tensor.elements();
    return elements;
  }

  /// Registers a request with as many tensors that changes the table.
  template <class T, class Change>
  void on_changing(size_t tensors, Change change) {
    on<T>([this, tensors, change](const Message<T>& message, Reply reply) {
      if (Status status = check_count(message, tensors); !status.ok()) return reply(std::move(status));
      add({[message, change](TableContents& table) {
             return answer<wire::TableChanged>(change(table, message));
           },
           elements_of(message), message.attachments()[0].elements(), false, std::move(reply)});
    });
  }

  void find(const Message<wire::FindValues>& message, Reply reply) {
    if (Status status = check_count(message, 2); !status.ok()) return reply(std::move(status));
    add({[message](TableContents& table) -> Result<AnyMessage> {
           TROUPE_ASSIGN(Tensor values, table.find(message.attachments()[0], message.attachments()[1]));
           return AnyMessage(Draft<wire::ValuesFound>().finish({std::move(values)}));
         },
         std::min(message.attachments()[0].elements(), max_elements_in_handler + 1) *
             (1 + table_->spec().value_shape.elements()),
         0, false, std::move(reply)});
  }

  void initialize(const Message<wire::InitializeTableFromFile>& message, Reply reply) {
    VocabularyFile file{std::string(view(message->getPath())),
                        message->getKeyColumn(),
                        message->getValueColumn(),
                        message->getLines(),
                        message->getFirstNumber(),
                        static_cast<char>(message->getDelimiter())};
    add({{}, 0, 0, false, std::move(reply), std::move(file)});
  }

  // ---- One after the other

  void add(Request request) {
    waiting_.push_back(std::move(request));
    advance();
  }

  void advance() {
    while (!busy_ && !waiting_.empty()) {
      Request request = std::move(waiting_.front());
      waiting_.pop_front();
      if (request.file)
        read(std::move(request));
      else if (cost_of(request) <= max_elements_in_handler)
        request.reply(request.work(*table_));
      else
        compute(std::move(request));
    }
  }

  int64_t cost_of(const Request& request) const {
    return request.elements + (request.whole ? table_->elements() : table_->moved_by(request.added));
  }

  void compute(Request request) {
    busy_ = true;
    compute_soon(node_.scheduler, make_job([request = std::make_shared<Request>(std::move(request)),
                                            table = table_, &node = node_, self = self()] {
                   request->reply(request->work(*table));
                   node.engine.send(self, Draft<wire::TableWorked>().finish());
                 }));
  }

  void read(Request request) {
    if (table_->is_initialized()) return request.reply(answer<wire::TableChanged>({}));
    busy_ = true;
    block<AnyMessage>(
        [file = *request.file, table = table_, &disk = node_.env.disk]() -> Result<AnyMessage> {
          TROUPE_RETURN_IF_FAILED(table->check_initializable());
          TROUPE_ASSIGN(const auto rows, read_vocabulary(disk, file, table->spec().key, table->spec().value));
          return answer<wire::TableChanged>(table->initialize(rows.first, rows.second));
        },
        [this, reply = std::make_shared<Reply>(std::move(request.reply))](Result<AnyMessage> done) {
          (*reply)(std::move(done));
          worked();
        });
  }

  void worked() {
    busy_ = false;
    advance();
  }

  /// Used by the one request that is carried out.
  const std::shared_ptr<TableContents> table_;
  bool busy_ = false;  ///< a request is carried out elsewhere
  std::deque<Request> waiting_;
};

}  // namespace

std::unique_ptr<Role> make_table(ActorNode& node, TableSpec spec, std::shared_ptr<Device> device) {
  return std::make_unique<TableRole>(node, std::move(spec), std::move(device));
}

}  // namespace troupe
