#include "apps/c/partial_run.h"

#include "apps/c/session_handle.h"

struct troupe_partial_run {
  std::shared_ptr<troupe::c::SharedSession> session;  ///< outlives the run
  std::shared_ptr<void> partial_runs;                 ///< SharedSession::partial_runs
  troupe::PartialRun run;
};

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace

troupe_code troupe_partial_run_create(troupe_session* session, const troupe_step* step,
                                      troupe_partial_run** run) {
  return guarded([&] {
    const auto& shared = needed(session, "session").shared;
    const troupe_step wanted = known(&needed(step, "step"));
    auto& result = needed(run, "run");
    const auto feeds = outputs_of(wanted.feeds, wanted.feed_count, "feeds");
    result = new troupe_partial_run{
        shared, shared->partial_runs,
        shared->session.partial_run_setup(feeds, fetches_of(wanted), options_of(wanted))};
  });
}

void troupe_partial_run_destroy(troupe_partial_run* run) { delete run; }

troupe_code troupe_partial_run_continue(troupe_partial_run* run, const troupe_step* part,
                                        troupe_tensor** results) {
  return guarded([&] {
    const troupe_partial_run& begun = needed(run, "run");
    const troupe_step wanted = known(&needed(part, "part"));
    if (wanted.target_count != 0 || wanted.timeout_ns != 0 || wanted.cancellation)
      throw troupe::Error(troupe::invalid_argument(
          "a part of a partial run has no targets, timeout or cancellation: troupe_partial_run_create() gets "
          "them"));
    const auto stored = array(results, wanted.fetch_count, "results");
    hand_over(begun.session->session.partial_run(begun.run, feeds_of(wanted), fetches_of(wanted)), stored);
  });
}
