#include "tools/jobs/analysis/job_activity.h"

#include "core/base/error.h"
#include "ledger_fixtures.h"
#include "tools/jobs/ledger/database.h"

namespace lockstep {
namespace {

// Jobs name-a and name-b on GPU-1, one after the other, name-c without a GPU.
class JobActivityOf : public LedgerFolder {
 protected:
  void SetUp() override {
    Ledger ledger = open_with({"a", "b", "c"});
    ran(ledger, 1, {"GPU-1"}, 100, 110, 8);
    ran(ledger, 2, {"GPU-1"}, 111, 111.2, 0.1);
    ran(ledger, 3, {}, 100, 104, 3);
  }
  static void ran(Ledger& ledger, std::int64_t job, std::vector<std::string> devices, double from,
                  double to, double cpu_s) {
    std::vector<Attempt> attempts{
        {.job = job, .supervisor = "s", .slot = 1, .devices = std::move(devices)}};
    ledger.begin(attempts);
    ledger.end(attempts[0],
               {.outcome = AttemptOutcome::done, .started = from, .ended = to, .cpu_s = cpu_s},
               JobState::done, 0);
  }
  void write_samples(const std::string& rows) const {
    write_file_atomic(folder.path() / "gpu.csv",
                      "time,gpu,uuid,busy_percent,sm_active_percent\n" + rows);
  }
  JobActivity of(const std::set<std::string>& jobs) const {
    return BatchActivity({folder.path()}).of(jobs);
  }
};

TEST_F(JobActivityOf, AreTheSamplesWhileTheyRan) {
  write_samples(
      "99,0,GPU-1,1,1\n101,0,GPU-1,80,40\n101,1,GPU-2,7,7\n105,0,GPU-1,60,20\n110.5,0,GPU-1,2,2\n");
  const JobActivity a = of({"name-a"});
  EXPECT_TRUE(a.on_devices);
  EXPECT_DOUBLE_EQ(a.gpu_percent.value(), 70);
  EXPECT_DOUBLE_EQ(a.sm_percent.value(), 30);
  EXPECT_DOUBLE_EQ(a.cpu_percent.value(), 80);
  const JobActivity both = of({"name-a", "name-b"});
  EXPECT_DOUBLE_EQ(both.gpu_percent.value(), 70);
  EXPECT_NEAR(both.cpu_percent.value(), 100 * 8.1 / 10.2, 1e-3);  // of times as a clock has them
}

TEST_F(JobActivityOf, TooShortToBeSeenAreNotZero) {
  write_samples("101,0,GPU-1,80,40\n");
  const JobActivity b = of({"name-b"});
  EXPECT_TRUE(b.on_devices);
  EXPECT_FALSE(b.gpu_percent.has_value());
}

TEST_F(JobActivityOf, CountsASampleOnceWhereJobsOverlap) {
  {
    Ledger ledger = open();
    ran(ledger, 3, {"GPU-1"}, 102, 104, 1);
    ran(ledger, 3, {"GPU-1"}, 105, 120, 1);
  }
  write_samples("101,0,GPU-1,80,1\n103,0,GPU-1,60,1\n118,0,GPU-1,40,1\n121,0,GPU-1,9,9\n");
  EXPECT_DOUBLE_EQ(of({"name-a", "name-b", "name-c"}).gpu_percent.value(), 60);
}

// Eight slots on two cores: a job had a quarter of a core for the two seconds of all eight.
TEST(CoreShares, OfMoreJobsThanCoresAreParts) {
  CoreShares shares(2), unknown(0);
  for (CoreShares* all : {&shares, &unknown}) {
    for (int job = 0; job < 7; ++job) all->add(10, 12, 1);
    all->add(10, 14, 1);
  }
  EXPECT_DOUBLE_EQ(shares.seconds(10, 12), 0.5);
  EXPECT_DOUBLE_EQ(shares.seconds(10, 14), 2.5) << "then it was alone";
  EXPECT_DOUBLE_EQ(shares.seconds(11, 11.5), 0.125);
  EXPECT_DOUBLE_EQ(unknown.seconds(10, 14), 4);
}

TEST_F(JobActivityOf, OfMoreJobsThanCoresCountsTheCoresThatThereAre) {
  {
    Ledger ledger = open();
    ledger.set_fact("machine", R"({"cores":1})");
  }
  const JobActivity a = of({"name-a"}), both = of({"name-a", "name-c"});
  EXPECT_NEAR(a.cpu_percent.value(), 100, 1e-6) << "8 s, of 4 s by half and 6 s whole";
  EXPECT_NEAR(both.cpu_percent.value(), 110, 1e-6);
}

TEST_F(JobActivityOf, FollowsNoLinkAndTakesNamesOfDevicesAlone) {
  Database(file(), Database::Access::write)
      .execute("UPDATE attempt SET devices = '[1, \"GPU-1\"]'");
  EXPECT_TRUE(of({"name-c"}).on_devices);
  const TemporaryDirectory elsewhere;
  write_file_atomic(elsewhere.path() / "gpu.csv", "time,uuid,busy_percent\n101,GPU-1,80\n");
  std::filesystem::create_symlink(elsewhere.path() / "gpu.csv", folder.path() / "gpu.csv");
  EXPECT_THROW(of({"name-a"}), Error);
}

TEST_F(JobActivityOf, WithoutAGpuIsThatOfTheCores) {
  const JobActivity c = of({"name-c"});
  EXPECT_FALSE(c.on_devices);
  EXPECT_FALSE(c.gpu_percent.has_value());
  EXPECT_DOUBLE_EQ(c.cpu_percent.value(), 75);
  EXPECT_FALSE(of({"name-x"}).cpu_percent.has_value());
}

}  // namespace
}  // namespace lockstep
