// SQLite files of experiment trackers, told apart by their tables.
#pragma once

#include <filesystem>
#include <memory>

#include "jobs/database.h"
#include "report/tracker_store.h"

namespace lockstep {

// MLflow's or trackio's. Throws Error: it cannot be read, or is a database of another kind.
std::unique_ptr<TrackerStore> open_tracker_database(const std::filesystem::path& file);

std::unique_ptr<TrackerStore> mlflow_database(std::unique_ptr<Database> database);
// The project is named after the file.
std::unique_ptr<TrackerStore> trackio_database(std::unique_ptr<Database> database);

}  // namespace lockstep
