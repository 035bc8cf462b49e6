// Any number of runs as a table of what differs.
#include "tools/report/comparison/trial_table.h"

#include "report_fixtures.h"

#include "core/media/csv_table.h"
#include "fakes/error_of.h"

#include <cmath>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Trial> trials() {
  std::vector<Trial> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(known_trial("run,\"" + std::to_string(i), 0.1 * (3 - i)));
    all.back().set("optimizer.lr", FactKind::work,
                   i == 2 ? nlohmann::json() : nlohmann::json(i * 0.5));
  }
  all[1].measure({.name = "best.loss", .title = "loss"}, NAN);
  all[2].measure({.name = "best.loss", .title = "loss"}, 1.25);
  return all;
}

TEST(TrialTable, HasOnlyWhatDiffers) {
  const std::string text = trial_table_text(trial_table(trials()), 0);
  EXPECT_THAT(text, HasSubstr("optimizer.lr"));
  EXPECT_THAT(text, HasSubstr("best.loss"));
  EXPECT_THAT(text, Not(HasSubstr("precision")));
}

TEST(TrialTable, WhatOnlyOneRunKnowsDiffersFromNothing) {
  std::vector<Trial> all = trials();
  all[0].set("model.width", FactKind::work, 64);
  all.push_back({.name = "log of another program", .source = "CSV log"});
  const std::string text = trial_table_text(trial_table(all), 0);
  EXPECT_THAT(text, Not(HasSubstr("model.width")));
  EXPECT_THAT(text, Not(HasSubstr("precision")));
  EXPECT_THAT(text, HasSubstr("optimizer.lr"));
}

TEST(TrialTable, IsSortedWithWhatIsNotKnownLast) {
  TrialTable table = trial_table(trials());
  sort_table(table, "step_s");
  EXPECT_EQ(table.names[0], "run,\"2");
  sort_table(table, "-step_s");
  EXPECT_EQ(table.names[0], "run,\"0");
  sort_table(table, "best.loss");
  EXPECT_EQ(table.names[0], "run,\"2");
  sort_table(table, "-optimizer.lr");
  EXPECT_EQ(table.names[2], "run,\"2");
  EXPECT_THAT(error_of([&] { sort_table(table, "best.los"); }), HasSubstr("best.loss"));
}

TEST(TrialTable, AsCsvReadsBack) {
  const CsvTable csv = parse_csv(trial_table_csv(trial_table(trials())), "t");
  ASSERT_EQ(csv.rows.size(), 3U);
  EXPECT_EQ(csv.rows[0][0], "run,\"0");
  EXPECT_EQ(csv.number(2, csv.column("best.loss")), 1.25);
  EXPECT_EQ(csv.rows[1][csv.column("best.loss")], "") << "NaN is no number";
}

TEST(TrialTable, LeavesOutColumnsThatDoNotFitAndSaysSo) {
  const std::string text = trial_table_text(trial_table(trials()), 40);
  EXPECT_THAT(text, HasSubstr("not fit here"));
  EXPECT_THAT(text, HasSubstr("NAME"));
}

TEST(TrialTable, OfNothingIsEmpty) {
  EXPECT_EQ(trial_table_csv(trial_table({})), "name,state,path\n");
}

}  // namespace
}  // namespace lockstep
