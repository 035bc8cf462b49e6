#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/gbdt/lightgbm/booster.h"
#include "recipes/gbdt/lightgbm/leaves.h"
#include "recipes/gbdt/lightgbm/one_thread.h"
#include "recipes/gbdt/options/gbdt_options.h"

namespace lockstep::gbdt {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// The library that setup fetched, if it is there.
const LightGbm* library() {
  static const std::optional<LightGbm> loaded = []() -> std::optional<LightGbm> {
    try {
      return std::make_optional<LightGbm>(find_lightgbm(""));
    } catch (const Error&) {
      return std::nullopt;
    }
  }();
  return loaded ? &*loaded : nullptr;
}

class LightGbmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (library() == nullptr) GTEST_SKIP() << "LightGBM was not fetched";
    log_.emplace(*library(), [this](const std::string& line) { said_.push_back(line); });
  }
  std::string fault(const Parameters& asked) const {
    try {
      resolve_parameters(*library(), asked);
    } catch (const Error& error) {
      return cat(error.what(), " | ", error.hint());
    }
    return "none";
  }

  std::vector<std::string> said_;
  std::optional<LightGbmLog> log_;
};

// The label is whether the first column is above that of the second; the third is noise.
Rows make_rows(int count, std::uint64_t seed) {
  std::uint64_t state = seed;
  const auto uniform = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  Rows rows{.columns = 3};
  for (int i = 0; i < count; ++i) {
    const double a = uniform(), b = uniform();
    rows.values.insert(rows.values.end(), {a, b, uniform()});
    rows.labels.push_back(a > b ? 1.0F : 0.0F);
  }
  return rows;
}

Parameters basic() {
  return resolve_parameters(*library(), {{"objective", "binary"},
                                         {"num_leaves", "7"},
                                         {"max_depth", "4"},
                                         {"n_estimators", "60"},
                                         {"learning_rate", "0.1"},
                                         {"metric", "binary_logloss"},
                                         {"num_threads", "1"}});
}

Trained train(const Rows& rows, const Rows& valid, const Parameters& parameters,
              std::int64_t iterations = 60, std::int64_t patience = 0) {
  return train_model(*library(), {.train = &rows,
                                  .valid = &valid,
                                  .names = {"a", "b", "noise"},
                                  .parameters = parameters,
                                  .iterations = iterations,
                                  .patience = patience});
}

TEST(FindLightGbm, RefusesAPathThatIsNotThere) {
  EXPECT_THROW(find_lightgbm("/nowhere/lib_lightgbm.so"), Error);
}

TEST(LightGbmLibrary, RefusesAFileThatIsNone) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "lib_lightgbm.so";
  write_file_atomic(file, "no library");
  EXPECT_THROW(LightGbm{file}, Error);
  try {
    LightGbm other("/proc/self/exe");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.hint(), HasSubstr("gbdt.library=PATH"));
  }
}

// What LightGBM calls the parameter of an option; "": the option is named by what it is called.
std::string parameter_of(const std::string& option) {
  static const std::map<std::string, std::string> names = {
      {"gbdt.threads", "num_threads"},         {"gbdt.device", "device_type"},
      {"gbdt.device_id", "gpu_device_id"},     {"gbdt.gpu_platform", "gpu_platform_id"},
      {"gbdt.double_precision", "gpu_use_dp"}, {"gbdt.num_gpu", "num_gpu"}};
  const auto found = names.find(option);
  if (found != names.end()) return found->second;
  return option.starts_with("params.") ? option.substr(option.find('.') + 1) : option;
}

TEST_F(LightGbmTest, EachOfItsNamesLeadsToTheOptionThatMeansIt) {
  int names = 0;
  for (const Synonym& synonym : synonyms()) {
    if (synonym.from != "LightGBM") continue;
    const std::string ours = parameter_of(synonym.ours.substr(0, synonym.ours.find('=')));
    const Parameters meant = resolve_parameters(*library(), {{ours, "1"}});
    for (const std::string& name : synonym.names) {
      ++names;
      EXPECT_EQ(resolve_parameters(*library(), {{name, "1"}}), meant) << name;
    }
  }
  EXPECT_GT(names, 60);
}

