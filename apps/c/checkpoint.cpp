#include "apps/c/checkpoint.h"

#include "apps/c/session_handle.h"

struct troupe_checkpoint {
  explicit troupe_checkpoint(troupe::RestoredCheckpoint checkpoint, std::string cause = {})
      : value(std::move(checkpoint)), problem(std::move(cause)) {
    for (const std::string& damage : value.skipped) skipped.push_back(damage.c_str());
    for (const std::string& variable : value.missing) missing.push_back(variable.c_str());
  }
  troupe_checkpoint(const troupe_checkpoint&) = delete;
  troupe_checkpoint& operator=(const troupe_checkpoint&) = delete;

  const troupe::RestoredCheckpoint value;
  const std::string problem;
  std::vector<const char*> skipped, missing;
};

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace

namespace {

troupe::SaveOptions saving_options(const troupe_save_options& from) {
  troupe::SaveOptions options;
  options.round = from.round;
  if (from.note) options.note = from.note;
  if (from.keep != 0) options.keep = from.keep;
  options.pinned = from.pinned;
  return options;
}

}  // namespace

troupe_code troupe_session_save(troupe_session* session, const char* folder,
                                const troupe_save_options* options, troupe_checkpoint** checkpoint) {
  return guarded([&] {
    const troupe::SaveOptions wanted = saving_options(known(options));
    auto saved = session_of(session)->save(text(folder, "folder"), wanted);
    if (checkpoint)
      *checkpoint = new troupe_checkpoint({std::move(saved.folder), wanted.round, wanted.note, {}, {}},
                                          std::move(saved.problem));
  });
}

troupe_code troupe_session_restore(troupe_session* session, const char* folder, const char* name,
                                   troupe_checkpoint** checkpoint) {
  return guarded([&] {
    auto restored = session_of(session)->restore(text(folder, "folder"), name ? name : "");
    if (checkpoint) *checkpoint = new troupe_checkpoint(std::move(restored));
  });
}

void troupe_checkpoint_destroy(troupe_checkpoint* checkpoint) { delete checkpoint; }

troupe_code troupe_checkpoint_describe(const troupe_checkpoint* checkpoint,
                                       troupe_checkpoint_description* description) {
  return guarded([&] {
    const troupe_checkpoint& from = needed(checkpoint, "checkpoint");
    needed(description, "description") = {
        from.value.folder.c_str(), from.value.round,    from.value.note.c_str(), from.problem.c_str(),
        from.skipped.data(),       from.skipped.size(), from.missing.data(),     from.missing.size()};
  });
}
