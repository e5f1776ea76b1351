// The C interface of what sessions do beside steps: checkpoints, partial runs, queue runners, timelines. The argument is a folder for
// the checkpoints. Says nothing when all is well.
#include <troupe/c/troupe.h>

#include "check.h"

// Attributes, and constants.
#define FLOAT(key) "attr { key: '" key "' value { type: DT_FLOAT } } "
#define FLOATS(key) "attr { key: '" key "' value { list { type: DT_FLOAT } } } "
#define TRUE(key) "attr { key: '" key "' value { b: true } } "
#define ONE                                                                       \
  "node { name: 'one' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }" \
  "attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } } } }"

/// A variable `v`, whose first value is 1, and a node `more` that adds 1.
static const char variables[] =
    ONE
    "node { name: 'v' op: 'VariableV2' " FLOAT("dtype") TRUE("_trainable")
    "attr { key: 'shape' value { shape {} } } }"
    "node { name: 'v/Assign' op: 'Assign' input: 'v' input: 'one' " FLOAT("T") TRUE("_initializer") "}"
    "node { name: 'more' op: 'AssignAdd' input: 'v' input: 'one' " FLOAT("T") "}";

/// A queue that a noted queue runner fills with ones.
static const char queues[] =
    ONE
    "node { name: 'queue' op: 'FIFOQueueV2' " FLOATS("component_types")
    "attr { key: 'capacity' value { i: 3 } } }"
    "node { name: 'fill' op: 'QueueEnqueueV2' input: 'queue' input: 'one' " FLOATS("Tcomponents") "}"
    "node { name: 'close' op: 'QueueCloseV2' input: 'queue' }"
    "node { name: 'runner' op: 'NoOp' attr { key: '_queue_runner_close' value { s: 'close' } }"
    "attr { key: '_queue_runner_enqueue' value { list { s: 'fill' } } } }"
    "node { name: 'element' op: 'QueueDequeueV2' input: 'queue' " FLOATS("component_types") "}";

/// x + x, and that times y.
static const char arithmetic[] =
    "node { name: 'x' op: 'Placeholder' " FLOAT("dtype") "}"
    "node { name: 'y' op: 'Placeholder' " FLOAT("dtype") "}"
    "node { name: 'sum' op: 'Add' input: 'x' input: 'x' " FLOAT("T") "}"
    "node { name: 'product' op: 'Mul' input: 'sum' input: 'y' " FLOAT("T") "}";

/// Opens a session of a graph that it reads.
static troupe_session* open_session(const char* definition, troupe_graph** graph) {
  troupe_runtime* runtime;
  troupe_session* session;
  OK(troupe_runtime_create(NULL, &runtime));
  OK(troupe_graph_read(runtime, definition, strlen(definition), graph));
  troupe_runtime_destroy(runtime);
  OK(troupe_session_create(*graph, NULL, &session));
  return session;
}

static troupe_output found(const troupe_graph* graph, const char* name) {
  troupe_output output;
  OK(troupe_graph_find(graph, name, &output));
  return output;
}

static void run(troupe_session* session, troupe_output target) {
  const troupe_step step = {.size = sizeof step, .targets = &target, .target_count = 1};
  OK(troupe_session_run(session, &step, NULL));
}

/// Returns the number in a tensor, and destroys it.
static float number(troupe_tensor* tensor) {
  const void* data;
  size_t bytes;
  OK(troupe_tensor_data(tensor, &data, &bytes));
  EXPECT(bytes == sizeof(float));
  const float value = *(const float*)data;
  troupe_tensor_destroy(tensor);
  return value;
}

static float fetched(troupe_session* session, troupe_output fetch) {
  troupe_tensor* result;
  const troupe_step step = {.size = sizeof step, .fetches = &fetch, .fetch_count = 1};
  OK(troupe_session_run(session, &step, &result));
  return number(result);
}

