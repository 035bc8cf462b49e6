// Run directories that somebody else made: evaluate and runs read them, and nothing in them makes
// the tool run their code, wait for ever, or write outside them.
#include "checkout_paths.h"
#include "fakes/raw_controls.h"
#include "fakes/tool.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/checkpoint/checkpoint_writer.h"
#include "runtime/run/checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_tool;
using testing::ToolResult;
using Words = std::vector<std::string>;

class Stranger : public ::testing::Test {
 protected:
  void SetUp() override {
    corpus = folder.path() / "corpus.txt";
    testing::write_corpus(corpus, 9000);
  }
  void train(const Words& more = {}) const {
    Words words{"train", "textgen", "--devices", "cpu:1", "--name", "gift", "stop.steps=4"};
    for (const std::string& option : testing::tiny(corpus))
      if (!option.starts_with("stop.")) words.push_back(option);
    words.insert(words.end(), more.begin(), more.end());
    const ToolResult result = run_tool(words, folder.path());
    ASSERT_EQ(result.code, 0) << result.err;
  }
  nlohmann::json record() const { return nlohmann::json::parse(read_file(run / "run.json")); }
  void write_record(const nlohmann::json& record) const {
    write_file_atomic(run / "run.json", record.dump());
  }
  // A newer checkpoint with `text` as this file and a manifest that fits.
  void forge(const std::string& file, const std::string& text) const {
    const std::filesystem::path good = run / "checkpoints/step-000000004";
    CheckpointWriter writer(run / "checkpoints", 5);
    for (const char* name : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
      const std::string bytes = name == file ? text : read_file(good / name);
      writer.append(name, bytes.data(), bytes.size());
    }
    writer.commit(nullptr);
  }
  static std::string safetensors(const std::string& header, const std::string& data = "") {
    std::string text(8, '\0');
    for (std::size_t i = 0; i < 8; ++i)
      text[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
    return text + header + data;
  }

  TemporaryDirectory folder;
  std::filesystem::path corpus, run = folder.path() / "runs/gift";
};

TEST_F(Stranger, APluginInTheRecordRunsOnlyIfTheUserNamedIt) {
  const std::filesystem::path library = folder.path() / "libown.so";
  std::filesystem::copy_file(LOCKSTEP_BUILD_DIR "/tests/libfaulty-plugin.so", library);
  const ToolResult trained = run_tool({"train", "faulty", "--plugin", library, "--devices", "cpu:1",
                                       "--name", "gift", "stop.steps=4"},
                                      folder.path());
  ASSERT_EQ(trained.code, 0) << trained.err;
  // The user's own goes on working, by name of the run alone.
  EXPECT_EQ(run_tool({"evaluate", "gift", "--devices", "cpu:1"}, folder.path()).code, 0);

  const std::filesystem::path foreign = run / "libgift.so";
  std::filesystem::copy_file(library, foreign);
  nlohmann::json forged = record();
  forged["plugin"] = foreign.string();
  write_record(forged);
  for (const char* command : {"evaluate", "predict", "resume"}) {
    const ToolResult refused = run_tool({command, "gift", "--devices", "cpu:1"}, folder.path());
    EXPECT_EQ(refused.code, 2) << command;
    EXPECT_THAT(refused.err, HasSubstr("names the plugin " + foreign.string()));
    EXPECT_THAT(refused.err, HasSubstr("hint: if you trust it: --plugin "));
  }
  EXPECT_EQ(run_tool({"runs", "gift"}, folder.path()).code, 0);
  const ToolResult named =
      run_tool({"evaluate", "gift", "--devices", "cpu:1", "--plugin", library}, folder.path());
  EXPECT_EQ(named.code, 0) << named.err;
  // A worker that somebody starts by hand does not load it either.
  const ToolResult worker =
      testing::ToolProcess({testing::program("lockstep-worker"), "bench", "--run", run.string()},
                           folder.path())
          .wait();
  EXPECT_NE(worker.code, 0);
  EXPECT_THAT(worker.err, HasSubstr("names the plugin " + foreign.string()));
}

TEST_F(Stranger, PreparedDataGoesNowhereElse) {
  train();
  const std::filesystem::path victim = folder.path() / "victim";
  std::filesystem::create_directory(victim);
  write_file_atomic(victim / "CACHEDIR.TAG", "somebody else's cache");
  const nlohmann::json own = record();
  for (const char* key : {"run.root", "run.cache"}) {
    nlohmann::json forged = own;
    forged["config"][key] = victim.string();
    write_record(forged);
    std::filesystem::remove_all(folder.path() / "runs/.cache");
    const ToolResult result =
        testing::ToolProcess(
            {testing::program("lockstep"), "evaluate", "gift", "--devices", "cpu:1"}, folder.path(),
            {{"XDG_CACHE_HOME", (folder.path() / "cache").string()}})
            .wait();
    EXPECT_EQ(result.code, 0) << result.err;
    std::vector<std::string> there;
    for (const auto& entry : std::filesystem::directory_iterator(victim))
      there.push_back(entry.path().filename().string());
    EXPECT_EQ(there, std::vector<std::string>{"CACHEDIR.TAG"}) << key;
  }
}

// Where there is no home, the cache lies in the temporary folder of all users.
TEST_F(Stranger, ATemporaryFolderThatOthersCanWriteToIsNotUsed) {
  train();
  nlohmann::json forged = record();
  forged["config"]["run.root"] = (folder.path() / "elsewhere").string();
  write_record(forged);
  const std::filesystem::path temporary = folder.path() / "tmp";
  const std::filesystem::path planted = temporary / ("lockstep-" + std::to_string(getuid()));
  std::filesystem::create_directories(planted);
  std::filesystem::permissions(planted, std::filesystem::perms::all);
  const auto evaluate = [&] {
    return testing::ToolProcess(
               {testing::program("lockstep"), "evaluate", "gift", "--devices", "cpu:1"},
               folder.path(),
               {{"HOME", ""}, {"XDG_CACHE_HOME", ""}, {"TMPDIR", temporary.string()}})
        .wait();
  };
  const ToolResult refused = evaluate();
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr(planted.string() + " must be a folder that only you"));
  std::filesystem::remove_all(planted);
  const ToolResult result = evaluate();
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(Stranger, FilesObeyTheUmask) {
  for (const auto& [mask, forbidden] : {std::pair{022, 022}, std::pair{077, 077}}) {
    const mode_t before = umask(static_cast<mode_t>(mask));
    const std::string name = "masked-" + std::to_string(mask);
    std::filesystem::remove_all(folder.path() / "runs/.cache");  // copies have its files' modes
    train({"--name", name});
    umask(before);
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder.path() / "runs" / name)) {
      struct stat info {};
      ASSERT_EQ(lstat(entry.path().c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & static_cast<mode_t>(forbidden), 0U) << entry.path();
      if (entry.is_regular_file()) EXPECT_EQ(info.st_mode & 0111U, 0U) << entry.path();
    }
  }
}

