// lockstep export: one file that stands for the run; lockstep score: files against files.
#include "predict_fixture.h"

#include "fakes/said_by_export.h"
#include "runtime/run/formats/safetensors.h"

#include <fstream>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;

class Export : public Predict {};

TEST_F(Export, PredictsAndEvaluatesLikeTheRunFromAReadOnlyPlaceWithoutIt) {
  const fs::path there = folder->path() / "ro";
  fs::create_directory(there);
  const std::string file = (there / "model.safetensors").string();
  const ToolResult made = tool({"export", "a", "--out", file});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("step 4, averaged weights"));
  const ToolResult run =
      tool({"predict", "a", "in/r1.row", "in/r4.row", "out=of-run", "--devices", "cpu:1"});
  ASSERT_EQ(run.code, 0) << run.err;
  const ToolResult before = tool({"evaluate", "a", "--json", "--devices", "cpu:1"});
  ASSERT_EQ(before.code, 0) << before.err;
  fs::permissions(there, fs::perms::owner_read | fs::perms::owner_exec);
  fs::rename(folder->path() / "runs/a", folder->path() / "away");
  const auto without_run = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all{testing::program("lockstep")};
    all.insert(all.end(), words.begin(), words.end());
    return testing::without_root_powers(all, folder->path());
  };
  const ToolResult used =
      without_run({"predict", file, "in/r2.row", "out=used", "--devices", "cpu:1"});
  setenv("XDG_STATE_HOME", (folder->path() / "another-user").c_str(), 1);
  const ToolResult lost = without_run({"predict", file, "in/r1.row", "--devices", "cpu:1"});
  const ToolResult predicted =
      without_run({"predict", file, "in/r1.row", "in/r4.row", "out=of-file", "--plugin", plugin(),
                   "--devices", "cpu:2"});
  fs::permissions(there, fs::perms::owner_all);
  fs::copy_file(plugin(), there / "libitems-plugin.so");
  fs::permissions(there, fs::perms::owner_read | fs::perms::owner_exec);
  const ToolResult beside = without_run({"predict", file, "in/r1.row", "--devices", "cpu:1"});
  const ToolResult here =
      without_run({"predict", file, "in/r1.row", "--plugin",
                   (there / "libitems-plugin.so").string(), "--devices", "cpu:1"});
  const ToolResult after = without_run({"evaluate", file, "data.path=factor.txt", "shift=100",
                                        "--json", "--plugin", plugin(), "--devices", "cpu:1"});
  fs::rename(folder->path() / "away", folder->path() / "runs/a");
  fs::permissions(there, fs::perms::owner_all);
  EXPECT_EQ(used.code, 0) << used.err;
  EXPECT_EQ(lost.code, 2);
  EXPECT_THAT(lost.err, HasSubstr("needs the plugin libitems-plugin.so, which is not beside it"));
  EXPECT_EQ(beside.code, 2);
  EXPECT_THAT(beside.err, HasSubstr("which you have not used on this machine"));
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(contents(folder->path() / "of-file"), contents(folder->path() / "of-run"));
  EXPECT_EQ(here.code, 0) << here.err;
  EXPECT_TRUE(fs::exists(folder->path() / "predictions/r1.out"));
  unsetenv("XDG_STATE_HOME");
  ASSERT_EQ(after.code, 0) << after.err;
  const auto old_metrics = nlohmann::json::parse(before.out),
             now = nlohmann::json::parse(after.out);
  EXPECT_EQ(now.at("step"), 4);
  EXPECT_NEAR(now.at("metrics").at("error").get<double>() - 100,
              old_metrics.at("metrics").at("error").get<double>(), 1e-9);
}

TEST_F(Export, HoldsTheModelsNamesInFp32AndSaysNothingOfTheHost) {
  const fs::path file = folder->path() / "names.safetensors";
  ASSERT_EQ(tool({"export", "a", "--out", file.string()}).code, 0);
  const SafetensorsHeader header = read_header(file);
  std::map<std::string, std::string> dtypes;
  for (const TensorEntry& entry : header.tensors) dtypes[entry.name] = entry.dtype;
  EXPECT_EQ(dtypes.at("first.weight"), "F32");
  EXPECT_TRUE(dtypes.contains("seen")) << "a buffer";
  EXPECT_EQ(dtypes.size(), 6U);
  const auto record = nlohmann::json::parse(header.metadata.at("lockstep.record"));
  EXPECT_EQ(record.at("recipe"), "items");
  EXPECT_FALSE(record.contains("host"));
  EXPECT_FALSE(record.contains("git"));
  EXPECT_EQ(record.at("plugin"), "libitems-plugin.so");
  for (const auto& [key, value] : record.at("config").items())
    EXPECT_THAT(value.dump(), Not(HasSubstr(folder->path().string()))) << key;
  EXPECT_THAT(header.metadata.at("lockstep.record"), Not(HasSubstr(folder->path().string())));
}

