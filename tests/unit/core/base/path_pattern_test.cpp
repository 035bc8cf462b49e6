// Which paths a pattern finds, and that none keeps anybody waiting.
#include "core/base/text/path_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/files/files.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string many_of(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

class PathPattern : public ::testing::Test {
 protected:
  PathPattern() {
    for (const char* name : {"b.txt", "a.txt", "A.csv", ".hidden.txt", "x/1.txt", "x/y/2.txt",
                             "z/3.txt", "z[1].txt"}) {
      fs::create_directories((root / name).parent_path());
      std::ofstream(root / name) << "1";
    }
  }
  // Below the folder.
  std::vector<std::string> found(const std::string& pattern) const {
    std::vector<std::string> paths = paths_matching((root / pattern).string());
    for (std::string& path : paths) path.erase(0, root.string().size() + 1);
    return paths;
  }

  TemporaryDirectory folder;
  fs::path root = folder.path();
};

TEST_F(PathPattern, StandsForWhatTheShellFinds) {
  EXPECT_THAT(found("*.txt"), ElementsAre("a.txt", "b.txt", "z[1].txt"));
  EXPECT_THAT(found("?.txt"), ElementsAre("a.txt", "b.txt"));
  EXPECT_THAT(found("[!a].txt"), ElementsAre("b.txt"));
  EXPECT_THAT(found("[A-b].csv"), ElementsAre("A.csv"));
  EXPECT_THAT(found(".*.txt"), ElementsAre(".hidden.txt"));
  EXPECT_THAT(found("*/*.txt"), ElementsAre("x/1.txt", "z/3.txt"));
  EXPECT_THAT(found("**/*.txt"), ElementsAre("x/1.txt", "z/3.txt"));
  EXPECT_THAT(found("x/*/2.txt"), ElementsAre("x/y/2.txt"));
  EXPECT_THAT(found("*/../a.txt"), ElementsAre("x/../a.txt"));
  EXPECT_THAT(found("x//*.txt"), ElementsAre("x/1.txt"));
  EXPECT_THAT(found("*/"), ElementsAre("x/", "z/"));
  EXPECT_THAT(found("a.txt"), ElementsAre("a.txt"));
  EXPECT_THAT(found("a\\.txt"), ElementsAre("a.txt"));
  EXPECT_THAT(found("z\\[*\\].txt"), ElementsAre("z[1].txt"));
  EXPECT_THAT(found("*.none"), IsEmpty());
  EXPECT_THAT(found("a.txt/*"), IsEmpty());
}

TEST_F(PathPattern, BeginsInTheCurrentFolderWhereItIsRelative) {
  const fs::path before = fs::current_path();
  fs::current_path(root);
  EXPECT_THAT(paths_matching("x/*.txt"), ElementsAre("x/1.txt"));
  EXPECT_THAT(paths_matching("./*.csv"), ElementsAre("./A.csv"));
  EXPECT_THAT(paths_matching(""), IsEmpty());
  fs::current_path(before);
}

TEST_F(PathPattern, FindsLinksToNothingToo) {
  fs::create_symlink("nowhere", root / "link.txt");
  EXPECT_THAT(found("l*.txt"), ElementsAre("link.txt"));
}

TEST_F(PathPattern, LooksIntoAFolderOnceAndByItsOwnNameFirst) {
  fs::create_directory_symlink("x", root / "a-link");
  EXPECT_THAT(found("*/1.txt"), ElementsAre("x/1.txt"));
  EXPECT_THAT(found("a-*/1.txt"), ElementsAre("a-link/1.txt"));
}

TEST_F(PathPattern, ManyPartsEnd) {
  EXPECT_THAT(found(many_of(2000, "**/")), IsEmpty());
  EXPECT_THAT(found(many_of(1500, "x/*/")), IsEmpty());
  EXPECT_THAT(found(many_of(500, "x/../") + "a.txt"), ElementsAre(many_of(500, "x/../") + "a.txt"));
}

// Ten links a folder: without care they make 10 to the power of the parts.
TEST_F(PathPattern, LinksToFoldersAboveDoNotMakeItLonger) {
  for (int i = 0; i < 10; ++i) {
    fs::create_directory_symlink(".", root / ("here" + std::to_string(i)));
    fs::create_directory_symlink("..", root / "x" / ("up" + std::to_string(i)));
  }
  const auto begin = std::chrono::steady_clock::now();
  found(many_of(12, "**/"));
  found(many_of(100, "**/"));
  EXPECT_THAT(found(many_of(100, "**/") + "none"), IsEmpty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(PathPattern, LinksBesideEachOtherDoNotMakeItLonger) {
  fs::path at = root / "chain";
  for (int i = 0; i < 30; ++i, at /= "next") {
    fs::create_directories(at / "next");
    fs::create_directory_symlink("next", at / "also");
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(found("chain/" + many_of(30, "*/") + "none"), IsEmpty());
  EXPECT_EQ(found("chain/" + many_of(30, "*/")).size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(PathPattern, ManyStarsInANameTakeNoLonger) {
  std::ofstream(root / std::string(255, 'a')) << "1";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(found(many_of(2000, "*a") + "b"), IsEmpty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(PathPattern, HasALimit) {
  const std::string why = error_of([] { paths_matching(many_of(4000, "**/")); });
  EXPECT_THAT(why, HasSubstr("a pattern may have 8192 bytes, but one has 12000"));
}

}  // namespace
}  // namespace lockstep
