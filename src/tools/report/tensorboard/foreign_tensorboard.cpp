#include "tools/report/tensorboard/foreign_tensorboard.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "tools/report/logs/foreign_log.h"
#include "tools/report/tensorboard/tensorboard_reader.h"

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

// Collects the session starts of a log. Each one invalidates earlier values from its step on.
class Purges {
 public:
  void add(double place) {
    while (!lowest_.empty() && lowest_.back().second >= place) lowest_.pop_back();
    lowest_.emplace_back(count_++, place);
  }
  std::size_t count() const { return count_; }
  // The lowest step of all session starts after the first `known` ones. Infinity if there are none.
  double behind(std::size_t known) const {
    const auto first =
        std::lower_bound(lowest_.begin(), lowest_.end(), known,
                         [](const auto& one, std::size_t number) { return one.first < number; });
    return first == lowest_.end() ? INFINITY : first->second;
  }

 private:
  std::size_t count_ = 0;
  // number of a start, and a step that is lower than all later ones
  std::vector<std::pair<std::size_t, double>> lowest_;
};

struct TagSeries : ForeignSeries {
  std::size_t purges = 0;  // number of starts already applied
};

// The scalars of one file, by tag.
struct EventFile {
  std::string name;
  std::map<std::string, TagSeries, std::less<>> series;
  std::vector<StartMark> starts;
  Purges purges;
  std::size_t events = 0;
  double begin = INFINITY, end = -INFINITY;  // in unix seconds
};

void drop_from(ForeignSeries& series, double place) {
  while (!series.points.empty() && series.points.back().place >= place) series.points.pop_back();
}

// Removes invalidated values. Called before a point is added and at the end, because a file may
// have many tags and many starts.
void purge(TagSeries& series, const Purges& purges) {
  if (series.purges == purges.count()) return;
  drop_from(series, purges.behind(series.purges));
  series.purges = purges.count();
}

// The step of a session start is the first step that it executes.
void add_session(const TensorboardSession& session, EventFile& file) {
  constexpr std::int64_t most_steps = std::int64_t{1} << 53;
  if (session.step < 0 || session.step > most_steps) return;
  if (session.starts) {
    file.purges.add(static_cast<double>(session.step));
    file.starts.push_back({session.step - 1, session.wall_time, session.step - 1, NAN});
  } else if (!file.starts.empty()) {
    file.starts.back().last_step = session.step;
    file.starts.back().last_time = session.wall_time;
  }
}

EventFile read_event_file(const fs::path& path, Trial& trial) {
  open_regular_file(path);  // throws Error unless it is a regular file, because a pipe would block
  EventFile file{.name = printable(path.filename().string())};
  std::ifstream in(path, std::ios::binary);
  const auto add_scalar = [&](const ScalarEvent& scalar) {
    auto found = file.series.find(scalar.tag);
    if (found == file.series.end())
      found = file.series.emplace(scalar.tag, TagSeries{{printable(scalar.tag), {}}, 0}).first;
    purge(found->second, file.purges);
    found->second.points.push_back(
        {static_cast<double>(scalar.step), scalar.wall_time, scalar.value});
    ++file.events;
    file.begin = std::fmin(file.begin, scalar.wall_time);
    file.end = std::fmax(file.end, scalar.wall_time);
  };
  const TensorboardFile read =
      read_tensorboard(in, path.string(), add_scalar,
                       [&](const TensorboardSession& session) { add_session(session, file); });
  for (auto& [tag, series] : file.series) purge(series, file.purges);
  if (read.torn)
    trial.cautions.push_back(
        cat(file.name, " ends within a record, or is damaged: what follows is not read"));
  if (read.damaged > 0)
    trial.cautions.push_back(cat(read.damaged, " events of ", file.name, " are damaged"));
  return file;
}

// Whether two processes wrote the same data at the same time. If so, neither has resumed from the
// other.
bool are_rivals(const EventFile& a, const EventFile& b) {
  if (!(a.begin < b.end && b.begin < a.end)) return false;
  return std::any_of(a.series.begin(), a.series.end(),
                     [&](const auto& one) { return b.series.contains(one.first); });
}

// If several processes wrote files at the same time, keeps the file with the most events. If
// several have the most, keeps the first of them.
void drop_rivals(std::vector<EventFile>& files, Trial& trial) {
  std::vector<const EventFile*> by_size;
  for (const EventFile& file : files) by_size.push_back(&file);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const EventFile* a, const EventFile* b) { return a->events > b->events; });
  std::set<std::string> dropped;
  std::vector<const EventFile*> kept;
  for (const EventFile* const file : by_size)
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const EventFile* other) { return are_rivals(*file, *other); }))
      kept.push_back(file);
    else
      dropped.insert(file->name);
  if (dropped.empty()) return;
  trial.cautions.push_back(
      cat(dropped.size() + 1, " of its files were written at the same time, as by several ranks: ",
          by_size.front()->name, ", with the most events, counts; ", *dropped.begin(),
          dropped.size() > 1 ? cat(" and ", dropped.size() - 1, " more") : "",
          dropped.size() > 1 ? " are left out" : " is left out"));
  std::erase_if(files, [&](const EventFile& file) { return dropped.contains(file.name); });
}

// Handles logs of Keras, which counts epochs. Keras also writes evaluations a second time, counted
// in iterations. These copies are removed.
void count_as_keras(ForeignLog& log) {
  const auto is_of_epochs = [](const ForeignSeries& series) {
    return series.name.starts_with("epoch_");
  };
  if (std::none_of(log.series.begin(), log.series.end(), is_of_epochs)) return;
  std::erase_if(log.series, [](const ForeignSeries& series) {
    return series.name.starts_with("evaluation_") && series.name.ends_with("_vs_iterations");
  });
  if (std::all_of(log.series.begin(), log.series.end(), is_of_epochs)) log.counted = "epochs";
}

// Joins the files in their order. Each file is a start that resumed from an earlier step.
ForeignLog log_of(std::vector<EventFile> files) {
  ForeignLog log{.counted = "steps"};
  std::map<std::string, ForeignSeries, std::less<>> all;
  double end = -INFINITY;
  for (EventFile& file : files) {
    if (file.begin > end && std::isfinite(end)) log.starts.push_back(file.begin);
    end = std::fmax(end, file.end);
    for (auto& [tag, series] : all) drop_from(series, file.purges.behind(0));
    log.own_starts.insert(log.own_starts.end(), file.starts.begin(), file.starts.end());
    for (auto& [tag, series] : file.series) {
      ForeignSeries& to = all.try_emplace(tag, ForeignSeries{series.name, {}}).first->second;
      if (to.points.empty())
        to.points = std::move(series.points);
      else
        to.points.insert(to.points.end(), series.points.begin(), series.points.end());
      series = {};
    }
  }
  for (auto& [tag, series] : all) log.series.push_back(std::move(series));
  return log;
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
  ForeignLog log = read_tensorboard_log(path, trial);
  if (log.series.empty())
    throw Error(cat(printable(path.string()), " holds no scalars"), "only scalars can be compared");
  add_foreign_log(std::move(log), trial);
  return trial;
}

ForeignLog read_tensorboard_log(const fs::path& path, Trial& trial) {
  std::vector<EventFile> files;
  for (const fs::path& file : files_of(path))
    if (EventFile read = read_event_file(file, trial); read.events > 0)
      files.push_back(std::move(read));
  drop_rivals(files, trial);
  ForeignLog log = log_of(std::move(files));
  count_as_keras(log);
  return log;
}

}  // namespace lockstep
