#include "actors/services/saver/saver.h"

#include "actors/engine/offloading_role.h"
#include "actors/services/saver/checkpoint_work.h"
#include "actors/services/saver/remap_work.h"
#include "messages/schemas/saver.capnp.h"
#include "messages/tensor_files/bundle_writer.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

std::string text_of(capnp::Data::Reader data) { return std::string(view(data)); }

/// Returns a path, which may be written as a URI: "file:///tmp/model".
std::string path_of(capnp::Data::Reader data) {
  std::string_view path = view(data);
  if (constexpr std::string_view scheme = "file://"; path.starts_with(scheme))
    path.remove_prefix(scheme.size());
  return std::string(path);
}

/// A request in work, and the flag that ends it.
struct Work {
  uint64_t session = 0, ordinal = 0;
  std::atomic<bool> cancelled{false};
};

template <class T>
Result<CheckpointRequest> request_of(const Message<T>& message, const Work& work) {
  CheckpointRequest request;
  request.format =
      message->getFormat() == wire::CheckpointFormat::V1 ? CheckpointFormat::V1 : CheckpointFormat::V2;
  request.path = path_of(message->getPath());
  for (const auto slice : message->getTensors())
    request.slices.push_back(
        {text_of(slice.getName()), text_of(slice.getSlice()), static_cast<DType>(slice.getDtype())});
  const auto tensors = message.attachments();
  request.tensors.assign(tensors.begin(), tensors.end());
  request.cancelled = &work.cancelled;
  if (tensors.empty() || tensors.size() == request.slices.size()) return request;
  return invalid_argument(std::to_string(tensors.size()) + " tensors have " +
                          std::to_string(request.slices.size()) + " names");
}

/// Returns an attachment, which must be a vector of this type.
Result<Tensor> vector_at(const AnyMessage& message, uint32_t index, DType dtype) {
  TROUPE_ASSIGN(Tensor tensor, message.attachment(index));
  if (tensor.dtype() == dtype && tensor.shape().rank() == 1) return tensor;
  return invalid_argument("attachment " + std::to_string(index) + " is " + tensor.signature() +
                          ", but must be a vector of " + std::string(name(dtype)));
}

class SaverRole final : public OffloadingRole {
 public:
  explicit SaverRole(std::shared_ptr<DeviceSite> site) : OffloadingRole(site->node), site_(std::move(site)) {
    on<wire::SaveTensors>([this](const auto& message, Reply reply) { save(message, std::move(reply)); });
    on<wire::RestoreTensors>(
        [this](const auto& message, Reply reply) { restore(message, std::move(reply)); });
    on<wire::MergeCheckpoints>(
        [this](const auto& message, Reply reply) { merge(message, std::move(reply)); });
    on<wire::LoadMatrix>(
        [this](const auto& message, Reply reply) { load_matrix(message, std::move(reply)); });
    on<wire::RemapVocabulary>([this](const auto& message, Reply reply) { remap(message, std::move(reply)); });
    on<wire::CancelFiles>([this](const auto& message, Reply) { cancel(message->getStep()); });
  }

 private:
  void stopping() override {
    for (const auto& work : works_) work->cancelled = true;
  }

  void cancel(wire::StepId::Reader step) {
    for (const auto& work : works_)
      if (work->session == step.getSession() && work->ordinal == step.getOrdinal()) work->cancelled = true;
  }

  /// Runs `task(work)` on the file thread and answers with the message that `answer` makes of its result.
  template <class T>
  void start(wire::StepId::Reader step, Reply reply, std::function<Result<T>(const Work&)> task,
             std::function<AnyMessage(T)> answer) {
    auto work = std::make_shared<Work>();
    work->session = step.getSession();
    work->ordinal = step.getOrdinal();
    works_.push_back(work);
    block<T>(
        [work, task = std::move(task)]() -> Result<T> {
          if (work->cancelled) return cancelled("the step has ended");
          return task(*work);
        },
        [this, work, answer = std::move(answer),
         reply = std::make_shared<Reply>(std::move(reply))](Result<T> result) {
          std::erase(works_, work);
          if (!result) return (*reply)(result.status());
          (*reply)(answer(std::move(*result)));
        });
  }

