#include "tools/jobs/ledger/ledger_schema.h"

#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::int64_t application_id = 0x4c6b4a62;  // "LkJb" in ASCII

constexpr const char* table_statements = R"(
CREATE TABLE fact(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE job(
  id INTEGER PRIMARY KEY,        -- the job's number, {#}
  key TEXT NOT NULL,             -- what it is, by content
  name TEXT NOT NULL,
  spec TEXT NOT NULL,            -- JSON
  state TEXT NOT NULL DEFAULT 'waiting',
  reason TEXT NOT NULL DEFAULT '',
  listed INTEGER NOT NULL DEFAULT 1,
  synced INTEGER NOT NULL DEFAULT 1,
  tries INTEGER NOT NULL DEFAULT 0,
  not_before REAL NOT NULL DEFAULT 0,
  priority INTEGER NOT NULL, cpus REAL NOT NULL,
  gpus INTEGER NOT NULL, gpu_devices INTEGER NOT NULL, gpu_share REAL NOT NULL,
  gpu_memory INTEGER NOT NULL, gpu_memory_bytes INTEGER NOT NULL,
  kind TEXT NOT NULL);           -- the same for jobs that differ in parameters alone
CREATE INDEX job_unsynced ON job(id) WHERE synced = 0;
CREATE TABLE dependency(job INTEGER NOT NULL, needs TEXT NOT NULL, PRIMARY KEY(job, needs)) WITHOUT ROWID;
CREATE TABLE attempt(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job INTEGER NOT NULL,
  number INTEGER NOT NULL,       -- of this job, from 1
  supervisor TEXT NOT NULL,
  slot INTEGER NOT NULL,
  cores TEXT NOT NULL,           -- JSON list of core numbers
  devices TEXT NOT NULL,         -- JSON list of UUIDs
  outcome TEXT,                  -- NULL until it has ended
  reason TEXT, exit_code INTEGER,
  started REAL, ended REAL,      -- unix seconds
  cpu_s REAL, max_rss_bytes INTEGER,
  placement TEXT,                -- of one with devices: verified, wrong, unverifiable, unseen
  gpu_memory_bytes INTEGER,      -- peak on one device, NULL: not seen
  gpu_activity_percent REAL,     -- mean of its first device while it was alone there
  results_left_out TEXT);        -- what it reported and is not in `result`, NULL: nothing
CREATE INDEX attempt_unfinished ON attempt(id) WHERE outcome IS NULL;
CREATE TABLE result(             -- what an attempt said of itself
  attempt INTEGER NOT NULL, name TEXT NOT NULL,
  number REAL, text TEXT,        -- one of them
  PRIMARY KEY(attempt, name)) WITHOUT ROWID;
CREATE TABLE idle(                -- no job of the batch was on the device
  device TEXT NOT NULL, begin REAL NOT NULL, end REAL NOT NULL, why TEXT NOT NULL);
CREATE TABLE note(id INTEGER PRIMARY KEY, at REAL NOT NULL, text TEXT NOT NULL);
CREATE TABLE request(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  what TEXT NOT NULL, job INTEGER NOT NULL, value TEXT NOT NULL);
)";

// Many rows are added before indexes exist. Sorting all rows once costs a tenth of inserting each
// one in order.
constexpr const char* indexes = R"(
CREATE UNIQUE INDEX job_key ON job(key);
CREATE INDEX job_name ON job(name);
CREATE INDEX attempt_job ON attempt(job);
)";
constexpr const char* without_indexes =
    "DROP INDEX job_key; DROP INDEX job_name; DROP INDEX attempt_job";

// An object of a schema: its type, name, table and SQL.
using SchemaObject = std::tuple<std::string, std::string, std::string, std::string>;

// The SQL without comments and with single spaces, because its layout may change.
std::string plain_sql(const std::string& sql) {
  std::string plain;
  for (const std::string& line : split(sql, '\n')) {
    std::string word;
    for (const char c : line.substr(0, line.find("--")) + " ") {
      if (c != ' ' && c != '\t') {
        word += c;
      } else if (!word.empty()) {
        plain += (plain.empty() ? "" : " ") + std::exchange(word, {});
      }
    }
  }
  return plain;
}

std::set<SchemaObject> objects_of(Database& database, const std::string& schema) {
  constexpr std::size_t most = 100;  // a ledger has fewer
  std::set<SchemaObject> objects;
  Statement rows(database, cat("SELECT type, name, tbl_name, sql FROM ", schema,
                               ".sqlite_master LIMIT ", most));
  while (rows.step())
    objects.emplace(rows.text(0), rows.text(1), rows.text(2), plain_sql(rows.text(3)));
  return objects;
}

const std::set<SchemaObject>& objects_of_ledgers() {
  static const std::set<SchemaObject> objects = [] {
    Database made(":memory:", Database::Access::create);
    create_ledger_schema(made);
    return objects_of(made, "main");
  }();
  return objects;
}

[[noreturn]] void fail_object(const std::filesystem::path& file, const std::string& what) {
  throw Error(cat("the ledger ", file.string(), " ", what),
              "it is no ledger of Lockstep's, or another program has changed it");
}

}  // namespace

std::int64_t ledger_version(Database& database, const std::string& schema) {
  Statement version(database, cat("PRAGMA ", schema, ".user_version"));
  return version.step() ? version.integer(0) : 0;
}

void create_ledger_schema(Database& database) {
  database.execute(table_statements);
  create_ledger_indexes(database);
  database.execute(cat("PRAGMA application_id = ", application_id));
  database.execute(cat("PRAGMA user_version = ", ledger_format_version));
}

void drop_ledger_indexes(Database& database) { database.execute(without_indexes); }
void create_ledger_indexes(Database& database) { database.execute(indexes); }

void check_ledger_schema(Database& database, const std::string& schema,
                         const std::filesystem::path& file) {
  const std::int64_t found = ledger_version(database, schema);
  if (found != ledger_format_version)
    throw Error(cat("the ledger ", file.string(), " has version ", found,
                    ", and this Lockstep knows version ", ledger_format_version),
                found > ledger_format_version ? "a newer Lockstep wrote it: use that one"
                : found > 0 ? "an older Lockstep made it: go on with that one, or run the job file "
                              "again under another --name"
                            : "it is no ledger of Lockstep's");
  const std::set<SchemaObject> objects = objects_of(database, schema);
  const std::set<SchemaObject>& known = objects_of_ledgers();
  const std::set<std::string> of_analyze{"sqlite_stat1", "sqlite_stat4"};  // made by other programs
  for (const SchemaObject& object : objects)
    if (!known.contains(object) && !of_analyze.contains(std::get<1>(object)))
      fail_object(file, cat("has a ", printable(std::get<0>(object)), " ",
                            printable(std::get<1>(object)), " that a ledger has not"));
  for (const SchemaObject& object : known)
    if (!objects.contains(object))
      fail_object(file, cat("lacks the ", std::get<0>(object), " ", std::get<1>(object)));
}

}  // namespace lockstep
