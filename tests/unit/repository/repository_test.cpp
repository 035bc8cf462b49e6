// What must hold of the sources as a whole.
#include "base/files.h"
#include "base/text.h"
#include "checkout.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sources(const fs::path& folder) {
  const std::set<std::string> kinds{".h", ".cpp", ".cu", ".txt"};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && kinds.contains(entry.path().extension().string()))
      files.push_back(entry.path());
  return files;
}

// Lines of `folder`'s sources that match, as FILE:LINE.
std::vector<std::string> matches(const fs::path& folder, const std::string& pattern) {
  const std::regex regex(pattern, std::regex::icase);
  std::vector<std::string> found;
  for (const fs::path& file : sources(folder)) {
    int number = 0;
    for (const std::string& line : split(read_file(file), '\n')) {
      ++number;
      if (std::regex_search(line, regex))
        found.push_back(cat(file.lexically_relative(root).string(), ":", number, ": ", trim(line)));
    }
  }
  return found;
}

std::string listed(const std::vector<std::string>& lines) { return join(lines, "\n"); }

TEST(Repository, TorchFreeRoomsIncludeNothingOfTorchOrCuda) {
  const std::string pattern = R"(#\s*include\s*[<"](torch|ATen|c10|caffe2|cuda|nccl))";
  for (const char* module : {"base", "config", "devices", "plan", "media", "launch", "run",
                             "monitor", "doctor", "jobs", "stats", "report", "cli"})
    EXPECT_EQ(listed(matches(root / "src" / module, pattern)), "") << module;
  for (const char* half : {"options", "prepare"})
    EXPECT_EQ(listed(matches(root / "recipes/textgen" / half, pattern)), "") << half;
  for (const char* part : {"volume/metrics", "dimabsa/sentences", "fewshot/annotations",
                           "fewshot/episodes", "fewshot/pictures", "fewshot/shapes"})
    EXPECT_EQ(listed(matches(root / "recipes" / part, pattern)), "") << part;
}

TEST(Repository, SrcKnowsNothingOfText) {
  EXPECT_EQ(listed(matches(root / "src", "textgen|tokeniz|perplexity|bits_per_byte|gpt")), "");
}

TEST(Repository, NoShellIsStarted) {
  for (const char* folder : {"src", "recipes"})
    EXPECT_EQ(listed(matches(root / folder, R"(\bsystem\(|popen\(|\bexecl|/bin/(ba)?sh)")), "");
}

// An arrow from a module to another is an include. Lower modules never include higher ones.
TEST(Repository, ArrowsPointOneWay) {
  const std::vector<std::vector<std::string>> layers{{"base"},
                                                     {"config"},
                                                     {"devices"},
                                                     {"plan"},
                                                     {"media"},
                                                     {"launch", "run", "monitor"},
                                                     {"doctor"},
                                                     {"jobs"},
                                                     {"stats"},
                                                     {"report"},
                                                     {"data", "kernels"},
                                                     {"engine"},
                                                     {"checkpoint", "cuda"},
                                                     {"trainer"},
                                                     {"cli", "worker"}};
  std::set<std::string> above;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    for (const std::string& module : *layer)
      for (const std::string& higher : above) {
        if (!fs::exists(root / "src" / module)) continue;
        EXPECT_EQ(listed(matches(root / "src" / module, R"(#\s*include ")" + higher + "/")), "")
            << module << " includes " << higher;
      }
    above.insert(layer->begin(), layer->end());
  }
}

TEST(Repository, RecipesDoNotIncludeEachOther) {
  for (const auto& one : fs::directory_iterator(root / "recipes"))
    for (const auto& other : fs::directory_iterator(root / "recipes"))
      if (one.is_directory() && other.is_directory() && one.path() != other.path())
        EXPECT_EQ(listed(matches(one.path(), "recipes/" + other.path().filename().string() + "/")),
                  "");
}

TEST(Repository, EverySourceSaysWhatItIsFor) {
  for (const char* folder : {"src", "recipes", "tests/fakes", "examples"})
    for (const fs::path& file : sources(root / folder)) {
      const bool has_header = fs::exists(fs::path(file).replace_extension(".h"));
      if (file.extension() == ".txt" || (file.extension() == ".cpp" && has_header)) continue;
      EXPECT_NE(read_file(file).substr(0, 300).find("// "), std::string::npos) << file;
    }
}

}  // namespace
}  // namespace lockstep
