// Tables and indexes of a ledger (docs/reference/batch-ledger.md), and the check that a file has
// them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/jobs/ledger/database.h"

namespace lockstep {

inline constexpr std::int64_t ledger_format_version = 2;

// schema: the database itself ("main") or an attached one. Returns 0 if no version is recorded.
std::int64_t ledger_version(Database& database, const std::string& schema);

// The database must be empty.
void create_ledger_schema(Database& database);
// Inserting many rows is faster without the indexes of jobs and attempts.
void drop_ledger_indexes(Database& database);
void create_ledger_indexes(Database& database);

// Throws Error, naming `file`, unless the schema ("main", or an attached one) is exactly that of a
// ledger of this version. Objects with the names of its tables must be tables, without views,
// triggers or columns of foreign origin.
void check_ledger_schema(Database& database, const std::string& schema,
                         const std::filesystem::path& file);

}  // namespace lockstep
