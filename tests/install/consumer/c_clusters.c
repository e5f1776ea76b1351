// The C interface of clusters, and the metrics of runtimes: the parameter server is a process of its own, and this process is the
// worker and several clients, over TLS. Says nothing when all is well.   c_clusters PROGRAM FOLDER
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "two_processes.h"

static troupe_cluster* read_cluster(const char* job) {
  troupe_cluster* cluster;
  OK(troupe_cluster_read(path_of("cluster.toml"), job, 0, &cluster));
  return cluster;
}

/// Returns the cluster as a client knows it: its name, and the files of TLS that `certificates` has for a task.
static troupe_cluster* client_cluster(const char* name, const char* certificates, const char* task) {
  char certificate[64], key[64], authority[64];
  troupe_cluster* cluster;
  snprintf(certificate, sizeof certificate, "%s/%s.pem", certificates, task);
  snprintf(key, sizeof key, "%s/%s.key", certificates, task);
  snprintf(authority, sizeof authority, "%s/ca.pem", certificates);
  OK(troupe_cluster_create(name, NULL, 0, &cluster));
  OK(troupe_cluster_set_tls(cluster, path_of(certificate), path_of(key), path_of(authority)));
  return cluster;
}

/// ps: v, to which "set" assigns x;  worker: twice = v + v.
static troupe_graph* model(troupe_runtime* runtime) {
  static const char definition[] =
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }"
      "       attr { key: 'shape' value { shape {} } } }"
      "node { name: 'v' op: 'VariableV2' device: '/job:ps' attr { key: 'dtype' value { type: DT_FLOAT } }"
      "       attr { key: 'shape' value { shape {} } } }"
      "node { name: 'set' op: 'Assign' input: 'v' input: 'x' device: '/job:ps'"
      "       attr { key: 'T' value { type: DT_FLOAT } } }"
      "node { name: 'twice' op: 'Add' input: 'v' input: 'v' device: '/job:worker'"
      "       attr { key: 'T' value { type: DT_FLOAT } } }";
  troupe_graph* graph;
  OK(troupe_graph_read(runtime, definition, sizeof definition - 1, &graph));
  return graph;
}

static void set(troupe_session* session, troupe_graph* graph, float value) {
  troupe_output x, target;
  troupe_tensor* fed;
  OK(troupe_graph_find(graph, "x", &x));
  OK(troupe_graph_find(graph, "^set", &target));
  OK(troupe_tensor_create(TROUPE_FLOAT, NULL, 0, &value, sizeof value, &fed));
  const troupe_tensor* feeds[] = {fed};
  const troupe_step step = {.size = sizeof step,
                            .feeds = &x,
                            .feed_values = feeds,
                            .feed_count = 1,
                            .targets = &target,
                            .target_count = 1};
  OK(troupe_session_run(session, &step, NULL));
  troupe_tensor_destroy(fed);
}

/// Computes "twice". Stores it if that does not fail.
static troupe_code twice(troupe_session* session, troupe_graph* graph, float* value) {
  troupe_output fetch;
  troupe_tensor* result;
  const void* data;
  size_t bytes;
  OK(troupe_graph_find(graph, "twice", &fetch));
  const troupe_step step = {
      .size = sizeof step, .fetches = &fetch, .fetch_count = 1, .timeout_ns = INT64_C(30000000000)};
  const troupe_code code = troupe_session_run(session, &step, &result);
  if (code != TROUPE_OK) return code;
  OK(troupe_tensor_data(result, &data, &bytes));
  EXPECT(bytes == sizeof *value);
  memcpy(value, data, bytes);
  troupe_tensor_destroy(result);
  return code;
}

static void expect_twice(troupe_session* session, troupe_graph* graph, float expected) {
  float value;
  OK(twice(session, graph, &value));
  EXPECT(value == expected);
}

