// Turns a command line into a checked, prepared and planned run. Writes nothing into the folder of
// a run.
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

// Registers the plugin's recipes with the tool, from the description that the worker prints. Does
// nothing if `plugin` is empty.
void describe_plugin(const std::string& plugin);

// Returns the options: defaults, then the preset, the files and the assignments. devices: the
// devices of the run; an empty list means CPUs. flags: the flags that messages may name.
RunSetup read_options(const std::string& recipe, const std::string& plugin,
                      const std::vector<std::string>& files,
                      const std::vector<std::string>& assignments,
                      const std::vector<Device>& devices, const BareKeys& bare = {},
                      const FlagsHere& flags = {});
using OnMissingFile = std::function<void(const Error&)>;
// Makes paths absolute. Checks the rules between options, and whether the files that they name
// exist. Throws Error if a check fails. If on_missing is given, it receives the errors about
// missing files and about options without effect. These errors are not thrown. So a file of options
// can be written before the data exists.
void check_read_options(RunSetup& setup, const OnMissingFile& on_missing = {});
// Calls read_options and then check_read_options.
RunSetup resolve_options(const std::string& recipe, const std::string& plugin,
                         const std::vector<std::string>& files,
                         const std::vector<std::string>& assignments,
                         const std::vector<Device>& devices, const BareKeys& bare = {},
                         const FlagsHere& flags = {});

using Say = std::function<void(const std::string&)>;

// Prepares the data that the recipe needs for `purpose`, and its memory formula. The worker does
// this if only the worker has the recipe's code. run_dir: the run that is read, or empty. tell:
// receives the recipe's messages about the data.
void prepare(RunSetup& setup, Purpose purpose, const std::vector<Device>& devices,
             const std::filesystem::path& run_dir, const Say& tell = say);

// Returns the link between the devices. For devices that this machine does not have, the link is
// assumed. Returns nothing for a single device, for CPUs, and if the link is unknown.
std::optional<LinkLimit> link_between(const std::vector<Device>& devices);

// The micro-batches of earlier starts of a run that resumes, as in MeasuredMemory. 0 means that
// there was none.
struct EarlierMicro {
  std::int64_t shrunk_to = 0, kept = 0;
};
// Plans a prepared setup for `devices`. Uses the memory that earlier runs measured on such devices.
void plan_run(RunSetup& setup, const std::vector<Device>& devices,
              const EarlierMicro& earlier = {});

// Calls prepare and then plan_run.
void prepare_and_plan(RunSetup& setup, Purpose purpose, const std::vector<Device>& devices,
                      const std::filesystem::path& run_dir, const Say& tell = say);

// Returns the setup of an existing run with `files` and `assignments` applied. The recorded
// stop.after and stop.reserve are not used, because they apply to one start only. plugin: replaces
// the recorded plugin; may be empty. Throws Error if an assignment changes a value that must stay
// the same within a run: seed, global batch, model or data. Also throws Error if the record names a
// plugin that the user has never named.
RunSetup resolve_resume(const RunDir& run, const std::vector<std::string>& files,
                        const std::vector<std::string>& assignments, const std::string& plugin = "",
                        const BareKeys& bare = {});

// Whether an argument or a config file sets the option. Returns false if only a run's record or a
// preset sets it.
bool is_asked_for(const OptionTable& table, std::string_view key);
// Whether an argument or a config file sets a path of the training data.
bool names_data(const OptionTable& table);

// Returns the folder where a recipe may put prepared data. For training, it is run.cache, or else
// run.root/.cache. For training, or if the user sets run.cache, that folder is made and marked as a
// cache. Throws Error if the user sets run.cache and it cannot be made.
//
// A command that only reads a run does not trust the run's record. It uses a recorded run.cache
// only if that folder is writable and marked as a cache. The run must also lie in run.root, or the
// user must own the folder. It uses run.root/.cache only if the run lies in run.root and the folder
// is writable. In all other cases, it uses the user's cache folder. run_dir: the run that is read,
// or empty.
std::filesystem::path cache_for(Purpose purpose, const TrainOptions& train,
                                const std::filesystem::path& run_dir);

std::filesystem::path cache_dir(const TrainOptions& options);  // run.root/.cache

}  // namespace lockstep::cli
