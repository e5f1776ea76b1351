// Each function of the C interface refuses null pointers, and options without a size. Says nothing when all is well.
#include "check.h"

#define REFUSED(call) EXPECT((call) == TROUPE_INVALID_ARGUMENT && *troupe_error_message())

static void handles(void) {
  const troupe_output output = {0};
  REFUSED(troupe_tensor_create(TROUPE_FLOAT, NULL, 0, NULL, 4, NULL));
  REFUSED(troupe_tensor_create(TROUPE_FLOAT, NULL, 1, NULL, 4, NULL));
  REFUSED(troupe_tensor_adopt(TROUPE_FLOAT, NULL, 0, NULL, 4, NULL, NULL, NULL));
  REFUSED(troupe_tensor_create_strings(NULL, 0, NULL, NULL, 1, NULL));
  REFUSED(troupe_tensor_dtype(NULL, NULL));
  REFUSED(troupe_tensor_shape(NULL, NULL, NULL));
  REFUSED(troupe_tensor_data(NULL, NULL, NULL));
  REFUSED(troupe_tensor_string(NULL, 0, NULL, NULL));
  REFUSED(troupe_runtime_create(NULL, NULL));
  REFUSED(troupe_runtime_device_count(NULL, NULL));
  REFUSED(troupe_runtime_device(NULL, 0, NULL));
  REFUSED(troupe_runtime_status(NULL));
  REFUSED(troupe_runtime_metrics(NULL, NULL, NULL));
  REFUSED(troupe_cluster_create(NULL, NULL, 0, NULL));
  REFUSED(troupe_cluster_read(NULL, NULL, 0, NULL));
  REFUSED(troupe_cluster_set_endpoint(NULL, NULL, 0, NULL));
  REFUSED(troupe_cluster_set_tls(NULL, NULL, NULL, NULL));
  REFUSED(troupe_cluster_set_transport(NULL, TROUPE_TRANSPORT_TCP));
  REFUSED(troupe_cluster_set_plain_anywhere(NULL, true));
  REFUSED(troupe_cancellation_create(NULL));
  REFUSED(troupe_cancellation_cancel(NULL));
  REFUSED(troupe_graph_create(NULL, NULL));
  REFUSED(troupe_graph_read(NULL, NULL, 0, NULL));
  REFUSED(troupe_graph_write(NULL, NULL, NULL));
  REFUSED(troupe_graph_find(NULL, NULL, NULL));
  REFUSED(troupe_graph_size(NULL, NULL));
  REFUSED(troupe_graph_node(NULL, 0, NULL, NULL));
  REFUSED(troupe_graph_gradients(NULL, NULL, 1, NULL, 1, NULL));
  REFUSED(troupe_node_create(NULL, NULL, NULL, NULL));
  REFUSED(troupe_node_input(NULL, output));
  REFUSED(troupe_node_control_input(NULL, output));
  REFUSED(troupe_node_device(NULL, NULL));
  REFUSED(troupe_node_set_int(NULL, NULL, 0));
  REFUSED(troupe_node_set_float(NULL, NULL, 0));
  REFUSED(troupe_node_set_bool(NULL, NULL, false));
  REFUSED(troupe_node_set_dtype(NULL, NULL, TROUPE_FLOAT));
  REFUSED(troupe_node_set_string(NULL, NULL, NULL, 0));
  REFUSED(troupe_node_set_tensor(NULL, NULL, NULL));
  REFUSED(troupe_node_set_shape(NULL, NULL, NULL, 1));
  REFUSED(troupe_node_set_ints(NULL, NULL, NULL, 1));
  REFUSED(troupe_node_set_floats(NULL, NULL, NULL, 1));
  REFUSED(troupe_node_set_dtypes(NULL, NULL, NULL, 1));
  REFUSED(troupe_node_set_strings(NULL, NULL, NULL, NULL, 1));
  REFUSED(troupe_node_add(NULL, NULL));
  REFUSED(troupe_session_create(NULL, NULL, NULL));
  REFUSED(troupe_session_connect(NULL, NULL, NULL, NULL, NULL));
  REFUSED(troupe_session_device_count(NULL, NULL));
  REFUSED(troupe_session_device(NULL, 0, NULL));
  REFUSED(troupe_session_run(NULL, NULL, NULL));
  REFUSED(troupe_session_cancel(NULL));
  REFUSED(troupe_session_close(NULL, 0));
  REFUSED(troupe_model_load(NULL, 0, NULL));
  REFUSED(troupe_model_signature_count(NULL, NULL));
  REFUSED(troupe_model_signature(NULL, 0, NULL));
  REFUSED(troupe_model_counts(NULL, NULL, NULL, NULL));
  REFUSED(troupe_model_input(NULL, NULL, 0, NULL));
  REFUSED(troupe_model_output(NULL, NULL, 0, NULL));
  REFUSED(troupe_model_run(NULL, NULL, NULL, 1, NULL, 1));
  REFUSED(troupe_run_file_read(NULL, NULL, 1, NULL));
  REFUSED(troupe_run_file_parse(NULL, NULL, NULL, 1, NULL));
  REFUSED(troupe_train(NULL, NULL, NULL));
  REFUSED(troupe_training_outcome(NULL, NULL));
  REFUSED(troupe_evaluate(NULL, NULL, NULL, 1, NULL));
  REFUSED(troupe_metrics_all(NULL, NULL, NULL));
}

