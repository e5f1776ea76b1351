// The C interface of tensors, graphs and sessions. Says nothing when all is well.
#include <stdint.h>
#include <threads.h>

#include <troupe/c/troupe.h>

#include "check.h"

static int released;

static void release(void* data, void* context) {
  EXPECT(context == &released);
  ++released;
  free(data);
}

static void versions_and_codes(void) {
  EXPECT(strlen(troupe_version()) >= 5);
  EXPECT(strcmp(troupe_code_name(TROUPE_DATA_LOSS), "DataLoss") == 0);
  EXPECT(strcmp(troupe_code_name((troupe_code)99), "Unknown") == 0);
}

static void tensors(void) {
  const int64_t dims[] = {2, 3};
  const float values[] = {1, 2, 3, 4, 5, 6};
  troupe_tensor* tensor = NULL;
  OK(troupe_tensor_create(TROUPE_FLOAT, dims, 2, values, sizeof values, &tensor));
  troupe_dtype dtype;
  const int64_t* shape;
  size_t rank, bytes;
  const void* data;
  OK(troupe_tensor_dtype(tensor, &dtype));
  OK(troupe_tensor_shape(tensor, &shape, &rank));
  OK(troupe_tensor_data(tensor, &data, &bytes));
  EXPECT(dtype == TROUPE_FLOAT && rank == 2 && shape[0] == 2 && shape[1] == 3);
  EXPECT(bytes == sizeof values && memcmp(data, values, bytes) == 0 && data != values);
  troupe_tensor_destroy(tensor);

  double* memory = malloc(sizeof *memory);
  *memory = 0.5;
  OK(troupe_tensor_adopt(TROUPE_DOUBLE, NULL, 0, memory, sizeof *memory, release, &released, &tensor));
  OK(troupe_tensor_data(tensor, &data, &bytes));
  EXPECT(data == memory && released == 0);
  troupe_tensor_destroy(tensor);
  EXPECT(released == 1);

  const char* const words[] = {"one", "two", ""};
  const size_t lengths[] = {3, 1, 0};
  const int64_t three = 3;
  const char* string;
  size_t length;
  OK(troupe_tensor_create_strings(&three, 1, words, lengths, 3, &tensor));
  OK(troupe_tensor_string(tensor, 1, &string, &length));
  EXPECT(length == 1 && strcmp(string, "t") == 0);
  FAILS(troupe_tensor_string(tensor, 3, &string, &length), TROUPE_OUT_OF_RANGE, "their number is 3");
  FAILS(troupe_tensor_data(tensor, &data, &bytes), TROUPE_INVALID_ARGUMENT, "not plain");
  const size_t vast_lengths[] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
  troupe_tensor* refused = NULL;
  FAILS(troupe_tensor_create_strings(&three, 1, words, vast_lengths, 3, &refused), TROUPE_INVALID_ARGUMENT,
        "which no memory can hold");
  troupe_tensor_destroy(tensor);
}

static void wrong_tensors(void) {
  const int64_t dims[] = {2, -3}, vast[] = {INT64_MAX, INT64_MAX}, two = 2;
  const float values[6] = {0};
  const unsigned char bytes[16] = {0, 2};
  troupe_tensor* tensor = NULL;
  FAILS(troupe_tensor_create(TROUPE_FLOAT, dims, 2, values, sizeof values, &tensor), TROUPE_INVALID_ARGUMENT,
        "-3");
  FAILS(troupe_tensor_create(TROUPE_FLOAT, vast, 2, values, 0, &tensor), TROUPE_INVALID_ARGUMENT, "");
  FAILS(troupe_tensor_create(TROUPE_FLOAT, dims, SIZE_MAX, values, 4, &tensor), TROUPE_INVALID_ARGUMENT,
        "255");
  FAILS(troupe_tensor_create(TROUPE_FLOAT, &two, 1, values, 4, &tensor), TROUPE_INVALID_ARGUMENT,
        "8 bytes, not 4");
  FAILS(troupe_tensor_create((troupe_dtype)77, &two, 1, values, 4, &tensor), TROUPE_INVALID_ARGUMENT, "77");
  FAILS(troupe_tensor_create(TROUPE_STRING, &two, 1, values, 4, &tensor), TROUPE_INVALID_ARGUMENT, "string");
  FAILS(troupe_tensor_create(TROUPE_BOOL, &two, 1, bytes, 2, &tensor), TROUPE_INVALID_ARGUMENT, "0 or 1");
  FAILS(troupe_tensor_adopt(TROUPE_FLOAT, &two, 1, (void*)(uintptr_t)(bytes + 1), 8, release, &released,
                            &tensor),
        TROUPE_INVALID_ARGUMENT, "aligned");
  EXPECT(tensor == NULL && released == 1);
}

