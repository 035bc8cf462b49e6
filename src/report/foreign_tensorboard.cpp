#include "report/foreign_tensorboard.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "report/foreign_log.h"
#include "report/tensorboard_reader.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    if (is_tensorboard_file(entry->path().filename().string())) files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<ForeignSeries> series_of(const std::vector<ScalarEvent>& scalars) {
  double begin = INFINITY;
  for (const ScalarEvent& scalar : scalars) begin = std::fmin(begin, scalar.wall_time);
  std::map<std::string, ForeignSeries> by_tag;
  for (const ScalarEvent& scalar : scalars) {
    ForeignSeries& series = by_tag[scalar.tag];
    series.name = printable(scalar.tag);
    // A log that went on from an earlier step: what was after it does not count.
    while (!series.points.empty() && series.points.back().step >= scalar.step)
      series.points.pop_back();
    series.points.push_back({scalar.step, scalar.wall_time - begin, scalar.value});
  }
  std::vector<ForeignSeries> all;
  for (auto& [tag, series] : by_tag) all.push_back(std::move(series));
  return all;
}

}  // namespace

bool is_tensorboard_file(const std::string& name) {
  return name.find("tfevents") != std::string::npos;
}

bool has_tensorboard_files(const fs::path& folder) { return !files_of(folder).empty(); }

Trial read_tensorboard_trial(const fs::path& path) {
  Trial trial{.name = fs::absolute(path).lexically_normal().filename().string(),
              .path = fs::absolute(path).lexically_normal().string(),
              .source = "TensorBoard log"};
  if (trial.name.empty()) trial.name = fs::path(trial.path).parent_path().filename().string();
  std::vector<ScalarEvent> scalars;
  for (const fs::path& file : files_of(path)) {
    open_regular_file(file);  // an Error where it is none: a pipe would hold this up
    std::ifstream in(file, std::ios::binary);
    const TensorboardFile read = read_tensorboard(in, file.string());
    scalars.insert(scalars.end(), read.scalars.begin(), read.scalars.end());
    if (read.torn)
      trial.cautions.push_back(
          cat(file.filename().string(),
              " ends within a record, or is damaged: what follows is not read"));
    if (read.damaged > 0)
      trial.cautions.push_back(
          cat(read.damaged, " events of ", file.filename().string(), " are damaged"));
  }
  if (scalars.empty())
    throw Error(cat(path.string(), " holds no scalars"), "only scalars can be compared");
  add_foreign_log(series_of(scalars), "steps", trial);
  return trial;
}

}  // namespace lockstep
