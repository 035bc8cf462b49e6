// The tables and indexes of a ledger (docs/reference/batch-ledger.md), and whether a file has them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "jobs/database.h"

namespace lockstep {

inline constexpr std::int64_t ledger_format_version = 2;

// Of the database itself ("main") or of one that is attached. 0: nothing says so.
std::int64_t ledger_version(Database& database, const std::string& schema);

// In a database that is empty.
void create_ledger_schema(Database& database);
// Many rows are put in faster without the indexes of jobs and attempts.
void drop_ledger_indexes(Database& database);
void create_ledger_indexes(Database& database);

// Throws Error, naming `file`, unless the schema ("main", or an attached one) is that of a ledger
// of this version, to the last object: what stands under the names of its tables is a table,
// without views, triggers or columns of somebody else's making.
void check_ledger_schema(Database& database, const std::string& schema,
                         const std::filesystem::path& file);

}  // namespace lockstep
