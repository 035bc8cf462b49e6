#include "tools/report/tensorboard/tensorboard_parts.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/report/logs/foreign_log.h"
#include "tools/report/tensorboard/foreign_tensorboard.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

bool names_a_split(const std::string& name) {
  constexpr std::array splits{"train",      "training", "val",        "valid",
                              "validation", "eval",     "evaluation", "test"};
  return std::find(splits.begin(), splits.end(), name) != splits.end();
}

constexpr int deepest_part = 4;  // tags of add_scalars have at most this number of parts
constexpr std::size_t most_parts = 1000;

// Adds folders that have event files, relative to `folder`. Folders below such a folder are not
// searched.
void add_event_folders(const fs::path& folder, const fs::path& below, int deepest,
                       std::vector<fs::path>& found) {
  std::error_code error;
  for (fs::directory_iterator entry(folder / below, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored) || entry->is_symlink(ignored)) continue;
    if (found.size() == most_parts) return;
    const fs::path one = below / entry->path().filename();
    if (has_tensorboard_files(entry->path()))
      found.push_back(one);
    else if (deepest > 1)
      add_event_folders(folder, one, deepest - 1, found);
  }
}

// The only tag of a folder. "" if it has none or several.
std::string only_tag(const fs::path& folder) try {
  Trial ignored;
  const ForeignLog log = read_tensorboard_log(folder, ignored);
  return log.series.size() == 1 ? log.series.front().name : std::string();
} catch (const Error&) {
  return "";
}

// The name of a line of add_scalars. add_scalars("val/loss", {"b": …}) writes the tag val/loss into
// the folder val_loss_b. tensorboardX writes it into val/loss/b. The line's name is "b".
std::optional<std::string> line_of_folder(const fs::path& folder, const std::string& name) {
  const std::string tag = only_tag(folder / name);
  if (tag.empty() || name.size() <= tag.size() + 1) return std::nullopt;
  std::string flat = tag;
  std::replace(flat.begin(), flat.end(), '/', '_');
  if (!name.starts_with(tag + "/") && !name.starts_with(flat + "_")) return std::nullopt;
  return name.substr(tag.size() + 1);
}

// Merges the tags of all parts. One program writes them, so restarts of the first part apply to
// all.
ForeignLog log_of_parts(const std::vector<TensorboardPart>& parts, Trial& trial) {
  ForeignLog whole;
  bool of_epochs = true;
  for (const TensorboardPart& part : parts) {
    ForeignLog log = read_tensorboard_log(part.folder, trial);
    for (ForeignSeries& series : log.series) {
      of_epochs = of_epochs && series.name.starts_with("epoch_");  // Keras counts these in epochs
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
  const bool has_own = has_tensorboard_files(folder);  // SummaryWriter creates a file immediately
  std::vector<fs::path> found;
  add_event_folders(folder, "", has_own ? deepest_part : 1, found);
  std::sort(found.begin(), found.end());
  for (const fs::path& below : found) {
    const std::string name = below.generic_string();
    std::optional<std::string> line;
    if (has_own) line = line_of_folder(folder, name);
    if (line)
      parts.push_back({folder / below, "", "/" + *line});
    else if (names_a_split(name))
      parts.push_back({folder / below, name + "/", ""});
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
