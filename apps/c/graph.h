// Graphs in C: read from TensorFlow's GraphDef, or built node by node. docs/ops.md lists the ops. A graph belongs to a runtime. It
// only grows, also while sessions have it, but not while a session begins a step. One thread at a time. Public header, C11 and C++.
#pragma once

#include "apps/c/runtime.h"
#include "apps/c/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct troupe_graph troupe_graph;
typedef struct troupe_node troupe_node;

/// An output of a node, or the node itself. A plain value, which belongs to one graph.
typedef struct troupe_output {
  uint32_t node;
  uint32_t index;  ///< TROUPE_CONTROL: the node itself, as a target or a control input
  uint32_t graph;  ///< set by the functions that return outputs
} troupe_output;
#define TROUPE_CONTROL UINT32_MAX

TROUPE_C troupe_code troupe_graph_create(troupe_runtime* runtime, troupe_graph** graph);
/// Creates a graph of a GraphDef in binary or text form. Fails with InvalidArgument, naming node and op, if it is invalid, and with
/// ResourceExhausted if it is too large.
TROUPE_C troupe_code troupe_graph_read(troupe_runtime* runtime, const void* bytes, size_t size,
                                       troupe_graph** graph);
/// Does the same for a MetaGraphDef of TensorFlow in binary form. The variables and queue runners of its collections are those of
/// the graph. Fails with DataLoss or NotFound as well, if a queue runner is damaged.
TROUPE_C troupe_code troupe_graph_read_meta(troupe_runtime* runtime, const void* bytes, size_t size,
                                            troupe_graph** graph);
TROUPE_C void troupe_graph_destroy(troupe_graph* graph);
/// Returns the graph as a GraphDef in binary form. The caller releases the bytes with troupe_bytes_destroy().
TROUPE_C troupe_code troupe_graph_write(const troupe_graph* graph, char** bytes, size_t* size);
/// Returns it as a MetaGraphDef, which TensorFlow's import_meta_graph() reads, with its variables and queue runners.
TROUPE_C troupe_code troupe_graph_write_meta(const troupe_graph* graph, char** bytes, size_t* size);

/// Finds "name" or "name:1", or "^name", which is the node itself. Fails with NotFound and the most similar name.
TROUPE_C troupe_code troupe_graph_find(const troupe_graph* graph, const char* name, troupe_output* output);
/// Return the number of nodes, and the name and op of one; they live until the graph grows. Fails with OutOfRange.
TROUPE_C troupe_code troupe_graph_size(const troupe_graph* graph, size_t* nodes);
TROUPE_C troupe_code troupe_graph_node(const troupe_graph* graph, size_t index, const char** name,
                                       const char** op);

/// Begins a node, which the functions below describe and troupe_node_add() adds to the graph. Fails with NotFound, with the nearest
/// name, if there is no such op. An empty or null name: one after the op.
TROUPE_C troupe_code troupe_node_create(troupe_graph* graph, const char* op, const char* name,
                                        troupe_node** node);
/// Destroys the description of a node. The graph keeps the node if it was added.
TROUPE_C void troupe_node_destroy(troupe_node* node);
/// Adds an input, in the order of the op's arguments; the elements of a list are inputs one after the other.
TROUPE_C troupe_code troupe_node_input(troupe_node* node, troupe_output input);
/// Makes the node run after the node of `source`.
TROUPE_C troupe_code troupe_node_control_input(troupe_node* node, troupe_output source);
/// Requests a device, by a full or partial name: "/job:ps/task:0", "/device:CPU:1".
TROUPE_C troupe_code troupe_node_device(troupe_node* node, const char* device);

// Attributes. Those that the inputs or the op's defaults determine may be left out.
TROUPE_C troupe_code troupe_node_set_int(troupe_node* node, const char* name, int64_t value);
TROUPE_C troupe_code troupe_node_set_float(troupe_node* node, const char* name, float value);
TROUPE_C troupe_code troupe_node_set_bool(troupe_node* node, const char* name, bool value);
TROUPE_C troupe_code troupe_node_set_dtype(troupe_node* node, const char* name, troupe_dtype value);
TROUPE_C troupe_code troupe_node_set_string(troupe_node* node, const char* name, const char* value,
                                            size_t length);
TROUPE_C troupe_code troupe_node_set_tensor(troupe_node* node, const char* name, const troupe_tensor* value);
/// Sets a shape, in which -1 is an unknown dimension. A rank of -1 is an unknown rank.
TROUPE_C troupe_code troupe_node_set_shape(troupe_node* node, const char* name, const int64_t* dims,
                                           int32_t rank);
TROUPE_C troupe_code troupe_node_set_ints(troupe_node* node, const char* name, const int64_t* values,
                                          size_t count);
TROUPE_C troupe_code troupe_node_set_floats(troupe_node* node, const char* name, const float* values,
                                            size_t count);
TROUPE_C troupe_code troupe_node_set_dtypes(troupe_node* node, const char* name, const troupe_dtype* values,
                                            size_t count);
TROUPE_C troupe_code troupe_node_set_strings(troupe_node* node, const char* name, const char* const* values,
                                             const size_t* lengths, size_t count);

/// Adds the node to the graph, once, and returns the node itself, whose outputs have the same `node` and the indices 0, 1, ...
/// Fails with InvalidArgument or AlreadyExists, naming op, node and what is wrong; then the graph is unchanged.
TROUPE_C troupe_code troupe_node_add(troupe_node* node, troupe_output* added);

/// Adds the gradients of the sum of all `ys` by each of the `xs`, and stores their outputs in `gradients`, which has room for as
/// many as there are `xs`. They are dense, and zeros where no y depends on an x. Fails with Unimplemented if an op has no gradient.
TROUPE_C troupe_code troupe_graph_gradients(troupe_graph* graph, const troupe_output* ys, size_t y_count,
                                            const troupe_output* xs, size_t x_count,
                                            troupe_output* gradients);

/// Adds a target that gives every variable its first value and fills every table. It knows those that the graph notes so far.
TROUPE_C troupe_code troupe_graph_initializer(troupe_graph* graph, troupe_output* target);

#ifdef __cplusplus
}
#endif