TEST_F(LightGbmTest, TellsItsVersionAndNames) {
  EXPECT_EQ(library()->version(), "4.7.0");
  EXPECT_THAT(library()->aliases(), Contains(Pair("n_estimators", "num_iterations")));
  EXPECT_THAT(library()->aliases(), Contains(Pair("num_leaves", "num_leaves")));
}

TEST_F(LightGbmTest, ResolvesNamesAndRefusesThoseThatCollide) {
  EXPECT_THAT(resolve_parameters(*library(), {{"subsample", "0.8"}}),
              ElementsAre(Pair("bagging_fraction", "0.8")));
  EXPECT_THAT(fault({{"lambda_l1", "0.8"}, {"reg_alpha", "0.5"}}),
              HasSubstr("lambda_l1 and reg_alpha are one parameter of LightGBM, lambda_l1, but "
                        "both are given"));
  EXPECT_THAT(fault({{"num_leafs", "3"}}), HasSubstr("has no parameter num_leafs | is it num_lea"));
  EXPECT_THAT(fault({{"eval_metric", "auc"}}), HasSubstr("| is it metric?"));
  // The recipe passes on its own options before params.
  EXPECT_EQ(fault({{"device_type", "cpu"}, {"device_type", "gpu"}}),
            "params.device_type is an option of its own, gbdt.device | write gbdt.device=gpu");
  EXPECT_EQ(fault({{"learning_rate", "0.1"}, {"eta", "0.2"}}),
            "params.eta is an option of its own, learning_rate | write learning_rate=0.2");
  EXPECT_EQ(fault({{"lambda_l1", "1"}, {"lambda_l1", "2"}}),
            "lambda_l1 is given twice | give lambda_l1 alone");
  EXPECT_THAT(fault({{"metric", "auc binary"}}), HasSubstr("cannot be 'auc binary'"));
}

TEST_F(LightGbmTest, RefusesWhatWouldDoNothing) {
  EXPECT_THAT(fault({{"ignore_column", "1"}}),
              HasSubstr("ignore_column would do nothing | it says which columns"));
  EXPECT_THAT(fault({{"blacklist", "1"}}), HasSubstr("ignore_column would do nothing"));
  for (const char* name : {"weight", "valid", "input_model", "early_stopping_min_delta", "task",
                           "pred_early_stop", "num_machines"})
    EXPECT_THAT(fault({{name, "1"}}), HasSubstr("would do nothing")) << name;
  EXPECT_THAT(fault({{"forcedsplits_filename", "/nowhere"}}), HasSubstr("no file /nowhere"));
  EXPECT_EQ(fault({{"lambda_l2", "1"}, {"extra_trees", "true"}}), "none");
}

TEST_F(LightGbmTest, RefusesSeveralGpusForOneModel) {
  EXPECT_THAT(fault({{"num_gpu", "2"}}), HasSubstr("crashes in LightGBM 4.7.0"));
  EXPECT_EQ(fault({{"num_gpu", "1"}}), "none");
}

