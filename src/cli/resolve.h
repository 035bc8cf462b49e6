// From a command line to a run that is checked, prepared and planned; nothing is written to runs.
#pragma once

#include "cli/arguments.h"
#include "cli/bare_keys.h"
#include "cli/foreign_names.h"
#include "devices/gpu_links.h"
#include "plan/run_setup.h"
#include "run/run_dir.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// Where what a run stands on cannot change.
inline constexpr const char* new_run_hint = "start a new run for it";

// Makes the plugin's recipes known to the tool, from what the worker describes. "" does nothing.
void describe_plugin(const std::string& plugin);

// Options with defaults, preset, files and assignments applied and checked. devices: that the
// options are for; none: CPUs. flags: those that messages may name.
RunSetup resolve_options(const std::string& recipe, const std::string& plugin,
                         const std::vector<std::string>& files,
                         const std::vector<std::string>& assignments,
                         const std::vector<Device>& devices, const BareKeys& bare = {},
                         const FlagsHere& flags = {});

// What the recipe needs for `purpose`, and its formula of memory, in this program or, where only
// the worker has its code, there. run_dir: of the run to read from, or empty.
void prepare(RunSetup& setup, Purpose purpose, const std::vector<Device>& devices,
             const std::filesystem::path& run_dir);

// What joins them, assumed of devices that are not there. Nothing for one, CPUs, and where it is
// not known.
std::optional<LinkLimit> link_between(const std::vector<Device>& devices);

// Makes the plan for `devices` of a setup that is prepared, with what is known of their memory.
// shrunk_to: the micro-batch that the run shrank to before; 0: none.
void plan_run(RunSetup& setup, const std::vector<Device>& devices, std::int64_t shrunk_to = 0);

// Prepares data and makes the plan for `devices`.
void prepare_and_plan(RunSetup& setup, Purpose purpose, const std::vector<Device>& devices,
                      const std::filesystem::path& run_dir);

// The setup of an existing run with `assignments` over it; throws Error if one changes what the
// run's curve or model stands on (seed, global batch, model, data), or if its record names a plugin
// that the user has never named. plugin: in place of the record's, or empty. What is of one start
// alone is forgotten: stop.after, stop.reserve.
RunSetup resolve_resume(const RunDir& run, const std::vector<std::string>& files,
                        const std::vector<std::string>& assignments, const std::string& plugin = "",
                        const BareKeys& bare = {});

// Whether an argument or a config file gives the option, not a record or a preset.
bool is_asked_for(const OptionTable& table, std::string_view key);
// Whether an argument or a file says where the data to train on lies.
bool names_data(const OptionTable& table);

// Where a recipe may put what it prepares. run_dir: of the run that is read, or empty.
std::filesystem::path cache_for(Purpose purpose, const TrainOptions& train,
                                const std::filesystem::path& run_dir);

std::filesystem::path cache_dir(const TrainOptions& options);  // run.root/.cache

}  // namespace lockstep::cli
