// Equal work and an equal place come first.
#include "report_fixtures.h"

#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const TrialGroup a = group("a", {0.1, 0.1001, 0.0999}), b = group("b", {0.12, 0.1201, 0.1199});

TEST(Differences, OfWorkForbidAVerdictOnSpeedAndAreNamedInIt) {
  const Comparison found = compare(a, with(b, "model.layers", FactKind::work, 12), {});
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
  EXPECT_THAT(found.verdict, HasSubstr("model.layers 12 against 8"));
}

TEST(Differences, OfOptionsThatChangeNoStepsCostAreComparedAndNamed) {
  const TrialGroup y = with(with(b, "optimizer.lr", FactKind::work, 3e-4), "optimizer.weight_decay",
                            FactKind::work, 0.1);
  const Comparison found = compare(a, y, {});
  EXPECT_EQ(found.conclusion, Conclusion::slower);
  EXPECT_THAT(found.verdict, HasSubstr("with optimizer.lr 0.0003 against 0.001, "
                                       "optimizer.weight_decay 0.1 against 0.01"));
  EXPECT_THAT(comparison_text(found, 200),
              HasSubstr("work    optimizer.lr 0.0003 against 0.001 (a step costs the same)"));
  TrialGroup mixed = b;
  mixed.trials[1].set("optimizer.lr", FactKind::work, 0.5);
  EXPECT_EQ(compare(a, mixed, {}).conclusion, Conclusion::slower) << "their steps are repeats";
}

TEST(Differences, AnOptionThatZeroTurnsOffChangesAStepsCostThere) {
  const Comparison found = compare(a, with(b, "optimizer.weight_decay", FactKind::work, 0), {});
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
  TrialGroup mixed = b;
  mixed.trials[1].set("optimizer.weight_decay", FactKind::work, 0);
  EXPECT_EQ(compare(a, mixed, {}).conclusion, Conclusion::not_comparable);
}

// 0 means five classes where there are so many.
TEST(Differences, OptionsThatStandForTheSameAreEqual) {
  const std::string key = "episode.n_way";
  const auto standing_for = [&](TrialGroup group, int option, int value) {
    group = with(group, key, FactKind::work, option);
    for (Trial& trial : group.trials) trial.stood_for[key] = value;
    return group;
  };
  const TrialGroup five = standing_for(a, 5, 5), open = standing_for(b, 0, 5);
  EXPECT_THAT(compare(five, open, {}).equal, Contains(key));
  EXPECT_EQ(compare(five, open, {}).conclusion, Conclusion::slower);
  EXPECT_EQ(compare(five, standing_for(b, 0, 4), {}).conclusion, Conclusion::not_comparable);
  TrialGroup mixed = open;
  mixed.trials[0].facts = five.trials[0].facts;
  EXPECT_THAT(compare(five, mixed, {}).equal, Contains(key));
  const TrialGroup earlier = with(a, key, FactKind::work, 0);  // does not tell
  EXPECT_THAT(compare(earlier, open, {}).equal, Contains(key));
  EXPECT_EQ(compare(earlier, standing_for(b, 5, 5), {}).conclusion, Conclusion::not_comparable);
}

TEST(Differences, ThatAreTheQuestionAreComparedAndNamed) {
  const Comparison found =
      compare(a, with(b, "optimizer.kind", FactKind::work, "sgd"), {.varied = {"optimizer.kind"}});
  EXPECT_EQ(found.conclusion, Conclusion::slower);
  EXPECT_THAT(found.verdict, HasSubstr("optimizer.kind sgd against adamw"));
  EXPECT_EQ(compare(a, with(b, "optimizer.kind", FactKind::work, "sgd"), {.varied = {"optimizer"}})
                .conclusion,
            Conclusion::slower)
      << "a group names its options";
}

TEST(Differences, ThatForbidAVerdictComeWithWhatToTypeInSpiteOfThem) {
  const TrialGroup more =
      with(with(b, "model.layers", FactKind::work, 16), "model.width", FactKind::work, 64);
  const TrialGroup x = with(a, "model.width", FactKind::work, 32);
  const Comparison found = compare(x, more, {.command = "lockstep compare a b"});
  EXPECT_THAT(comparison_text(found, 200),
              HasSubstr("to compare in spite of it (step time 1.200 × (1.197 to 1.203), with more "
                        "work):\n  lockstep compare a b --varied model.layers,model.width\n"));
  EXPECT_EQ(compare(x, more, {.varied = found.could_vary}).conclusion, Conclusion::slower);
  EXPECT_THAT(
      compare(a, with(b, "devices", FactKind::place, "2 x T4"), {.varied = {"seed"}}).could_vary,
      ::testing::ElementsAre("seed", "devices"));
  EXPECT_THAT(compare(a, with(b, "data", FactKind::work, "d1"), {}).could_vary,
              ::testing::IsEmpty());
  EXPECT_THAT(compare(a, b, {}).could_vary, ::testing::IsEmpty());
  TrialGroup unknown = with(b, "model.layers", FactKind::work, 16);
  for (Trial& trial : unknown.trials) trial.facts.erase("global_batch");
  EXPECT_THAT(compare(a, unknown, {}).could_vary, ::testing::IsEmpty());
}

TEST(Differences, OfMeansAreComparedAndNamed) {
  const Comparison found = compare(a, with(b, "precision", FactKind::means, "fp32"), {});
  EXPECT_EQ(found.conclusion, Conclusion::slower);
  EXPECT_THAT(found.verdict, HasSubstr("precision fp32 against bf16"));
}