static void expect_devices(troupe_session* session, size_t expected, const char* last) {
  troupe_device device;
  size_t count;
  OK(troupe_session_device_count(session, &count));
  EXPECT(count == expected);
  OK(troupe_session_device(session, count - 1, &device));
  EXPECT(strcmp(device.name, last) == 0 && strcmp(device.type, "CPU") == 0 && device.memory > 0 &&
         device.incarnation != 0);
  FAILS(troupe_session_device(session, count, &device), TROUPE_OUT_OF_RANGE, "device");
}

/// Returns the value of a series; -1 if there is none. All lines must be such as Prometheus reads.
static double metric(const troupe_runtime* runtime, const char* series) {
  char *text, *end;
  size_t size;
  double found = -1;
  OK(troupe_runtime_metrics(runtime, &text, &size));
  EXPECT(strlen(text) == size && text[size - 1] == '\n');
  for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (strncmp(line, "# HELP troupe_", 14) == 0 || strncmp(line, "# TYPE troupe_", 14) == 0) continue;
    EXPECT(strncmp(line, "troupe_", 7) == 0);
    const char* const space = strrchr(line, ' ');
    const double value = strtod(space + 1, &end);
    EXPECT(end > space + 1 && *end == 0);
    const size_t length = (size_t)(space - line);
    if (strlen(series) == length && strncmp(line, series, length) == 0) found = value;
  }
  troupe_bytes_destroy(text);
  return found;
}

/// Waits until the worker sees the server come or go.
static void await_link(const troupe_runtime* worker, double up) {
  for (int i = 0; i < 600 && metric(worker, "troupe_link_up{task=\"" PS "\"}") != up; ++i)
    nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
  EXPECT(metric(worker, "troupe_link_up{task=\"" PS "\"}") == up);
}

static void wrong_descriptions(void) {
  troupe_cluster* cluster = NULL;
  FAILS(troupe_cluster_read(path_of("absent.toml"), NULL, 0, &cluster), TROUPE_INVALID_ARGUMENT,
        "absent.toml");
  FAILS(troupe_cluster_create("lab", "a b", 0, &cluster), TROUPE_INVALID_ARGUMENT, "a b");
  FAILS(troupe_cluster_create("lab", "", 0, &cluster), TROUPE_INVALID_ARGUMENT, "empty");
  FAILS(troupe_cluster_create("lab", "ps", -2, &cluster), TROUPE_INVALID_ARGUMENT, "-2");
  EXPECT(cluster == NULL);
  OK(troupe_cluster_create("lab", "ps", 0, &cluster));
  FAILS(troupe_cluster_set_transport(cluster, 7), TROUPE_INVALID_ARGUMENT, "7");
  FAILS(troupe_cluster_set_endpoint(cluster, "ps", -1, "a:1"), TROUPE_INVALID_ARGUMENT, "-1");
  OK(troupe_cluster_set_transport(cluster, TROUPE_TRANSPORT_TCP));
  OK(troupe_cluster_set_plain_anywhere(cluster, true));

  // The server listens there already.
  const troupe_runtime_options options = {.size = sizeof options, .threads = 1, .cluster = cluster};
  troupe_runtime* runtime = NULL;
  OK(troupe_cluster_set_endpoint(cluster, "ps", 0, ps_endpoint));
  FAILS(troupe_runtime_create(&options, &runtime), TROUPE_ALREADY_EXISTS, ps_endpoint);
  OK(troupe_cluster_set_tls(cluster, path_of("absent.pem"), path_of("absent.key"), path_of("certs/ca.pem")));
  EXPECT(troupe_runtime_create(&options, &runtime) != TROUPE_OK);
  EXPECT(strstr(troupe_error_message(), "absent.pem"));
  EXPECT(runtime == NULL);
  troupe_cluster_destroy(cluster);
}