TEST_F(Export, WritesChosenTensorsUnderOtherNamesForOtherPrograms) {
  const fs::path file = folder->path() / "renamed.safetensors";
  const ToolResult made =
      tool({"export", "a", "--out", file.string(), "--rename", "first.*=encoder.*,seen=count"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr(": 3 tensors, "));
  const fs::path whole = folder->path() / "whole.safetensors";
  ASSERT_EQ(tool({"export", "a", "--out", whole.string()}).code, 0);
  const SafetensorsHeader all = read_header(whole), renamed = read_header(file);
  const auto bytes_of = [](const fs::path& of, const SafetensorsHeader& header,
                           const std::string& name) {
    for (const TensorEntry& entry : header.tensors)
      if (entry.name == name)
        return read_file(of).substr(header.data_start + entry.begin, entry.end - entry.begin);
    return std::string("not there");
  };
  EXPECT_EQ(renamed.tensors.size(), 3U);
  EXPECT_FALSE(renamed.metadata.contains("lockstep.record"));
  EXPECT_EQ(bytes_of(file, renamed, "encoder.weight"), bytes_of(whole, all, "first.weight"));
  EXPECT_EQ(bytes_of(file, renamed, "count"), bytes_of(whole, all, "seen"));
  const auto refuses = [&](const std::string& pairs, const std::string& what) {
    const ToolResult result =
        tool({"export", "a", "--force", "--out", file.string(), "--rename", pairs});
    EXPECT_EQ(result.code, 2) << pairs;
    EXPECT_THAT(result.err, HasSubstr(what));
  };
  refuses("trunk.*=*", "no tensor of the model is named trunk.*");
  refuses("first.*=one,seen=one", "two tensors of the model would be named one");
  refuses("first", "--rename: \"first\" is no pair of names");
}

TEST_F(Export, TakesNoLinksAndMissesNoFile) {
  fs::copy(folder->path() / "runs/a", folder->path() / "runs/b", fs::copy_options::recursive);
  const fs::path kept = folder->path() / "runs/b/recipe";
  write_file_atomic(folder->path() / "secret", "secret");
  fs::create_symlink(folder->path() / "secret", kept / "link");
  const std::string file = (folder->path() / "linked.safetensors").string();
  ASSERT_EQ(tool({"export", "b", "--out", file}).code, 0);
  const auto metadata = read_header(file).metadata;
  EXPECT_TRUE(metadata.contains("lockstep.file.factor.txt"));
  EXPECT_FALSE(metadata.contains("lockstep.file.link"));
  write_file_atomic(kept / "n\xff", "");
  const ToolResult name = tool({"export", "b", "--force", "--out", file});
  EXPECT_EQ(name.code, 2);
  EXPECT_THAT(name.err, HasSubstr("is no UTF-8 text"));
  fs::remove_all(kept);
  const ToolResult missing = tool({"export", "b", "--force", "--out", file});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("recipe/factor.txt, but it is not there"));
}

TEST_F(Export, OfARecordWithOtherTypesIsRefusedByName) {
  const fs::path record = folder->path() / "runs/changed/run.json";
  fs::copy(folder->path() / "runs/a", record.parent_path(), fs::copy_options::recursive);
  const nlohmann::json whole = nlohmann::json::parse(read_file(record));
  const std::vector<std::pair<const char*, nlohmann::json>> changes{
      {"kept", nlohmann::json::array({nlohmann::json::array({"factor.txt"})})},
      {"config", 3},
      {"plan", nullptr}};
  for (const auto& [key, value] : changes) {
    nlohmann::json changed = whole;
    changed[key] = value;
    write_file_atomic(record, changed.dump());
    const ToolResult result = tool({"export", "changed", "--out", "changed.safetensors"});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("run.json is damaged or of another version"));
    EXPECT_THAT(result.err, HasSubstr("hint: --rename"));
    EXPECT_FALSE(fs::exists(folder->path() / "changed.safetensors"));
  }
}

