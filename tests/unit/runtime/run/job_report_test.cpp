// What a training says of itself where it is a job of a batch.
#include "runtime/run/job_report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/files/files.h"

namespace lockstep {
namespace {

class JobReport : public ::testing::Test {
 protected:
  JobReport() { ::setenv("LOCKSTEP_EVENTS", file().c_str(), 1); }
  ~JobReport() override { ::unsetenv("LOCKSTEP_EVENTS"); }
  std::filesystem::path file() const { return folder_.path() / "job.jsonl"; }
  nlohmann::json said() const { return nlohmann::json::parse(read_file(file())); }

  TemporaryDirectory folder_;
};

TEST_F(JobReport, IsALineOfResultsWithoutThoseThatAreUnknown) {
  report_to_batch({{"rows", 3}, {"auc", nullptr}});
  EXPECT_EQ(said(), nlohmann::json({{"results", {{"rows", 3}}}}));
}

TEST_F(JobReport, IsNothingWhereNoBatchAsksForItOrItCannotBeWritten) {
  ::setenv("LOCKSTEP_EVENTS", "/dev/null/no", 1);
  report_to_batch({{"rows", 3}});
  ::unsetenv("LOCKSTEP_EVENTS");
  report_to_batch({{"rows", 3}});
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(JobReport, OfATrainingHasItsLastLossAndItsEvaluations) {
  const std::filesystem::path run = folder_.path() / "run";
  std::filesystem::create_directory(run);
  std::ofstream(run / "run.json") << "{}";
  std::ofstream(run / "events.jsonl")
      << R"({"kind":"start","step":0,"time":1})"
      << "\n"
      << R"({"kind":"step","step":10,"loss":2.5,"time":2})"
      << "\n"
      << R"({"kind":"eval","step":10,"metrics":{"loss":2.0,"dice":0.5},"best":true,"time":3})"
      << "\n"
      << R"({"kind":"step","step":20,"loss":1.5,"time":4})"
      << "\n"
      << R"({"kind":"eval","step":20,"metrics":{"loss":2.25,"dice":0.25},"time":5})"
      << "\n";
  report_training_to_batch(RunDir::open(run.string(), folder_.path()));
  EXPECT_EQ(said()["results"], nlohmann::json({{"steps", 20},
                                               {"loss", 1.5},
                                               {"eval.loss", 2.25},
                                               {"eval.dice", 0.25},
                                               {"best_step", 10},
                                               {"best.loss", 2.0},
                                               {"best.dice", 0.5}}));
}

}  // namespace
}  // namespace lockstep