TEST(Differences, OfThePlaceForbidAVerdictOnSpeedAndNotOnQuality) {
  TrialGroup x = a, y = with(b, "devices", FactKind::place, "1 x NVIDIA A100");
  for (TrialGroup* side : {&x, &y})
    for (Trial& trial : side->trials)
      trial.measure({.name = "best.loss",
                     .title = "loss",
                     .scale = Scale::difference,
                     .aspect = Aspect::quality},
                    1.5);
  const Comparison found = compare(x, y, {});
  EXPECT_EQ(row(found, "step_s").conclusion, Conclusion::not_comparable);
  EXPECT_EQ(row(found, "best.loss").conclusion, Conclusion::same);
}

TEST(Differences, OfDataForbidEveryVerdict) {
  TrialGroup x = a, y = with(b, "data", FactKind::work, "d1");
  for (TrialGroup* side : {&x, &y})
    for (Trial& trial : side->trials)
      trial.measure({.name = "best.loss",
                     .title = "loss",
                     .scale = Scale::difference,
                     .aspect = Aspect::quality},
                    1.5);
  EXPECT_EQ(row(compare(x, y, {}), "best.loss").conclusion, Conclusion::not_comparable);
}

// Runs of older versions have the hash of data, but not that of the contents of pictures.
TEST(Differences, OfContentsCountWhereBothSidesHaveThem) {
  const auto holding = [](const TrialGroup& group, const char* contents) {
    return with(group, "data.contents", FactKind::work, contents);
  };
  EXPECT_EQ(compare(holding(a, "one"), holding(b, "two"), {}).conclusion,
            Conclusion::not_comparable);
  EXPECT_EQ(compare(holding(a, "one"), holding(b, "one"), {}).conclusion, Conclusion::slower);
  EXPECT_EQ(compare(a, holding(b, "one"), {}).conclusion, Conclusion::slower);
}

TEST(Differences, InTheAmountForbidTotalsAndGiveThemPerUnit) {
  TrialGroup x = a, y = with(b, "steps", FactKind::amount, 50);
  for (TrialGroup* side : {&x, &y})
    for (Trial& trial : side->trials)
      trial.measure({.name = "train_s", .title = "training time", .unit = "s", .total = true}, 10);
  const Comparison found = compare(x, y, {});
  EXPECT_EQ(row(found, "train_s").conclusion, Conclusion::not_comparable);
  EXPECT_EQ(row(found, "step_s").conclusion, Conclusion::slower) << "a step is the same step";
  EXPECT_NEAR(row(found, "train_s", "steps").contrast.interval.estimate, 2, 1e-9);
}

TEST(Differences, WhatIsNotKnownIsNeverEqual) {
  TrialGroup y = b;
  for (Trial& trial : y.trials) trial.facts.erase("data");
  const Comparison found = compare(a, y, {});
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
  EXPECT_THAT(found.verdict, HasSubstr("not known: data of b"));
  TrialGroup x = a;
  for (Trial& trial : x.trials) trial.facts.erase("data");
  EXPECT_EQ(compare(x, y, {}).conclusion, Conclusion::not_comparable) << "neither of both";
  const Comparison assumed = compare(x, y, {.assumed = {"data"}});
  EXPECT_EQ(assumed.conclusion, Conclusion::slower);
  EXPECT_THAT(assumed.verdict, HasSubstr("data taken to be equal"));
}

TEST(Differences, WithinASideMakeItsRunsNoRepeats) {
  TrialGroup y = b;
  y.trials[1].set("model.layers", FactKind::work, 12);
  const Comparison found = compare(a, y, {});
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
  ASSERT_NE(difference(found, "model.layers"), nullptr);
  EXPECT_TRUE(difference(found, "model.layers")->within);
}

TEST(Differences, SeedsThatAreTheSameOnBothSidesAreEqual) {
  TrialGroup x = a, y = b;
  for (int i = 0; i < 3; ++i) {
    x.trials[static_cast<std::size_t>(i)].set("seed", FactKind::means, i);
    y.trials[static_cast<std::size_t>(2 - i)].set("seed", FactKind::means, i);
  }
  EXPECT_THAT(compare(x, y, {}).equal, Contains("seed"));
}

TEST(Differences, OfClocksAreToldFromTwoPercentOn) {
  const auto clocks = [](TrialGroup side, double mhz) {
    return with(std::move(side), "clock_mhz", FactKind::place, mhz);
  };
  EXPECT_THAT(flag_names(compare(clocks(a, 1900), clocks(b, 1700), {})), Contains("clocks"));
  EXPECT_THAT(compare(clocks(a, 1900), clocks(b, 1880), {}).equal, Contains("clock_mhz"));
}

TEST(Differences, NamesOfFactsThatAreNoneAreRefusedWithTheNearest) {
  EXPECT_THAT(error_of([] { compare(a, b, {.varied = {"precisoin"}}); }),
              HasSubstr("did you mean precision?"));
  EXPECT_THAT(error_of([] { compare(a, b, {.assumed = {"cpus"}}); }), HasSubstr("--assume"));
}

// A whole number and one that is none, of one size, look alike.
TEST(FactText, LargeNumbersHaveAllDigits) {
  EXPECT_EQ(fact_text(118230249), "118,230,249");
  EXPECT_EQ(fact_text(168771234.56), "168,771,235");
  EXPECT_EQ(fact_text(-1234567.5), "-1,234,568");
  EXPECT_EQ(fact_text(12345.675), "12345.7");
  EXPECT_EQ(fact_text(2.5e14), "2.5e+14");
}

}  // namespace
}  // namespace lockstep
