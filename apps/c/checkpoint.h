// Checkpoints in C: they hold the values of a session's variables, in files that C++ and Python read, too. Any thread. Public
// header, C11 and C++.
#pragma once

#include "apps/c/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct troupe_checkpoint troupe_checkpoint;

/// How a checkpoint is saved. Later versions add members behind the last one; `size` says which the caller knows.
typedef struct troupe_save_options {
  size_t size;       ///< sizeof(troupe_save_options)
  uint64_t round;    ///< the training round of the state; troupe_session_restore() returns it
  const char* note;  ///< any UTF-8 text; troupe_session_restore() returns it; null: an empty one
  /// How many checkpoints the folder keeps, the newest ones, beside those that are pinned; 0: five.
  size_t keep;
  bool pinned;  ///< whether the checkpoint is kept however many newer ones there are
} troupe_save_options;

/// A checkpoint that has been saved or restored.
typedef struct troupe_checkpoint_description {
  const char* folder;  ///< the folder of the checkpoint
  uint64_t round;      ///< as it was saved
  const char* note;    ///< as it was saved
  /// Of a saved one: why old checkpoints could not be removed; empty if they were removed.
  const char* problem;
  // Of a restored one:
  const char* const* skipped;  ///< the newer checkpoints that are damaged, each with its damage
  size_t skipped_count;
  const char* const* missing;  ///< the variables that the checkpoint does not contain; they keep their values
  size_t missing_count;
} troupe_checkpoint_description;

/// Saves the variables that have a value, as a checkpoint in `folder`, and returns when it is on disk. No step may change the
/// variables meanwhile. `options` and `checkpoint` may be null. After a failure the earlier checkpoints are unchanged. Fails with
/// FailedPrecondition if no variable has a value.
TROUPE_C troupe_code troupe_session_save(troupe_session* session, const char* folder,
                                         const troupe_save_options* options, troupe_checkpoint** checkpoint);
/// Sets the variables to their values in the newest valid checkpoint in `folder` or, if `name` is not null, in the checkpoint
/// `name` there. `checkpoint` may be null. Fails with NotFound if there is no checkpoint or it contains none of the variables, with
/// DataLoss, naming the file and its damage, or with InvalidArgument if the dtype or shape of a variable differs; then no variable
/// has changed.
TROUPE_C troupe_code troupe_session_restore(troupe_session* session, const char* folder, const char* name,
                                            troupe_checkpoint** checkpoint);
TROUPE_C void troupe_checkpoint_destroy(troupe_checkpoint* checkpoint);
/// Describes the checkpoint. What the description points to belongs to the checkpoint.
TROUPE_C troupe_code troupe_checkpoint_describe(const troupe_checkpoint* checkpoint,
                                                troupe_checkpoint_description* description);

#ifdef __cplusplus
}
#endif
