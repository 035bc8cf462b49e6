#include "recipes/gbdt/metrics/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "recipes/gbdt/metrics/metric_text.h"

namespace lockstep::gbdt {
namespace {

Metrics of(const std::vector<double>& probabilities, const std::vector<double>& labels) {
  return binary_metrics({.scores = probabilities, .labels = labels});
}
double estimate(const Metrics& metrics, const char* name) { return metrics.value(name).estimate; }

TEST(Metrics, OfAFewRowsAreKnown) {
  const Metrics m = of({0.9, 0.8, 0.6, 0.4, 0.2, 0.1}, {1, 0, 1, 1, 0, 0});
  EXPECT_EQ(m.confusion,
            (ConfusionMatrix{{"0", {{"0", 2}, {"1", 1}}}, {"1", {{"0", 1}, {"1", 2}}}}));
  EXPECT_DOUBLE_EQ(estimate(m, "accuracy"), 4.0 / 6);
  EXPECT_DOUBLE_EQ(estimate(m, "precision"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(estimate(m, "recall"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(estimate(m, "f1"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(estimate(m, "base_rate"), 0.5);
  EXPECT_DOUBLE_EQ(estimate(m, "auc"), 7.0 / 9);  // of nine pairs two are the wrong way round
  const double loss = -(std::log(0.9) + std::log(0.2) + std::log(0.6) + std::log(0.4) +
                        std::log(0.8) + std::log(0.9)) /
                      6;
  EXPECT_DOUBLE_EQ(estimate(m, "log_loss"), loss);
}

TEST(Metrics, OfNoHitOrHitsAloneHaveAnIntervalThatEndsThereExactly) {
  for (int rows = 1; rows < 60; ++rows) {
    const std::vector<double> called(static_cast<std::size_t>(rows), 0.9),
        is(static_cast<std::size_t>(rows), 1), is_not(static_cast<std::size_t>(rows), 0);
    const Metrics wrong = of(called, is_not), right = of(called, is);
    for (const char* name : {"accuracy", "f1"}) {
      EXPECT_EQ(wrong.value(name).low, 0) << name << " of " << rows;
      EXPECT_EQ(right.value(name).high, 1) << name << " of " << rows;
    }
  }
}

TEST(Metrics, CountTiesOfTheAucAsHalf) {
  EXPECT_DOUBLE_EQ(estimate(of({0.5, 0.5}, {1, 0}), "auc"), 0.5);
  EXPECT_DOUBLE_EQ(estimate(of({0.5, 0.5, 0.1, 0.9}, {1, 0, 0, 1}), "auc"), 3.5 / 4);
}

// Newcombe, Statistics in Medicine 1998, table I: 81 of 263 and 0 of 20.
TEST(Metrics, HaveWilsonsIntervals) {
  std::vector<double> probabilities(263, 0.9);
  std::vector<double> labels(263, 0);
  std::fill_n(labels.begin(), 81, 1);
  const Interval rate = of(probabilities, labels).value("base_rate");
  EXPECT_NEAR(rate.low, 0.2553, 5e-5);
  EXPECT_NEAR(rate.high, 0.3662, 5e-5);
  const Interval none =
      of(std::vector<double>(20, 0.9), std::vector<double>(20, 0)).value("base_rate");
  EXPECT_NEAR(none.low, 0, 1e-12);
  EXPECT_NEAR(none.high, 0.1611, 5e-5);
}

TEST(Metrics, OfOneClassHaveNoAucAndOfNoRowsNothing) {
  EXPECT_TRUE(std::isnan(estimate(of({0.2, 0.9}, {1, 1}), "auc")));
  EXPECT_TRUE(std::isnan(estimate(of({0.2, 0.4}, {1, 0}), "precision")));
  const Metrics none = of({}, {});
  EXPECT_TRUE(std::isnan(estimate(none, "accuracy")));
  EXPECT_TRUE(std::isnan(estimate(none, "log_loss")));
  const nlohmann::json json = to_json(none);
  EXPECT_EQ(json.at("rows"), 0);
  EXPECT_TRUE(std::isnan(estimate(metrics_from_json(json), "auc")));
  EXPECT_TRUE(json.at("accuracy").is_null());
  EXPECT_TRUE(json.at("accuracy_interval").at(0).is_null());
}

// How far the estimates of a hundred samples of one population spread is what their intervals say.
TEST(Metrics, HaveIntervalsThatHoldTheTruth) {
  std::uint64_t state = 9;
  const auto uniform = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  int auc = 0, f1 = 0, loss = 0;
  constexpr int samples = 200;
  // p is uniform and true, so that AUC = 5/6, F1 above 0.5 = 3/4, and log-loss = 1/2.
  for (int sample = 0; sample < samples; ++sample) {
    std::vector<double> probabilities;
    std::vector<double> labels;
    for (int i = 0; i < 150; ++i) {
      probabilities.push_back(uniform());
      labels.push_back(uniform() < probabilities.back());
    }
    const Metrics m = of(probabilities, labels);
    auc += m.value("auc").low < 5.0 / 6 && 5.0 / 6 < m.value("auc").high;
    f1 += m.value("f1").low < 0.75 && 0.75 < m.value("f1").high;
    loss += m.value("log_loss").low < 0.5 && 0.5 < m.value("log_loss").high;
  }
  for (const int held : {auc, f1, loss}) {
    EXPECT_GE(held, samples * 88 / 100);
    EXPECT_LE(held, samples);
  }
}

TEST(OverWindows, AddUpCountsAndTakeMeansOverRows) {
  const Metrics a = of({0.9, 0.1}, {1, 0}), b = of({0.9, 0.8, 0.3, 0.2}, {0, 1, 0, 1});
  const Metrics one = of({0.9}, {1});  // without an AUC
  const std::vector<Metrics> windows = {a, b, one};
  const Metrics all = over_windows(windows);
  EXPECT_EQ(all.rows, 7);
  EXPECT_DOUBLE_EQ(estimate(all, "accuracy"), 5.0 / 7);
  EXPECT_DOUBLE_EQ(estimate(all, "auc"), (2 * 1.0 + 4 * estimate(b, "auc")) / 6);
  EXPECT_LE(all.value("accuracy").low, estimate(all, "accuracy"));
  EXPECT_GE(all.value("accuracy").high, estimate(all, "accuracy"));
  EXPECT_DOUBLE_EQ(all.value("accuracy").low, 0.5);  // only the worst window
  EXPECT_TRUE(std::isnan(estimate(over_windows({}), "auc")));
  EXPECT_EQ(over_windows(std::vector{b}).value("accuracy"), b.value("accuracy"));
}

Metrics classes_of(const std::vector<double>& probabilities, const std::vector<double>& labels) {
  static const std::vector<std::string> names = {"a", "b", "c"};
  return multiclass_metrics({.scores = probabilities, .labels = labels, .classes = names});
}

TEST(MulticlassMetrics, OfAFewRowsAreKnown) {
  // Called a, b, c, a; are a, b, b, c.
  const Metrics m =
      classes_of({0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.2, 0.3, 0.5, 0.6, 0.1, 0.3}, {0, 1, 1, 2});
  EXPECT_EQ(m.confusion.at("b").at("c"), 1);
  EXPECT_EQ(m.confusion.at("c").at("a"), 1);
  EXPECT_DOUBLE_EQ(estimate(m, "accuracy"), 0.5);
  EXPECT_DOUBLE_EQ(estimate(m, "base_rate"), 0.5);
  EXPECT_DOUBLE_EQ(estimate(m, "macro_precision"), (0.5 + 1 + 0) / 3);
  EXPECT_DOUBLE_EQ(estimate(m, "macro_recall"), (1 + 0.5 + 0) / 3);
  EXPECT_DOUBLE_EQ(estimate(m, "macro_f1"), (2.0 / 3 + 2.0 / 3 + 0) / 3);
  EXPECT_DOUBLE_EQ(estimate(m, "log_loss"),
                   -(std::log(0.7) + std::log(0.8) + std::log(0.3) + std::log(0.3)) / 4);
}

TEST(MulticlassMetrics, LeaveOutClassesThatAreNeitherThereNorCalled) {
  const Metrics m = classes_of({0.7, 0.2, 0.1, 0.1, 0.8, 0.1}, {0, 1});
  EXPECT_DOUBLE_EQ(estimate(m, "macro_f1"), 1);
  EXPECT_TRUE(std::isnan(m.value("macro_f1").low));  // all right: nothing tells how far it moves
}

Metrics numbers_of(const std::vector<double>& predictions, const std::vector<double>& labels) {
  return regression_metrics({.scores = predictions, .labels = labels});
}

TEST(RegressionMetrics, OfAFewRowsAreKnown) {
  const Metrics m = numbers_of({1, 2, 5, 3}, {1, 3, 4, 4});
  EXPECT_DOUBLE_EQ(estimate(m, "rmse"), std::sqrt(3.0 / 4));
  EXPECT_DOUBLE_EQ(estimate(m, "mae"), 0.75);
  EXPECT_DOUBLE_EQ(estimate(m, "base_rmse"), std::sqrt(6.0 / 4));
  EXPECT_DOUBLE_EQ(estimate(m, "r2"), 0.5);
  EXPECT_NEAR(estimate(m, "spearman"), 0.9486832980505138, 1e-12);  // scipy.stats.spearmanr
  EXPECT_LT(m.value("rmse").low, estimate(m, "rmse"));
  EXPECT_GT(m.value("rmse").high, estimate(m, "rmse"));
}

TEST(RegressionMetrics, AreNotDefinedWhereNothingVaries) {
  const Metrics m = numbers_of({2, 2, 2}, {1, 1, 1});
  EXPECT_TRUE(std::isnan(estimate(m, "r2")));
  EXPECT_TRUE(std::isnan(estimate(m, "spearman")));
  EXPECT_DOUBLE_EQ(estimate(m, "rmse"), 1);
  EXPECT_TRUE(std::isnan(estimate(numbers_of({}, {}), "mae")));
}

TEST(QuantileMetrics, AreTheLossAndTheShareBelow) {
  const std::vector<double> predictions = {2, 2, 2}, labels = {1, 2, 4};
  const Metrics m = quantile_metrics({.scores = predictions, .labels = labels, .alpha = 0.8});
  EXPECT_DOUBLE_EQ(estimate(m, "pinball"), (0.2 + 0 + 1.6) / 3);
  EXPECT_DOUBLE_EQ(estimate(m, "coverage"), 2.0 / 3);
}

Metrics ranking_of(const std::vector<double>& scores, const std::vector<double>& labels,
                   const std::vector<std::int32_t>& groups) {
  return ranking_metrics({.scores = scores, .labels = labels, .groups = groups});
}

TEST(RankingMetrics, OfAFewGroupsAreKnown) {
  // The first group stands as relevance 0, 2, 1; the second has nothing relevant.
  const Metrics m = ranking_of({3, 2, 1, 1, 2}, {0, 2, 1, 0, 0}, {3, 2});
  const double second = 1 / std::log2(3.0);
  EXPECT_DOUBLE_EQ(estimate(m, "ndcg@1"), 0);
  EXPECT_DOUBLE_EQ(estimate(m, "ndcg@3"), (3 * second + 0.5) / (3 + second));
  EXPECT_DOUBLE_EQ(estimate(m, "map"), (1.0 / 2 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(estimate(m, "base_ndcg@10"), 4.0 / 3 * (1 + second + 0.5) / (3 + second));
  EXPECT_EQ(m.rows, 5);
}

TEST(RankingMetrics, OfEqualScoresAreThoseOfAnyOrder) {
  const Metrics m = ranking_of({1, 1}, {1, 0}, {2}), turned = ranking_of({1, 1}, {0, 1}, {2});
  EXPECT_DOUBLE_EQ(estimate(m, "ndcg@1"), 0.5);
  EXPECT_DOUBLE_EQ(estimate(m, "ndcg@1"), estimate(turned, "ndcg@1"));
  EXPECT_DOUBLE_EQ(estimate(m, "map"), 0.5);
  EXPECT_DOUBLE_EQ(estimate(m, "map"), estimate(turned, "map"));
  EXPECT_DOUBLE_EQ(estimate(m, "ndcg@10"), estimate(m, "base_ndcg@10"));
}

// As for two classes above: how often do intervals of samples of a known population hold its value?
TEST(Metrics, OfOtherObjectivesHaveIntervalsThatHoldTheTruth) {
  std::uint64_t state = 11;
  const auto uniform = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  int rmse = 0, r2 = 0, f1 = 0, precision = 0, recall = 0;
  constexpr int samples = 200;
  for (int sample = 0; sample < samples; ++sample) {
    std::vector<double> labels, predictions, classes, probabilities;
    for (int i = 0; i < 200; ++i) {
      // Label = x + e of equal variance 1/12: RMSE = sqrt(1/12), R2 = 1/2.
      const double x = uniform(), e = uniform() - 0.5;
      predictions.push_back(x);
      labels.push_back(x + e);
      // Three classes of shares 1/3; right in 60 %, else either of the others: all three are 0.6.
      const double c = std::floor(3 * uniform());
      const double off = uniform() < 0.6 ? 0 : uniform() < 0.5 ? 1 : 2;
      const int called = static_cast<int>(c + off) % 3;
      classes.push_back(c);
      for (int k = 0; k < 3; ++k) probabilities.push_back(k == called ? 0.6 : 0.2);
    }
    const auto holds = [](const Interval& value, double truth) {
      return value.low < truth && truth < value.high;
    };
    const Metrics numbers = numbers_of(predictions, labels);
    const Metrics of_classes = classes_of(probabilities, classes);
    rmse += holds(numbers.value("rmse"), std::sqrt(1.0 / 12));
    r2 += holds(numbers.value("r2"), 0.5);
    f1 += holds(of_classes.value("macro_f1"), 0.6);
    precision += holds(of_classes.value("macro_precision"), 0.6);
    recall += holds(of_classes.value("macro_recall"), 0.6);
  }
  for (const int held : {rmse, r2, f1, precision, recall}) {
    EXPECT_GE(held, samples * 90 / 100);
    EXPECT_LE(held, samples * 99 / 100);
  }
}

TEST(OverWindows, PutTogetherWhatWindowsHaveByItsParts) {
  const std::vector<Metrics> windows = {numbers_of({1, 2}, {1, 3}),
                                        numbers_of({1, 2, 4}, {2, 2, 2.5})};
  const Metrics all = over_windows(windows);
  EXPECT_EQ(all.rows, 5);
  EXPECT_DOUBLE_EQ(estimate(all, "rmse"), std::sqrt((1 + 1 + 2.25) / 5));
  EXPECT_DOUBLE_EQ(estimate(all, "mae"), (1 + 1 + 1.5) / 5);
  // Errors over deviations from each window's own mean.
  EXPECT_NEAR(estimate(all, "r2"), 1 - 4.25 / (2 + 1.0 / 6), 1e-12);
  const nlohmann::json json = to_json(windows[0]);
  const std::vector<Metrics> read = {metrics_from_json(json), windows[1]};
  EXPECT_DOUBLE_EQ(estimate(over_windows(read), "rmse"), estimate(all, "rmse"));
}

TEST(OverWindows, AddUpConfusionMatricesByTheNamesOfClasses) {
  const std::vector<std::string> two = {"b", "c"};
  const std::vector<double> scores = {0.9, 0.1}, labels = {1};
  const std::vector<Metrics> windows = {
      classes_of({0.1, 0.2, 0.7}, {1}),
      multiclass_metrics({.scores = scores, .labels = labels, .classes = two})};
  const Metrics all = over_windows(windows);
  EXPECT_EQ(all.confusion.at("b").at("c"), 1);
  EXPECT_EQ(all.confusion.at("c").at("b"), 1);
  EXPECT_EQ(all.confusion.at("a").at("a"), 0);
}

TEST(MetricLines, LeaveOutWhatHasNoRows) {
  const Metrics some = numbers_of({1, 2, 5, 3}, {1, 3, 4, 4});
  const std::string both = metric_lines("validation", some, "test", some);
  EXPECT_NE(both.find("validation, 4 rows"), std::string::npos);
  EXPECT_NE(both.find("test, 4 rows"), std::string::npos);
  const std::string one = metric_lines("validation", {}, "test", some);
  EXPECT_EQ(one.find("validation"), std::string::npos);
  EXPECT_NE(one.find("\nRMSE        0.866"), std::string::npos) << one;
  EXPECT_EQ(metric_lines("validation", {}, "test", {}), "");
}

}  // namespace
}  // namespace lockstep::gbdt
