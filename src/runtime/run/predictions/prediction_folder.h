// The folder for predictions. Unfinished outputs are in it under temporary names, and a rename
// gives each output its final name.
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

// Throws Error if a file with one of these names exists in the folder. The error names the first.
void check_outputs_are_new(const std::filesystem::path& folder,
                           const std::vector<std::string>& names);

// The output folder, as one command uses it. The constructor creates the folder if needed, and in
// it a scratch folder for unfinished outputs. It also removes the scratch folders of killed
// commands. The destructor removes the command's own scratch folder.
class PredictionFolder {
 public:
  // throws Error if a folder cannot be created
  explicit PredictionFolder(const std::filesystem::path& folder);
  ~PredictionFolder();
  PredictionFolder(const PredictionFolder&) = delete;
  PredictionFolder& operator=(const PredictionFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& scratch() const { return scratch_; }
  // Keeps the unfinished outputs of a command that fails. names: outputs that combine all items.
  // Each output that is not empty is renamed to NAME.partial, or to NAME.partial.2 and so on if
  // that exists. Returns the new names.
  std::vector<std::string> keep_partial(const std::vector<std::string>& names) const;

 private:
  std::filesystem::path path_, scratch_;
  UniqueFd lock_;  // the lock on a file in `scratch`; it shows that this command is alive
};

// Suffix of an unfinished output.
inline constexpr const char* partial_suffix = ".partial";

// The folder in `scratch` where outputs that combine all items lie until they are complete.
std::filesystem::path joint_folder(const std::filesystem::path& scratch);

// These functions create or replace a file, or append bytes to it. They throw Error if that fails.
void write_output(const std::filesystem::path& path, std::string_view bytes);
UniqueFd open_output(const std::filesystem::path& path);
void append_output(const UniqueFd& file, const std::filesystem::path& path, std::string_view bytes);

// Moves a file to its final name in the folder, and creates the subfolders in that name. Throws
// Error if the name leads out of the folder, even through a link. Also throws Error if a file of
// that name exists and `replace` is false, or if the move fails.
void place_output(const std::filesystem::path& from, const std::filesystem::path& folder,
                  const std::string& name, bool replace);

// Recognizes input files, which outputs must not replace. A file is recognized under any of its
// names, such as a link. The input files are looked up when `holds` first finds an existing output.
class InputFiles {
 public:
  // items: must outlive this object
  explicit InputFiles(const std::vector<PredictItem>& items) : items_(items) {}
  // Whether a file exists at the path of this output, and is an input file.
  bool holds(const std::filesystem::path& output);

 private:
  const std::vector<PredictItem>& items_;
  std::optional<std::set<std::pair<dev_t, ino_t>>> files_;
};

}  // namespace lockstep