static void members(void) {
  const troupe_runtime_options unset = {0};
  troupe_runtime* runtime = NULL;
  troupe_graph* graph;
  troupe_session* session;
  troupe_node* node;
  troupe_output output;
  REFUSED(troupe_runtime_create(&unset, &runtime));
  EXPECT(runtime == NULL);
  OK(troupe_runtime_create(NULL, &runtime));
  OK(troupe_graph_create(runtime, &graph));
  OK(troupe_session_create(graph, NULL, &session));
  troupe_step step = {.size = sizeof step, .fetch_count = 1};
  troupe_cluster* cluster = NULL;
  char* text = NULL;
  REFUSED(troupe_cluster_create("lab", "ps", 0, NULL));
  REFUSED(troupe_runtime_metrics(runtime, &text, NULL));
  REFUSED(troupe_session_device(session, 0, NULL));
  OK(troupe_cluster_create("lab", NULL, 0, &cluster));
  REFUSED(troupe_cluster_set_endpoint(cluster, NULL, 0, "a:1"));
  REFUSED(troupe_cluster_set_endpoint(cluster, "ps", 0, NULL));
  REFUSED(troupe_cluster_set_tls(cluster, "certificate", "key", NULL));
  REFUSED(troupe_session_connect(graph, NULL, cluster, NULL, &session));
  REFUSED(troupe_session_connect(graph, "a:1", NULL, NULL, &session));
  const troupe_session_options no_tasks = {.size = sizeof no_tasks, .task_count = 1};
  REFUSED(troupe_session_connect(graph, "a:1", cluster, &no_tasks, &session));
  const troupe_runtime_options no_roots = {.size = sizeof no_roots, .root_count = 1};
  troupe_runtime* rootless = NULL;
  REFUSED(troupe_runtime_create(&no_roots, &rootless));
  EXPECT(text == NULL && rootless == NULL);
  troupe_cluster_destroy(cluster);
  REFUSED(troupe_session_run(session, NULL, NULL));
  REFUSED(troupe_session_run(session, &step, NULL));
  step = (troupe_step){.size = sizeof step, .feed_count = 1};
  REFUSED(troupe_session_run(session, &step, NULL));
  step = (troupe_step){.size = sizeof step, .target_count = 1};
  REFUSED(troupe_session_run(session, &step, NULL));
  REFUSED(troupe_node_create(graph, "NoOp", NULL, NULL));
  OK(troupe_node_create(graph, "NoOp", NULL, &node));
  REFUSED(troupe_node_add(node, NULL));
  REFUSED(troupe_node_set_int(node, NULL, 0));
  REFUSED(troupe_node_control_input(node, (troupe_output){.node = 7}));
  OK(troupe_node_add(node, &output));
  REFUSED(troupe_graph_find(graph, NULL, &output));
  troupe_node_destroy(node);
  troupe_session_destroy(session);
  troupe_graph_destroy(graph);
  troupe_runtime_destroy(runtime);
}

int main(void) {
  troupe_tensor_destroy(NULL);
  troupe_runtime_destroy(NULL);
  troupe_cluster_destroy(NULL);
  troupe_cancellation_destroy(NULL);
  troupe_graph_destroy(NULL);
  troupe_bytes_destroy(NULL);
  troupe_node_destroy(NULL);
  troupe_session_destroy(NULL);
  troupe_model_destroy(NULL);
  troupe_run_file_destroy(NULL);
  troupe_training_destroy(NULL);
  troupe_metrics_destroy(NULL);
  handles();
  members();
}
