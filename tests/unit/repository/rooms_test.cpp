// The rooms of src/: which may include which, which do without LibTorch, and how many files a
// folder has.
#include "checkout.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

struct Room {
  std::string folder;
  std::vector<std::string> may_include;  // beside itself
};

// From below to above. A folder belongs to the room with the longest name that it begins with.
const std::vector<Room> rooms{
    {"core/base", {}},
    {"core/config", {"core/base"}},
    {"core/devices", {"core/base"}},
    {"core/media", {"core/base"}},
    {"planning", {"core/base", "core/config", "core/devices"}},
    {"runtime/launch", {"core/base", "core/devices"}},
    {"runtime/run", {"core/base", "core/devices", "core/media", "planning"}},
    {"ops", {"core/base"}},
    {"backends", {"core/base", "runtime/launch", "ops"}},
    {"backends/cuda", {"core/base", "ops", "backends"}},
    {"training/data", {"core/base", "planning", "runtime/launch"}},
    {"training/recipe", {"core/base", "planning", "runtime/run", "ops", "training/data"}},
    {"training/distributed", {"core/base", "core/config", "runtime/launch", "backends"}},
    {"training/parameters",
     {"core/base", "planning", "backends", "training/recipe", "training/distributed"}},
    {"training/plan", {"core/base", "planning", "ops", "training/parameters"}},
    {"training/gradients",
     {"core/base", "planning", "runtime/launch", "ops", "backends", "training/distributed",
      "training/parameters", "training/plan"}},
    {"training/update",
     {"core/base", "planning", "ops", "training/recipe", "training/distributed",
      "training/parameters", "training/gradients"}},
    {"training/graph",
     {"ops", "backends", "training/distributed", "training/parameters", "training/plan",
      "training/gradients", "training/update"}},
    {"training/evaluation",
     {"core/base", "runtime/launch", "backends", "training/data", "training/recipe",
      "training/distributed"}},
    {"training/step",
     {"core/base", "planning", "runtime/launch", "ops", "backends", "training/data",
      "training/recipe", "training/distributed", "training/gradients", "training/update",
      "training/graph"}},
    {"training/contract",
     {"core/base", "backends", "training/data", "training/recipe", "training/distributed",
      "training/update", "training/evaluation", "training/step"}},
    {"training/checkpoint",
     {"core/base", "planning", "runtime/launch", "runtime/run", "backends", "training/recipe",
      "training/distributed", "training/parameters", "training/gradients", "training/update"}},
    {"training/trainer",
     {"core/base", "core/config", "planning", "runtime/launch", "runtime/run", "backends",
      "training/data", "training/recipe", "training/distributed", "training/parameters",
      "training/gradients", "training/update", "training/evaluation", "training/step",
      "training/contract", "training/checkpoint"}},
    {"tools/monitor", {"core/base", "core/devices", "core/media", "runtime/run"}},
    {"tools/doctor", {"core/base", "core/devices", "runtime/run", "tools/monitor"}},
    {"tools/jobs",
     {"core/base", "core/config", "core/devices", "core/media", "planning", "runtime/launch",
      "runtime/run", "tools/monitor"}},
    {"tools/stats", {"core/base", "core/media"}},
    {"tools/report",
     {"core/base", "core/config", "core/media", "planning", "runtime/launch", "runtime/run",
      "tools/jobs", "tools/stats"}},
    {"tools/cli",
     {"core/base", "core/config", "core/devices", "core/media", "planning", "runtime/launch",
      "runtime/run", "tools/monitor", "tools/doctor", "tools/jobs", "tools/stats", "tools/report"}},
    {"worker",
     {"core/base", "core/config", "core/devices", "planning", "runtime/launch", "runtime/run",
      "backends", "training/data", "training/recipe", "training/distributed", "training/parameters",
      "training/update", "training/step", "training/checkpoint", "training/trainer"}},
};

const Room* room_of(const std::string& path) {
  const Room* best = nullptr;
  for (const Room& room : rooms)
    if (path.starts_with(room.folder + "/") && (!best || room.folder.size() > best->folder.size()))
      best = &room;
  return best;
}

std::vector<fs::path> code_below(const fs::path& folder) {
  const std::set<std::string> kinds{".h", ".cpp", ".cu", ".cuh"};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && kinds.contains(entry.path().extension().string()))
      files.push_back(entry.path());
  return files;
}

// The paths as they are written, of "…" and of <…>.
std::vector<std::string> includes_of(const fs::path& file) {
  std::vector<std::string> paths;
  for (const std::string& line : split(read_file(file), '\n')) {
    const std::string text = trim(line);
    if (!text.starts_with("#") || !trim(text.substr(1)).starts_with("include")) continue;
    const std::size_t begin = text.find_first_of("\"<");
    if (begin == std::string::npos) continue;
    paths.push_back(text.substr(begin + 1, text.find_first_of("\">", begin + 1) - begin - 1));
  }
  return paths;
}

