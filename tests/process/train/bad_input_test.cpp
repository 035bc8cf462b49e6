// Bad input: error, hint, exit code 2, and nothing written.
#include "fakes/tool.h"
#include "runtime/run/folder/run_dir.h"

#include <gtest/gtest.h>

#include <fstream>

namespace lockstep {
namespace {

using testing::run_tool;
using testing::ToolResult;

class BadInput : public ::testing::Test {
 protected:
  void SetUp() override { testing::write_corpus(folder.path() / "corpus.txt", 9000); }
  std::vector<std::string> train(std::vector<std::string> more) const {
    std::vector<std::string> words{"train", "textgen", "--devices", "cpu:2", "stop.steps=2"};
    for (const std::string& option : testing::tiny(folder.path() / "corpus.txt"))
      words.push_back(option);
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // The tool refuses, names `what`, hints, and leaves no run.
  void refuses(const std::vector<std::string>& words, const std::string& what) const {
    const ToolResult result = run_tool(words, folder.path());
    EXPECT_EQ(result.code, 2) << what << "\n" << result.err;
    EXPECT_NE(result.err.find("error: "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("\n\nhint: "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(what), std::string::npos) << "expected: " << what << "\n"
                                                        << result.err;
    EXPECT_TRUE(runs().empty()) << what;
  }
  std::vector<RunDir> runs() const { return list_runs(folder.path() / "runs"); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() / name, std::ios::binary) << text;
    return folder.path() / name;
  }

  TemporaryDirectory folder;
};

TEST_F(BadInput, UnknownOptionNamesTheNearest) {
  refuses(train({"optimizer.lrr=1"}), "optimizer.lr");
}
TEST_F(BadInput, AnOptionOfAnotherRecipeIsNamedAsSuch) {
  refuses(train({"episode.k_shot=3"}),
          "episode.k_shot is an option of the recipe fewshot, not of textgen");
  refuses(train({"num_leaves=3"}), "num_leaves is an option of the recipe gbdt, not of textgen");
}
TEST_F(BadInput, NamesOfOtherProgramsAreTranslatedWithTheirValues) {
  refuses({"train", "textgen", "--devices", "cpu:2", "--batch_size", "16", "learning_rate=5e-4",
           "num_workers=2"},
          "hint: write batch.global=32 batch.micro=16 optimizer.lr=5e-4 data.threads=2: "
          "batch.global is of 2 devices together");
  refuses({"train", "fewshot", "--device", "auto", "--num_episodes", "1000", "--pretrained"},
          "hint: write --devices all stop.episodes=1000 init.from=PATH");
  refuses({"train", "gbdt", "teacher_num_leaves=255", "eta=0.1", "reg_alpha=1"},
          "hint: write num_leaves=255 learning_rate=0.1 params.lambda_l1=1");
  refuses({"batch", "gbdt", "--workers", "4"}, "hint: write --slots 4");
  const std::string file = write("c.toml", "fp16 = true\n").string();
  refuses(train({"--config", file}),
          "hint: write in " + file +
              ", in place of these names and above any [table]:\nprecision = \"fp16\"");
}
TEST_F(BadInput, TheNamesOfASentenceScriptAreTranslatedTogether) {
  const std::string hint =
      "hint: write model.path=bert batch.global=2 model.encoder_rate=0.01 optimizer.lr=1e-3: "
      "batch.global is of 2 devices together; for a script that used one GPU, batch.global=1 and "
      "no other batch.* train as it did; leave out hidden_size: model.width has no effect: the "
      "sizes are those of model.path";
  refuses({"train", "dimabsa", "--devices", "cpu:2", "--bert_model_type", "bert", "--hidden_size",
           "768", "--batch_size", "1", "--learning_rate1", "1e-5", "--learning_rate2", "1e-3"},
          hint);
  refuses({"train", "dimabsa", "--devices", "cpu:2", "bert_model_type=bert", "hidden_size=768",
           "batch_size=1", "learning_rate1=1e-5", "learning_rate2=1e-3"},
          hint);
}
TEST_F(BadInput, TheArgumentsOfTheSharedTasksBaselineAreTranslated) {
  refuses({"train",
           "dimabsa",
           "--devices",
           "cpu:2",
           "--bert_model_type",
           "bert",
           "--model_name",
           "AOC",
           "--data_path",
           "./data/",
           "--train_data",
           "eng.jsonl",
           "--infer_data",
           "dev.jsonl",
           "--domain",
           "res",
           "--language",
           "eng",
           "--tuning_bert_rate",
           "1e-5",
           "--learning_rate",
           "1e-3",
           "--warm_up",
           "0.1",
           "--inference_beta",
           "0.9"},
          "hint: write model.path=bert --name AOC data.path=./data/eng.jsonl --then predict "
          "predict.input=./data/dev.jsonl data.domain=restaurant data.language=eng "
          "model.encoder_rate=0.01 optimizer.lr=1e-3 schedule.unit=epochs schedule.warmup=0.3 "
          "predict.beta=0.9 (a folder of the model");
  refuses({"train", "dimabsa", "--task", "2", "--mode", "inference", "--infer_data", "dev.jsonl",
           "--reload", "True", "--learning_rate", "1e-3", "--inference_beta", "0.8"},
          "lockstep predict RUN dev.jsonl predict.beta=0.8; `lockstep runs`");
  refuses({"plan", "textgen", "preset=kaggle", "vocab_size=50257"},
          "hint: leave out vocab_size: tokenizer.vocab has no effect: it is of tokenizer.kind=bpe, "
          "but the kind is gpt2, whose vocabulary has 50257 tokens");
  refuses({"train", "dimabsa", "--model_name", "bert-base-uncased"},
          "hint: write model.path=bert-base-uncased (");
  const ToolResult help = run_tool({"help", "tuning_bert_rate"}, folder.path());
  EXPECT_NE(help.out.find("model.encoder_rate=VALUE/optimizer.lr"), std::string::npos) << help.out;
}
TEST_F(BadInput, ANameOfTheHubIsToldHowToFetchIt) {
  refuses({"train", "dimabsa", "model.path=google-bert/bert-base-uncased/"},
          "hf download google-bert/bert-base-uncased --local-dir bert-base-uncased; and write "
          "model.path=bert-base-uncased");
  refuses({"train", "textgen", "tokenizer.kind=gpt2", "tokenizer.path=gpt2"},
          "hint: nothing is downloaded: `lockstep help vocabulary of GPT-2`");
}
TEST_F(BadInput, ADataSetOfTheHubOrTheWebIsNotDownloaded) {
  refuses({"train", "textgen", "data.path=wikitext-103"},
          "nothing is downloaded: if wikitext-103 is a data set of the Hugging Face hub");
  for (const char* recipe : {"textgen", "fewshot", "gbdt"})
    refuses({"train", recipe, "data.path=https://host/set.zip"},
            "data.path is an address, https://host/set.zip, and nothing is downloaded");
}
TEST_F(BadInput, AnOptionThatDoesNothingBesideAnotherIsRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> idle{
      {{"train", "dimabsa", "model.path=bert", "model.width=64"},
       "model.width has no effect: the sizes are those of model.path"},
      {{"plan", "dimabsa", "data.path=a.jsonl", "data.valid_path=b.jsonl", "data.valid_share=0.1"},
       "data.valid_share has no effect: data.valid_path says what to validate on"},
      {train({"data.valid_path=corpus.txt", "data.split=tail"}), "data.split has no effect"},
      {train({"tokenizer.vocab=300"}),
       "tokenizer.vocab has no effect: it is of tokenizer.kind=bpe, but the kind is bytes"},
      {{"train", "fewshot", "data.novel=cat", "data.novel_share=0.5"},
       "data.novel_share has no effect"},
      {{"train", "fewshot", "data.train=a.json", "data.valid=b.json", "data.valid_share=0.1"},
       "data.valid_share has no effect: data.valid says what to validate on"},
      {{"train", "fewshot", "data.novel_share=0"},
       "data.novel_share has no effect: neither data.path nor data.train is given"},
      {{"train", "fewshot", "data.train_pictures=photos"}, "data.train_pictures has no effect"},
      {{"train", "volume", "data.csv=train.csv"},
       "data.csv has no effect: no data.path is given, and the volumes are made"},
      {{"train", "volume", "data.normalize=zscore", "data.divide=255"},
       "data.divide has no effect: data.normalize is zscore"},
      {{"train", "textgen", "data.path=synthetic", "data.valid_share=0.5"},
       "data.valid_share has no effect: data.path=synthetic is random tokens"},
      {{"train", "volume", "data.folds=3", "data.valid_share=0.5"},
       "data.valid_share has no effect: data.folds says what to validate on"}};
  for (const auto& [words, what] : idle) refuses(words, what);
  // A file of options is written before the data is named.
  const ToolResult shown =
      run_tool({"config", "fewshot", "data.novel_share=0", "--toml"}, folder.path());
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("novel_share = 0"), std::string::npos) << shown.out;
  EXPECT_NE(shown.err.find("with these options: data.novel_share has no effect"), std::string::npos)
      << shown.err;
  // A file may serve several commands.
  const std::string file = write("c.toml", "[model]\npath = \"bert\"\nlayers = 3\n").string();
  refuses({"train", "dimabsa", "--config", file}, "there is no folder");
}
TEST_F(BadInput, AFileOfJsonOrOfPythonIsReadOrSaidHowToWrite) {
  const std::string json = write("c.json", R"({"batch_size": 16, "learning_rate": 5e-4})").string();
  refuses({"train", "textgen", "--devices", "cpu:2", "--config", json},
          "hint: write in " + json +
              ", in place of these names, at the top level:\n\"batch.global\": 32,\n"
              "\"batch.micro\": 16,\n\"optimizer.lr\": 0.0005\n");
  const std::string python = write("config.py", "CONFIG = {\n  'lr': 1,\n}\n").string();
  refuses(train({"--config", python}), "hint: write it as TOML, a line NAME = VALUE each");
}
TEST_F(BadInput, KindsOfGpusAreNamedWhereAPlanTakesThem) {
  refuses({"plan", "textgen", "--devices", "cuda:0"}, "unknown GPU \"cuda:0\"");
  refuses({"plan", "textgen", "--accelerator", "GPU T4 x 2"},
          "hint: write --devices 'GPU T4 x 2' (");
  refuses({"train", "textgen", "--accelerator", "GPU T4 x 2"}, "hint: write --devices all (");
}
TEST_F(BadInput, OptionsAreShownWithoutTheFilesThatTrainingNeeds) {
  for (const std::vector<std::string>& form :
       {std::vector<std::string>{}, {"--toml"}, {"--json"}}) {
    std::vector<std::string> words{"config", "textgen", "preset=kaggle"};
    words.insert(words.end(), form.begin(), form.end());
    const ToolResult shown = run_tool(words, folder.path());
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_NE(shown.out.find("tokenizer"), std::string::npos) << shown.out;
    EXPECT_NE(shown.err.find("warning: a run is refused with these options: tokenizer.kind = gpt2"),
              std::string::npos)
        << shown.err;
  }
  const ToolResult both = run_tool(
      {"config", "textgen", "preset=kaggle", "init.from=no/such", "data.path=a.txt", "--toml"},
      folder.path());
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_NE(both.out.find((folder.path() / "a.txt").string()), std::string::npos)
      << "paths are absolute " << both.out;
  EXPECT_NE(both.err.find("init.from: there is no file"), std::string::npos) << both.err;
  EXPECT_NE(both.err.find("tokenizer.kind = gpt2"), std::string::npos) << both.err;
  refuses({"config", "textgen", "no.such=1"}, "no.such is not an option");
  refuses({"config", "textgen", "preset=kaggle", "model.width=33", "model.heads=2"},
          "model.width must be a multiple of model.heads");
  refuses({"config", "textgen", "preset=kaggle", "checkpoint.best_metric=los"}, "best_metric");
  const std::string empty = write("empty.toml", "").string();
  refuses({"plan", "textgen", "--config", empty}, "empty.toml is empty: it sets no option");
}
TEST_F(BadInput, ANotebookIsNoProgram) {
  refuses({"launch", "--devices", "cpu:2", "python3", "X.ipynb"},
          "nbconvert --to script X.ipynb && lockstep launch --devices cpu:2 python3 X.py");
}
TEST_F(BadInput, AnOptionOfAnotherRecipeInAFileIsNamedAsSuch) {
  const std::string file = write("c.toml", "seed = 1\n[episode]\nk_shot = 3\n").string();
  refuses(
      train({"--config", file}),
      "episode.k_shot is an option of the recipe fewshot, not of textgen (" + file + ", line 3)");
}
TEST_F(BadInput, UnknownRecipeNamesTheNearest) { refuses({"train", "textgn"}, "textgen"); }
TEST_F(BadInput, UnknownCommandNamesTheNearest) { refuses({"trian"}, "train"); }
TEST_F(BadInput, UnknownFlagNamesTheNearest) {
  refuses({"train", "textgen", "--device", "cpu"}, "--devices");
}
TEST_F(BadInput, ValueOutOfRange) { refuses(train({"optimizer.beta1=1.5"}), "optimizer.beta1"); }
TEST_F(BadInput, ValueOfTheWrongType) { refuses(train({"batch.micro=four"}), "batch.micro"); }
TEST_F(BadInput, BatchThatDoesNotDivideNamesNearestSizes) {
  refuses(train({"batch.global=13"}), "12 or 14");
}
TEST_F(BadInput, BatchAboveTheDataNamesTheLargest) {
  refuses(train({"batch.global=1000000000"}), "set batch.global to at most");
}
TEST_F(BadInput, MicroBatchFarAboveTheMemoryNamesOneThatFits) {
  refuses(train({"batch.global=0", "batch.micro=1000000000"}), "set batch.micro to");
}
TEST_F(BadInput, DeviceThatIsNotThere) {
  refuses({"train", "textgen", "--devices", "cuda:9"}, "cuda:9");
}
TEST_F(BadInput, MissingFile) { refuses(train({"data.path=nowhere.txt"}), "nowhere.txt"); }
TEST_F(BadInput, EmptyFile) {
  refuses(train({"data.path=" + write("e.txt", "").string()}), "empty");
}
TEST_F(BadInput, FileThatIsNotText) {
  refuses(train({"data.path=" + write("b.txt", std::string("ab\0cd\0\xff\xfe", 8)).string()}),
          "b.txt");
}
TEST_F(BadInput, CorpusShorterThanOneContext) {
  refuses(train({"data.path=" + write("s.txt", "short").string()}), "context");
}
TEST_F(BadInput, JsonlWithABadLineNamesFileAndLine) {
  refuses(train({"data.path=" + write("d.jsonl", "{\"text\": \"a\"}\n{\"text\": \n").string()}),
          "d.jsonl");
  const ToolResult result =
      run_tool(train({"data.path=" + (folder.path() / "d.jsonl").string()}), folder.path());
  EXPECT_NE(result.err.find("2"), std::string::npos) << result.err;
}
TEST_F(BadInput, ConfigWithASyntaxErrorNamesFileAndLine) {
  std::vector<std::string> words = train({});
  words.insert(words.end(), {"--config", write("c.toml", "seed = 1\n[batch\n").string()});
  refuses(words, "c.toml");
}
TEST_F(BadInput, RunThatDoesNotExist) { refuses({"resume", "nothing"}, "nothing"); }
TEST_F(BadInput, RunNameWithASlash) { refuses(train({"--name", "a/b"}), "a/b"); }

TEST_F(BadInput, RunRootThatCannotBeMade) {
  write("file", "x");
  const ToolResult result = run_tool(train({"run.root=file/runs"}), folder.path());
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_NE(result.err.find("error: "), std::string::npos);
}

TEST_F(BadInput, RunRootWithoutPermissionToWrite) {
  std::filesystem::create_directory(folder.path() / "closed");
  std::filesystem::permissions(folder.path() / "closed", std::filesystem::perms::owner_read |
                                                             std::filesystem::perms::owner_exec);
  std::vector<std::string> words = train({"run.root=closed/runs"});
  words.insert(words.begin(), testing::program("lockstep"));
  const ToolResult result = testing::without_root_powers(words, folder.path());
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_NE(result.err.find("closed/runs"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("ermission denied"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("hint: "), std::string::npos) << result.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "closed"));
}

// Takes the right to write from a folder and all in it, or gives it back.
void close_tree(const std::filesystem::path& top, bool close) {
  using std::filesystem::perms;
  const auto how =
      close ? std::filesystem::perm_options::remove : std::filesystem::perm_options::add;
  const perms write = perms::owner_write | perms::group_write | perms::others_write;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top))
    std::filesystem::permissions(entry.path(), close ? write : perms::owner_write, how);
  std::filesystem::permissions(top, close ? write : perms::owner_write, how);
}

TEST_F(BadInput, RunThatCannotBeWrittenToIsReadWithInto) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  const auto closed = folder.path() / "runs/a";
  close_tree(closed, true);
  std::vector<std::string> words{
      testing::program("lockstep"), "resume", "a", "--devices", "cpu:1", "stop.steps=4"};
  const ToolResult refused = testing::without_root_powers(words, folder.path());
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_NE(refused.err.find("--into"), std::string::npos) << refused.err;
  words.insert(words.end(), {"--into", "b"});
  const ToolResult gone_on = testing::without_root_powers(words, folder.path());
  EXPECT_EQ(gone_on.code, 0) << gone_on.err;
  EXPECT_EQ(RunDir::open("b", folder.path() / "runs").state(), RunState::finished);
  close_tree(closed, false);
}

