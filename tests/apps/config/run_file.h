// A valid run file, which tests change, and how to read it.
#pragma once

#include "apps/config/run_config.h"
#include "tests/support/ops/run_op.h"

namespace troupe::config {

/// A run file without mistakes.
inline constexpr const char* good = R"toml(run = { name = "digits", seed = 7 }
[data]
format = "csv"
train = ["digits.csv"]
scale = 0.0625
valid = { split = 0.2 }
batch = 64
[model.variables]
w1 = { shape = [64, 100], init = "glorot_uniform" }
b1 = { shape = [100], init = "zeros" }
w2 = { shape = [100, 10], init = "normal", stddev = 0.1 }
[model.graph]
loss = "mean(logits)"
logits = "matmul(hidden, w2)"
hidden = "relu(matmul(image, w1) + b1)"
[train]
loss = "loss"
optimizer = { type = "adam", lr = 3e-3 }
metrics = { accuracy = "mean(cast(equal(label, 3), 'float'))" }
max_epochs = 40
early_stop = { monitor = "valid/accuracy", mode = "max", patience = 6, keep_best = true }
replication = { mode = "sync", shards = 2, backup_workers = 0 }
checkpoint = { every = "500 steps", keep = 5 }
[cluster]
in_process = { ps = 1, worker = 2 }
)toml";

inline Result<RunConfig> parse(std::string text, const std::vector<std::string>& options = {}) {
  return parse_run_config(std::move(text), "run.toml", "/data", options, test::op_library()->ops);
}

/// Returns the messages of all mistakes, or "" if there are none.
inline std::string mistakes(std::string text, const std::vector<std::string>& options = {}) {
  const auto config = parse(std::move(text), options);
  return config ? "" : config.status().text();
}

}  // namespace troupe::config