/// Adds a node with one input, or none, and returns its first output.
static troupe_output node(troupe_graph* graph, const char* op, const char* name, const troupe_output* input,
                          troupe_dtype dtype, const char* attribute) {
  troupe_node* made;
  troupe_output output;
  OK(troupe_node_create(graph, op, name, &made));
  if (input) OK(troupe_node_input(made, *input));
  if (attribute) OK(troupe_node_set_dtype(made, attribute, dtype));
  OK(troupe_node_add(made, &output));
  troupe_node_destroy(made);
  output.index = 0;
  return output;
}

static troupe_tensor* scalar(float value) {
  troupe_tensor* tensor;
  OK(troupe_tensor_create(TROUPE_FLOAT, NULL, 0, &value, sizeof value, &tensor));
  return tensor;
}

static float value_of(const troupe_tensor* tensor) {
  const void* data;
  size_t bytes;
  OK(troupe_tensor_data(tensor, &data, &bytes));
  EXPECT(bytes == sizeof(float));
  return *(const float*)data;
}

/// Returns the value of an output.
static float computed(troupe_session* session, const troupe_output* feed, float value, troupe_output fetch) {
  troupe_tensor* const fed = scalar(value);
  const troupe_tensor* feeds[] = {fed};
  troupe_tensor* result = NULL;
  const troupe_step step = {.size = sizeof step,
                            .feeds = feed,
                            .feed_values = feeds,
                            .feed_count = feed ? 1 : 0,
                            .fetches = &fetch,
                            .fetch_count = 1};
  OK(troupe_session_run(session, &step, &result));
  const float found = value_of(result);
  troupe_tensor_destroy(result);
  troupe_tensor_destroy(fed);
  return found;
}

static void graphs_grow_while_sessions_run_them(void) {
  const troupe_runtime_options options = {.size = sizeof options, .threads = 2};
  troupe_runtime* runtime;
  troupe_graph* graph;
  troupe_session* session;
  OK(troupe_runtime_create(&options, &runtime));
  size_t devices;
  const char* device;
  OK(troupe_runtime_device_count(runtime, &devices));
  OK(troupe_runtime_device(runtime, 0, &device));
  EXPECT(devices == 1 && strcmp(device, "/job:localhost/replica:0/task:0/device:CPU:0") == 0);
  OK(troupe_graph_create(runtime, &graph));
  troupe_runtime_destroy(runtime);  // the graph keeps it

  const troupe_output x = node(graph, "Placeholder", "x", NULL, TROUPE_FLOAT, "dtype");
  const troupe_output square = node(graph, "Square", NULL, &x, TROUPE_FLOAT, NULL);
  OK(troupe_session_create(graph, NULL, &session));
  EXPECT(computed(session, &x, 3, square) == 9);

  troupe_output slope;
  OK(troupe_graph_gradients(graph, &square, 1, &x, 1, &slope));
  troupe_node* last;
  troupe_output done;
  OK(troupe_node_create(graph, "Neg", "last", &last));
  OK(troupe_node_input(last, slope));
  OK(troupe_node_control_input(last, square));
  OK(troupe_node_device(last, "/device:CPU:0"));
  OK(troupe_node_add(last, &done));
  FAILS(troupe_node_add(last, &done), TROUPE_FAILED_PRECONDITION, "already");
  troupe_node_destroy(last);
  troupe_output found;
  OK(troupe_graph_find(graph, "last:0", &found));
  EXPECT(found.node == done.node && done.index == TROUPE_CONTROL);
  EXPECT(computed(session, &x, 3, found) == -6);

  char* bytes;
  size_t size, nodes, copies;
  OK(troupe_graph_write(graph, &bytes, &size));
  OK(troupe_graph_size(graph, &nodes));
  troupe_graph_destroy(graph);  // the session keeps it
  EXPECT(computed(session, &x, 2, square) == 4);
  troupe_session_destroy(session);

  OK(troupe_runtime_create(NULL, &runtime));
  OK(troupe_graph_read(runtime, bytes, size, &graph));
  troupe_bytes_destroy(bytes);
  OK(troupe_graph_size(graph, &copies));
  EXPECT(nodes == copies);
  const char *name, *op;
  OK(troupe_graph_node(graph, 0, &name, &op));
  EXPECT(strcmp(name, "x") == 0 && strcmp(op, "Placeholder") == 0);
  FAILS(troupe_graph_node(graph, nodes, &name, &op), TROUPE_OUT_OF_RANGE, "node");
  OK(troupe_graph_find(graph, "x", &found));
  OK(troupe_graph_find(graph, "last", &done));
  OK(troupe_session_create(graph, NULL, &session));
  EXPECT(computed(session, &found, 5, done) == -10);
  FAILS(troupe_graph_read(runtime, "no graph", 8, &graph), TROUPE_INVALID_ARGUMENT, "");
  troupe_session_destroy(session);
  troupe_graph_destroy(graph);
  troupe_runtime_destroy(runtime);
}

