// Trains the digits for three epochs through the C interface, and computes the class of an empty image.
//
//   digits FILE FOLDER        the run file, and the folder of runs: digits examples/digits.toml runs
#include <inttypes.h>
#include <stdio.h>

#include <troupe/c/troupe.h>

static int failed(void) {
  fprintf(stderr, "%s\n", troupe_error_message());
  return 1;
}

static bool at_epoch(const troupe_epoch* epoch, void* context) {
  (void)context;
  for (size_t i = 0; i < epoch->metric_count; ++i)
    printf("%s%s %.4f", i == 0 ? "" : "  ", epoch->metrics[i].name, epoch->metrics[i].value);
  printf("\n");
  return true;
}

/// Computes the class of an image without ink.
static int classify(const char* folder) {
  const int64_t dims[] = {1, 64};
  const float pixels[64] = {0};
  troupe_model* model = NULL;
  troupe_tensor *image = NULL, *results[2] = {NULL, NULL};  // the class, and the probabilities
  const void* class = NULL;
  size_t bytes = 0;
  const bool done =
      troupe_model_load(folder, NULL, &model) == TROUPE_OK &&
      troupe_tensor_create(TROUPE_FLOAT, dims, 2, pixels, sizeof pixels, &image) == TROUPE_OK &&
      troupe_model_run(model, NULL, (const troupe_tensor* const[]){image}, 1, results, 2) == TROUPE_OK &&
      troupe_tensor_data(results[0], &class, &bytes) == TROUPE_OK;
  if (done) printf("class %" PRId64 "\n", *(const int64_t*)class);
  troupe_tensor_destroy(results[0]);
  troupe_tensor_destroy(results[1]);
  troupe_tensor_destroy(image);
  troupe_model_destroy(model);
  return done ? 0 : failed();
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: digits FILE FOLDER\n");
    return 2;
  }
  const char* const settings[] = {"train.max_epochs=3"};
  const troupe_training_options options = {.size = sizeof options, .runs = argv[2], .epoch = at_epoch};
  troupe_run_file* file = NULL;
  troupe_training* training = NULL;
  troupe_outcome outcome;
  const bool trained = troupe_run_file_read(argv[1], settings, 1, &file) == TROUPE_OK &&
                       troupe_train(file, &options, &training) == TROUPE_OK &&
                       troupe_training_outcome(training, &outcome) == TROUPE_OK;
  const int code = trained ? classify(outcome.folder) : failed();
  troupe_training_destroy(training);
  troupe_run_file_destroy(file);
  return code;
}
