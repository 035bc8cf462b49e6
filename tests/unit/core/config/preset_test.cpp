// Presets are found in any table and give way to what is said outright.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/core/config/config_fixtures.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Preset, SetsOptionsOfAllTables) {
  Both both;
  both.apply({"preset=small"});
  EXPECT_EQ(both.toy.width, 64);
  EXPECT_EQ(both.engine.lr, 0.01);
  EXPECT_EQ(both.engine.preset, "small");
}

TEST(Preset, GivesNothingByItself) {
  Both both;
  both.apply({"preset=large", "optimizer.lr=0.3"});
  EXPECT_FALSE(both.engine.table.is_given("batch.global"));
  EXPECT_TRUE(both.engine.table.is_given("optimizer.lr"));
  EXPECT_TRUE(both.engine.table.is_given("preset"));
}

TEST(Preset, GivesWayToAnArgumentBeforeIt) {
  Both both;
  both.apply({"model.width=7", "preset=small"});
  EXPECT_EQ(both.toy.width, 7);
}

TEST(Preset, ThatIsUnknownNamesTheNearestAndListsAll) {
  Both both;
  EXPECT_THAT(error_of([&] { both.apply({"preset=smal"}); }),
              AllOf(HasSubstr("there is no preset smal (argument preset=smal)"),
                    HasSubstr("did you mean small?"), HasSubstr("small, large")));
  TomlFile file("\npreset = \"huge\"\n");
  EXPECT_THAT(error_of([&] { both.apply({}, {file.path()}); }),
              AllOf(HasSubstr("no preset huge"), HasSubstr("my.toml, line 2)")));
  EXPECT_EQ(both.engine.preset, "");
}

TEST(Preset, ThatIsTheDefaultIsApplied) {
  Both both;
  both.engine.preset = "large";
  both.apply({"model.width=9"});
  EXPECT_EQ(both.engine.global, 512);
  EXPECT_EQ(both.toy.width, 9);
}

TEST(Preset, ThatIsTheDefaultIsReplacedByANamedOneOrNone) {
  Both named, none;
  named.engine.preset = none.engine.preset = "large";
  named.apply({"preset=small"});
  none.apply({"preset="});
  EXPECT_EQ(named.engine.global, 8);
  EXPECT_EQ(named.toy.width, 64);
  EXPECT_EQ(none.toy.width, 128);
}

TEST(Preset, OfARecordIsNotAppliedAgain) {
  Both first, second;
  first.apply({"preset=small", "model.width=7"});
  nlohmann::json record = first.engine.table.to_json();
  record.update(first.toy.table.to_json());
  apply_json(second.tables, record);
  second.apply({"seed=1"});
  EXPECT_EQ(second.toy.width, 7);
  EXPECT_EQ(second.engine.lr, 0.01);
  second.apply({"preset=large"});
  EXPECT_EQ(second.toy.width, 4096);
}

TEST(Preset, WithAWrongValueNamesThePreset) {
  Both both;
  both.toy.table.add_preset({"broken", "", {{"batch.global", "0"}}});
  EXPECT_THAT(error_of([&] { both.apply({"preset=broken"}); }), HasSubstr("(preset broken)"));
}

}  // namespace
}  // namespace lockstep
