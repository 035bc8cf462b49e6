// Batches that a stranger made: they are told of by name, hide no others, and give out nothing.
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "batch_rig.h"
#include "tools/jobs/ledger/database.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;

class ForeignBatch : public BatchRig {
 protected:
  void make(const std::string& name) {
    const ToolResult made =
        run(run_words({"--slots", "1"}, {"echo", "words of", "{1}", ":::", "x", "y"}, name));
    ASSERT_EQ(made.code, 0) << made.err;
  }
  fs::path of(const std::string& name) const { return folder.path() / "runs" / name; }
  void change(const std::string& name, const std::string& sql) const {
    Database database(of(name) / "ledger.sqlite", Database::Access::write);
    database.limit_work({});
    database.execute(sql);
  }
};

TEST_F(ForeignBatch, HidesNoOtherInTheListOfAll) {
  for (const char* name : {"b", "pipe", "view"}) make(name);
  fs::remove(of("pipe") / "ledger.sqlite");
  ASSERT_EQ(::mkfifo((of("pipe") / "ledger.sqlite").c_str(), 0600), 0);
  change("view",
         "DROP TABLE job; CREATE VIEW job(id, state, listed) AS WITH RECURSIVE n(i) AS (SELECT 1 "
         "UNION ALL SELECT i + 1 FROM n) SELECT i, 'done', 1 FROM n");
  const ToolResult all = run({"runs"});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.out, HasSubstr("batch b: 2 done of 2"));
  EXPECT_THAT(all.err, AllOf(HasSubstr("batch pipe is left out"), HasSubstr("is a pipe"),
                             HasSubstr("batch view is left out"), HasSubstr("has a view job")));
  for (const Words& words : {Words{"batch", "status", "view"},
                             {"report", "view"},
                             {"compare", "view", "b"},
                             {"batch", "cancel", "view"},
                             {"batch", "resume", "view"},
                             {"batch", "status", "pipe"}}) {
    const ToolResult one = run(words);
    EXPECT_EQ(one.code, 2) << words[1];
    EXPECT_THAT(one.err, HasSubstr("ledger.sqlite")) << words[1];
  }
}

TEST_F(ForeignBatch, PrintsNoFileThatIsNotItsOwn) {
  make("b");
  std::ofstream(folder.path() / "secret.1.log") << "secret words\n";
  EXPECT_EQ(run({"batch", "logs", "b", "1"}).out, "words of x\n");
  const fs::path log = of("b") / "logs" / (ledger().job(1).name + ".1.log");
  fs::remove(log);
  fs::create_symlink(folder.path() / "secret.1.log", log);
  const ToolResult linked = run({"batch", "logs", "b", "1"});
  EXPECT_EQ(linked.code, 2);
  EXPECT_THAT(linked.err, HasSubstr("leads out of the batch's folder"));
  EXPECT_THAT(linked.out, Not(HasSubstr("secret")));
  change("b", "UPDATE job SET name = '../../../secret', state = 'failed' WHERE id = 2");
  const ToolResult named = run({"batch", "logs", "b", "2"});
  EXPECT_EQ(named.code, 2);
  EXPECT_THAT(named.err, HasSubstr("name cannot be that of a folder"));
  EXPECT_THAT(named.out, Not(HasSubstr("secret")));
}

TEST_F(ForeignBatch, RowsOfJobsAreOneJsonWhateverTheirNumber) {
  make("b");
  const std::string text = run({"batch", "status", "b", "--json", "--jobs"}).out;
  const nlohmann::json value = nlohmann::json::parse(text);
  EXPECT_EQ(value["jobs"].size(), 2U);
  EXPECT_EQ(value["jobs"][1]["state"], "done");
  EXPECT_EQ(text, value.dump(2) + "\n");
  const std::string none = run({"batch", "status", "b", "--json", "--failed"}).out;
  EXPECT_EQ(none, nlohmann::json::parse(none).dump(2) + "\n");
}

TEST_F(ForeignBatch, OneThatRunsIsInUseAsABatch) {
  testing::ToolProcess tool = begin(run_words({}, {"sleep", "30"}));
  ASSERT_TRUE(comes_true([&] { return jobs_in("running") == 1; }));
  const ToolResult second = run({"batch", "resume", "b"});
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr("error: batch \"b\" is in use by process"));
  EXPECT_EQ(run({"batch", "cancel", "b"}).code, 0);
  tool.wait();
}

}  // namespace
}  // namespace lockstep
