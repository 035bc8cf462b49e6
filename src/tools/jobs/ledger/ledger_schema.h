// Creates the tables and indexes of a ledger (docs/reference/batch-ledger.md), and checks that a
// file has them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/jobs/ledger/database.h"

namespace lockstep {

inline constexpr std::int64_t ledger_format_version = 2;

// Returns the version of the ledger's format, or 0 if no version is recorded. schema: "main" for
// the database itself, or the name of an attached database.
std::int64_t ledger_version(Database& database, const std::string& schema);

// Creates all tables and indexes. The database must be empty.
void create_ledger_schema(Database& database);
// Drop and create the indexes of jobs and attempts. Inserting many rows is faster without these
// indexes.
void drop_ledger_indexes(Database& database);
void create_ledger_indexes(Database& database);

// Throws Error with the name `file` unless the schema is exactly that of a ledger of this version.
// Statistics that SQLite's ANALYZE stored are accepted. Other tables, views, triggers and columns
// are not accepted. schema: "main", or the name of an attached database.
void check_ledger_schema(Database& database, const std::string& schema,
                         const std::filesystem::path& file);

}  // namespace lockstep
