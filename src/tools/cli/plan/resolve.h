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

// Hint for values that cannot change within a run.
inline constexpr const char* new_run_hint = "start a new run for it";

// Makes the plugin's recipes known to the tool, from the worker's description. Does nothing for "".
void describe_plugin(const std::string& plugin);

// Returns options with defaults, preset, files and assignments applied. devices: the options are
// for these; none means CPUs. flags: the flags that messages may name.
RunSetup read_options(const std::string& recipe, const std::string& plugin,
                      const std::vector<std::string>& files,
                      const std::vector<std::string>& assignments,
                      const std::vector<Device>& devices, const BareKeys& bare = {},
                      const FlagsHere& flags = {});
using OnMissingFile = std::function<void(const Error&)>;
// Checks the rules between options, and whether the files that they need exist. Throws Error; for a
// missing file, and for an option without effect, only if on_missing is not given, because a file
// of options may be written before the data is named. Makes paths absolute.
void check_read_options(RunSetup& setup, const OnMissingFile& on_missing = {});
// Does both: reads and checks the options.
RunSetup resolve_options(const std::string& recipe, const std::string& plugin,
                         const std::vector<std::string>& files,
                         const std::vector<std::string>& assignments,
                         const std::vector<Device>& devices, const BareKeys& bare = {},
                         const FlagsHere& flags = {});

using Say = std::function<void(const std::string&)>;

// Prepares what the recipe needs for `purpose`, and its memory formula. This happens in this
// program, or in the worker if only that has the recipe's code. run_dir: the run to read from, or
// empty. tell: receives what the recipe says about the data.
void prepare(RunSetup& setup, Purpose purpose, const std::vector<Device>& devices,
             const std::filesystem::path& run_dir, const Say& tell = say);

// The link between devices; if they are imaginary, an assumed one. Nothing for a single device, for
// CPUs, and if it is unknown.
std::optional<LinkLimit> link_between(const std::vector<Device>& devices);

// The micro-batch of a run that continues, as in MeasuredMemory; 0: none.
struct EarlierMicro {
  std::int64_t shrunk_to = 0, kept = 0;
};
// Plans a prepared setup for `devices`, using known facts about their memory.
void plan_run(RunSetup& setup, const std::vector<Device>& devices,
              const EarlierMicro& earlier = {});

// Prepares data and plans for `devices`.
void prepare_and_plan(RunSetup& setup, Purpose purpose, const std::vector<Device>& devices,
                      const std::filesystem::path& run_dir, const Say& tell = say);

// Returns the setup of an existing run with `assignments` applied. Throws Error if an assignment
// changes a value on which the run's curve or model depends (seed, global batch, model, data). Also
// throws if the run's record names a plugin that the user has never named. plugin: replaces the one
// of the record; may be empty. Options for a single start are not taken over: stop.after,
// stop.reserve.
RunSetup resolve_resume(const RunDir& run, const std::vector<std::string>& files,
                        const std::vector<std::string>& assignments, const std::string& plugin = "",
                        const BareKeys& bare = {});

// Whether an argument or a config file sets the option, rather than a record or a preset.
bool is_asked_for(const OptionTable& table, std::string_view key);
// Whether an argument or a config file says where the training data is.
bool names_data(const OptionTable& table);

// The folder where a recipe may put prepared data: run.cache, else run.root/.cache, else a folder
// of the user. run_dir: the run that is read, or empty. Makes run.cache, and marks it as a cache.
// Throws Error if run.cache of the user cannot be made. If only the record names a run.cache that
// cannot be made, it is ignored.
std::filesystem::path cache_for(Purpose purpose, const TrainOptions& train,
                                const std::filesystem::path& run_dir);

std::filesystem::path cache_dir(const TrainOptions& options);  // run.root/.cache

}  // namespace lockstep::cli
