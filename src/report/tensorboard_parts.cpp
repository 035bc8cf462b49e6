#include "report/tensorboard_parts.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "report/foreign_log.h"
#include "report/foreign_tensorboard.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

bool names_a_split(const std::string& name) {
  constexpr std::array splits{"train",      "training", "val",        "valid",
                              "validation", "eval",     "evaluation", "test"};
  return std::find(splits.begin(), splits.end(), name) != splits.end();
}

std::vector<fs::path> event_folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored) &&
        has_tensorboard_files(entry->path()))
      folders.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// The only tag of a folder; "" where there is none or more than one.
std::string only_tag(const fs::path& folder) try {
  Trial ignored;
  const ForeignLog log = read_tensorboard_log(folder, ignored);
  return log.series.size() == 1 ? log.series.front().name : std::string();
} catch (const Error&) {
  return "";
}

// add_scalars("val/loss", {"b": …}) writes the tag val/loss into the folder val_loss_b.
std::optional<std::string> line_of_folder(const fs::path& folder) {
  std::string begin = only_tag(folder);
  if (begin.empty()) return std::nullopt;
  std::replace(begin.begin(), begin.end(), '/', '_');
  begin += '_';
  const std::string name = folder.filename().string();
  if (!name.starts_with(begin) || name.size() == begin.size()) return std::nullopt;
  return name.substr(begin.size());
}

// Of the tags of all parts, which are written by one program: it was started anew where the first
// of them was.
ForeignLog log_of_parts(const std::vector<TensorboardPart>& parts, Trial& trial) {
  ForeignLog whole;
  bool of_epochs = true;
  for (const TensorboardPart& part : parts) {
    ForeignLog log = read_tensorboard_log(part.folder, trial);
    for (ForeignSeries& series : log.series) {
      of_epochs = of_epochs && series.name.starts_with("epoch_");  // Keras counts these
      series.name = cat(part.before, series.name, part.after);
      whole.series.push_back(std::move(series));
    }
    if (whole.starts.empty()) whole.starts = std::move(log.starts);
  }
  whole.counted = of_epochs ? "epochs" : "steps";
  return whole;
}

}  // namespace

std::vector<TensorboardPart> tensorboard_parts(const fs::path& folder) {
  std::vector<TensorboardPart> parts;
  const bool has_own = has_tensorboard_files(folder);
  for (const fs::path& below : event_folders_in(folder)) {
    const std::string name = below.filename().string();
    if (names_a_split(name))
      parts.push_back({below, name + "/", ""});
    else if (const std::optional<std::string> line =
                 has_own ? line_of_folder(below) : std::optional<std::string>())
      parts.push_back({below, "", "/" + *line});
    else
      return {};
  }
  if (!parts.empty() && has_own) parts.insert(parts.begin(), TensorboardPart{folder, "", ""});
  return parts;
}

Trial read_tensorboard_parts(const fs::path& folder, const std::vector<TensorboardPart>& parts) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  Trial trial{.name = (path.has_filename() ? path : path.parent_path()).filename().string(),
              .path = path.string(),
              .source = "TensorBoard log"};
  ForeignLog log = log_of_parts(parts, trial);
  if (log.series.empty())
    throw Error(cat(printable(trial.path), " holds no scalars"), "only scalars can be compared");
  add_foreign_log(std::move(log), trial);
  return trial;
}

}  // namespace lockstep