/// The worker is not there yet.
static void part_of_a_cluster(troupe_graph* graph) {
  const char* const own[] = {"/job:ps"};
  const time_t begun = time(NULL);
  troupe_cluster* const cluster = read_cluster(NULL);
  troupe_session* session = NULL;
  troupe_session_options options = {.size = sizeof options, .start_timeout_ns = 500 * 1000 * 1000};
  FAILS(troupe_session_connect(graph, nobody, cluster, &options, &session), TROUPE_UNAVAILABLE, nobody);
  options.start_timeout_ns = INT64_C(1000000000);
  FAILS(troupe_session_connect(graph, ps_endpoint, cluster, &options, &session), TROUPE_DEADLINE_EXCEEDED,
        WORKER " at ");
  options.start_timeout_ns = -1;
  FAILS(troupe_session_connect(graph, ps_endpoint, cluster, &options, &session), TROUPE_INVALID_ARGUMENT,
        "start_timeout_ns");
  EXPECT(session == NULL && time(NULL) - begun < 30);
  options = (troupe_session_options){.size = sizeof options, .tasks = own, .task_count = 1};
  OK(troupe_session_connect(graph, ps_endpoint, cluster, &options, &session));
  expect_devices(session, 1, PS "/device:CPU:0");
  troupe_session_destroy(session);
  troupe_cluster_destroy(cluster);
}

static void strangers(troupe_graph* graph) {
  const troupe_session_options options = {.size = sizeof options, .start_timeout_ns = INT64_C(5000000000)};
  troupe_cluster* const wrong[] = {client_cluster("lab", "certs", "worker-0"),
                                   client_cluster("cab", "certs", "client-0"),
                                   client_cluster("lab", "other", "client-0")};
  const troupe_code codes[] = {TROUPE_PERMISSION_DENIED, TROUPE_FAILED_PRECONDITION,
                               TROUPE_PERMISSION_DENIED};
  troupe_session* session = NULL;
  for (int i = 0; i < 3; ++i) {
    FAILS(troupe_session_connect(graph, ps_endpoint, wrong[i], &options, &session), codes[i], ps_endpoint);
    troupe_cluster_destroy(wrong[i]);
  }
  troupe_cluster* const mixed = client_cluster("lab", "certs", "client-0");
  OK(troupe_cluster_set_tls(mixed, path_of("other/client-0.pem"), path_of("other/client-0.key"),
                            path_of("certs/ca.pem")));
  FAILS(troupe_session_connect(graph, ps_endpoint, mixed, &options, &session), TROUPE_INVALID_ARGUMENT,
        "other/client-0.pem is not signed by");
  troupe_cluster_destroy(mixed);
  EXPECT(session == NULL);
}

/// Sessions of clients with and without devices share the variable, unless they want one of their own.
static void clients(troupe_graph* graph) {
  const bool share = false;
  const troupe_session_options own = {.size = sizeof own, .share_state = &share};
  troupe_cluster* cluster = client_cluster("lab", "certs", "client-0");
  troupe_session* session;
  OK(troupe_session_connect(graph, ps_endpoint, cluster, NULL, &session));
  expect_devices(session, 3, WORKER "/device:CPU:1");
  expect_twice(session, graph, 6);
  troupe_session_destroy(session);
  OK(troupe_session_connect(graph, ps_endpoint, cluster, &own, &session));
  float value;
  FAILS(twice(session, graph, &value), TROUPE_FAILED_PRECONDITION, "v");
  troupe_session_destroy(session);
  troupe_cluster_destroy(cluster);

  cluster = read_cluster(NULL);
  const troupe_runtime_options options = {.size = sizeof options, .threads = 1, .cluster = cluster};
  troupe_runtime* runtime;
  OK(troupe_runtime_create(&options, &runtime));
  troupe_cluster_destroy(cluster);
  troupe_graph* const same = model(runtime);
  OK(troupe_session_create(same, NULL, &session));
  expect_twice(session, same, 6);
  troupe_session_destroy(session);
  troupe_graph_destroy(same);
  troupe_runtime_destroy(runtime);
}