TEST_F(Export, IsOneCheckpointWhateverItsName) {
  const fs::path file = folder->path() / "...safetensors";
  ASSERT_EQ(tool({"export", "a", "--out", file.string()}).code, 0);
  const ToolResult predicted = tool({"predict", file.string(), "in/r1.row", "out=dots", "--plugin",
                                     plugin(), "--devices", "cpu:1"});
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  const ToolResult best =
      tool({"predict", file.string(), "in/r1.row", "out=best", "--plugin", plugin(), "--best"});
  EXPECT_EQ(best.code, 2);
  EXPECT_THAT(best.err, HasSubstr("is an export, which holds one checkpoint"));
}

TEST_F(Export, AWordForFirstWeightsIsAnsweredForTheCommand) {
  for (const char* command : {"predict", "evaluate"}) {
    const ToolResult result = tool({command, "a", "pretrained=x.pth", "--devices", "cpu:1"});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("`lockstep " + std::string(command) + " RUN` takes it"));
  }
  EXPECT_THAT(tool({"resume", "a", "pretrained=x.pth", "--devices", "cpu:1"}).err,
              HasSubstr("a run goes on from its own newest checkpoint"));
}

TEST_F(Export, GivesTheTableOfItemsOnlyToAFileThatItMayWrite) {
  const auto refuses = [&](const std::string& file, const std::string& what) {
    const ToolResult result = tool({"evaluate", "a", "--devices", "cpu:1", "--items", file});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_THAT(result.out, Not(HasSubstr("error")));
  };
  write_file_atomic(folder->path() / "mine.csv", "mine");
  refuses("mine.csv", "mine.csv is there already");
  refuses("factor.txt", "ends in .csv or .json");
  refuses("nowhere/a.csv", "cannot write nowhere/a.csv");
  EXPECT_EQ(read_file(folder->path() / "mine.csv"), "mine");
}

TEST_F(Export, IsRefusedWhereAByteDiffers) {
  const fs::path file = folder->path() / "hurt.safetensors";
  ASSERT_EQ(tool({"export", "a", "--out", file.string()}).code, 0);
  const std::string good = read_file(file);
  for (const std::size_t at : {good.find("lockstep.record") + 40, good.size() - 3}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write_file_atomic(file, bad);
    const ToolResult result =
        tool({"predict", file.string(), "in/r1.row", "out=hurt", "--plugin", plugin()});
    EXPECT_EQ(result.code, 2) << at << result.err;
    EXPECT_THAT(result.err, HasSubstr("hurt.safetensors is damaged")) << at;
  }
  write_file_atomic(file, good.substr(0, good.size() - 10));
  EXPECT_THAT(tool({"evaluate", file.string()}).err, HasSubstr("the tensors need"));
  const ToolResult again = tool({"export", "a", "--out", file.string()});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("hurt.safetensors is there already"));
  EXPECT_EQ(tool({"export", "a", "--force", "--out", file.string()}).code, 0);
  EXPECT_EQ(read_file(file), good);
}