static void checkpoints(const char* folder) {
  troupe_graph* graph;
  troupe_session* session = open_session(variables, &graph);
  const troupe_output v = found(graph, "v"), more = found(graph, "more");
  troupe_output target;
  OK(troupe_graph_initializer(graph, &target));
  run(session, target);
  run(session, more);
  const troupe_save_options options = {.size = sizeof options, .round = 7, .note = "mine", .keep = 1};
  troupe_checkpoint *saved, *restored;
  OK(troupe_session_save(session, folder, &options, &saved));
  run(session, more);
  EXPECT(fetched(session, v) == 3);

  troupe_checkpoint_description description;
  OK(troupe_session_restore(session, folder, NULL, &restored));
  EXPECT(fetched(session, v) == 2);
  OK(troupe_checkpoint_describe(restored, &description));
  EXPECT(description.round == 7 && strcmp(description.note, "mine") == 0);
  EXPECT(description.skipped_count == 0 && description.missing_count == 0);
  const char* const name = strrchr(description.folder, '/') + 1;
  OK(troupe_session_restore(session, folder, name, NULL));
  troupe_checkpoint_description of_saved;
  OK(troupe_checkpoint_describe(saved, &of_saved));
  EXPECT(strcmp(of_saved.folder, description.folder) == 0 && *of_saved.problem == 0 && of_saved.round == 7);
  FAILS(troupe_session_restore(session, folder, "none", NULL), TROUPE_NOT_FOUND, "none");
  OK(troupe_session_save(session, folder, NULL, NULL));  // the folder keeps five again
  troupe_checkpoint_destroy(saved);
  troupe_checkpoint_destroy(restored);
  troupe_session_destroy(session);
  troupe_graph_destroy(graph);
}

static void graphs_of_tensorflow_keep_their_variables(void) {
  troupe_graph *graph, *copy;
  troupe_session* session = open_session(variables, &graph);
  troupe_session_destroy(session);
  char* bytes;
  size_t size;
  OK(troupe_graph_write_meta(graph, &bytes, &size));
  troupe_graph_destroy(graph);
  troupe_runtime* runtime;
  OK(troupe_runtime_create(NULL, &runtime));
  OK(troupe_graph_read_meta(runtime, bytes, size, &copy));
  FAILS(troupe_graph_read_meta(runtime, "no graph", 8, &graph), TROUPE_INVALID_ARGUMENT, "");
  troupe_runtime_destroy(runtime);
  troupe_bytes_destroy(bytes);
  troupe_output target;
  OK(troupe_graph_initializer(copy, &target));
  OK(troupe_session_create(copy, NULL, &session));
  run(session, target);
  EXPECT(fetched(session, found(copy, "v")) == 1);
  troupe_session_destroy(session);
  troupe_graph_destroy(copy);
}

static void queue_runners(void) {
  troupe_graph* graph;
  troupe_session* session = open_session(queues, &graph);
  OK(troupe_session_start_queue_runners(session));
  OK(troupe_session_start_queue_runners(session));  // nothing new
  for (int i = 0; i < 5; ++i) EXPECT(fetched(session, found(graph, "element")) == 1);
  OK(troupe_session_stop_queue_runners(session, INT64_C(10000000000)));
  troupe_session_destroy(session);
  troupe_graph_destroy(graph);
}

static troupe_tensor* scalar(float value) {
  troupe_tensor* tensor;
  OK(troupe_tensor_create(TROUPE_FLOAT, NULL, 0, &value, sizeof value, &tensor));
  return tensor;
}

/// Gives a run one number, and returns one.
static float continued(troupe_partial_run* run, troupe_output feed, float value, troupe_output fetch) {
  troupe_tensor *const fed = scalar(value), *result;
  const troupe_tensor* const feeds[] = {fed};
  const troupe_step part = {.size = sizeof part,
                            .feeds = &feed,
                            .feed_values = feeds,
                            .feed_count = 1,
                            .fetches = &fetch,
                            .fetch_count = 1};
  OK(troupe_partial_run_continue(run, &part, &result));
  troupe_tensor_destroy(fed);
  return number(result);
}

