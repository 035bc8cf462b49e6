// Opens experiment trackers' SQLite files, which are distinguished by their tables.
#pragma once

#include <filesystem>
#include <memory>

#include "tools/jobs/ledger/database.h"
#include "tools/report/trackers/tracker_store.h"

namespace lockstep {

// Opens a database of MLflow or trackio. Throws Error if the file cannot be read, or is not a
// database of MLflow or trackio.
std::unique_ptr<TrackerStore> open_tracker_database(const std::filesystem::path& file);

std::unique_ptr<TrackerStore> mlflow_database(std::unique_ptr<Database> database);
// The name of the file is the name of the project.
std::unique_ptr<TrackerStore> trackio_database(std::unique_ptr<Database> database);

}  // namespace lockstep