TEST_F(Export, OfACheckpointsFileIsNone) {
  const ToolResult result =
      tool({"predict", "runs/a/checkpoints/step-000000004/model.safetensors", "in/r1.row"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("is no export of a run"));
  EXPECT_THAT(tool({"export", "a"}).err, HasSubstr("lockstep export needs --out FILE"));
  write_file_atomic(folder->path() / "text.md", "# No export");
  for (const char* command : {"evaluate", "predict"})
    EXPECT_THAT(tool({command, "text.md"}).err,
                HasSubstr("hint: name a run, or a file that `lockstep export RUN --out FILE` made"))
        << command;
}

TEST_F(Export, OfTextGoesOnLikeTheRun) {
  testing::write_corpus(folder->path() / "text.txt", 9000);
  std::vector<std::string> words{"train",     "textgen", "--name",      "text",
                                 "--devices", "cpu:1",   "stop.steps=4"};
  for (const std::string& option : testing::tiny("text.txt")) words.push_back(option);
  ASSERT_EQ(tool(words).code, 0);
  ASSERT_EQ(tool({"export", "text", "--out", "text.safetensors"}).code, 0);
  EXPECT_THAT(testing::said_by_export(folder->path() / "text.safetensors"),
              Not(HasSubstr(folder->path().string())));
  const std::vector<std::string> rest{"the ", "tokens=20", "seed=3", "--devices", "cpu:1"};
  const auto said = [&](const std::string& source) {
    std::vector<std::string> all{"predict", source};
    all.insert(all.end(), rest.begin(), rest.end());
    const ToolResult result = tool(all);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(said("text.safetensors"), said("text"));
  const ToolResult evaluated =
      tool({"evaluate", "text.safetensors", "data.path=text.txt", "--devices", "cpu:1"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  const ToolResult unnamed = tool({"evaluate", "text.safetensors", "--devices", "cpu:1"});
  EXPECT_EQ(unnamed.code, 2) << unnamed.out << unnamed.err;
  EXPECT_THAT(unnamed.err, HasSubstr("trained on data of its own, but an export does not say"));
}

TEST_F(Export, OfDataThatComeAlongNeedsNoName) {
  std::vector<std::string> words{"train",     "textgen", "--name",       "random",
                                 "--devices", "cpu:1",   "stop.steps=2", "model.vocab=300"};
  for (const std::string& option : testing::tiny("synthetic")) words.push_back(option);
  const ToolResult trained = tool(words);
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(tool({"export", "random", "--out", "random.safetensors"}).code, 0);
  const ToolResult evaluated = tool({"evaluate", "random.safetensors", "--devices", "cpu:1"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
}

TEST_F(Export, IsNotNamedLikeAFileOfAnotherForm) {
  for (const char* name : {"m.pt", "m.pth", "m.bin", "m.ckpt", "m.onnx"}) {
    const ToolResult result = tool({"export", "a", "--out", name});
    EXPECT_EQ(result.code, 2) << name;
    EXPECT_THAT(result.err, HasSubstr("lockstep export writes a safetensors file, but"));
    EXPECT_THAT(result.err, HasSubstr("--out m.safetensors"));
    EXPECT_FALSE(fs::exists(folder->path() / name));
  }
}

TEST_F(Export, AFileOfWeightsAloneIsNone) {
  const fs::path torch_files =
      fs::path(LOCKSTEP_SOURCE_DIR) / "tests/unit/training/checkpoint/torch_files";
  ASSERT_EQ(tool({"export", "a", "--out", "part.safetensors", "--rename", "*=*"}).code, 0);
  for (const char* command : {"evaluate", "predict"}) {
    for (const char* name : {"zip.pt", "legacy.pt"}) {
      const std::string file = (torch_files / name).string();
      const std::string said = tool({command, file}).err;
      EXPECT_THAT(said, HasSubstr(file + " is a file of torch.save, which holds no run"));
      EXPECT_THAT(said, HasSubstr("lockstep train RECIPE " + shell_word("init.from=" + file)));
    }
    EXPECT_THAT(tool({command, "part.safetensors"}).err,
                HasSubstr("lockstep train RECIPE init.from=part.safetensors"));
  }
}

TEST_F(Export, APictureInPlaceOfTheRunIsNamedAsOne) {
  write_file_atomic(folder->path() / "a.jpg", "\xFF\xD8\xFF\xE0 of a picture");
  const std::string said = tool({"predict", "init.from=best.pth", "a.jpg"}).err;
  EXPECT_THAT(said, HasSubstr("a.jpg is a JPEG picture, no run and no export of one"));
  fs::rename(folder->path() / "a.jpg", folder->path() / "a b.jpg");
  EXPECT_THAT(tool({"predict", "a b.jpg"}).err, HasSubstr("lockstep predict RUN 'a b.jpg'"));
  EXPECT_THAT(said, HasSubstr("follow it: lockstep predict RUN a.jpg"));
}

TEST_F(Export, ScoresFilesWithoutARun) {
  write_file_atomic(folder->path() / "truth.csv", "a\nb\nc\nd\n");
  write_file_atomic(folder->path() / "guess.csv", "a\nb\nx\nd\n");
  const ToolResult result = tool({"score", "items", "--plugin", plugin(), "predictions=guess.csv",
                                  "data.path=truth.csv", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out).at("metrics").at("same_lines"), 0.75);
  const ToolResult plain = tool(
      {"score", "items", "--plugin", plugin(), "predictions=guess.csv", "data.path=truth.csv"});
  EXPECT_THAT(plain.out, HasSubstr("same_lines"));
  EXPECT_THAT(plain.out, HasSubstr("0.75 share"));
}

TEST_F(Export, NamesWhatCannotBeScored) {
  write_file_atomic(folder->path() / "guess.csv", "a\n");
  const ToolResult text = tool({"score", "textgen", "predictions=guess.csv"});
  EXPECT_EQ(text.code, 2);
  EXPECT_THAT(text.err, HasSubstr("cannot score"));
  const ToolResult none = tool({"score", "items", "--plugin", plugin(), "data.path=guess.csv"});
  EXPECT_THAT(none.err, HasSubstr("needs predictions=PATH"));
  const ToolResult absent =
      tool({"score", "items", "--plugin", plugin(), "predictions=absent.csv"});
  EXPECT_THAT(absent.err, HasSubstr("there is no file or folder absent.csv"));
}

}  // namespace
}  // namespace lockstep