TEST_F(LightGbmTest, LearnsAndSaysWhatItUsed) {
  const Rows rows = make_rows(800, 1), valid = make_rows(200, 2);
  const Trained trained = train(rows, valid, basic());
  EXPECT_EQ(trained.iterations, 60);
  EXPECT_EQ(trained.end, TrainEnd::iterations);
  EXPECT_EQ(trained.metric, "binary_logloss");
  ASSERT_EQ(trained.curve.size(), 60u);
  EXPECT_LT(trained.curve.back(), 0.3);
  const auto used = parameters_of_model(trained.model);
  EXPECT_EQ(used.at("num_leaves"), "7");
  EXPECT_EQ(used.at("learning_rate"), "0.1");
  EXPECT_EQ(used.at("num_threads"), "1");
  const TreeSizes sizes = tree_sizes(trained.model);
  EXPECT_EQ(sizes.trees, trained.best_iteration);
  EXPECT_EQ(sizes.most_leaves, 7);
  EXPECT_LE(sizes.deepest, 4);
  EXPECT_GE(sizes.deepest, 3);
  EXPECT_THAT(differences(basic(), read_facts(trained.model)), IsEmpty());
}

// LightGBM's regions of one thread are plain calls, and what it learns is the same.
TEST_F(LightGbmTest, LearnsTheSameWithoutTeamsOfOneThread) {
  const Rows rows = make_rows(800, 1), valid = make_rows(200, 2);
  const auto learn = [&](const char* threads) {
    Parameters parameters = basic();
    for (auto& [name, value] : parameters)
      if (name == "num_threads") value = threads;
    const Trained trained = train(rows, valid, parameters);
    return trained.model.substr(0, trained.model.find("\nparameters:"));
  };
  const std::int64_t before = OneThread::plain_calls();
  const std::string one = learn("1");
  const std::int64_t plain = OneThread::plain_calls();
  EXPECT_GT(plain, before + 60);
  EXPECT_EQ(learn("2"), one);
  EXPECT_EQ(OneThread::plain_calls(), plain) << "a team of two is the runtime's";
}

TEST_F(LightGbmTest, NamesWhatWasNotUsedAsAsked) {
  const Rows rows = make_rows(400, 1), valid = make_rows(100, 2);
  const Trained trained = train(rows, valid, basic(), 30);
  Parameters other = basic();
  for (auto& [name, value] : other) {
    if (name == "num_leaves") value = "5";
    if (name == "learning_rate") value = "1e-1";  // the same number
  }
  const auto different = differences(other, read_facts(trained.model));
  ASSERT_EQ(different.size(), 2u);
  EXPECT_EQ(different[0], "num_leaves was to be 5, but is 7");
  EXPECT_THAT(different[1], HasSubstr("a tree has leaves: 7, but num_leaves is 5"));
  EXPECT_THAT(differences(basic(), read_facts("tree\n")), Contains(HasSubstr("does not say")));
}

// LightGBM reads some values back under another name than that which was given.
TEST_F(LightGbmTest, TakesOtherNamesOfValuesForWhatTheyMean) {
  const Rows rows = make_rows(100, 1);
  const auto differences_of = [&](const Parameters& more, const char* objective = "binary") {
    Parameters parameters = {{"objective", objective}, {"num_threads", "1"}};
    parameters.insert(parameters.end(), more.begin(), more.end());
    const Parameters asked = resolve_parameters(*library(), parameters);
    return differences(asked, read_facts(train(rows, Rows{.columns = 3}, asked, 1).model));
  };
  for (const char* name : {"boosting", "boosting_type", "boost"})
    for (const char* value : {"goss", "GOSS", "gbrt", "GBDT", "dart"})
      EXPECT_THAT(differences_of({{name, value}}), IsEmpty()) << name << "=" << value;
  for (const char* value : {"rf", "random_forest", "Random_Forest"})
    EXPECT_THAT(differences_of({{"boosting", value}, {"subsample", "0.5"}, {"bagging_freq", "1"}}),
                IsEmpty())
        << value;
  EXPECT_THAT(differences_of({{"data_sample_strategy", "GOSS"}}), IsEmpty());
  for (const char* value : {"None", "none", "na", "NULL", "custom", "AUC", "auc,binary_logloss",
                            "auc,auc", "binary", "binary,AUC", "xentropy", "kldiv"})
    EXPECT_THAT(differences_of({{"metric", value}}), IsEmpty()) << value;
  for (const char* value : {"mae", "mean_absolute_error", "regression_l1", "mse", "l2_root", "rmse",
                            "root_mean_squared_error", "mean_absolute_percentage_error",
                            "regression", "regression_l2", "mean_squared_error", "MAE,mse"})
    EXPECT_THAT(differences_of({{"metric", value}}, "regression"), IsEmpty()) << value;
  for (const char* value : {"TRUE", "True", "+"})
    EXPECT_THAT(differences_of({{"extra_trees", value}}), IsEmpty()) << value;
  EXPECT_THAT(differences_of({{"eval_at", "5,1,3"}, {"label_gain", "0,1.0,3"}}), IsEmpty());
  EXPECT_THAT(differences_of({{"tree_learner", "data"}}),
              ElementsAre("tree_learner was to be data, but is serial"));
}

