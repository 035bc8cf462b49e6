// Finds and reads runs in experiment trackers: MLflow's file store and database, and trackio's
// database. The stores are never written.
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
  double started = NAN;    // unix seconds; if unknown, NaN (0 in MLflow's file store)
};

class TrackerStore {
 public:
  virtual ~TrackerStore() = default;
  virtual std::string kind() const = 0;  // such as "MLflow"
  // Returns the runs that are not deleted, sorted by start time.
  virtual std::vector<TrackedRun> runs() = 0;
  // Reads the numbers, parameters and cautions of one run. Throws Error if the store is damaged.
  virtual void read(const TrackedRun& run, Trial& trial) = 0;
};

// Opens an SQLite file, a store of MLflow, or one experiment of such a store. Returns null for
// anything else. Throws Error if the store is damaged, or if the SQLite file is not a database of
// MLflow or trackio.
std::unique_ptr<TrackerStore> open_tracker_store(const std::filesystem::path& path);

// A word that names a store, and possibly a run in it: STORE#RUN, STORE alone, or MLflow's folder
// STORE/EXPERIMENT/RUN.
struct TrackedWord {
  std::filesystem::path store;
  // the id of a run or its beginning, NAME, or EXPERIMENT/NAME; empty if no run is given
  std::string run;
};

// Parses a word. Returns nothing if the word names no store. Also returns nothing if exactly this
// word is an existing path that is not a store.
std::optional<TrackedWord> tracked_word(const std::string& word);

// Finds the run that the word names. If the word names no run, there must be only one. Throws Error
// if the run is missing or ambiguous; the error lists the runs if they are few.
TrackedRun find_tracked_run(const std::vector<TrackedRun>& runs, const TrackedWord& word);

// Reads the run that the word names. Throws Error if there is no such run, or if it cannot be read.
Trial read_tracked_trial(const TrackedWord& word);

}  // namespace lockstep