TEST_F(BadInput, ResumeIntoThatIsRefusedLeavesNothing) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  const auto resume = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"resume", "a", "--into", "b", "--devices", "cpu:2"};
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(words, folder.path());
  };
  EXPECT_EQ(resume({"stop.steps=4", "--devices", "cpu:5"}).code, 2);
  const ToolResult before_its_step = resume({"stop.steps=1"});
  EXPECT_EQ(before_its_step.code, 2);
  EXPECT_NE(before_its_step.err.find("its checkpoint is of step 2 already"), std::string::npos)
      << before_its_step.err;
  EXPECT_NE(before_its_step.err.find("hint: set stop.steps"), std::string::npos);
  write("other.txt", std::string(9000, 'x'));
  const ToolResult other_text = resume({"stop.steps=4", "data.path=other.txt"});
  EXPECT_EQ(other_text.code, 2);
  EXPECT_NE(other_text.err.find("another text"), std::string::npos) << other_text.err;
  EXPECT_EQ(runs().size(), 1U);
}

TEST_F(BadInput, ResumeOnRanksThatDoNotDivideNamesThoseThatDo) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  const ToolResult result =
      run_tool({"resume", "a", "stop.steps=4", "--devices", "cpu:5"}, folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("use 1, 2, 3, 4, 6 or 12 ranks"), std::string::npos) << result.err;
}

