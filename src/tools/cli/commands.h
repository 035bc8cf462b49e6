// Declares the subcommands of the tool.
#pragma once

#include "tools/cli/arguments.h"

#include <vector>

namespace lockstep::cli {

Command train_command();
Command resume_command();
Command plan_command();
Command bench_command();
Command launch_command();
std::vector<Command> batch_commands();  // "batch run", "batch status", …
Command evaluate_command();
Command abtest_command();
Command check_command();
Command predict_command();
Command export_command();
Command score_command();
Command prepare_command();
Command runs_command();
Command compare_command();
Command report_command();
Command config_command();
Command devices_command();
Command monitor_command();
Command doctor_command();
Command completion_command();
Command complete_command();
Command reference_command();

std::vector<Command> all_commands();

}  // namespace lockstep::cli
