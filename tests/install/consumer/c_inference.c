// The C interface of the inference library, which this program links alone. Says nothing when all is well.
//   c_inference tests/golden/models/functions
#include <threads.h>

#include <troupe/c/inference.h>

#include "check.h"

/// Tensors of all types keep what they are made of.
static void tensors(void) {
  static const struct {
    troupe_dtype dtype;
    size_t size;
  } types[] = {{TROUPE_FLOAT, 4},       {TROUPE_DOUBLE, 8},  {TROUPE_INT32, 4},  {TROUPE_UINT8, 1},
               {TROUPE_INT16, 2},       {TROUPE_INT8, 1},    {TROUPE_INT64, 8},  {TROUPE_BOOL, 1},
               {TROUPE_QINT8, 1},       {TROUPE_QUINT8, 1},  {TROUPE_QINT32, 4}, {TROUPE_BFLOAT16, 2},
               {TROUPE_QINT16, 2},      {TROUPE_QUINT16, 2}, {TROUPE_UINT16, 2}, {TROUPE_COMPLEX64, 8},
               {TROUPE_COMPLEX128, 16}, {TROUPE_HALF, 2},    {TROUPE_UINT32, 4}, {TROUPE_UINT64, 8}};
  const int64_t two = 2;
  const unsigned char bytes[32] = {1, 1, 0, 1};
  troupe_tensor* tensor = NULL;
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    troupe_dtype dtype;
    const void* data;
    size_t size;
    OK(troupe_tensor_create(types[i].dtype, &two, 1, bytes, 2 * types[i].size, &tensor));
    OK(troupe_tensor_dtype(tensor, &dtype));
    OK(troupe_tensor_data(tensor, &data, &size));
    EXPECT(dtype == types[i].dtype && size == 2 * types[i].size && memcmp(data, bytes, size) == 0);
    troupe_tensor_destroy(tensor);
  }
  const char* const strings[] = {"a\0b", ""};
  const size_t lengths[] = {3, 0};
  const char* string;
  size_t length;
  OK(troupe_tensor_create_strings(&two, 1, strings, lengths, 2, &tensor));
  OK(troupe_tensor_string(tensor, 0, &string, &length));
  EXPECT(length == 3 && memcmp(string, "a\0b", 4) == 0);
  FAILS(troupe_tensor_string(tensor, 2, &string, &length), TROUPE_OUT_OF_RANGE, "string 2");
  troupe_tensor_destroy(tensor);
}

static void loading(const char* folder) {
  const char* const tags[] = {"gpu"};
  const troupe_model_options unset = {0}, other = {.size = sizeof other, .tags = tags, .tag_count = 1},
                             small = {.size = sizeof small, .memory = 1},
                             negative = {.size = sizeof negative, .image_elements = -1},
                             null_tags = {.size = sizeof null_tags, .tag_count = 1};
  troupe_model* model = NULL;
  FAILS(troupe_model_load("absent", NULL, &model), TROUPE_NOT_FOUND, "absent");
  FAILS(troupe_model_load(folder, &unset, &model), TROUPE_INVALID_ARGUMENT, "size");
  FAILS(troupe_model_load(folder, &other, &model), TROUPE_NOT_FOUND, "gpu");
  FAILS(troupe_model_load(folder, &small, &model), TROUPE_INVALID_ARGUMENT, "memory cap of 1 bytes");
  FAILS(troupe_model_load(folder, &negative, &model), TROUPE_INVALID_ARGUMENT, "at most -1 elements");
  FAILS(troupe_model_load(folder, &null_tags, &model), TROUPE_INVALID_ARGUMENT, "tags");
  EXPECT(model == NULL);
}

static void descriptions(const troupe_model* model, const char* folder) {
  const char* text;
  size_t count, inputs, outputs;
  troupe_model_tensor tensor;
  OK(troupe_model_source(model, &text));
  EXPECT(strcmp(text, folder) == 0);
  OK(troupe_model_signature_count(model, &count));
  EXPECT(count == 2);
  OK(troupe_model_signature(model, 0, &text));
  EXPECT(strcmp(text, "moved") == 0);
  FAILS(troupe_model_signature(model, 2, &text), TROUPE_OUT_OF_RANGE, "signature 2");
  OK(troupe_model_method(model, NULL, &text));
  EXPECT(strcmp(text, "tensorflow/serving/predict") == 0);
  OK(troupe_model_counts(model, NULL, &inputs, &outputs));
  EXPECT(inputs == 1 && outputs == 3);
  OK(troupe_model_input(model, NULL, 0, &tensor));
  EXPECT(strcmp(tensor.name, "x") == 0 && tensor.dtype == TROUPE_FLOAT && tensor.rank == 2 &&
         tensor.dims[0] == -1 && tensor.dims[1] == 3);
  OK(troupe_model_output(model, NULL, 0, &tensor));
  EXPECT(strcmp(tensor.name, "best") == 0 && tensor.dtype == TROUPE_INT64 && tensor.rank == 1);
  OK(troupe_model_prepare(model, "moved"));
  FAILS(troupe_model_prepare(model, "absent"), TROUPE_NOT_FOUND, "serving_default");
}

