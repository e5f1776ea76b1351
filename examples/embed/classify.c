// Loads a model of the digits and computes the class of an image without ink. It links the inference library, troupe::inference,
// which needs neither a cluster nor a trainer.
//
//   classify FOLDER           of a run: runs/digits/001
#include <inttypes.h>
#include <stdio.h>

#include <troupe/c/inference.h>

/// Prints the names of the inputs. Returns false after a failure.
static bool print_inputs(const troupe_model* model) {
  size_t inputs = 0, outputs = 0;
  troupe_model_tensor input;
  if (troupe_model_counts(model, NULL, &inputs, &outputs) != TROUPE_OK) return false;
  for (size_t i = 0; i < inputs; ++i) {
    if (troupe_model_input(model, NULL, i, &input) != TROUPE_OK) return false;
    printf("takes %s\n", input.name);
  }
  return true;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: classify FOLDER\n");
    return 2;
  }
  const int64_t dims[] = {1, 64};
  const float pixels[64] = {0};
  const char *const input = "image", *const output = "class";
  troupe_model* model = NULL;
  troupe_tensor *image = NULL, *result = NULL;
  const void* class = NULL;
  size_t bytes = 0;
  const bool done = troupe_model_load(argv[1], NULL, &model) == TROUPE_OK && print_inputs(model) &&
                    troupe_tensor_create(TROUPE_FLOAT, dims, 2, pixels, sizeof pixels, &image) == TROUPE_OK &&
                    troupe_model_run_named(model, NULL, &input, (const troupe_tensor* const[]){image}, 1,
                                           &output, &result, 1) == TROUPE_OK &&
                    troupe_tensor_data(result, &class, &bytes) == TROUPE_OK;
  if (done)
    printf("class %" PRId64 "\n", *(const int64_t*)class);
  else
    fprintf(stderr, "%s\n", troupe_error_message());
  troupe_tensor_destroy(result);
  troupe_tensor_destroy(image);
  troupe_model_destroy(model);
  return done ? 0 : 1;
}
