// The folder for predictions. Unfinished outputs lie in it under temporary names. A rename gives
// each output its final name.
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

// Throws Error if one of these outputs exists. The error names the first.
void check_outputs_are_new(const std::filesystem::path& folder,
                           const std::vector<std::string>& names);

// The output folder of one command. The constructor creates the folder, and in it a scratch folder
// for unfinished outputs. It also removes the scratch folders of killed commands. The destructor
// removes the scratch folder.
class PredictionFolder {
 public:
  explicit PredictionFolder(const std::filesystem::path& folder);  // throws Error
  ~PredictionFolder();
  PredictionFolder(const PredictionFolder&) = delete;
  PredictionFolder& operator=(const PredictionFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& scratch() const { return scratch_; }
  // Keeps unfinished outputs of a command that fails. names: outputs that combine all items. Each
  // of them that is not empty becomes NAME.partial, or NAME.partial.2 and so on if that exists.
  // Returns the new names.
  std::vector<std::string> keep_partial(const std::vector<std::string>& names) const;

 private:
  std::filesystem::path path_, scratch_;
  UniqueFd lock_;  // the lock on a file in `scratch`; it shows that this command is alive
};

// Suffix of an unfinished output.
inline constexpr const char* partial_suffix = ".partial";

// The folder where outputs that combine all items lie until they are complete.
std::filesystem::path joint_folder(const std::filesystem::path& scratch);

// Creates or replaces a file with these bytes. Throws Error.
void write_output(const std::filesystem::path& path, std::string_view bytes);
UniqueFd open_output(const std::filesystem::path& path);
void append_output(const UniqueFd& file, const std::filesystem::path& path, std::string_view bytes);

// Moves a file to its final name in the folder, and creates subfolders. Throws Error if the name
// leads out of the folder, also through a link. Also throws it if the file exists and `replace` is
// false, or if the move fails.
void place_output(const std::filesystem::path& from, const std::filesystem::path& folder,
                  const std::string& name, bool replace);

// The input files, under any of their names. Outputs must not replace them. The files are looked up
// only when an output exists already.
class InputFiles {
 public:
  // items: must outlive this object
  explicit InputFiles(const std::vector<PredictItem>& items) : items_(items) {}
  bool holds(const std::filesystem::path& output);

 private:
  const std::vector<PredictItem>& items_;
  std::optional<std::set<std::pair<dev_t, ino_t>>> files_;
};

}  // namespace lockstep