TEST_F(Stranger, LinksAreNotWrittenThrough) {
  train();
  const std::filesystem::path victim = folder.path() / "victim";
  const auto link = [&](const std::string& name) {
    std::ofstream(victim) << "precious\n";
    std::filesystem::remove(run / name);
    std::filesystem::create_symlink(victim, run / name);
  };
  for (const char* name : {"events.jsonl", "lock", "logs/rank0.log"}) {
    const std::string before = read_file(run / name);
    link(name);
    run_tool({"evaluate", "gift", "--devices", "cpu:1"}, folder.path());
    run_tool({"runs", "gift"}, folder.path());
    const ToolResult resumed =
        run_tool({"resume", "gift", "--devices", "cpu:1", "stop.steps=6"}, folder.path());
    EXPECT_NE(resumed.code, 0) << name;
    EXPECT_THAT(resumed.err, HasSubstr(name));
    EXPECT_EQ(read_file(victim), "precious\n") << name;
    std::filesystem::remove(run / name);
    std::ofstream(run / name) << before;
  }
  // What is replaced as a whole takes the link's place.
  link("state.json");
  const ToolResult resumed =
      run_tool({"resume", "gift", "--devices", "cpu:1", "stop.steps=6"}, folder.path());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read_file(victim), "precious\n");
}

// Path, size and content of all that lies in it.
std::map<std::string, std::string> all_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    found[entry.path().string()] = entry.is_regular_file() ? read_file(entry.path()) : "";
  return found;
}

