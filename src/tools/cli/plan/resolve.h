// Turns a command line into a checked, prepared and planned run; writes nothing to runs.
#pragma once

#include "core/base/text/say.h"
#include "core/devices/gpus/gpu_links.h"
#include "planning/run_setup.h"
#include "runtime/run/folder/run_dir.h"
#include "tools/cli/arguments.h"
#include "tools/cli/plan/bare_keys.h"
#include "tools/cli/words/foreign_names.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// Hint for values that a run cannot change.
inline constexpr const char* new_run_hint = "start a new run for it";

// Makes the plugin's recipes known to the tool, from the worker's description. "" does nothing.
void describe_plugin(const std::string& plugin);

// Options with defaults, preset, files and assignments applied. devices: those that the options are
// for; none: CPUs. flags: those that messages may name.
RunSetup read_options(const std::string& recipe, const std::string& plugin,
                      const std::vector<std::string>& files,
                      const std::vector<std::string>& assignments,
                      const std::vector<Device>& devices, const BareKeys& bare = {},
                      const FlagsHere& flags = {});
using OnMissingFile = std::function<void(const Error&)>;
// The rules between options, and whether the files that they need are there. Throws Error; for a
// missing file, and for an option without effect, only if on_missing is not given: a file of
// options may be written before the data is named. Makes paths absolute.
void check_read_options(RunSetup& setup, const OnMissingFile& on_missing = {});
// Both.
RunSetup resolve_options(const std::string& recipe, const std::string& plugin,
                         const std::vector<std::string>& files,
                         const std::vector<std::string>& assignments,
                         const std::vector<Device>& devices, const BareKeys& bare = {},
                         const FlagsHere& flags = {});

using Say = std::function<void(const std::string&)>;

// Prepares the recipe's needs for `purpose`, and its memory formula. This happens in this program,
// or in the worker if only that has the recipe's code. run_dir: the run to read from, or empty.
// tell: gets what the recipe says of the data.
void prepare(RunSetup& setup, Purpose purpose, const std::vector<Device>& devices,
             const std::filesystem::path& run_dir, const Say& tell = say);

// The link between devices, assumed if they are imaginary. Nothing for a single device, for CPUs,
// and if unknown.
std::optional<LinkLimit> link_between(const std::vector<Device>& devices);

// The micro-batch of a run that continues, as MeasuredMemory has it; 0: none.
struct EarlierMicro {
  std::int64_t shrunk_to = 0, kept = 0;
};
// Plans a prepared setup for `devices`, using known facts about their memory.
void plan_run(RunSetup& setup, const std::vector<Device>& devices,
              const EarlierMicro& earlier = {});

// Prepares data and plans for `devices`.
void prepare_and_plan(RunSetup& setup, Purpose purpose, const std::vector<Device>& devices,
                      const std::filesystem::path& run_dir, const Say& tell = say);

// The setup of an existing run with `assignments` applied. Throws Error if one changes a value that
// the run's curve or model depends on (seed, global batch, model, data), or if its record names a
// plugin that the user has never named. plugin: replaces the record's, or empty. Options of a
// single start are forgotten: stop.after, stop.reserve.
RunSetup resolve_resume(const RunDir& run, const std::vector<std::string>& files,
                        const std::vector<std::string>& assignments, const std::string& plugin = "",
                        const BareKeys& bare = {});

// Whether an argument or a config file sets the option, not a record or a preset.
bool is_asked_for(const OptionTable& table, std::string_view key);
// Whether an argument or a file says where the training data is.
bool names_data(const OptionTable& table);

// Where a recipe may put prepared data: run.cache, else run.root/.cache, else a folder of the user.
// run_dir: the run that is read, or empty. Makes run.cache, and marks it. Throws Error if the
// user's run.cache cannot be made; one that only the record names is left out then.
std::filesystem::path cache_for(Purpose purpose, const TrainOptions& train,
                                const std::filesystem::path& run_dir);

std::filesystem::path cache_dir(const TrainOptions& options);  // run.root/.cache

}  // namespace lockstep::cli
