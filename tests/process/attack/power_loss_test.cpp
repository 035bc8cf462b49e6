// The power goes at any moment of a run: whatever of the unsynced bytes and names is lost, it goes
// on from the newest checkpoint that was ever reported as saved, or from a newer one.
#include "fakes/power_loss.h"
#include "attacked_run.h"
#include "fakes/tenths.h"

namespace lockstep {
namespace {

using testing::Disk;
using testing::FileCall;
using testing::Loss;

// The step of a checkpoint that this write to events.jsonl reports; -1: it does not.
std::int64_t reports(const testing::FileRecord& record) {
  if (record.call != FileCall::write || !record.path.ends_with("events.jsonl")) return -1;
  const nlohmann::json event = parse_object(record.data);
  return text_or(event, "kind", "") == "checkpoint" ? integer_or(event, "step", -1) : -1;
}

class PowerLoss : public AttackedRun {
 protected:
  // What must hold of a run as the power loss left it.
  void check(const std::filesystem::path& root, std::int64_t newest_reported,
             const std::map<std::int64_t, std::string>& weights_of) const {
    const std::filesystem::path left = root / "whole";
    const auto newest = newest_good(left / "checkpoints");
    remove_leftovers(left / "checkpoints");
    if (newest_reported < 0) return;
    ASSERT_TRUE(newest);
    EXPECT_GE(newest->step, newest_reported);
    const auto known = weights_of.find(newest->step);
    ASSERT_NE(known, weights_of.end());
    EXPECT_EQ(read_file(newest->path / "model.safetensors"), known->second);
    const RunDir run = RunDir::open("whole", root);
    EXPECT_EQ(run.record().at("recipe"), "faulty");
    EXPECT_EQ(run.state_reason().empty(), run.state() == RunState::finished);
    const auto samples = effective_samples(left);
    ASSERT_GE(samples.size(), static_cast<std::size_t>(newest->step));
    for (std::size_t i = 0; i < static_cast<std::size_t>(newest->step); ++i)
      EXPECT_EQ(samples[i], whole_samples[i]) << "step " << i + 1;
  }
};

TEST_F(PowerLoss, AtAnyMomentTheRunGoesOnFromWhatWasReportedAsSaved) {
  const std::filesystem::path trace_file = folder.path() / "trace";
  const testing::ToolResult whole = run(train("whole"), "", trace_file.string());
  ASSERT_EQ(whole.code, 0) << whole.err;
  whole_samples = effective_samples(runs / "whole");
  whole_weights = weights(runs / "whole");
  const std::string bytes = read_file(trace_file);
  const std::vector<testing::FileRecord> trace = testing::read_trace(bytes);
  ASSERT_GT(trace.size(), 200U);

  // The weights of every checkpoint, as written.
  std::map<std::int64_t, std::string> weights_of;
  Disk disk(runs);
  for (const testing::FileRecord& record : trace) {
    disk.apply(record);
    if (const std::int64_t step = reports(record); step >= 0) {
      const TemporaryDirectory there;
      disk.write_to(there.path(), Loss::nothing);
      const auto newest = newest_good(there.path() / "whole/checkpoints");
      ASSERT_TRUE(newest);
      weights_of[newest->step] = read_file(newest->path / "model.safetensors");
    }
  }
  ASSERT_EQ(weights_of.size(), static_cast<std::size_t>(total_steps / 2));
  EXPECT_EQ(weights_of.at(total_steps), whole_weights);

  std::mt19937 random(5);
  Disk again(runs);
  std::int64_t newest_reported = -1;
  int resumed = 0;
  for (std::size_t i = 0; i < trace.size() && !HasFailure(); ++i) {
    again.apply(trace[i]);
    newest_reported = std::max(newest_reported, reports(trace[i]));
    for (const Loss loss : !testing::has_turn(i) ? std::vector<Loss>{}
                                                 : std::vector<Loss>{Loss::nothing, Loss::unsynced,
                                                                     Loss::unsynced_data,
                                                                     Loss::random, Loss::random}) {
      SCOPED_TRACE("after call " + std::to_string(i) + " on " + trace[i].path + ", loss " +
                   std::to_string(static_cast<int>(loss)));
      const TemporaryDirectory there;
      again.write_to(there.path(), loss, static_cast<unsigned>(random()));
      check(there.path(), newest_reported, weights_of);
    }
    // Some of them really go on.
    const std::size_t between = trace.size() / 5;
    if (newest_reported < 0 || i % between != 0 || !testing::has_turn(i / between)) continue;
    const std::string name = "after-" + std::to_string(i);
    const TemporaryDirectory there;
    again.write_to(there.path(), Loss::random, static_cast<unsigned>(random()));
    std::filesystem::rename(there.path() / "whole", runs / name);
    const testing::ToolResult on = run(resume(name));
    ASSERT_EQ(on.code, 0) << on.err;
    expect_whole(name);
    ++resumed;
  }
  if (testing::tenth() < 0) EXPECT_GE(resumed, 2);
}

}  // namespace
}  // namespace lockstep