TEST_F(Stranger, FoldersThatAreLinksAreNotWrittenThrough) {
  train({"log.tensorboard=true", "eval.every_steps=2"});
  const std::filesystem::path victim = folder.path() / "victim", kept = folder.path() / "kept";
  for (const char* name : {"checkpoints", "logs", "tensorboard", "evaluations", "media"}) {
    std::filesystem::remove_all(victim);
    std::filesystem::create_directories(victim / ".tmp-precious");
    std::ofstream(victim / ".tmp-precious/model.safetensors") << "precious";
    if (std::filesystem::exists(run / name))
      std::filesystem::copy(run / name, victim, std::filesystem::copy_options::recursive);
    const auto before = all_of(victim);
    const bool was_there = std::filesystem::exists(run / name);
    if (was_there) std::filesystem::rename(run / name, kept);
    std::filesystem::create_directory_symlink(victim, run / name);
    run_tool({"evaluate", "gift", "--devices", "cpu:1"}, folder.path());
    run_tool({"predict", "gift", "--devices", "cpu:1", "predict.tokens=2"}, folder.path());
    run_tool({"runs", "gift"}, folder.path());
    run_tool({"report", "gift"}, folder.path());
    const ToolResult resumed =
        run_tool({"resume", "gift", "--devices", "cpu:1", "stop.steps=6"}, folder.path());
    EXPECT_EQ(resumed.code, 2) << resumed.err;
    EXPECT_THAT(resumed.err, HasSubstr((run / name).filename().string() + " is a link")) << name;
    EXPECT_EQ(all_of(victim), before) << name;
    std::filesystem::remove(run / name);
    if (was_there) std::filesystem::rename(kept, run / name);
  }
  // A link to the run itself is the user's own.
  std::filesystem::create_directory_symlink(run, folder.path() / "runs/mine");
  const ToolResult resumed =
      run_tool({"resume", "mine", "--devices", "cpu:1", "stop.steps=6"}, folder.path());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

TEST_F(Stranger, NothingIsRemovedThatNoTrainingHasMade) {
  train({"checkpoint.every_steps=1", "checkpoint.keep=3"});
  const std::filesystem::path checkpoints = run / "checkpoints";
  std::filesystem::create_directories(checkpoints / ".tmp-mine");
  std::filesystem::create_directories(checkpoints / ".tmp-killed");
  std::ofstream(checkpoints / ".tmp-mine/notes.txt") << "mine";
  std::ofstream(checkpoints / ".tmp-killed/model.safetensors") << "half";
  std::ofstream(checkpoints / "step-000000003/notes.txt") << "mine";
  const ToolResult resumed =
      run_tool({"resume", "gift", "--devices", "cpu:1", "stop.steps=8"}, folder.path());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read_file(checkpoints / ".tmp-mine/notes.txt"), "mine");
  EXPECT_FALSE(std::filesystem::exists(checkpoints / ".tmp-killed"));
  EXPECT_EQ(read_file(checkpoints / "step-000000003/notes.txt"), "mine");
  EXPECT_FALSE(std::filesystem::exists(checkpoints / "step-000000002"));
}