static void attributes(void) {
  troupe_runtime* runtime;
  troupe_graph* graph;
  troupe_session* session;
  OK(troupe_runtime_create(NULL, &runtime));
  OK(troupe_graph_create(runtime, &graph));
  troupe_node* made;
  troupe_output constant, windows, done;
  const int64_t dims[] = {1, 2, 2, 1}, ones[] = {1, 2, 2, 1};
  const float values[] = {1, 7, 3, 4};
  troupe_tensor *image, *result;
  OK(troupe_tensor_create(TROUPE_FLOAT, dims, 4, values, sizeof values, &image));
  OK(troupe_node_create(graph, "Const", NULL, &made));
  OK(troupe_node_set_tensor(made, "value", image));
  OK(troupe_node_set_dtype(made, "dtype", TROUPE_FLOAT));
  OK(troupe_node_add(made, &constant));
  troupe_node_destroy(made);
  troupe_tensor_destroy(image);
  constant.index = 0;
  OK(troupe_node_create(graph, "MaxPool", NULL, &made));
  OK(troupe_node_input(made, constant));
  OK(troupe_node_set_ints(made, "ksize", ones, 4));
  OK(troupe_node_set_ints(made, "strides", ones, 4));
  OK(troupe_node_set_string(made, "padding", "VALID", 5));
  OK(troupe_node_add(made, &windows));
  troupe_node_destroy(made);
  windows.index = 0;
  OK(troupe_session_create(graph, NULL, &session));
  const troupe_step step = {.size = sizeof step, .fetches = &windows, .fetch_count = 1};
  OK(troupe_session_run(session, &step, &result));
  EXPECT(value_of(result) == 7);
  troupe_tensor_destroy(result);

  OK(troupe_node_create(graph, "MaxPool", "pool", &made));
  FAILS(troupe_node_add(made, &done), TROUPE_INVALID_ARGUMENT, "pool");
  EXPECT(strcmp(troupe_error_node(), "pool") == 0);
  troupe_node_destroy(made);
  FAILS(troupe_node_create(graph, "MaxPol", NULL, &made), TROUPE_NOT_FOUND, "MaxPool");
  OK(troupe_node_create(graph, "Placeholder", "shaped", &made));
  OK(troupe_node_set_dtype(made, "dtype", TROUPE_INT32));
  OK(troupe_node_set_shape(made, "shape", (const int64_t[]){-1, 3}, 2));
  FAILS(troupe_node_set_shape(made, "shape", (const int64_t[]){-2}, 1), TROUPE_INVALID_ARGUMENT, "-2");
  FAILS(troupe_node_set_shape(made, "shape", NULL, -2), TROUPE_INVALID_ARGUMENT, "rank is -2");
  FAILS(troupe_node_set_string(made, "padding", "VALID", SIZE_MAX), TROUPE_INVALID_ARGUMENT,
        "which no memory can hold");
  FAILS(troupe_node_device(made, "/nowhere"), TROUPE_INVALID_ARGUMENT, "nowhere");
  OK(troupe_node_add(made, &done));
  troupe_node_destroy(made);
  troupe_session_destroy(session);
  troupe_graph_destroy(graph);
  troupe_runtime_destroy(runtime);
}