/// A runtime without a cluster has metrics, too; callers who know less of the options than this library leave its cluster out.
static troupe_runtime* alone(void) {
  const troupe_runtime_options older = {.size = offsetof(troupe_runtime_options, cluster),
                                        .threads = 1,
                                        .cluster = (const troupe_cluster*)&folder};
  troupe_runtime* runtime;
  OK(troupe_runtime_create(&older, &runtime));
  EXPECT(metric(runtime, "troupe_runtime_threads") == 1 && metric(runtime, "troupe_runtime_healthy") == 1);
  EXPECT(metric(runtime, "troupe_runtime_steps_total") == 0);
  EXPECT(metric(runtime, "troupe_runtime_sent_bytes_total") == -1);
  return runtime;
}

static void worker_metrics(const troupe_runtime* worker) {
  EXPECT(metric(worker, "troupe_runtime_steps_total") == 2 && metric(worker, "troupe_runtime_threads") == 2);
  EXPECT(metric(worker, "troupe_runtime_sent_bytes_total") > 500);
  EXPECT(metric(worker, "troupe_runtime_received_bytes_total") > 500);
  EXPECT(metric(worker, "troupe_runtime_actors") > 3 && metric(worker, "troupe_runtime_messages_total") > 10);
  EXPECT(metric(worker, "troupe_device_allocations_total{device=\"" WORKER "/device:CPU:0\"}") > 0);
  EXPECT(metric(worker, "troupe_device_memory_limit_bytes{device=\"" WORKER "/device:CPU:1\"}") == 64 << 20);
  EXPECT(metric(worker, "troupe_task_states{task=\"" WORKER "\"}") == 0);
  EXPECT(metric(worker, "troupe_link_up{task=\"" WORKER "\"}") == -1);
}

static void node_of_a_cluster(int socket_of_worker, troupe_graph* graph) {
  char listen_at[16];
  snprintf(listen_at, sizeof listen_at, "fd:%d", socket_of_worker);
  troupe_cluster* const cluster = read_cluster("worker");
  const troupe_runtime_options options = {.size = sizeof options,
                                          .threads = 2,
                                          .memory = 64 << 20,
                                          .cpus = 2,
                                          .cluster = cluster,
                                          .listen = listen_at,
                                          .roots = &folder,
                                          .root_count = 1};
  troupe_runtime* worker;
  troupe_session *session, *afar;
  OK(troupe_runtime_create(&options, &worker));
  troupe_graph* const own = model(worker);
  OK(troupe_session_create(own, NULL, &session));
  expect_devices(session, 3, PS "/device:CPU:0");
  set(session, own, 3);
  expect_twice(session, own, 6);
  worker_metrics(worker);
  clients(graph);
  strangers(graph);
  troupe_cluster_destroy(cluster);

  troupe_cluster* const known = read_cluster(NULL);
  OK(troupe_session_connect(graph, ps_endpoint, known, NULL, &afar));
  troupe_cluster_destroy(known);
  await_link(worker, 1);
  stop_server();
  await_link(worker, 0);
  float value;
  FAILS(twice(afar, graph, &value), TROUPE_UNAVAILABLE, ps_endpoint);
  OK(troupe_runtime_status(worker));
  troupe_session_destroy(afar);
  troupe_session_destroy(session);
  troupe_graph_destroy(own);
  troupe_runtime_destroy(worker);
}

int main(int count, char** arguments) {
  EXPECT(count == 3);
  program = arguments[1];
  folder = arguments[2];
  const int socket_of_ps = listening(ps_endpoint, sizeof ps_endpoint);
  const int socket_of_worker = listening(worker_endpoint, sizeof worker_endpoint);
  const int silent = bound(nobody, sizeof nobody);
  begin(socket_of_ps);
  wrong_descriptions();
  troupe_runtime* const runtime = alone();
  troupe_graph* const graph = model(runtime);
  part_of_a_cluster(graph);
  close(silent);
  node_of_a_cluster(socket_of_worker, graph);
  troupe_graph_destroy(graph);
  troupe_runtime_destroy(runtime);
}