  void save(const Message<wire::SaveTensors>& message, Reply reply) {
    start<bool>(
        message->getStep(), std::move(reply),
        [message, &disk = node_.env.disk](const Work& work) -> Result<bool> {
          TROUPE_ASSIGN(const CheckpointRequest request, request_of(message, work));
          TROUPE_RETURN_IF_FAILED(save_tensors(disk, request));
          return true;
        },
        [](bool) -> AnyMessage { return Draft<wire::TensorsSaved>().finish(); });
  }

  void restore(const Message<wire::RestoreTensors>& message, Reply reply) {
    start<std::vector<Tensor>>(
        message->getStep(), std::move(reply),
        [message, site = site_, &disk = node_.env.disk](const Work& work) -> Result<std::vector<Tensor>> {
          TROUPE_ASSIGN(const CheckpointRequest request, request_of(message, work));
          return restore_tensors(disk, request, site->device->context().host_memory());
        },
        [](std::vector<Tensor> tensors) -> AnyMessage {
          return Draft<wire::TensorsRestored>().finish(std::move(tensors));
        });
  }

  void merge(const Message<wire::MergeCheckpoints>& message, Reply reply) {
    start<bool>(
        message->getStep(), std::move(reply),
        [message, &disk = node_.env.disk](const Work&) -> Result<bool> {
          std::vector<std::string> prefixes;
          for (const auto prefix : message->getPrefixes()) prefixes.push_back(path_of(prefix));
          const std::string destination = path_of(message->getDestination());
          TROUPE_RETURN_IF_FAILED(merge_bundles(disk, prefixes, destination, message->getAllowMissing()));
          if (message->getDeleteOldFolders()) remove_old_folders(disk, prefixes, destination);
          return true;
        },
        [](bool) -> AnyMessage { return Draft<wire::CheckpointsMerged>().finish(); });
  }

  void load_matrix(const Message<wire::LoadMatrix>& message, Reply reply) {
    start<Tensor>(
        message->getStep(), std::move(reply),
        [message, site = site_, &disk = node_.env.disk](const Work& work) -> Result<Tensor> {
          MatrixRequest request{path_of(message->getPrefix()),
                                text_of(message->getName()),
                                message->getRows(),
                                message->getColumns(),
                                {},
                                {},
                                {}};
          TROUPE_ASSIGN(request.row_of, vector_at(message, 0, i64));
          TROUPE_ASSIGN(request.column_of, vector_at(message, 1, i64));
          TROUPE_ASSIGN(request.initial, vector_at(message, 2, f32));
          return load_remapped_matrix(disk, request,
                                      {&site->device->context().host_memory(), &work.cancelled});
        },
        [](Tensor matrix) -> AnyMessage { return Draft<wire::MatrixLoaded>().finish({std::move(matrix)}); });
  }

  void remap(const Message<wire::RemapVocabulary>& message, Reply reply) {
    start<RemappedVocabulary>(
        message->getStep(), std::move(reply),
        [message, &disk = node_.env.disk](const Work&) {
          return remap_vocabulary(disk, {path_of(message->getNewFile()), path_of(message->getOldFile()),
                                         message->getFirst(), message->getCount(), message->getOldSize()});
        },
        [](RemappedVocabulary result) -> AnyMessage {
          return Draft<wire::VocabularyRemapped>().finish(
              {std::move(result.old_lines), std::move(result.found)});
        });
  }

  const std::shared_ptr<DeviceSite> site_;
  std::vector<std::shared_ptr<Work>> works_;  ///< those that wait for the file thread or run there
};

}  // namespace

ActorRef spawn_saver(std::shared_ptr<DeviceSite> site) {
  ActorNode& node = site->node;
  return node.engine.spawn(std::make_unique<SaverRole>(std::move(site)));
}

}  // namespace troupe