TEST_F(BadInput, MetricThatTheRecipeDoesNotHaveNamesTheNearest) {
  refuses(train({"checkpoint.best_metric=los"}), "did you mean loss?");
  refuses(train({"checkpoint.best_metric=nope"}), "must be one of loss, perplexity");
}
TEST_F(BadInput, EvaluatingWithoutValidationDataIsRefusedBeforeTraining) {
  refuses(train({"data.valid_share=0", "--then", "evaluate"}), "no validation data");
}
TEST_F(BadInput, EvaluateIsNotOfferedWithoutValidationData) {
  const ToolResult result = run_tool(train({"data.valid_share=0", "--name", "a b"}), folder.path());
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("lockstep predict 'runs/a b'"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("lockstep evaluate"), std::string::npos) << result.err;
  const ToolResult evaluated = run_tool({"evaluate", "a b", "--devices", "cpu:1"}, folder.path());
  EXPECT_EQ(evaluated.code, 2);
  EXPECT_EQ(evaluated.err.find("error: the recipe has no validation data"),
            evaluated.err.rfind("error: "))
      << evaluated.err;
}
TEST_F(BadInput, UnknownWordsHaveHints) {
  refuses(train({"--then", "evalute"}), "did you mean evaluate?");
  refuses({"launch", "--restart", "x", "--", "true"}, "--restart 3");
  refuses({"completion", "foo"}, "lockstep completion bash");
  refuses({"runs", "--json=1"}, "write --json by itself");
  refuses({"config", "textgen", "--json", "--toml"}, "cannot go together");
  refuses({"predict", "a", "--prompt", "x"}, "hint: write it after the run: lockstep predict RUN");
  refuses({"train", "textgen", "--lr", "3"}, "write optimizer.lr=3");
  refuses({"launch", "--nproc-per-node", "2", "true"}, "hint: --devices says");
  refuses({"launch", "--devices", "cpu:1"}, "lockstep launch python3 train.py");
  write("train.py", "print()\n");
  refuses({"launch", "--devices", "cpu:1", "./train.py"}, "lockstep launch python3 ./train.py");
  refuses({"plan", "textgen", "--devices", "2xT4,1xH10O"}, "unknown GPU \"H10O\"");
  refuses({"runs", "seed=3"}, "takes no option but run.root");
}
TEST_F(BadInput, TakenRunNameIsFoundBeforeThePreparation) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  const ToolResult result =
      run_tool(train({"--name", "a", "data.path=nowhere.txt"}), folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("is there already"), std::string::npos) << result.err;
}

