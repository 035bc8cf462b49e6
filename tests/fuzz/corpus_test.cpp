// Runs every fuzzer over its corpus, which holds each input that ever found a fault: without
// libFuzzer, in every build.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "all_fuzzers.h"
#include "checkout_paths.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

using fuzz::Fuzzer;

const fs::path folder = fs::path(LOCKSTEP_SOURCE_DIR) / "tests/fuzz/corpus";

class FuzzCorpus : public ::testing::TestWithParam<Fuzzer> {};

TEST_P(FuzzCorpus, HasNoFinding) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder / GetParam().name))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_FALSE(files.empty());
  for (const fs::path& file : files) {
    SCOPED_TRACE(file);
    std::ifstream stream(file, std::ios::binary);  // read_file refuses some of them
    const std::string input(std::istreambuf_iterator<char>(stream), {});
    EXPECT_LE(input.size(), 4096u) << "the corpus is kept small";
    EXPECT_EQ(GetParam().run(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Parsers, FuzzCorpus, ::testing::ValuesIn(all_fuzzers),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FuzzCorpus, EveryFolderHasAFuzzer) {
  std::set<std::string> names;
  for (const Fuzzer& fuzzer : all_fuzzers) names.insert(fuzzer.name);
  for (const auto& entry : fs::directory_iterator(folder))
    EXPECT_TRUE(names.contains(entry.path().filename().string())) << entry.path();
}

}  // namespace
}  // namespace lockstep
