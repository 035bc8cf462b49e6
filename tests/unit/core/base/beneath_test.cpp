// Nothing is reached through a link in a folder, with openat2 and without.
#include "core/base/files/beneath.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// A folder with a link to another, in which a file lies.
class BeneathTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    walk_beneath(GetParam());
    write_file_atomic(victim_.path() / "file", "victim");
    fs::create_directory_symlink(victim_.path(), folder_.path() / "link");
    fs::create_symlink(victim_.path() / "file", folder_.path() / "file-link");
    fs::create_directories(folder_.path() / "own/below");
    beneath_.emplace(folder_.path());
  }
  void TearDown() override {
    EXPECT_EQ(read_file(victim_.path() / "file"), "victim");
    EXPECT_EQ(std::distance(fs::directory_iterator(victim_.path()), {}), 1);
    walk_beneath(false);
  }
  TemporaryDirectory folder_, victim_;
  std::optional<Beneath> beneath_;
};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutOpenat2, BeneathTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "walking" : "openat2"; });

TEST_P(BeneathTest, OpensWhatLiesInIt) {
  UniqueFd file = beneath_->open("own/below/new", O_WRONLY | O_CREAT | O_EXCL);
  ASSERT_TRUE(file);
  EXPECT_TRUE(fs::exists(folder_.path() / "own/below/new"));
  EXPECT_TRUE(beneath_->open("own/./below/new", O_RDONLY));
  EXPECT_FALSE(beneath_->open("own/none", O_RDONLY));
  EXPECT_EQ(errno, ENOENT);
}

TEST_P(BeneathTest, OpensNothingThroughALink) {
  for (const char* path : {"link/file", "link/new", "file-link", "own/../link/file"}) {
    EXPECT_FALSE(beneath_->open(path, O_RDWR | O_CREAT)) << path;
    EXPECT_FALSE(beneath_->open(path, O_RDONLY)) << path;
  }
  EXPECT_FALSE(beneath_->open(victim_.path() / "file", O_RDONLY)) << "absolute";
  EXPECT_FALSE(beneath_->open("..", O_RDONLY | O_DIRECTORY));
  EXPECT_FALSE(beneath_->open("", O_RDONLY));
}

TEST_P(BeneathTest, MakesRenamesAndRemovesNothingThroughALink) {
  write_file_atomic(folder_.path() / "own/mine", "mine");
  EXPECT_FALSE(beneath_->make_folder("link"));
  EXPECT_FALSE(beneath_->make_folder("link/new"));
  EXPECT_FALSE(beneath_->make_folders("link/new/newer"));
  EXPECT_FALSE(beneath_->rename("own/mine", "link/mine"));
  EXPECT_FALSE(beneath_->rename("link/file", "own/theirs"));
  EXPECT_FALSE(beneath_->take(folder_.path() / "own/mine", "link/mine"));
  EXPECT_FALSE(beneath_->remove("link/file"));
  EXPECT_FALSE(beneath_->remove_folder("link"));
  EXPECT_FALSE(beneath_->holds_only_files("link"));
  EXPECT_TRUE(beneath_->names_in("link").empty());
  EXPECT_FALSE(beneath_->sync("link"));
  EXPECT_FALSE(beneath_->status("link/file"));
  EXPECT_EQ(beneath_->link_to("link/file"), "link");
  EXPECT_THAT(error_of([&] { write_file_atomic(*beneath_, "link/file", "no"); }),
              HasSubstr("link is a link"));
  EXPECT_EQ(read_file(folder_.path() / "own/mine"), "mine");
}

