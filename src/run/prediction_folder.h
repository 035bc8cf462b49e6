// The folder that predictions go into. What is not whole yet lies in it under a temporary name, so
// that outputs get their names by being renamed.
#pragma once

#include "base/fd.h"
#include "plan/predict_items.h"

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

// Throws Error, naming the first, if one of these outputs is there already.
void check_outputs_are_new(const std::filesystem::path& folder,
                           const std::vector<std::string>& names);

// The command's side: makes the folder, and one of its own in it for what is unfinished, which goes
// with this object. What commands that were killed left of theirs is cleared away.
class PredictionFolder {
 public:
  explicit PredictionFolder(const std::filesystem::path& folder);  // throws Error
  ~PredictionFolder();
  PredictionFolder(const PredictionFolder&) = delete;
  PredictionFolder& operator=(const PredictionFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& scratch() const { return scratch_; }
  // Of a command that fails: of these outputs, made of all items, those that hold something are
  // kept, as NAME.partial, or NAME.partial.2 where there is one. Returns those names.
  std::vector<std::string> keep_partial(const std::vector<std::string>& names) const;

 private:
  std::filesystem::path path_, scratch_;
  UniqueFd lock_;  // of a file in `scratch`, so that others see that this command lives
};

// What follows NAME where an output was not finished.
inline constexpr const char* partial_suffix = ".partial";

// Where outputs that are made of all items lie until they are whole.
std::filesystem::path joint_folder(const std::filesystem::path& scratch);

// A new file, or one that is replaced, of these bytes. Throws Error.
void write_output(const std::filesystem::path& path, std::string_view bytes);
UniqueFd open_output(const std::filesystem::path& path);
void append_output(const UniqueFd& file, const std::filesystem::path& path, std::string_view bytes);

// Gives a file its name in the folder, whose subfolders are made. Throws Error if the name leads
// out of it, also by a link, if such a file is there already and may not be replaced, or if it
// cannot be done.
void place_output(const std::filesystem::path& from, const std::filesystem::path& folder,
                  const std::string& name, bool replace);

// The files that items are read from, whatever names they have: no output may replace one. Looks at
// them when the first output is there already.
class InputFiles {
 public:
  explicit InputFiles(const std::vector<PredictItem>& items) : items_(items) {}  // they stay
  bool holds(const std::filesystem::path& output);

 private:
  const std::vector<PredictItem>& items_;
  std::optional<std::set<std::pair<dev_t, ino_t>>> files_;
};

}  // namespace lockstep