/// Fails unless a tensor has these floats.
static void expect_floats(const troupe_tensor* tensor, const float* values, size_t count) {
  const void* data;
  size_t bytes;
  OK(troupe_tensor_data(tensor, &data, &bytes));
  EXPECT(bytes == count * sizeof *values && memcmp(data, values, bytes) == 0);
}

/// Runs the model by name and by position, many times.
static int compute(void* context) {
  const troupe_model* const model = context;
  const int64_t dims[] = {2, 3};
  const float x[] = {1, 2, 3, 0, -1, 0.5F}, scores[] = {34, 48, 2, 3};
  const char *const input = "x", *const outputs[] = {"scores", "same"};
  for (int i = 0; i < 50; ++i) {
    troupe_tensor *tensor, *named[2], *all[3];
    OK(troupe_tensor_create(TROUPE_FLOAT, dims, 2, x, sizeof x, &tensor));
    const troupe_tensor* const inputs[] = {tensor};
    OK(troupe_model_run_named(model, NULL, &input, inputs, 1, outputs, named, 2));
    OK(troupe_model_run(model, NULL, inputs, 1, all, 3));
    troupe_tensor_destroy(tensor);
    expect_floats(named[0], scores, 4);
    expect_floats(named[1], x, 6);
    expect_floats(all[1], x, 6);
    expect_floats(all[2], scores, 4);
    for (int k = 0; k < 2; ++k) troupe_tensor_destroy(named[k]);
    for (int k = 0; k < 3; ++k) troupe_tensor_destroy(all[k]);
  }
  return 0;
}

static void mistakes(const troupe_model* model) {
  const int64_t two = 2;
  const float x[] = {1, 2}, up[] = {3, 4};
  const bool yes = true;
  troupe_tensor *vector, *flag, *result = NULL;
  OK(troupe_tensor_create(TROUPE_FLOAT, &two, 1, x, sizeof x, &vector));
  OK(troupe_tensor_create(TROUPE_BOOL, NULL, 0, &yes, sizeof yes, &flag));
  const troupe_tensor* const inputs[] = {vector, flag};
  const char *const names[] = {"x", "up"}, *const twice[] = {"x", "x"}, *const unknown[] = {"x", "down"};
  const char* const null_name[] = {NULL};
  const char *const moved = "moved", *const other = "scores";
  const troupe_code refused = TROUPE_INVALID_ARGUMENT;
  FAILS(troupe_model_run_named(model, moved, names, inputs, 1, &moved, &result, 1), refused, "'up'");
  FAILS(troupe_model_run_named(model, moved, twice, inputs, 2, &moved, &result, 1), refused, "twice");
  FAILS(troupe_model_run_named(model, moved, unknown, inputs, 2, &moved, &result, 1), refused, "'down'");
  FAILS(troupe_model_run_named(model, moved, names, inputs, 2, &other, &result, 1), refused, "yields moved");
  FAILS(troupe_model_run_named(model, moved, NULL, inputs, 2, &moved, &result, 1), refused, "input_names");
  FAILS(troupe_model_run_named(model, moved, names, NULL, 2, &moved, &result, 1), refused, "inputs");
  FAILS(troupe_model_run_named(model, moved, names, inputs, 2, null_name, &result, 1), refused,
        "output_names");
  FAILS(troupe_model_run_named(model, moved, names, inputs, 2, &moved, NULL, 1), refused, "results");
  FAILS(troupe_model_run_named(model, NULL, names, inputs, 1, &other, &result, 1), refused, "float[?,3]");
  EXPECT(result == NULL);
  OK(troupe_model_run_named(model, moved, names, inputs, 2, &moved, &result, 1));
  expect_floats(result, up, 2);
  troupe_tensor_destroy(result);
  troupe_tensor_destroy(vector);
  troupe_tensor_destroy(flag);
}

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  EXPECT(strlen(troupe_version()) >= 5);
  tensors();
  loading(argv[1]);
  troupe_model* model;
  const troupe_model_options options = {.size = sizeof options, .threads = 2};
  OK(troupe_model_load(argv[1], &options, &model));
  descriptions(model, argv[1]);
  thrd_t threads[4];
  for (int i = 0; i < 4; ++i) EXPECT(thrd_create(&threads[i], compute, model) == thrd_success);
  for (int i = 0; i < 4; ++i) thrd_join(threads[i], NULL);
  mistakes(model);
  troupe_model_destroy(model);
}
