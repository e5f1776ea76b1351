// The C interface of run files and trained models: trains, and computes in several threads.   c_models RUN_FILE FOLDER
#include <threads.h>

#include <troupe/c/troupe.h>

#include "check.h"

struct watch {
  int epochs, steps, lines;
  double first_loss, last_loss;
};

static bool at_epoch(const troupe_epoch* epoch, void* context) {
  struct watch* const watch = context;
  EXPECT(epoch->metric_count >= 2 && strcmp(epoch->metrics[0].name, "train/loss") == 0);
  if (watch->epochs++ == 0) watch->first_loss = epoch->metrics[0].value;
  watch->last_loss = epoch->metrics[0].value;
  return epoch->epochs < 3;
}

static bool at_progress(const troupe_progress* progress, void* context) {
  struct watch* const watch = context;
  ++watch->steps;
  return progress->step < 100000;
}

static void at_line(const char* line, void* context) {
  struct watch* const watch = context;
  if (*line) ++watch->lines;
}

static bool never(const troupe_epoch* epoch, void* context) {
  (void)epoch;
  (void)context;
  return false;
}

/// Trains three epochs, and stores the folder of the run in `folder`.
static void train(const char* path, const char* runs, char* folder, size_t room) {
  const char* const settings[] = {"train.max_epochs=100"};
  troupe_run_file* file;
  troupe_training* training;
  troupe_outcome outcome;
  struct watch watch = {0};
  OK(troupe_run_file_read(path, settings, 1, &file));
  const troupe_training_options options = {.size = sizeof options,
                                           .runs = runs,
                                           .context = &watch,
                                           .progress = at_progress,
                                           .epoch = at_epoch,
                                           .log = at_line};
  OK(troupe_train(file, &options, &training));
  OK(troupe_training_outcome(training, &outcome));
  EXPECT(outcome.end == TROUPE_STOPPED && outcome.epochs == 3 && watch.epochs == 3 && watch.steps > 3 &&
         watch.lines > 3);
  EXPECT(watch.last_loss < 0.5 * watch.first_loss);
  EXPECT(outcome.metric_count == 2 && strcmp(outcome.metrics[0].name, "valid/loss") == 0 &&
         outcome.metrics[0].value < 1);
  EXPECT(strlen(outcome.folder) < room && strlen(outcome.checkpoint) > strlen(outcome.folder));
  strcpy(folder, outcome.folder);

  troupe_metrics* metrics;
  const troupe_metric* all;
  size_t count;
  OK(troupe_evaluate(folder, "valid", NULL, 0, &metrics));
  OK(troupe_metrics_all(metrics, &all, &count));
  EXPECT(count == 2 && strcmp(all[0].name, "loss") == 0 && all[0].value == outcome.metrics[0].value);
  troupe_metrics_destroy(metrics);
  troupe_training_destroy(training);

  const troupe_training_options again = {
      .size = sizeof again, .runs = runs, .resume = "auto", .epoch = never};
  OK(troupe_train(file, &again, &training));
  OK(troupe_training_outcome(training, &outcome));
  EXPECT(outcome.epochs == 4 && strcmp(outcome.folder, folder) == 0);
  troupe_training_destroy(training);
  troupe_run_file_destroy(file);
}

static void mistakes(const char* path) {
  const char* const settings[] = {"train.optimizer.type=adamm"};
  troupe_run_file* file = NULL;
  FAILS(troupe_run_file_read(path, settings, 1, &file), TROUPE_INVALID_ARGUMENT, "adam");
  FAILS(troupe_run_file_read("absent.toml", NULL, 0, &file), TROUPE_INVALID_ARGUMENT, "absent.toml");
  FAILS(troupe_run_file_parse("epochs = 3", ".", NULL, 0, &file), TROUPE_INVALID_ARGUMENT, "epochs");
  EXPECT(file == NULL);
  troupe_model* model = NULL;
  FAILS(troupe_model_load("absent", NULL, &model), TROUPE_NOT_FOUND, "absent");
}

/// Computes the class of a sample many times.
static int compute(void* context) {
  const troupe_model* const model = context;
  const int64_t dims[] = {1, 64};
  const float pixels[64] = {0};
  for (int i = 0; i < 50; ++i) {
    troupe_tensor *image, *results[2];
    OK(troupe_tensor_create(TROUPE_FLOAT, dims, 2, pixels, sizeof pixels, &image));
    const troupe_tensor* inputs[] = {image};
    OK(troupe_model_run(model, NULL, inputs, 1, results, 2));
    const int64_t* shape;
    size_t rank;
    OK(troupe_tensor_shape(results[1], &shape, &rank));
    EXPECT(rank == 2 && shape[0] == 1 && shape[1] == 10);
    troupe_tensor_destroy(results[0]);
    troupe_tensor_destroy(results[1]);
    troupe_tensor_destroy(image);
  }
  return 0;
}

static void models(const char* folder) {
  troupe_model* model;
  size_t inputs, outputs, count;
  troupe_model_tensor tensor;
  const char* name;
  const troupe_model_options options = {.size = sizeof options, .threads = 2};
  OK(troupe_model_load(folder, &options, &model));
  OK(troupe_model_signature_count(model, &count));
  OK(troupe_model_signature(model, 0, &name));
  EXPECT(count == 2 && strcmp(name, "evaluate") == 0);
  OK(troupe_model_counts(model, NULL, &inputs, &outputs));
  EXPECT(inputs == 1 && outputs == 2);
  OK(troupe_model_input(model, NULL, 0, &tensor));
  EXPECT(strcmp(tensor.name, "image") == 0 && tensor.dtype == TROUPE_FLOAT && tensor.rank == 2 &&
         tensor.dims[0] == -1 && tensor.dims[1] == 64);
  OK(troupe_model_output(model, NULL, 1, &tensor));
  EXPECT(strcmp(tensor.name, "probabilities") == 0);
  OK(troupe_model_counts(model, "evaluate", &inputs, &outputs));
  EXPECT(inputs == 2 && outputs == 2);
  FAILS(troupe_model_counts(model, "evaluat", &inputs, &outputs), TROUPE_NOT_FOUND, "evaluate");
  FAILS(troupe_model_input(model, NULL, 1, &tensor), TROUPE_OUT_OF_RANGE, "input");

  thrd_t threads[4];
  for (int i = 0; i < 4; ++i) EXPECT(thrd_create(&threads[i], compute, model) == thrd_success);
  for (int i = 0; i < 4; ++i) thrd_join(threads[i], NULL);

  const int64_t dims[] = {1, 3};
  const float pixels[3] = {0};
  troupe_tensor *image, *results[2];
  OK(troupe_tensor_create(TROUPE_FLOAT, dims, 2, pixels, sizeof pixels, &image));
  const troupe_tensor* wrong[] = {image, NULL};
  FAILS(troupe_model_run(model, NULL, wrong, 1, results, 2), TROUPE_INVALID_ARGUMENT, "image");
  FAILS(troupe_model_run(model, NULL, wrong, 0, results, 2), TROUPE_INVALID_ARGUMENT, "");
  FAILS(troupe_model_run(model, NULL, wrong, 2, results, 2), TROUPE_INVALID_ARGUMENT, "null");
  FAILS(troupe_model_run(model, NULL, wrong, 1, results, 1), TROUPE_INVALID_ARGUMENT, "2 outputs");
  troupe_tensor_destroy(image);
  troupe_model_destroy(model);
}

int main(int count, char** arguments) {
  char folder[4096];
  EXPECT(count == 3);
  mistakes(arguments[1]);
  train(arguments[1], arguments[2], folder, sizeof folder);
  models(folder);
}
