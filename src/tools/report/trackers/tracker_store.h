// Finds and reads runs in experiment trackers: MLflow's file store and database, and trackio's
// database. They are never written.
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
  std::string name;        // a name that people gave; may be empty, or the same for several runs
  std::string experiment;  // name of the experiment or project
  std::string state;       // such as "finished"; empty if unknown
  double started = NAN;    // unix seconds; if unknown, NaN, or 0 in MLflow's file store
};

class TrackerStore {
 public:
  virtual ~TrackerStore() = default;
  virtual std::string kind() const = 0;  // such as "MLflow"
  // Returns the runs that are not deleted, sorted by start time.
  virtual std::vector<TrackedRun> runs() = 0;
  // Reads the numbers, parameters and cautions of one run. Throws Error.
  virtual void read(const TrackedRun& run, Trial& trial) = 0;
};

// Opens an SQLite file, a store of MLflow, or one experiment of such a store. Returns null for
// anything else. Throws Error if the store is damaged, or if the database is of another kind.
std::unique_ptr<TrackerStore> open_tracker_store(const std::filesystem::path& path);

// A word that names a store, and possibly a run in it: STORE#RUN, STORE alone, or MLflow's folder
// STORE/EXPERIMENT/RUN.
struct TrackedWord {
  std::filesystem::path store;
  std::string run;  // an id or the beginning of one, NAME, or EXPERIMENT/NAME; empty if not given
};

// Parses a word. Returns nothing if the word names no store. Also returns nothing if exactly this
// word is an existing path that is not a store.
std::optional<TrackedWord> tracked_word(const std::string& word);

// Finds the run that the word names. If the word names no run, there must be only one. Throws
// Error, which lists the runs if they are few.
TrackedRun find_tracked_run(const std::vector<TrackedRun>& runs, const TrackedWord& word);

// Throws Error.
Trial read_tracked_trial(const TrackedWord& word);

}  // namespace lockstep