TEST_F(BadInput, PlanNeedsNoFolderThatCanBeWrittenTo) {
  const auto closed = folder.path() / "closed";
  std::filesystem::create_directory(closed);
  close_tree(closed, true);
  const std::vector<std::string> words{testing::program("lockstep"),
                                       "plan",
                                       "textgen",
                                       "--devices",
                                       "cpu:3",
                                       "run.root=" + (closed / "runs").string(),
                                       "data.path=" + (folder.path() / "corpus.txt").string()};
  setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), 1);
  const ToolResult result = testing::without_root_powers(words, folder.path());
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("the effective batch is 9, not the default 8"), std::string::npos)
      << result.out;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "cache/lockstep/prepared/textgen"));
}

TEST_F(BadInput, RunNameTakenLeavesTheOldRunAlone) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  const std::string before = read_file(folder.path() / "runs/a/run.json");
  const ToolResult result = run_tool(train({"--name", "a"}), folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("a"), std::string::npos);
  EXPECT_EQ(read_file(folder.path() / "runs/a/run.json"), before);
}

TEST_F(BadInput, LockedRunIsNotResumedAndNamesTheHolder) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  RunDir holder = RunDir::open("a", folder.path() / "runs");
  holder.lock();
  const ToolResult result =
      run_tool({"resume", "a", "stop.steps=4", "--devices", "cpu:1"}, folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find(std::to_string(getpid())), std::string::npos) << result.err;
}

TEST_F(BadInput, CheckpointOfAnotherModelIsRefused) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  const ToolResult result = run_tool(
      {"resume", "a", "stop.steps=4", "model.width=32", "--devices", "cpu:1"}, folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("model.width"), std::string::npos) << result.err;
}

TEST_F(BadInput, AnOptionOfAnotherRecipeIsNamedAsSuchOnEveryCommandOfARun) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  const auto refuses_it = [&](const std::vector<std::string>& words) {
    const ToolResult result = run_tool(words, folder.path());
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_NE(result.err.find(" is an option of the recipe fewshot, not of textgen"),
              std::string::npos)
        << result.err;
  };
  refuses_it({"resume", "a", "stop.steps=4", "episode.k_shot=3", "--devices", "cpu:1"});
  write("c.toml", "[episode]\nk_shot = 3\n");
  refuses_it({"resume", "a", "stop.steps=4", "--config", "c.toml", "--devices", "cpu:1"});
  // One of textgen's own, predict.stop, is near.
  refuses_it({"predict", "a", "predict.score=0.3", "--devices", "cpu:1"});
}

}  // namespace
}  // namespace lockstep
