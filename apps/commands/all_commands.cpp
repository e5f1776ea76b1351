#include "apps/commands/all_commands.h"

#include "apps/commands/usage_mistakes.h"

namespace troupe::commands {

void add_init_command(CLI::App& app, int& result);
void add_train_command(CLI::App& app, int& result);
void add_launch_command(CLI::App& app, int& result);
void add_sweep_command(CLI::App& app, int& result);
void add_status_command(CLI::App& app, int& result);
void add_top_command(CLI::App& app, int& result);
void add_ctl_command(CLI::App& app, int& result);
void add_node_command(CLI::App& app, int& result);
void add_eval_command(CLI::App& app, int& result);
void add_predict_command(CLI::App& app, int& result);
void add_export_command(CLI::App& app, int& result);
void add_report_command(CLI::App& app, int& result);
void add_serve_command(CLI::App& app, int& result);
void add_check_command(CLI::App& app, int& result);
void add_data_command(CLI::App& app, int& result);
void add_ckpt_command(CLI::App& app, int& result);
void add_reset_command(CLI::App& app, int& result);
void add_certs_command(CLI::App& app, int& result);
void add_help_command(CLI::App& app, int& result);
void add_completion_command(CLI::App& app, int& result);
void add_doctor_command(CLI::App& app, int& result);
void add_version_command(CLI::App& app, int& result);
void add_run_command(CLI::App& app, int& result);
void add_verify_command(CLI::App& app, int& result);
void add_bench_command(CLI::App& app, int& result);
void add_graph_command(CLI::App& app, int& result);
void add_trace_command(CLI::App& app, int& result);

void add_all_commands(CLI::App& app, int& result) {
  add_init_command(app, result);
  add_train_command(app, result);
  add_launch_command(app, result);
  add_sweep_command(app, result);
  add_status_command(app, result);
  add_top_command(app, result);
  add_ctl_command(app, result);
  add_node_command(app, result);
  add_eval_command(app, result);
  add_predict_command(app, result);
  add_export_command(app, result);
  add_report_command(app, result);
  add_serve_command(app, result);
  add_check_command(app, result);
  add_data_command(app, result);
  add_ckpt_command(app, result);
  add_run_command(app, result);
  add_verify_command(app, result);
  add_bench_command(app, result);
  add_graph_command(app, result);
  add_trace_command(app, result);
  add_reset_command(app, result);
  add_certs_command(app, result);
  add_help_command(app, result);
  add_completion_command(app, result);
  add_doctor_command(app, result);
  add_version_command(app, result);
  explain_usage_mistakes(app);
}

}  // namespace troupe::commands