TEST(Differences, AreThereWhereGossWasNotUsed) {
  const ModelFacts bagging{
      .parameters = {{"boosting", "gbdt"}, {"data_sample_strategy", "bagging"}}, .trees = {}};
  EXPECT_THAT(differences({{"boosting", "goss"}}, bagging),
              ElementsAre("boosting was to be goss, but data_sample_strategy is bagging"));
  EXPECT_THAT(differences({{"metric", "auc"}}, {.parameters = {{"metric", "custom"}}, .trees = {}}),
              ElementsAre("metric was to be auc, but is custom"));
}

TEST_F(LightGbmTest, TreesHaveTheSameHashWhereALimitIsNeverReached) {
  const Rows rows = make_rows(60, 1), valid = make_rows(30, 2);  // 20 rows or more a leaf
  Parameters larger = basic(), fewer = basic();
  for (auto& [name, value] : larger)
    if (name == "num_leaves") value = "255";
  for (auto& [name, value] : fewer)
    if (name == "num_leaves") value = "2";
  const Trained usual = train(rows, valid, basic());
  ASSERT_LT(tree_sizes(usual.model).most_leaves, 7);
  ASSERT_GT(tree_sizes(usual.model).most_leaves, 2);
  const Trained same = train(rows, valid, larger);
  EXPECT_NE(same.model, usual.model) << "the text has its parameters";
  EXPECT_EQ(read_facts(same.model).trees_hash, read_facts(usual.model).trees_hash);
  EXPECT_NE(read_facts(train(rows, valid, fewer).model).trees_hash,
            read_facts(usual.model).trees_hash);
}

TEST_F(LightGbmTest, StopsWhenValidationGetsNoBetterAndKeepsTheBest) {
  const Rows rows = make_rows(300, 1), valid = make_rows(100, 3);
  Parameters eager = basic();
  for (auto& [name, value] : eager)
    if (name == "learning_rate") value = "0.9";
  const Trained trained = train(rows, valid, eager, 60, 5);
  EXPECT_EQ(trained.end, TrainEnd::patience);
  EXPECT_EQ(trained.iterations, trained.best_iteration + 5);
  EXPECT_EQ(tree_sizes(trained.model).trees, trained.best_iteration);
  const auto best = std::min_element(trained.curve.begin(), trained.curve.end());
  EXPECT_EQ(best - trained.curve.begin() + 1, trained.best_iteration);
}

TEST_F(LightGbmTest, KeepsAllTreesWithoutEarlyStopping) {
  const Rows rows = make_rows(300, 1), valid = make_rows(100, 3);
  Parameters eager = basic();
  for (auto& [name, value] : eager)
    if (name == "learning_rate") value = "0.9";
  const Trained trained = train(rows, valid, eager, 60, 0);
  EXPECT_EQ(trained.best_iteration, 60);
  EXPECT_EQ(tree_sizes(trained.model).trees, 60);
}

