#include "report/tensorboard_parts.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "report/foreign_log.h"
#include "report/foreign_tensorboard.h"
#include "report/tensorboard_reader.h"

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

std::vector<fs::path> event_files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (is_tensorboard_file(entry->path().filename().string())) files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  return files;
}

TensorboardFile read_events(const fs::path& file) {
  open_regular_file(file);  // an Error where it is none: a pipe would hold this up
  std::ifstream in(file, std::ios::binary);
  return read_tensorboard(in, file.string());
}

// The only tag of a folder; "" where there is none or more than one.
std::string only_tag(const fs::path& folder) try {
  std::set<std::string> tags;
  for (const fs::path& file : event_files_in(folder))
    for (const ScalarEvent& event : read_events(file).scalars) tags.insert(event.tag);
  return tags.size() == 1 ? *tags.begin() : std::string();
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

class PartsReader {
 public:
  explicit PartsReader(Trial& trial) : trial_(trial) {}

  void read(const TensorboardPart& part) {
    bool is_first = true;
    for (const fs::path& file : event_files_in(part.folder)) {
      const TensorboardFile read = read_events(file);
      if (!read.scalars.empty() && !is_first) log_.starts.push_back(read.scalars.front().wall_time);
      is_first = is_first && read.scalars.empty();
      for (const ScalarEvent& event : read.scalars) add(part, event);
      tell_damage(file, read);
    }
  }

  void finish() {
    if (log_.series.empty())
      throw Error(cat(printable(trial_.path), " holds no scalars"), "only scalars can be compared");
    log_.counted = of_epochs_ ? "epochs" : "steps";
    add_foreign_log(std::move(log_), trial_);
  }

 private:
  void add(const TensorboardPart& part, const ScalarEvent& event) {
    const std::string name = cat(part.before, event.tag, part.after);
    const auto [place, is_new] = places_.emplace(name, log_.series.size());
    if (is_new) log_.series.push_back({.name = printable(name), .points = {}});
    of_epochs_ = of_epochs_ && event.tag.starts_with("epoch_");  // Keras counts these
    log_.series[place->second].points.push_back(
        {.place = static_cast<double>(event.step), .time = event.wall_time, .value = event.value});
  }

  void tell_damage(const fs::path& file, const TensorboardFile& read) {
    const std::string name = printable(file.filename().string());
    if (read.torn)
      trial_.cautions.push_back(
          cat(name, " ends within a record, or is damaged: what follows is not read"));
    if (read.damaged > 0)
      trial_.cautions.push_back(cat(read.damaged, " events of ", name, " are damaged"));
  }

  Trial& trial_;
  ForeignLog log_;
  std::map<std::string, std::size_t> places_;  // of series, by name
  bool of_epochs_ = true;
};

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
  PartsReader reader(trial);
  for (const TensorboardPart& part : parts) reader.read(part);
  reader.finish();
  return trial;
}

}  // namespace lockstep
