// What is said of prices that changed since a model was trained on them.
#include "recipes/gbdt/batch/since_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/gbdt/bars/made_bars.h"
#include "recipes/gbdt/features/choose_features.h"
#include "recipes/gbdt/train/artefacts.h"

namespace lockstep::gbdt {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A window that was trained on 100 bars of a file, the last ten of which were its test.
class SinceTrainingTest : public ::testing::Test {
 protected:
  SinceTrainingTest() {
    options_.data.path = "prices";
    data_.bars =
        make_bars("S0", {.first = *parse_day("2022-01-03"), .last = *parse_day("2022-05-20")});
    EXPECT_EQ(data_.bars.size(), 100u);
    data_.bars.hash = "new";
    std::string labels = "timestamp,split,close,forward_return,label\n",
                predictions = "timestamp,symbol,window,label,probability\n";
    for (std::size_t row = 0; row < 100; ++row) {
      labels += cat(data_.bars.stamps[row], row < 90 ? ",train," : ",test,", data_.bars.close[row],
                    ",0.01,1\n");
      if (row < 90) continue;
      rows_.push_back(row);
      scores_.push_back(0.45);
      predictions += cat(data_.bars.stamps[row], ",S0,w,1,0.45\n");
    }
    write_gzip(folder_.path() / "labels.csv.gz", labels);
    write_text(folder_.path() / "predictions.csv", predictions);
    record_.symbol = "S0";
    record_.folder = folder_.path();
    record_.metadata = {{"data", {{"hash", "old"}, {"first", data_.bars.stamps[0]}}}};
  }
  std::vector<std::string> notes() const {
    SinceTraining since;
    since.add(record_, options_, data_, rows_, scores_);
    return since.notes();
  }

  TemporaryDirectory folder_;
  GbdtOptions options_;
  SymbolData data_;
  WindowRecord record_;
  std::vector<std::size_t> rows_;
  std::vector<double> scores_;
};

TEST_F(SinceTrainingTest, SaysNothingOfTheSameFileOrOneThatGrew) {
  EXPECT_THAT(notes(), IsEmpty());
  options_.feature_set = FeatureSet::v1;
  EXPECT_THAT(notes(), IsEmpty());
  data_.bars.hash = "old";
  data_.bars.close[5] *= 2;
  EXPECT_THAT(notes(), IsEmpty()) << "the hash is of all of it";
}

TEST_F(SinceTrainingTest, TellsASplit) {
  for (double& close : data_.bars.close) close /= 2;
  EXPECT_THAT(notes(),
              ElementsAre("S0: prices were adjusted since training: of 100 closes that the model "
                          "knows, 100 are now 0.5 times as high, as after a split of 2 for 1; it "
                          "learnt from the old ones"));
  for (double& close : data_.bars.close) close *= 2 * 10;
  EXPECT_THAT(notes(),
              ElementsAre(HasSubstr("10 times as high, as after a reverse split of 1 for 10;")));
  for (double& close : data_.bars.close) close /= 15;
  EXPECT_THAT(notes(),
              ElementsAre(HasSubstr("0.6667 times as high, as after a split of 3 for 2;")));
}

TEST_F(SinceTrainingTest, TellsAdjustmentsOfDividends) {
  for (std::size_t row = 0; row < 50; ++row) data_.bars.close[row] *= row < 20 ? 0.97 : 0.985;
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("100 closes that the model knows, 50 are now 0.97 to "
                                             "0.985 times as high; it learnt")));
}

TEST_F(SinceTrainingTest, SaysNothingOfTheModelOfAnotherSymbol) {
  for (double& close : data_.bars.close) close /= 2;
  record_.symbol = "S1";
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(SinceTrainingTest, CountsABarOfSeveralWindowsOnce) {
  for (std::size_t row = 0; row < 50; ++row) data_.bars.close[row] /= 2;
  SinceTraining since;
  for (int window = 0; window < 3; ++window) since.add(record_, options_, data_, rows_, scores_);
  EXPECT_THAT(since.notes(),
              ElementsAre(HasSubstr("of 100 closes that the model knows, 50 are now")));
}

TEST_F(SinceTrainingTest, SaysThatNothingCanBeSeenWithoutABarOfTraining) {
  for (std::string& stamp : data_.bars.stamps) stamp = "3" + stamp.substr(1);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("S0: no bar of training is in the file")));
}

