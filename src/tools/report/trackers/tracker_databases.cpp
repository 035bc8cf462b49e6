#include "tools/report/trackers/tracker_databases.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep {
namespace {

constexpr double longest_wait_s = 10;  // longest wait for programs that write

bool has_table(Database& database, const char* name) {
  Statement& statement =
      database.prepared("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  const bool has = statement.bind(1, std::string_view(name)).step();
  statement.reset();
  return has;
}

bool has_column(Database& database, const char* table, const char* column) {
  Statement statement(database, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  return statement.bind(1, std::string_view(table)).bind(2, std::string_view(column)).step();
}

}  // namespace

std::unique_ptr<TrackerStore> open_tracker_database(const std::filesystem::path& file) {
  auto database = std::make_unique<Database>(file, Database::Access::foreign, longest_wait_s);
  database->limit_work(reading_limit(file, INFINITY));
  const auto has = [&](const char* name) { return has_table(*database, name); };
  const bool metrics = has("metrics"), is_mlflow = metrics && has("runs") && has("experiments"),
             is_trackio = metrics && has_column(*database, "metrics", "run_name");
  if (!is_mlflow && !is_trackio)
    throw Error(cat(file.string(), " is a database, but neither MLflow's nor trackio's"),
                "what is compared are runs, batches, logs and stores of experiment trackers");
  return is_mlflow ? mlflow_database(std::move(database)) : trackio_database(std::move(database));
}

}  // namespace lockstep