TEST_F(Stranger, AnotherRunFromItHoldsNoneOfOnesOwnFiles) {
  train();
  std::ofstream(folder.path() / "secret") << "secret";
  std::filesystem::create_directories(run / "recipe");
  std::filesystem::create_symlink(folder.path() / "secret", run / "recipe/taken");
  const ToolResult resumed = run_tool(
      {"resume", "gift", "--into", "mine", "--devices", "cpu:1", "stop.steps=6"}, folder.path());
  EXPECT_EQ(resumed.code, 2);
  EXPECT_THAT(resumed.err, HasSubstr("taken: it is no regular file"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs/mine"));
  std::filesystem::rename(run / "recipe", folder.path() / "linked");
  std::filesystem::remove(folder.path() / "linked/taken");
  std::filesystem::create_directory_symlink(folder.path() / "linked", run / "recipe");
  for (const Words& words :
       {Words{"resume", "gift", "--into", "mine", "--devices", "cpu:1", "stop.steps=6"},
        Words{"export", "gift", "--out", "mine.safetensors"}}) {
    const ToolResult refused = run_tool(words, folder.path());
    EXPECT_EQ(refused.code, 2) << words[0];
    EXPECT_THAT(refused.err, HasSubstr("gift/recipe")) << words[0];
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs/mine"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "mine.safetensors"));
}

TEST_F(Stranger, WordsInItDoNotSteerTheTerminal) {
  train();
  const std::string escape = testing::steering_utf8;
  nlohmann::json forged = record();
  forged["recipe"] = forged["host"] = forged["git"]["branch"] = escape;
  forged["plugin"] = escape;
  forged["command"] = {escape};
  write_record(forged);
  write_file_atomic(run / "state.json",
                    nlohmann::json{{"state", "failed"}, {"why", escape}}.dump());
  std::ofstream(run / "events.jsonl", std::ios::app)
      << nlohmann::json{{"kind", "warning"}, {"step", 4}, {"text", escape}}.dump() << "\n";
  for (const Words& words :
       {Words{"runs"}, Words{"runs", "gift"}, Words{"evaluate", "gift"}, Words{"report", "gift"},
        Words{"runs", "gift", "--json"}, Words{"compare", "gift", "gift"}}) {
    const ToolResult result = run_tool(words, folder.path());
    EXPECT_FALSE(testing::has_raw_controls(result.out + result.err)) << words.back();
  }
  for (const char* page : {"report.html", "report.md"})
    EXPECT_FALSE(testing::has_raw_controls(read_file(run / page))) << page;
}

// Nor the names of folders, values and plugins; and a name with a newline is one line of a list.
TEST_F(Stranger, NamesDoNotSteerTheTerminal) {
  const std::string name = testing::steering + "\n\nhint: forged";
  std::filesystem::create_directories(folder.path() / "runs" / name);
  std::ofstream(folder.path() / "runs" / name / "run.json") << "{}";
  const std::string steering = testing::steering;
  for (const Words& words :
       {Words{"runs"}, Words{"runs", "runs/" + name}, Words{"report", "runs/" + name},
        Words{"runs", steering}, Words{steering}, Words{"plan", steering},
        Words{"plan", "textgen", "optimizer.lr=" + steering}, Words{"plan", "textgen", steering},
        Words{"plan", "textgen", "data.path=" + steering},
        Words{"plan", "textgen", "init.from=" + steering},
        Words{"plan", "x", "--plugin", steering + ".so"}, Words{"batch", "status", steering}}) {
    const ToolResult result = run_tool(words, folder.path());
    EXPECT_FALSE(testing::has_raw_controls(result.out + result.err)) << words[0];
    EXPECT_THAT(result.err, Not(HasSubstr("\n\nhint: forged"))) << words[0];
  }
  const std::string listed = run_tool({"runs"}, folder.path()).out;
  EXPECT_THAT(listed, HasSubstr(R"(<\x1b[2J)"));
  EXPECT_THAT(listed, HasSubstr(R"(\n\nhint: forged)"));
}

TEST_F(Stranger, APluginWhosePathIsNoUtf8IsRefused) {
  const ToolResult result = run_tool({"plan", "x", "--plugin", "no\xfftext.so"}, folder.path());
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("must be UTF-8"));
  EXPECT_THAT(result.err, HasSubstr("no\\xfftext.so"));
}

TEST_F(Stranger, AValueOfAConfigFileDoesNotSteerTheTerminal) {
  std::ofstream(folder.path() / "c.toml") << "[optimizer]\nlr = \"\\u001b[2J\\u009b\\u202e\"\n";
  const ToolResult result = run_tool({"plan", "textgen", "--config", "c.toml"}, folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_FALSE(testing::has_raw_controls(result.err));
  EXPECT_THAT(result.err, HasSubstr(R"(\x1b[2J\u009b\u202e)"));
}

TEST_F(Stranger, PipesInPlaceOfFilesMakeNobodyWait) {
  train();
  train({"--name", "good"});
  for (const char* name :
       {"events.jsonl", "lock", "state.json", "run.json", "logs/rank0.log",
        "checkpoints/step-000000004/manifest.json", "checkpoints/step-000000004/model.safetensors",
        "checkpoints/step-000000004/state.json"}) {
    std::filesystem::rename(run / name, folder.path() / "kept");
    ASSERT_EQ(mkfifo((run / name).c_str(), 0600), 0);
    const ToolResult listed = run_tool({"runs"}, folder.path());
    EXPECT_EQ(listed.code, 0) << listed.err;
    EXPECT_THAT(listed.out, HasSubstr("good"));  // the run beside it
    run_tool({"runs", "gift"}, folder.path());
    run_tool({"runs", "gift", "--json"}, folder.path());
    run_tool({"evaluate", "gift", "--devices", "cpu:1"}, folder.path());
    run_tool({"predict", "gift", "--devices", "cpu:1", "predict.tokens=2"}, folder.path());
    std::filesystem::remove(run / name);
    std::filesystem::rename(folder.path() / "kept", run / name);
  }
}

// A folder may have any name, and a record be no record: the other runs are there all the same.
TEST_F(Stranger, OneFolderHidesNoOtherRun) {
  train();
  for (const char* name : {"-x", "--root=/"}) {
    std::filesystem::create_directories(folder.path() / "runs" / name);
    std::ofstream(folder.path() / "runs" / name / "run.json") << "{";
  }
  const ToolResult listed = run_tool({"runs"}, folder.path());
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("gift"));
  EXPECT_THAT(listed.out, HasSubstr("-x"));
  Words words{"train", "textgen", "--devices", "cpu:1", "--resume", "auto", "stop.steps=6"};
  for (const std::string& option : testing::tiny(corpus))
    if (!option.starts_with("stop.")) words.push_back(option);
  const ToolResult resumed = run_tool(words, folder.path());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(read_file(run / "events.jsonl"), HasSubstr("\"step\":6"));
}

TEST_F(Stranger, TensorsThatLieAreRefusedByName) {
  train();
  const auto refused = [&](const std::string& file, const std::string& text) {
    forge(file, text);
    const ToolResult result = run_tool({"evaluate", "gift", "--devices", "cpu:1"}, folder.path());
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(file));
    EXPECT_THAT(result.err, Not(HasSubstr("killed by signal")));
  };
  refused("model.safetensors", safetensors(R"({"a":{"dtype":"F32","shape":[1152921504606846976],)"
                                           R"("data_offsets":[0,8]}})",
                                           "12345678"));
  refused("model.safetensors",
          safetensors(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                      "1234"));
  refused("model.safetensors", safetensors(R"({"a":{"dtype":"F32","shape":[1],)"
                                           R"("data_offsets":[18446744073709551612,0]}})"));
  refused("model.safetensors", std::string(8, '\xff'));
  refused("model.safetensors", "");
  refused("state.json", "{\"step\":");
  refused("state.json", "[]");
}

// Zeros without blocks on the disk: a file of 1 TiB that costs nothing.
TEST_F(Stranger, FilesOfAnySizeAreNamedAndHideNoOtherRun) {
  constexpr std::uintmax_t large = std::uintmax_t{1} << 40;
  for (const char* name : {"whole", "events", "record", "state"}) {
    const std::filesystem::path made = folder.path() / "runs" / name;
    std::filesystem::create_directories(made);
    write_file_atomic(made / "run.json", R"({"recipe":"toy","started":1})");
    write_file_atomic(made / "events.jsonl", "{\"kind\":\"start\",\"step\":0}\n");
    write_file_atomic(made / "state.json", R"({"state":"finished"})");
  }
  std::filesystem::resize_file(folder.path() / "runs/events/events.jsonl", large);
  std::filesystem::resize_file(folder.path() / "runs/record/run.json", large);
  std::filesystem::resize_file(folder.path() / "runs/state/state.json", large);
  const ToolResult runs = run_tool({"runs"}, folder.path());
  EXPECT_EQ(runs.code, 0) << runs.err;
  EXPECT_THAT(runs.out, ::testing::ContainsRegex("whole +toy +finished"));
  EXPECT_THAT(runs.err, HasSubstr("warning: run events is left out: cannot read"));
  EXPECT_THAT(runs.err, HasSubstr("events.jsonl: line 2 has more than 16 MiB"));
  EXPECT_THAT(runs.err, HasSubstr("warning: run record: cannot read"));
  EXPECT_THAT(runs.err, HasSubstr("warning: run state: cannot read"));
  EXPECT_THAT(runs.err, HasSubstr("it has 1 TiB, more than the limit of 16 MiB"));
}

TEST_F(Stranger, InputsWithoutAnEndAreRefused) {
  const ToolResult config = run_tool({"plan", "textgen", "--config", "/dev/zero"}, folder.path());
  EXPECT_EQ(config.code, 2);
  EXPECT_THAT(config.err, HasSubstr("/dev/zero: it has more than the limit of 16 MiB"));
  const ToolResult jobs = run_tool({"batch", "run", "/dev/zero"}, folder.path());
  EXPECT_EQ(jobs.code, 2);
  EXPECT_THAT(jobs.err, HasSubstr("/dev/zero: it has more than the limit of 64 MiB"));
}

}  // namespace
}  // namespace lockstep