TEST_F(SinceTrainingTest, SaysHowMuchPredictionsDiffer) {
  scores_[3] = 0.55;
  scores_[4] = 0.46;
  EXPECT_THAT(notes(), ElementsAre("2 of 10 predictions of the test differ from those at training, "
                                   "by up to 0.1, by 0.011 on average; 1 is on the other side of "
                                   "0.5"));
}

TEST_F(SinceTrainingTest, OfTheFirstSetSaysWhereTheFileBegins) {
  options_.feature_set = FeatureSet::v1;
  data_.features = compute_features(data_.bars, FeatureSet::v1);
  record_.metadata["data"]["first"] = "2021-01-04";
  EXPECT_THAT(notes(),
              ElementsAre(AllOf(HasSubstr("feature_set=v1 depend on the first bar"),
                                HasSubstr("S0 begins at 2022-01-03 (in training at "
                                          "2021-01-04); in a file that begins 60 bars "
                                          "before these rows, VWAP would differ by up to "),
                                HasSubstr(" %, EMA by 0."), HasSubstr(" %, OBV by "))));
  rows_ = {5};
  scores_ = {0.5};
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("cannot be seen without rows of the test")));
  record_.metadata["data"].erase("first");
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("when it was not recorded")));
  rows_ = {95};
  scores_ = {0.45};
  EXPECT_THAT(notes(), IsEmpty()) << "the same predictions as then";
  scores_ = {0.5};
  EXPECT_THAT(notes(), Contains(HasSubstr("when it was not recorded")));
  options_.feature_set = FeatureSet::v2;
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("1 of 1 predictions of the test differ")));
}

TEST_F(SinceTrainingTest, OfTheFirstSetWithoutVolumeNamesNoFeatureOfIt) {
  options_.feature_set = FeatureSet::v1;
  data_.bars.has_volume = false;
  data_.bars.volume.assign(100, 0);
  const FeatureTable all = compute_features(data_.bars, FeatureSet::v1);
  data_.features = choose_features(all, features_of(all, data_.bars));
  record_.metadata["data"]["first"] = "2021-01-04";
  EXPECT_THAT(notes(),
              ElementsAre(AllOf(HasSubstr("a file, from which EMA and MACD run: S0 begins at"),
                                HasSubstr("before these rows, EMA would differ by up to 0."),
                                Not(HasSubstr("VWAP")), Not(HasSubstr("OBV")))));
}

TEST_F(SinceTrainingTest, OfTheFirstSetKnowsTheFirstBarHoweverItsTimeIsWritten) {
  options_.feature_set = FeatureSet::v1;
  data_.features = compute_features(data_.bars, FeatureSet::v1);
  record_.metadata["data"]["first"] = "03-Jan-2022";
  EXPECT_THAT(notes(), IsEmpty());
  record_.metadata["data"]["first"] = "04-Jan-2022";
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("S0 begins at 2022-01-03 (in training at 04-Jan")));
}

TEST_F(SinceTrainingTest, ReadsNothingThatIsBroken) {
  write_gzip(folder_.path() / "labels.csv.gz", "a,b\n1,2\n");
  write_text(folder_.path() / "predictions.csv", "a,b\n1,2\n");
  EXPECT_THAT(notes(), IsEmpty());
  options_.feature_set = FeatureSet::v1;
  record_.metadata["data"]["first"] = 5;
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("when it was not recorded")));
  options_.feature_set = FeatureSet::v2;
  write_text(folder_.path() / "labels.csv.gz", "none");
  write_text(folder_.path() / "predictions.csv", "\"");
  EXPECT_THAT(notes(), IsEmpty());
  record_.folder = "/nowhere";
  EXPECT_THAT(notes(), IsEmpty());
}

}  // namespace
}  // namespace lockstep::gbdt
