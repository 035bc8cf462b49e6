// The job files that come along, from end to end, with stand-ins for the programs that they name.
// A stand-in fails where a word or a file is not what the real program would take.
#include "batch_rig.h"
#include "core/base/text/text.h"
#include "fakes/nvml_machine.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ToolResult;

namespace fs = std::filesystem;

class BatchExamples : public BatchRig, protected testing::NvmlMachine {
 protected:
  BatchExamples() {
    nlohmann::json gpus = nlohmann::json::array();
    for (int i = 0; i < 2; ++i) gpus.push_back(gpu(i, {{"processes", nlohmann::json::array()}}));
    set(gpus);
    environment = environment_;
    environment["XDG_STATE_HOME"] = folder.path() / "state";
    environment["PATH"] = (folder.path() / "bin").string() + ":" + std::getenv("PATH");
    fs::copy(fs::path(LOCKSTEP_SOURCE_DIR) / "examples/batch", folder.path(),
             fs::copy_options::recursive);
  }
  void file(const std::string& name, const std::string& text = "") const {
    fs::create_directories((folder.path() / name).parent_path());
    std::ofstream(folder.path() / name) << text;
  }
  // In PATH.
  void program(const std::string& name, const std::string& script) const {
    file("bin/" + name, "#!/bin/sh\n" + script);
    fs::permissions(folder.path() / "bin" / name, fs::perms::owner_all);
  }
  ToolResult run_example(const std::string& name) {
    return run({"batch", "run", name + ".toml", "--name", "b", "--slots", "64"});
  }
  // What the jobs published under this name, by the name of the job, sorted.
  std::vector<std::string> published(const std::string& name) const {
    std::vector<std::string> all;
    for (const auto& job : fs::directory_iterator(batch() / "jobs"))
      all.push_back(job.path().filename().string() + ": " + trim(read_file(job.path() / name)));
    std::sort(all.begin(), all.end());
    return all;
  }
};

// The block of that language which follows the heading in the guide.
std::string block_of_guide(const std::string& heading, const std::string& language) {
  const std::string guide = read_file(fs::path(LOCKSTEP_SOURCE_DIR) / "docs/guide/batch.md");
  const std::string fence = "```" + language + "\n";
  const std::size_t begin = guide.find(fence, guide.find("### " + heading)) + fence.size();
  return guide.substr(begin, guide.find("```", begin) - begin);
}

TEST_F(BatchExamples, ResultsOfTheGuideAreInTheLedgerTheStatusAndTheTable) {
  file("fit.py", block_of_guide("What a job says of itself", "python"));
  const ToolResult result =
      run({"batch", "run", "--name", "b", "--", "python3", "fit.py", "{1}", ":::", "0.1", "0.3"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(count("SELECT count(*) FROM result WHERE name = 'loss' AND abs(number - 0.04) < 1e-9"),
            1);
  EXPECT_THAT(run({"batch", "status", "b", "1=0.3"}).out, HasSubstr("\"data\": \"a1b2\""));
  const ToolResult table = run({"batch", "analyze", "b", "--csv", "-"});
  EXPECT_THAT(table.out, HasSubstr(",parameter.1,result.data,result.loss,result.rows\n"));
  EXPECT_THAT(table.out, HasSubstr(",0.1,a1b2,0,1200\n"));
}

constexpr const char* lightgbm = R"(
for word; do
  case $word in
    config=*|data=*) [ -f "${word#*=}" ] || exit 7 ;;
    num_leaves=*) leaves=${word#*=} ;;
    output_model=*) model=${word#*=} ;;
    num_threads=$OMP_NUM_THREADS) threads=$OMP_NUM_THREADS ;;
    *) echo "unknown: $word"; exit 8 ;;
  esac
done
echo "leaves $leaves threads $threads" > "$model"
)";

TEST_F(BatchExamples, Lightgbm) {
  program("lightgbm", lightgbm);
  file("train.conf");
  for (const char* const symbol : {"AAPL", "AMZN", "GOOG", "MSFT"})
    file(cat("data/", symbol, ".csv"));
  const ToolResult result = run_example("lightgbm");
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> models = published("model.txt");
  ASSERT_EQ(models.size(), 12u);
  EXPECT_EQ(models[0], "lightgbm,symbol=AAPL,leaves=127: leaves 127 threads 2");
}

constexpr const char* xgboost = R"(
[ "$1" = train.conf ] && [ -f "$1" ] || exit 6
shift
for word; do
  case $word in
    data=*) [ -f "${word#*=}" ] || exit 7 ;;
    max_depth=*|eta=*) said="$said $word" ;;
    device=cuda:0) [ -n "$CUDA_VISIBLE_DEVICES" ] || exit 9 ;;
    model_out=*) model=${word#*=} ;;
    *) echo "unknown: $word"; exit 8 ;;
  esac
done
echo $said on $CUDA_VISIBLE_DEVICES > "$model"
)";