TEST_F(LightGbmTest, TakesMoreForBetterWhereTheMetricSaysSo) {
  const Rows rows = make_rows(300, 1), valid = make_rows(100, 3);
  Parameters parameters = basic();
  for (auto& [name, value] : parameters)
    if (name == "metric") value = "auc";
  const Trained trained = train(rows, valid, parameters, 60, 10);
  const auto best = std::max_element(trained.curve.begin(), trained.curve.end());
  EXPECT_EQ(best - trained.curve.begin() + 1, trained.best_iteration);
}

TEST_F(LightGbmTest, EndsWhereNothingCanBeSplit) {
  Rows rows = make_rows(15, 1);
  const Trained trained = train(rows, Rows{.columns = 3}, basic());
  EXPECT_EQ(trained.end, TrainEnd::no_split);
  EXPECT_EQ(trained.best_iteration, 0);
  const Model model(*library(), trained.model);
  const std::vector<double> predicted = model.predict(rows.values, 3, 1);
  EXPECT_EQ(predicted.size(), 15u);
  EXPECT_EQ(predicted.front(), predicted.back());
}

// 15 rows of 29 split only where a draw has 10 of each side.
TEST_F(LightGbmTest, GoesOnAfterADrawThatAllowsNoSplit) {
  Parameters drawn = resolve_parameters(*library(), {{"objective", "binary"},
                                                     {"min_data_in_leaf", "10"},
                                                     {"bagging_fraction", "0.7"},
                                                     {"bagging_freq", "1"},
                                                     {"metric", "binary_logloss"},
                                                     {"num_threads", "1"}});
  const Trained trained = train(make_rows(29, 1), Rows{.columns = 3}, drawn, 60);
  const auto trees = tree_sizes(trained.model).trees;
  EXPECT_EQ(trained.iterations, 60);
  EXPECT_GT(trees, 1);
  EXPECT_LT(trees, 60);
}

TEST_F(LightGbmTest, PredictsWithAModelOfATextAndWeighsItsColumns) {
  const Rows rows = make_rows(800, 1), valid = make_rows(200, 2);
  const Trained trained = train(rows, valid, basic());
  const Model model(*library(), trained.model);
  const std::vector<double> predicted = model.predict(valid.values, 3, 1);
  int right = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i)
    right += (predicted[i] > 0.5) == (valid.labels[i] > 0.5F);
  EXPECT_GT(right, 180);
  const auto gains = model.gain_importance(), splits = model.split_importance();
  ASSERT_EQ(gains.size(), 3u);
  EXPECT_GT(gains[0], 10 * gains[2]);
  EXPECT_GT(splits[1], splits[2]);
  EXPECT_THROW(model.predict(valid.values, 2, 1), Error);
  EXPECT_THROW(Model(*library(), "no model"), Error);
}

TEST_F(LightGbmTest, SpeaksToTheLogAndNeverToStdout) {
  ::testing::internal::CaptureStdout();
  const Rows rows = make_rows(300, 1), valid = make_rows(100, 3);
  train(rows, valid, basic(), 3);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_THAT(said_, Contains(HasSubstr("[Info] Number of positive: ")));
}

TEST_F(LightGbmTest, SaysWhatItRefuses) {
  const Rows rows = make_rows(300, 1);
  Parameters wrong = basic();
  for (auto& [name, value] : wrong)
    if (name == "objective") value = "no_such";
  try {
    train(rows, rows, wrong);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("LightGBM failed at making a model: "));
    EXPECT_THAT(error.what(), HasSubstr("no_such"));
  }
}