TEST_P(BeneathTest, MakesRenamesAndRemovesItsOwn) {
  EXPECT_TRUE(beneath_->make_folders("a/b"));
  EXPECT_TRUE(beneath_->make_folder("a/b")) << "it is there";
  write_file_atomic(*beneath_, "a/b/one", "1");
  write_file_atomic(*beneath_, "top", "2");
  EXPECT_EQ(read_file(folder_.path() / "a/b/one"), "1");
  EXPECT_THAT(beneath_->names_in("a/b"), ElementsAre("one"));
  EXPECT_TRUE(beneath_->rename("a/b/one", "a/b/two"));
  EXPECT_TRUE(beneath_->take(folder_.path() / "top", "a/b/one"));
  EXPECT_FALSE(beneath_->rename("a/b/one", "a/b/two", RENAME_NOREPLACE));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_TRUE(beneath_->sync("a/b"));
  EXPECT_FALSE(beneath_->remove_folder("a")) << "it holds a folder";
  EXPECT_FALSE(
      beneath_->remove_folder("a/b", [](const std::string& name) { return name == "one"; }));
  EXPECT_THAT(beneath_->names_in("a/b"), UnorderedElementsAre("one", "two")) << "or all or none";
  EXPECT_TRUE(beneath_->remove_folder("a/b"));
  EXPECT_FALSE(beneath_->status("a/b"));
}

// Somebody puts another folder in its place meanwhile.
TEST_P(BeneathTest, RemovesOnlyFilesThatItHasLookedAt) {
  write_file_atomic(*beneath_, "own/below/mine", "1");
  write_file_atomic(*beneath_, "theirs", "2");
  const auto exchange = [&](const std::string& name) {
    fs::rename(folder_.path() / "own/below", folder_.path() / "aside");
    fs::create_directory(folder_.path() / "own/below");
    fs::rename(folder_.path() / "theirs", folder_.path() / "own/below/theirs");
    return name == "mine";
  };
  EXPECT_FALSE(beneath_->remove_folder("own/below", exchange));
  EXPECT_THAT(beneath_->names_in("own/below"), ElementsAre("theirs"));
  EXPECT_TRUE(beneath_->names_in("aside").empty());
}

TEST_P(BeneathTest, ALinkIsRemovedItself) {
  EXPECT_TRUE(beneath_->remove("link"));
  EXPECT_TRUE(beneath_->remove("file-link"));
  EXPECT_FALSE(beneath_->status("link"));
}

TEST_P(BeneathTest, AFolderOfLinksGoesWithoutWhatTheyName) {
  fs::create_symlink(victim_.path() / "file", folder_.path() / "own/below/file");
  EXPECT_TRUE(beneath_->remove_folder("own/below"));
}

TEST_P(BeneathTest, ALinkToTheFolderItselfIsFollowed) {
  fs::create_directory_symlink(folder_.path() / "own", folder_.path() / "root");
  const Beneath root(folder_.path() / "root");
  EXPECT_TRUE(root.make_folder("made"));
  EXPECT_TRUE(fs::is_directory(folder_.path() / "own/made"));
}

// One table for all that open, write and make files.
TEST(Beneath, HasTheHintsOfOtherFiles) {
  const TemporaryDirectory folder;
  const fs::path below = folder.path() / "file/below";
  write_file_atomic(folder.path() / "file", "");
  const auto hint_of = [](const std::string& message) {
    return message.substr(std::min(message.size(), message.find(" | ")));
  };
  const std::string hint = hint_of(error_of([&] { read_file(below); }));
  EXPECT_THAT(hint, HasSubstr("a file lies in the place of a folder"));
  EXPECT_EQ(hint_of(error_of([&] { write_file_atomic(below, ""); })), hint);
  EXPECT_EQ(hint_of(error_of([&] { make_directories(below / "more"); })), hint);
  const Beneath beneath(folder.path());
  EXPECT_EQ(hint_of(error_of([&] { beneath.fail("open", "file/below", ENOTDIR); })), hint);
}

TEST(Beneath, OfAFolderThatIsNotThereIsAnError) {
  const TemporaryDirectory folder;
  EXPECT_THROW(Beneath(folder.path() / "none"), Error);
}

}  // namespace
}  // namespace lockstep
