// What options say of parameters by patterns.
#include "planning/options/parameter_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"
#include "planning/options/interval.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

std::vector<GroupRule> rules(const std::string& entries) {
  TrainOptions options;
  options.table.set("optimizer.groups", entries);
  return group_rules(options);
}

TEST(GroupRules, AreReadFromOneLineAsFromAList) {
  const auto all = rules("head.*: lr=1e-3 weight_decay=0, *.bias: lr_factor=2 schedule=constant");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].pattern, "head.*");
  EXPECT_EQ(all[0].lr, 1e-3);
  EXPECT_EQ(all[0].weight_decay, 0.0);
  EXPECT_FALSE(all[0].lr_factor.has_value());
  EXPECT_FALSE(all[0].constant);
  EXPECT_EQ(all[1].lr_factor, 2.0);
  EXPECT_TRUE(all[1].constant);
  EXPECT_EQ(words_of(all[0]), "lr 0.001, weight decay 0");
  EXPECT_EQ(words_of(all[1]), "lr x 2, constant rate");
}

TEST(GroupRules, SayWhatIsWrongWithAnEntry) {
  const auto fault = [](const std::string& entry) { return error_of([&] { rules(entry); }); };
  EXPECT_THAT(fault("head.*"), HasSubstr("has no colon"));
  EXPECT_THAT(fault(": lr=1"), HasSubstr("has no pattern"));
  EXPECT_THAT(fault("head.*:"), HasSubstr("sets nothing"));
  EXPECT_THAT(fault("head.*: lr"), HasSubstr("has no value"));
  EXPECT_THAT(fault("head.*: lr=-1"), HasSubstr("a number of 0 or more"));
  EXPECT_THAT(fault("head.*: lr=1 lr_factor=2"), HasSubstr("both lr and lr_factor"));
  EXPECT_THAT(fault("head.*: weight_deca=0"), HasSubstr("did you mean weight_decay?"));
  EXPECT_THAT(fault("head.*: schedule=flat"), HasSubstr("curve or constant"));
}

TEST(GroupRules, ARateOfItsOwnCannotFollowACurveThatIsZero) {
  TrainOptions options;
  options.optimizer.lr = 0;
  options.optimizer.groups = {"head.*: lr=0.1"};
  EXPECT_THAT(error_of([&] { group_rules(options); }), HasSubstr("which is 0 throughout"));
  options.optimizer.groups = {"head.*: lr=0.1 schedule=constant"};
  EXPECT_EQ(group_rules(options).size(), 1U);
}

TEST(Freeze, TheLastPatternThatMatchesCounts) {
  EXPECT_TRUE(freezes({"trunk.*"}, {"trunk.0.weight"}));
  EXPECT_FALSE(freezes({"trunk.*"}, {"head.weight"}));
  EXPECT_FALSE(freezes({"*", "!head.*"}, {"head.weight"}));
  EXPECT_TRUE(freezes({"*", "!head.*"}, {"trunk.weight"}));
  EXPECT_TRUE(freezes({"!head.*", "*"}, {"head.weight"}));
  EXPECT_TRUE(freezes({"tied"}, {"first", "tied"})) << "under any of its names";
}

TEST(NameMap, IsReadAsPairs) {
  const auto pairs = name_map({"bert.*=encoder.*", "a = b"});
  EXPECT_EQ(pairs[0], NamePair("bert.*", "encoder.*"));
  EXPECT_EQ(pairs[1], NamePair("a", "b"));
  for (const char* bad : {"bert.*", "=a", "a=", "a=*", "a.*=*.*"})
    EXPECT_NE(error_of([&] { name_map({bad}); }), "") << bad;
}

TEST(ParameterOptions, MapsNeedAFile) {
  TrainOptions options;
  options.init.missing = {"head.*"};
  EXPECT_THAT(error_of([&] { check_parameter_options(options); }), HasSubstr("init.from"));
  options.init.from = "x";
  check_parameter_options(options);
}

TEST(StepInterval, ComesAtMultiplesOfStepsAndOfEpochs) {
  const StepInterval half{.epochs = 0.5, .steps_per_epoch = 5};
  std::vector<std::int64_t> due;
  for (std::int64_t step = 0; step <= 10; ++step)
    if (half.due(step)) due.push_back(step);
  EXPECT_THAT(due, ::testing::ElementsAre(3, 5, 8, 10));
  EXPECT_EQ(half.mean_steps(), 2.5);
  const StepInterval both{.steps = 4, .epochs = 1, .steps_per_epoch = 5};
  EXPECT_TRUE(both.due(4));
  EXPECT_TRUE(both.due(5));
  EXPECT_FALSE(both.due(6));
  EXPECT_FALSE(StepInterval{}.due(6));
  EXPECT_EQ(StepInterval{}.mean_steps(), 0);
  const StepInterval tenths{.epochs = 0.1, .steps_per_epoch = 10};  // 0.1 x 10 x 7 is a hair off 7
  for (std::int64_t step = 1; step <= 100; ++step) EXPECT_TRUE(tenths.due(step)) << step;
}

TEST(StepInterval, EpochsNeedAKnownLengthAndPatienceNeedsEvaluations) {
  TrainOptions options;
  check_intervals(options, 0);
  options.eval.every_epochs = 1;
  check_intervals(options, 5);
  EXPECT_THAT(error_of([&] { check_intervals(options, 0); }), HasSubstr("eval.every_epochs"));
  options.eval.every_epochs = 0;
  options.stop.patience = 3;
  EXPECT_THAT(error_of([&] { check_intervals(options, 5); }), HasSubstr("stop.patience"));
  options.eval.every_steps = 3;
  check_intervals(options, 5);
}

}  // namespace
}  // namespace lockstep