TEST_F(BatchExamples, Xgboost) {
  program("xgboost", xgboost);
  file("train.conf");
  for (const char* const symbol : {"AAPL", "GOOG"}) file(cat("data/", symbol, ".libsvm"));
  const ToolResult result = run_example("xgboost");
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> models = published("model.json");
  ASSERT_EQ(models.size(), 16u);
  EXPECT_THAT(models[0], HasSubstr("symbol=AAPL,depth=10,eta=0.1: max_depth=10 eta=0.1 on GPU-0"));
}

constexpr const char* catboost = R"(
[ "$1" = fit ] || exit 6
shift
while [ $# -gt 0 ]; do
  case $1 in
    --learn-set|--column-description) [ -f "$2" ] || exit 7 ;;
    --task-type) [ "$2" = GPU ] || exit 9 ;;
    --devices) [ "$2" = 0 ] && [ "${CUDA_VISIBLE_DEVICES#*,}" = "$CUDA_VISIBLE_DEVICES" ] || exit 9 ;;
    --depth|--iterations) said="$said $2" ;;
    --train-dir) [ -d "$2" ] || exit 7 ;;
    --model-file) model=$2 ;;
    *) echo "unknown: $1"; exit 8 ;;
  esac
  shift 2
done
echo $said > "$model"
)";

TEST_F(BatchExamples, Catboost) {
  program("catboost", catboost);
  file("data/train.tsv");
  file("data/columns.cd");
  const ToolResult result = run_example("catboost");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(published("model.cbm"),
              ElementsAre("depth=10,iterations=1000: 10 1000", "depth=6,iterations=1000: 6 1000",
                          "depth=6,iterations=4000: 6 4000", "depth=8,iterations=1000: 8 1000",
                          "depth=8,iterations=4000: 8 4000"));
}

constexpr const char* fit = R"(
import argparse, json, sys
parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--from", dest="start", required=True)
parser.add_argument("--to", required=True)
parser.add_argument("--rate", type=float, required=True)
parser.add_argument("--save", required=True)
asked = parser.parse_args()
if asked.start == "2022-06-30":
    sys.exit(2)
json.dump({"rate": asked.rate, "to": asked.to}, open(asked.save, "w"))
)";

TEST_F(BatchExamples, APythonScriptWithWindowsThatAreSkipped) {
  file("fit.py", fit);
  const ToolResult result = run_example("python");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("4 done, 2 skipped of 6"));
  EXPECT_EQ(published("result.json")[0],
            R"(start=2022-01-01,end=2022-06-30,rate=0.01: {"rate": 0.01, "to": "2022-06-30"})");
}

TEST_F(BatchExamples, AScriptThatIsLoadedOnceForEachSlot) {
  const ToolResult result =
      run({"batch", "run", "kept.toml", "--name", "b", "--slots", "2", "--devices", "cpu"});
  EXPECT_EQ(result.code, 0) << result.err;
  int loaded = 0;
  for (const std::string& one : published("result.json"))
    loaded += one.find("\"loaded_here\": true") != one.npos;
  EXPECT_GE(loaded, 1);
  EXPECT_LE(loaded, 2);
  EXPECT_THAT(published("result.json")[0],
              HasSubstr(R"(rate=0.01,seed=10: {"rate": 0.01, "seed": 10)"));
  EXPECT_THAT(text("runs/b/logs/rate=0.01,seed=7.1.log"), HasSubstr("rate 0.01, seed 7, in"));
}

TEST_F(BatchExamples, ASearchOverATraining) {
  program("lockstep", R"(
[ "$1 $2 $3" = "train textgen preset=small" ] && [ "$6 $7" = "--name run" ] || exit 6
mkdir -p "${8#run.root=}/run" && echo "$4 $5" > "${8#run.root=}/run/run.json"
)");
  const ToolResult result = run_example("textgen");
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> runs = published("run/run.json");
  ASSERT_EQ(runs.size(), 12u);
  EXPECT_EQ(runs[0], "lr1e-2-seed1: optimizer.lr=1e-2 seed=1");
}

TEST_F(BatchExamples, GroupsThatWaitForEachOther) {
  file("features.py", "import sys\nopen(sys.argv[1] + '.features', 'w')\n");
  file("fit.py",
       "import sys\nopen(sys.argv[1] + '.features')\n"
       "open(f'{sys.argv[1]}.{sys.argv[3]}.fit', 'w')\n");
  file("report.py", "import glob\nassert len(glob.glob('*.fit')) == 6\n");
  const ToolResult result = run_example("steps");
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_EQ(jobs_in("done"), 10);
}

TEST_F(BatchExamples, TheOneWithEveryKey) {
  file("train.py",
       "import os, sys\nout = sys.argv[-1]\nassert out == os.environ['LOCKSTEP_OUT']\n"
       "assert os.environ['RUN_NAME'].endswith(os.environ['LOCKSTEP_PARAM_lr'])\n"
       "open(out + '/model.txt', 'w')\n");
  const ToolResult result = run_example("every_key");
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_EQ(jobs_in("done"), 41);
}

}  // namespace
}  // namespace lockstep
