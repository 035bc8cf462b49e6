#include "runtime/run/checkpoint/hub_name.h"

#include "core/base/text/text.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(HubName, SaysHowToFetchWhatMayBeAModelOfTheHub) {
  EXPECT_EQ(hub_hint("model.path", "bert-base-multilingual-uncased"),
            "nothing is downloaded from the Hugging Face hub; if bert-base-multilingual-uncased is "
            "a model of it, fetch it first: hf download bert-base-multilingual-uncased --local-dir "
            "bert-base-multilingual-uncased; and write model.path=bert-base-multilingual-uncased");
  const std::string of_owner = hub_hint("init.from", "microsoft/deberta-v3-base");
  EXPECT_NE(of_owner.find("hf download microsoft/deberta-v3-base --local-dir deberta-v3-base; "),
            std::string::npos)
      << of_owner;
  EXPECT_EQ(hub_hint("model.path", std::filesystem::current_path() / "owner/model/"),
            hub_hint("model.path", "owner/model"))
      << "options hold absolute paths";
}

TEST(HubName, SaysThatDataAreNotDownloadedEither) {
  for (const char* name : {"wikitext-103", "Salesforce/wikitext"}) {
    const std::string hint = hub_data_hint(std::filesystem::current_path() / name);
    EXPECT_NE(hint.find(cat("nothing is downloaded: if ", name, " is a data set of")),
              std::string::npos)
        << hint;
    EXPECT_NE(hint.find("lockstep help download a data set"), std::string::npos) << hint;
  }
  for (const char* path : {"", "/data/wikitext", "../wikitext", "novel.txt", "a/b/c", "my text"})
    EXPECT_EQ(hub_data_hint(path), "") << path;
}

TEST(HubName, SaysNothingOfOtherPaths) {
  for (const char* path : {"", "/models/bert", "../bert", "./bert", "a/b/c", "~/bert", "my model",
                           "model.safetensors", "runs/model.pt"})
    EXPECT_EQ(hub_hint("model.path", path), "") << path;
}

}  // namespace
}  // namespace lockstep