TEST(FewRows, AreSaidBeforeTraining) {
  const Parameters asked = {{"num_leaves", "127"}, {"min_data_in_leaf", "20"}};
  EXPECT_EQ(few_rows_note(asked, 90),
            "num_leaves=127 cannot be reached: 90 rows make 4 leaves of 20 rows "
            "(min_child_samples); LightGBM estimates the rows of a leaf, so a tree may have more, "
            "but at most 52");
  EXPECT_THAT(few_rows_note(asked, 164), HasSubstr("num_leaves=127 cannot"));
  EXPECT_THAT(few_rows_note(asked, 165), HasSubstr("num_leaves=127 may not"));
  EXPECT_NE(few_rows_note(asked, 2539), "");
  EXPECT_EQ(few_rows_note(asked, 2540), "");
  EXPECT_THAT(few_rows_note(asked, 39),
              HasSubstr("39 rows make one leaf: nodes of fewer than 40 rows"));
}

TEST(FewRows, AreNotTheOnlyLimitOfLeavesWhereMaxDepthIsOne) {
  Parameters asked = {{"num_leaves", "255"}, {"min_data_in_leaf", "20"}, {"max_depth", "3"}};
  const char* const by_depth =
      "num_leaves=255 cannot be reached: max_depth=3 allows at most 8 leaves";
  EXPECT_EQ(few_rows_note(asked, 1'000'000), by_depth);
  EXPECT_EQ(few_rows_note(asked, 160), by_depth);
  EXPECT_EQ(few_rows_note(asked, 90),
            "num_leaves=255 cannot be reached: 90 rows make 4 leaves of 20 rows "
            "(min_child_samples); LightGBM estimates the rows of a leaf, so a tree may have more, "
            "but at most 8, by max_depth=3");
  EXPECT_THAT(few_rows_note(asked, 42), HasSubstr("at most 4"));
  asked.emplace_back("objective", "regression");
  EXPECT_EQ(few_rows_note(asked, 1000), by_depth);
  EXPECT_THAT(few_rows_note(asked, 90), HasSubstr("90 rows make at most 4 leaves of 20 rows"));
  asked = {{"num_leaves", "255"}, {"min_data_in_leaf", "1"}, {"max_depth", "8"}};
  EXPECT_EQ(few_rows_note(asked, 1000), "");
  asked.emplace_back("device_type", "cuda");
  asked[2].second = "3";
  EXPECT_EQ(few_rows_note(asked, 1000), "") << "CUDA ignores the depth";
}

TEST(FewRows, AreCountedWhereAllHaveOneSecondDerivative) {
  Parameters asked = {
      {"num_leaves", "127"}, {"min_data_in_leaf", "20"}, {"objective", "regression"}};
  EXPECT_EQ(few_rows_note(asked, 90),
            "num_leaves=127 cannot be reached: 90 rows make at most 4 leaves of 20 rows "
            "(min_child_samples)");
  asked.emplace_back("boosting", "goss");
  EXPECT_THAT(few_rows_note(asked, 90), HasSubstr("at most 52"));
  asked.emplace_back("forcedsplits_filename", "splits.json");
  EXPECT_EQ(few_rows_note(asked, 90), "");
}

class LeavesOfFewRows : public LightGbmTest {
 protected:
  // Those of the largest of 500 trees on 90 rows, of which some become nearly certain.
  LeavesInReach grown(const char* objective) {
    const Parameters asked = {{"objective", objective},
                              {"num_leaves", "90"},
                              {"min_data_in_leaf", "20"},
                              {"learning_rate", "0.1"},
                              {"num_threads", "1"}};
    const Rows rows = make_rows(90, 1);
    leaves_ = tree_sizes(train(rows, rows, asked, 500).model).most_leaves;
    return *leaves_in_reach(asked, 90);
  }
  std::int64_t leaves_ = 0;
};

TEST_F(LeavesOfFewRows, AreMoreThanThoseOfFullRowsWhereLightGbmEstimates) {
  const LeavesInReach binary = grown("binary");
  EXPECT_GT(leaves_, binary.full);
  EXPECT_LE(leaves_, binary.most);
  const LeavesInReach regression = grown("regression");
  EXPECT_EQ(regression.most, regression.full);
  EXPECT_LE(leaves_, regression.full);
}

}  // namespace
}  // namespace lockstep::gbdt
