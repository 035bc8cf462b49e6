// Runs that experiment trackers keep: MLflow's file store and database, trackio's database. They
// are read, and never written.
#pragma once

#include "report/facts.h"

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct TrackedRun {
  std::string id;          // of this run alone, in its store
  std::string name;        // that people gave it; may be empty, or that of others too
  std::string experiment;  // or project
  std::string state;       // "finished"; "" unknown
  double started = NAN;    // unix seconds; NaN: unknown
};

class TrackerStore {
 public:
  virtual ~TrackerStore() = default;
  virtual std::string kind() const = 0;  // "MLflow"
  // Without those that were deleted; by the time of their start.
  virtual std::vector<TrackedRun> runs() = 0;
  // Numbers, parameters and cautions of one of them. Throws Error.
  virtual void read(const TrackedRun& run, Trial& trial) = 0;
};

// A file of SQLite; or a folder that MLflow writes: of its store, or of an experiment in it. Null:
// it is something else. Throws Error where it is a damaged store, or a database of another kind.
std::unique_ptr<TrackerStore> open_tracker_store(const std::filesystem::path& path);

// STORE#RUN; STORE alone, and a folder STORE/EXPERIMENT/RUN of MLflow's, which may name both.
struct TrackedWord {
  std::filesystem::path store;
  std::string run;  // an id, the beginning of one, NAME or EXPERIMENT/NAME; "": not said
};

// Nothing: the word names no store, or a path that is there under that very name and is none.
std::optional<TrackedWord> tracked_word(const std::string& word);

// Of all runs the one that is meant; "" means the only one there is. Throws Error, which lists them
// where they are few.
TrackedRun find_tracked_run(const std::vector<TrackedRun>& runs, const TrackedWord& word);

// Throws Error.
Trial read_tracked_trial(const TrackedWord& word);

}  // namespace lockstep