static void partial_runs(void) {
  troupe_graph* graph;
  troupe_session* session = open_session(arithmetic, &graph);
  const troupe_output feeds[] = {found(graph, "x"), found(graph, "y")};
  const troupe_output fetches[] = {found(graph, "sum"), found(graph, "product")};
  const troupe_step step = {
      .size = sizeof step, .feeds = feeds, .feed_count = 2, .fetches = fetches, .fetch_count = 2};
  troupe_partial_run *run, *dropped;
  OK(troupe_partial_run_create(session, &step, &run));
  OK(troupe_partial_run_create(session, &step, &dropped));
  troupe_tensor* result;
  const troupe_step too_early = {.size = sizeof too_early, .fetches = fetches + 1, .fetch_count = 1};
  FAILS(troupe_partial_run_continue(run, &too_early, &result), TROUPE_INVALID_ARGUMENT,
        "before x:0 has been fed");
  const troupe_step timed = {.size = sizeof timed, .fetches = fetches, .fetch_count = 1, .timeout_ns = 1};
  FAILS(troupe_partial_run_continue(run, &timed, &result), TROUPE_INVALID_ARGUMENT, "timeout");
  const float sum = continued(run, feeds[0], 3, fetches[0]);
  EXPECT(sum == 6);
  troupe_session_destroy(session);  // the runs keep it
  EXPECT(continued(run, feeds[1], sum, fetches[1]) == 36);
  troupe_partial_run_destroy(run);
  troupe_partial_run_destroy(dropped);
  troupe_graph_destroy(graph);
}

static void timelines(void) {
  troupe_graph* graph;
  troupe_session* session = open_session(variables, &graph);
  const troupe_output one = found(graph, "one");
  const troupe_step step = {.size = sizeof step, .fetches = &one, .fetch_count = 1};
  troupe_tensor* result;
  char* timeline = NULL;
  size_t size;
  OK(troupe_session_profile(session, &step, &result, &timeline, &size));
  EXPECT(number(result) == 1 && strlen(timeline) == size && strstr(timeline, "traceEvents"));
  troupe_bytes_destroy(timeline);
  char* placement = NULL;
  OK(troupe_session_describe(session, &step, &placement, &size));
  EXPECT(strlen(placement) == size && strstr(placement, "one: (Const) /job:"));
  troupe_bytes_destroy(placement);
  troupe_session_destroy(session);
  troupe_graph_destroy(graph);
}

/// v + x of the variable, and v itself.
static const char sum_of_variable[] =
    "node { name: 'x' op: 'Placeholder' " FLOAT("dtype") "}"
    "node { name: 'y' op: 'Add' input: 'x' input: 'v' " FLOAT("T") "}";

static void exports(const char* folder) {
  char definition[4096], models[1024], saved[1024], onnx[1024];
  snprintf(definition, sizeof definition, "%s%s", variables, sum_of_variable);
  snprintf(models, sizeof models, "%s/models", folder);
  snprintf(saved, sizeof saved, "%s/models/1", folder);
  snprintf(onnx, sizeof onnx, "%s/models/model.onnx", folder);
  troupe_graph* graph;
  troupe_session* session = open_session(definition, &graph);
  const troupe_named_output x = {"number", found(graph, "x")},
                            y[] = {{"sum", found(graph, "y")}, {"v", found(graph, "v")}};
  const troupe_exported_signature sum = {
      .size = sizeof sum, .inputs = &x, .input_count = 1, .outputs = y, .output_count = 2};
  const troupe_exported_signature* const signatures[] = {&sum, &sum};
  FAILS(troupe_session_export_saved_model(session, saved, signatures, 1), TROUPE_FAILED_PRECONDITION, "v");
  troupe_output target;
  OK(troupe_graph_initializer(graph, &target));
  run(session, target);
  FAILS(troupe_session_export_saved_model(session, saved, signatures, 2), TROUPE_INVALID_ARGUMENT,
        "serving_default");
  const troupe_exported_signature without = {.size = sizeof without, .outputs = y, .output_count = 1};
  FAILS(troupe_session_export_onnx(session, onnx, &without), TROUPE_INVALID_ARGUMENT, "x");
  OK(troupe_session_export_saved_model(session, saved, signatures, 1));
  OK(troupe_session_export_onnx(session, onnx, &sum));
  FAILS(troupe_session_export_saved_model(session, saved, signatures, 1), TROUPE_ALREADY_EXISTS, saved);
  troupe_session_destroy(session);
  troupe_graph_destroy(graph);

  troupe_model* model;
  troupe_tensor *const input = scalar(2), *results[2];
  OK(troupe_model_load(models, NULL, &model));
  const troupe_tensor* const inputs[] = {input};
  OK(troupe_model_run(model, NULL, inputs, 1, results, 2));
  EXPECT(number(results[0]) == 3 && number(results[1]) == 1);
  troupe_tensor_destroy(input);
  troupe_model_destroy(model);
}

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  checkpoints(argv[1]);
  exports(argv[1]);
  graphs_of_tensorflow_keep_their_variables();
  queue_runners();
  partial_runs();
  timelines();
}
