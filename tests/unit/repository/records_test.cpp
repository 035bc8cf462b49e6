// What must hold of the measurements that the project keeps and cites.
#include "checkout.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::Not;

const fs::path results = root / "bench/results";

std::vector<fs::path> records() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(results)) files.push_back(entry.path());
  return files;
}

// Every page for readers; of the sources those that may cite a record.
std::vector<fs::path> citing_pages() {
  const std::set<std::string> kinds{".md", ".cpp", ".h", ".cu", ".sh", ".py", ".txt", ".cmake"};
  std::vector<fs::path> files{root / "README.md", root / "CHANGELOG.md", root / "CONTRIBUTING.md"};
  for (const char* folder : {"docs", "examples", "src", "recipes", "scripts", "bench", "cmake"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && kinds.contains(entry.path().extension().string()))
        files.push_back(entry.path());
  return files;
}

// Of the lines "key = value", also in inline tables, those that are not about where the runs were
// made.
bool holds_runs(const std::string& record) {
  const std::set<std::string> origin{
      "command", "commit", "date",   "machine",       "devices", "driver", "cores",      "gpus",
      "torch",   "preset", "before", "compared_with", "context", "seed",   "micro_batch"};
  const std::regex line(R"re(^\s*(?:\{\s*)?("[^"]*"|[\w.-]+)\s*=\s*(.*)$)re");
  for (const std::string& text : split(record, '\n')) {
    std::smatch match;
    if (text.starts_with("#") || !std::regex_match(text, match, line)) continue;
    const std::string value = trim(match[2].str());
    if (!origin.contains(match[1].str()) && value != "[" && value != "[]" && value != "\"\"")
      return true;
  }
  return false;
}

// A trailing dot ends the sentence.
std::string without_dot(std::string path) {
  while (path.ends_with(".")) path.pop_back();
  return path;
}

TEST(Records, EveryOneThatIsCitedIsThere) {
  int cited = 0;
  for (const fs::path& page : citing_pages()) {
    if (page.extension() == ".sh" || page.extension() == ".py")
      continue;  // may write what is to come
    for (std::string name :
         found_beside({"bench/results/"}, read_file(page), R"(bench/results/[\w.*-]+)")) {
      name = without_dot(fs::path(name).filename().string());
      bool there = false;
      for (const fs::path& record : records())
        there = there || fnmatch(name.c_str(), record.filename().c_str(), 0) == 0;
      EXPECT_TRUE(there) << page << " cites bench/results/" << name;
      ++cited;
    }
  }
  EXPECT_GT(cited, 5);
}

TEST(Records, EveryOneHoldsRuns) {
  for (const fs::path& record : records()) EXPECT_TRUE(holds_runs(read_file(record))) << record;
}

TEST(Records, AHeaderAloneHoldsNoRuns) {
  EXPECT_FALSE(holds_runs("# ms = 3\ncommand = \"bench/a.sh\"\ncores = 32\nmachine = [\"A\"]\n"));
  EXPECT_FALSE(holds_runs("command = \"bench/a.sh\"\n\n[textgen]\nstep_ms = []\n"));
  EXPECT_TRUE(holds_runs("command = \"bench/a.sh\"\n\n[textgen]\nstep_ms = [9.1]\n"));
  EXPECT_TRUE(holds_runs("lines = [\n  {share = 0.14, left_s = 61.7},\n]\n"));
}

TEST(Records, EveryOneNamesTheProgramThatWroteItAndThatIsThere) {
  for (const fs::path& record : records()) {
    const auto programs = found_beside({"bench/", "scripts/"}, read_file(record),
                                       R"(\b(bench|scripts)/[\w/.-]+\.(sh|py))");
    EXPECT_THAT(programs, Not(IsEmpty())) << record << " names no program that wrote it";
    for (const std::string& program : programs)
      EXPECT_TRUE(fs::exists(root / program)) << record << " names " << program;
  }
}

TEST(Records, EveryProgramThatAPageNamesIsThere) {
  for (const fs::path& page : citing_pages())
    for (const std::string& program : found_beside({"bench/", "scripts/"}, read_file(page),
                                                   R"(\b(bench|scripts)/[\w/.-]+\.(sh|py)\b)"))
      EXPECT_TRUE(fs::exists(root / program)) << page << " names " << program;
}

// Whoever clones the repository has nothing beside it.
TEST(Records, NothingIsLookedForBesideTheCheckout) {
  for (const fs::path& page : citing_pages())
    EXPECT_THAT(found_beside({"../shared"}, read_file(page), R"((\.\./)+shared\b)"), IsEmpty())
        << page;
}

}  // namespace
}  // namespace lockstep
