// Runs in experiment trackers: MLflow's file store and database, trackio's database. They are read,
// and never written.
#pragma once

#include "tools/report/facts/facts.h"

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct TrackedRun {
  std::string id;          // unique in its store
  std::string name;        // given by people; may be empty, or shared with other runs
  std::string experiment;  // or project
  std::string state;       // "finished"; "" unknown
  double started = NAN;    // unix seconds; NaN: unknown
};

class TrackerStore {
 public:
  virtual ~TrackerStore() = default;
  virtual std::string kind() const = 0;  // "MLflow"
  // Runs that are not deleted, by start time.
  virtual std::vector<TrackedRun> runs() = 0;
  // Reads numbers, parameters and cautions of one run. Throws Error.
  virtual void read(const TrackedRun& run, Trial& trial) = 0;
};

// Opens an SQLite file, or one of MLflow's folders: a store, or an experiment in one. Null for
// anything else. Throws Error if it is a damaged store, or a database of another kind.
std::unique_ptr<TrackerStore> open_tracker_store(const std::filesystem::path& path);

// Parsed from STORE#RUN, or STORE alone. Also from MLflow's folder STORE/EXPERIMENT/RUN, which
// names both.
struct TrackedWord {
  std::filesystem::path store;
  std::string run;  // an id, the beginning of one, NAME or EXPERIMENT/NAME; "": not given
};

// Nothing if the word names no store. Nothing also if exactly this word is an existing path that is
// not a store.
std::optional<TrackedWord> tracked_word(const std::string& word);

// Finds the run that the word means; "" means the only run. Throws Error, which lists the runs if
// they are few.
TrackedRun find_tracked_run(const std::vector<TrackedRun>& runs, const TrackedWord& word);

// Throws Error.
Trial read_tracked_trial(const TrackedWord& word);

}  // namespace lockstep
