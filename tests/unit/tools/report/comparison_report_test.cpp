#include "tools/report/reports/comparison_report.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

nlohmann::json comparison() {
  return nlohmann::json::parse(R"({
    "kind": "comparison", "version": 1, "lockstep": "0.1.0", "conclusion": "not comparable",
    "verdict": "not comparable: B did half the work", "reasons": ["steps 50 against 100"],
    "by": "step_s", "margin": 0.02, "confidence": 0.95,
    "flags": [{"name": "less_work", "text": "faster with <b>less</b> work"}],
    "a": {"name": "base", "trials": [
      {"name": "a1", "source": "run", "state": "finished", "metric": "loss", "cautions": ["one start"],
       "curve": [[10, 1.5, 3], [20, 3, 2]]}]},
    "b": {"name": "new", "trials": [
      {"name": "b1", "source": "run", "state": "finished", "metric": "loss", "cautions": [],
       "curve": [[10, 1, 3.5], [20, 2, null]]}]},
    "differences": [{"key": "steps", "kind": "amount", "a": 100, "b": 50, "varied": false,
                     "blocks": [], "blocks_totals": true, "text": "twice the steps"},
                    {"key": "precision", "kind": "means", "a": "bf16", "b": "fp32", "varied": false,
                     "blocks": [], "blocks_totals": false, "text": ""}],
    "unknown": [{"key": "data", "kind": "work", "in_a": false, "in_b": true, "assumed": false,
                 "blocks": ["time"]}],
    "equal": ["recipe", "seed"],
    "quantities": [
      {"name": "step_s", "title": "step time", "unit": "s", "scale": "ratio", "better": "lower",
       "a": [0.1, 0.11], "b": [0.05], "mean_a": 0.105, "mean_b": 0.05, "estimate": 0.47619,
       "low": 0.4, "high": 0.55, "method": "Welch's t on logarithms", "conclusion": "not comparable",
       "repeats_needed": 123456},
      {"name": "train_s", "title": "training time per epoch", "unit": "s", "per": "epochs",
       "scale": "ratio"},
      {"name": "energy", "title": "energy", "unit": "J", "scale": "ratio", "mean_a": 5, "mean_b": null,
       "estimate": null, "low": null, "high": null, "method": "Welch's t on logarithms",
       "unknown": "one side has none"}],
    "counts": [{"name": "failed", "a": {"hits": 2, "all": 36, "low": 0.007, "high": 0.187},
                "b": {"hits": 0, "all": 36, "low": 0, "high": 0.097}, "p": 0.493,
                "conclusion": "inconclusive"}],
    "jobs": {"matched": 1, "only_a": 0, "only_b": 2, "by": "name", "rows": [
      {"name": "AAPL", "state_a": "done", "state_b": "failed", "seconds_a": 61, "seconds_b": null,
       "results": {"auc": [0.5, 0.75]}},
      {"name": "GOOG", "state_a": "done", "state_b": "skipped", "seconds_a": 2, "seconds_b": 0,
       "results": {}}],
      "pairs": [{"name": "auc", "higher": 1, "lower": 0, "same": 34, "median": 0, "p": 0.5}]}
  })");
}

TEST(ComparisonPage, SaysFlagsAndVerdictFirst) {
  const std::string page = html_of(comparison_page(comparison()));
  const std::size_t flag = page.find("faster with &lt;b&gt;less&lt;/b&gt; work"),
                    verdict = page.find("not comparable: B did half the work"),
                    intervals = page.find("<svg");
  ASSERT_NE(flag, std::string::npos);
  EXPECT_LT(flag, verdict);
  EXPECT_LT(verdict, intervals);
  EXPECT_NE(page.find("class=\"state bad\">not comparable"), std::string::npos);
}

TEST(ComparisonPage, DrawsEachIntervalThatThereIs) {
  const std::string page = html_of(comparison_page(comparison()));
  EXPECT_NE(page.find("step time: 0.47619 (0.4 to 0.55)"), std::string::npos);
  EXPECT_EQ(page.find("energy: "), std::string::npos);
  EXPECT_NE(page.find("one side has none"), std::string::npos);
  const std::string text = markdown_of(comparison_page(comparison()));
  EXPECT_NE(text.find("step time  |"), std::string::npos) << text;
}

TEST(ComparisonPage, TellsDifferencesUnknownsCountsAndJobs) {
  const std::string text = markdown_of(comparison_page(comparison()));
  for (const char* part :
       {"| steps | amount | 100 | 50 | totals not comparable; twice the steps |",
        "| precision | means | bf16 | fp32 |  |", "| energy | one side has none |",
        "| data | work | known | unknown | not comparable: time |", "2 of 36 (0.7 to 18.7 %)",
        "| GOOG | done | skipped | 2 s |  |", "| 123,456 |", "| training time per epoch |",
        "| AAPL | done | failed | 1m1s |  | auc 0.5, 0.75 |", "Known and equal: recipe, seed",
        "| auc | 1 | 0 | 34 | 0.5 |", "Wilcoxon's signed-rank test"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(ComparisonPage, LessIsGoodOnlyWhereThatIsKnown) {
  nlohmann::json made = comparison();
  made["conclusion"] = "less";
  EXPECT_EQ(comparison_page(made).tone, PageTone::good) << "step time";
  made["quantities"][0]["better"] = "unknown";
  EXPECT_EQ(comparison_page(made).tone, PageTone::plain);
}

TEST(ComparisonPage, TellsTheMarginOfWhatDecides) {
  nlohmann::json made = comparison();
  EXPECT_NE(markdown_of(comparison_page(made)).find("2 %"), std::string::npos);
  made["by_margin"] = 0.375;
  EXPECT_NE(markdown_of(comparison_page(made)).find("0.375"), std::string::npos);
}

TEST(ComparisonPage, AnyShapeMakesAPage) {
  for (const char* text :
       {R"({"kind":"comparison"})",
        R"({"kind":"comparison","a":[],"b":5,"flags":{},"quantities":[1,null,{}]})",
        R"({"kind":"comparison","version":9,"margin":"x","counts":[{}],"jobs":{"rows":[1,{}]},
            "a":{"trials":[{"curve":[1,[1,2],["a","b","c"],[1,2,3]]}]},"differences":[[],{}]})"}) {
    const Page page = comparison_page(nlohmann::json::parse(text));
    EXPECT_NE(html_of(page).find("</html>"), std::string::npos) << text;
    EXPECT_FALSE(markdown_of(page).empty());
  }
  const std::string newer =
      html_of(comparison_page(nlohmann::json::parse(R"({"kind":"comparison","version":2})")));
  EXPECT_NE(newer.find("newer Lockstep"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
