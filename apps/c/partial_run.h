// Partial runs in C: steps that get their feeds, and yield their fetches, in several calls, so that a program can compute what it
// feeds from what it has fetched. Any thread; several may wait for fetches of one step. Public header, C11 and C++.
#pragma once

#include "apps/c/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct troupe_partial_run troupe_partial_run;

/// Begins a step with the feeds, fetches and targets of `step`, which waits for its feeds; `feed_values` are not used. The timeout
/// and the cancellation are those of the whole step, and the cancellation must live longer than the run. The run keeps its session
/// alive.
TROUPE_C troupe_code troupe_partial_run_create(troupe_session* session, const troupe_step* step,
                                               troupe_partial_run** run);
/// Ends the step, if it still runs.
TROUPE_C void troupe_partial_run_destroy(troupe_partial_run* run);
/// Gives the step the feeds of `part`, and stores a tensor for each of its fetches in `results`; the caller destroys them. Each
/// feed and each fetch may be used once, and a fetch only when the feeds that it needs have been given; otherwise fails with
/// InvalidArgument, and changes nothing. A failure of the step ends it: all later calls fail in the same way. The call that gives
/// the last feed and takes the last fetch returns when the step has ended. Fails with InvalidArgument if `part` has targets, a
/// timeout or a cancellation.
TROUPE_C troupe_code troupe_partial_run_continue(troupe_partial_run* run, const troupe_step* part,
                                                 troupe_tensor** results);

#ifdef __cplusplus
}
#endif
