// The folder that predictions go into. Unfinished outputs lie in it under a temporary name, so that
// a rename gives each output its name.
#pragma once

#include "core/base/files/fd.h"
#include "planning/order/predict_items.h"

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

// Throws Error naming the first of these outputs that exists already.
void check_outputs_are_new(const std::filesystem::path& folder,
                           const std::vector<std::string>& names);

// The command's side. Creates the folder, and in it a scratch folder for unfinished outputs, which
// is removed with this object. Scratch folders of killed commands are removed.
class PredictionFolder {
 public:
  explicit PredictionFolder(const std::filesystem::path& folder);  // throws Error
  ~PredictionFolder();
  PredictionFolder(const PredictionFolder&) = delete;
  PredictionFolder& operator=(const PredictionFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& scratch() const { return scratch_; }
  // For a command that fails. `names` are outputs made of all items. Keeps those that are
  // unfinished and hold something. Each becomes NAME.partial, or NAME.partial.2 if that exists.
  // Returns the new names.
  std::vector<std::string> keep_partial(const std::vector<std::string>& names) const;

 private:
  std::filesystem::path path_, scratch_;
  UniqueFd lock_;  // lock on a file in `scratch`, so that others see that this command is alive
};

// Suffix of NAME for an output that was not finished.
inline constexpr const char* partial_suffix = ".partial";

// Where outputs made of all items lie until they are whole.
std::filesystem::path joint_folder(const std::filesystem::path& scratch);

// Creates or replaces a file with these bytes. Throws Error.
void write_output(const std::filesystem::path& path, std::string_view bytes);
UniqueFd open_output(const std::filesystem::path& path);
void append_output(const UniqueFd& file, const std::filesystem::path& path, std::string_view bytes);

// Gives a file its name in the folder, and creates subfolders. Throws Error if the name leads out
// of the folder, also by a link, if such a file exists and may not be replaced, or on failure.
void place_output(const std::filesystem::path& from, const std::filesystem::path& folder,
                  const std::string& name, bool replace);

// The files that items are read from, under any name: no output may replace one. They are examined
// only when an output exists already.
class InputFiles {
 public:
  // items must outlive this object
  explicit InputFiles(const std::vector<PredictItem>& items) : items_(items) {}
  bool holds(const std::filesystem::path& output);

 private:
  const std::vector<PredictItem>& items_;
  std::optional<std::set<std::pair<dev_t, ino_t>>> files_;
};

}  // namespace lockstep