static int cancel_soon(void* cancellation) {
  thrd_sleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
  OK(troupe_cancellation_cancel(cancellation));
  return 0;
}

static void steps_end(void) {
  troupe_runtime* runtime;
  troupe_graph* graph;
  troupe_session* session;
  troupe_node* made;
  troupe_cancellation* cancellation;
  troupe_output queue, element;
  const troupe_dtype types[] = {TROUPE_FLOAT};
  OK(troupe_runtime_create(NULL, &runtime));
  OK(troupe_graph_create(runtime, &graph));
  OK(troupe_node_create(graph, "FIFOQueueV2", NULL, &made));
  OK(troupe_node_set_dtypes(made, "component_types", types, 1));
  OK(troupe_node_add(made, &queue));
  troupe_node_destroy(made);
  queue.index = 0;
  OK(troupe_node_create(graph, "QueueDequeueV2", NULL, &made));
  OK(troupe_node_input(made, queue));
  OK(troupe_node_set_dtypes(made, "component_types", types, 1));
  OK(troupe_node_add(made, &element));
  troupe_node_destroy(made);
  OK(troupe_session_create(graph, NULL, &session));

  troupe_step step = {
      .size = sizeof step, .targets = &element, .target_count = 1, .timeout_ns = 20 * 1000 * 1000};
  FAILS(troupe_session_run(session, &step, NULL), TROUPE_DEADLINE_EXCEEDED, "");
  step.timeout_ns = -1;
  FAILS(troupe_session_run(session, &step, NULL), TROUPE_INVALID_ARGUMENT, "timeout_ns");
  step.timeout_ns = 0;
  OK(troupe_cancellation_create(&cancellation));
  step.cancellation = cancellation;
  thrd_t other;
  EXPECT(thrd_create(&other, cancel_soon, cancellation) == thrd_success);
  FAILS(troupe_session_run(session, &step, NULL), TROUPE_CANCELLED, "");
  thrd_join(other, NULL);
  troupe_cancellation_destroy(cancellation);
  step.cancellation = NULL;
  OK(troupe_session_close(session, INT64_C(10000000000)));
  FAILS(troupe_session_run(session, &step, NULL), TROUPE_FAILED_PRECONDITION, "closed");
  troupe_session_destroy(session);
  troupe_runtime_destroy(runtime);
  troupe_graph_destroy(graph);
}

static void files_outside_the_roots_are_refused(void) {
  static const char definition[] =
      "node { name: 'name' op: 'Const' attr { key: 'dtype' value { type: DT_STRING } } attr { key: 'value'"
      "       value { tensor { dtype: DT_STRING tensor_shape {} string_val: '/proc/version' } } } }"
      "node { name: 'file' op: 'ReadFile' input: 'name' }";
  const char* const roots[] = {"/nowhere", "/proc"};
  troupe_runtime_options options = {.size = sizeof options, .threads = 1, .roots = roots};
  for (options.root_count = 1; options.root_count <= 2; ++options.root_count) {
    troupe_runtime* runtime;
    troupe_graph* graph;
    troupe_session* session;
    troupe_output file;
    troupe_tensor* content;
    OK(troupe_runtime_create(&options, &runtime));
    OK(troupe_graph_read(runtime, definition, sizeof definition - 1, &graph));
    OK(troupe_graph_find(graph, "file", &file));
    OK(troupe_session_create(graph, NULL, &session));
    const troupe_step step = {.size = sizeof step, .fetches = &file, .fetch_count = 1};
    if (options.root_count == 1) {
      FAILS(troupe_session_run(session, &step, &content), TROUPE_PERMISSION_DENIED, "/proc/version");
    } else {
      OK(troupe_session_run(session, &step, &content));
      troupe_tensor_destroy(content);
    }
    troupe_session_destroy(session);
    troupe_graph_destroy(graph);
    troupe_runtime_destroy(runtime);
  }
}

int main(void) {
  versions_and_codes();
  tensors();
  wrong_tensors();
  graphs_grow_while_sessions_run_them();
  attributes();
  steps_end();
  files_outside_the_roots_are_refused();
}
