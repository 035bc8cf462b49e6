// docs/reference/batch-ledger.md against the ledger that is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using Columns = std::vector<std::pair<std::string, std::string>>;  // name, type

std::string page() {
  return read_file(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "docs/reference/batch-ledger.md");
}

std::map<std::string, Columns> tables_of(Database& database) {
  std::map<std::string, Columns> tables;
  Statement rows(database,
                 "SELECT tables.name, columns.name, columns.type FROM sqlite_master AS tables JOIN "
                 "pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' AND "
                 "tables.name NOT LIKE 'sqlite_%'");
  while (rows.step()) tables[rows.text(0)].emplace_back(rows.text(1), rows.text(2));
  return tables;
}

std::map<std::string, Columns> tables_of(const std::string& text) {
  const std::regex row(R"(\| `(\w+)` \| ([A-Z]+) \| .*)");
  std::map<std::string, Columns> tables;
  std::string table;
  for (const std::string& line : split(text, '\n')) {
    std::smatch match;
    if (line.starts_with("## ")) table = line.substr(3);
    if (std::regex_match(line, match, row)) tables[table].emplace_back(match[1], match[2]);
  }
  return tables;
}

// Every word of the enumeration stands alone in the first cell of a row.
template <class Enumerator>
void expect_rows(const std::string& text, Enumerator last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    EXPECT_THAT(text, HasSubstr(cat("\n| `", to_string(static_cast<Enumerator>(i)), "` |")));
}

TEST(LedgerPage, HasEveryColumnOfEveryTableInOrderAndNoOther) {
  const TemporaryDirectory folder;
  Ledger ledger = Ledger::open(folder.path() / "ledger.sqlite");
  EXPECT_EQ(tables_of(page()), tables_of(ledger.database()));
}

TEST(LedgerPage, HasEveryStateAndOutcome) {
  expect_rows(page(), JobState::cancelled);
  expect_rows(page(), AttemptOutcome::lost);
}

TEST(LedgerPage, SaysVersionAndApplication) {
  const TemporaryDirectory folder;
  Ledger ledger = Ledger::open(folder.path() / "ledger.sqlite");
  Statement version(ledger.database(), "PRAGMA user_version"),
      application(ledger.database(), "PRAGMA application_id");
  ASSERT_TRUE(version.step() && application.step());
  EXPECT_THAT(page(), HasSubstr(cat("Version ", version.integer(0), ", in `PRAGMA user_version`")));
  EXPECT_THAT(page(), HasSubstr(cat("`PRAGMA application_id` is\n", application.integer(0), ".")));
}

}  // namespace
}  // namespace lockstep