TEST(Rooms, OfTheTableIncludeOnlyRoomsAboveTheirRow) {
  std::set<std::string> before;
  for (const Room& room : rooms) {
    for (const std::string& other : room.may_include)
      EXPECT_TRUE(before.contains(other)) << room.folder << " includes " << other;
    EXPECT_TRUE(fs::is_directory(root / "src" / room.folder)) << room.folder;
    before.insert(room.folder);
  }
}

TEST(Rooms, IncludeOnlyWhatTheTableAllows) {
  int arrows = 0;
  for (const fs::path& file : code_below(root / "src")) {
    const std::string name = file.lexically_relative(root / "src").string();
    const Room* room = room_of(name);
    ASSERT_TRUE(room) << "no row for src/" << name;
    for (const std::string& include : includes_of(file)) {
      if (!fs::exists(root / "src" / include)) continue;
      const Room* other = room_of(include);
      ASSERT_TRUE(other) << "no row for src/" << include;
      if (other == room) continue;
      ++arrows;
      EXPECT_GT(std::count(room->may_include.begin(), room->may_include.end(), other->folder), 0)
          << "src/" << name << " includes " << include << ": " << room->folder
          << " may not include " << other->folder;
    }
  }
  EXPECT_GT(arrows, 500);
}

// The includes that lead from a file to the first that begins with one of the words; empty without
// one.
class Chains {
 public:
  explicit Chains(std::vector<std::string> words) : words_(std::move(words)) {}

  std::string to_word(const fs::path& file) {
    if (const auto known = known_.find(file); known != known_.end()) return known->second;
    known_[file] = "";  // also ends the search where two files include each other
    std::string chain;
    for (const std::string& include : includes_of(file)) {
      if (is_meant(include)) chain = include;
      for (const fs::path& folder : {root / "src", root, file.parent_path()})
        if (chain.empty() && fs::is_regular_file(folder / include))
          if (const std::string rest = to_word((folder / include).lexically_normal());
              !rest.empty())
            chain = include + " > " + rest;
      if (!chain.empty()) break;
    }
    return known_[file] = chain;
  }

 private:
  bool is_meant(const std::string& include) const {
    return std::any_of(words_.begin(), words_.end(),
                       [&](const std::string& word) { return include.starts_with(word); });
  }

  std::vector<std::string> words_;
  std::map<fs::path, std::string> known_;
};

// The folder whose CMakeLists.txt compiles a file.
fs::path compiled_by(fs::path folder) {
  while (!fs::exists(folder / "CMakeLists.txt")) folder = folder.parent_path();
  return folder;
}

// CMake says which those are: a room that is not linked with LibTorch must include nothing of it,
// on any way.
TEST(Rooms, ThatAreBuiltWithoutLibTorchIncludeNothingOfIt) {
  Chains chains({"torch/", "ATen/", "c10/", "caffe2/", "cuda", "nccl", "cudnn"});
  std::set<fs::path> free, others;
  for (const char* top : {"src", "recipes"})
    for (const fs::path& file : code_below(root / top)) {
      const fs::path room = compiled_by(file.parent_path());
      const std::string build = read_file(room / "CMakeLists.txt");
      const bool with_torch =
          build.find("TORCH)") != build.npos || build.find("torch-cpu") != build.npos;
      (with_torch ? others : free).insert(room);
      if (!with_torch) {
        EXPECT_EQ(chains.to_word(file), "") << file;
      }
    }
  EXPECT_GT(free.size(), 25U);
  EXPECT_GT(others.size(), 8U);
  for (const char* word : {"src/core/base", "src/tools/cli", "recipes/textgen/options"})
    if (fs::exists(root / word)) EXPECT_TRUE(free.contains(root / word)) << word;
}

// LibTorch's headers take nvcc most of a minute.
TEST(Rooms, HaveKernelsThatIncludeNothingOfLibTorch) {
  Chains chains({"torch/", "ATen/", "c10/", "caffe2/"});
  int kernels = 0;
  for (const fs::path& file : code_below(root / "src"))
    if (file.extension() == ".cu") {
      ++kernels;
      EXPECT_EQ(chains.to_word(file), "") << file;
    }
  EXPECT_GT(kernels, 30);
}

TEST(Rooms, HaveFewFilesInAFolder) {
  const std::ptrdiff_t limit = 25;
  for (const char* top : {"src", "recipes"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (!entry.is_directory()) continue;
      const auto is_file = [](const fs::directory_entry& one) { return one.is_regular_file(); };
      EXPECT_LE(std::count_if(fs::directory_iterator(entry), fs::directory_iterator(), is_file),
                limit)
          << entry.path() << ": move what belongs together into a folder of its own";
    }
}

}  // namespace
}  // namespace lockstep
