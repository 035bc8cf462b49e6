// Volumes are decoded once, and the cache is bounded.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "prepare_test.h"
#include "recipes/volume/prepare/cache/cache_volumes.h"
#include "recipes/volume/prepare/cache/parallel.h"
#include "recipes/volume/prepare/find/source_index.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Cache : public PrepareTest {
 protected:
  Cache() { options.data.valid_share = 0; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(cache() / "volumes"))
      if (entry.path().extension() == ".vox") found.push_back(entry.path());
    return found;
  }
};

TEST_F(Cache, HoldsVoxelsLabelsAndStatistics) {
  write_pairs({"a"});
  const PreparedVolumes found = volumes();
  ASSERT_EQ(found.train.size(), 1U);
  EXPECT_EQ(found.channels, 1);
  EXPECT_EQ(found.type, VoxelType::u8);
  const CachedVolume volume(found.train[0].cached);
  const auto image = image_of(usual, 'a');
  EXPECT_TRUE(std::ranges::equal(volume.image(), std::as_bytes(std::span(image))));
  EXPECT_TRUE(std::ranges::equal(volume.labels(), labels_of(usual)));
  EXPECT_EQ(volume.header().ignore, 2);
  EXPECT_EQ(volume.header().channels.size(), 1U);
  EXPECT_FALSE(volume.header().spacing_known);
}

TEST_F(Cache, ReadsAgainWhatIsDamaged) {
  write_pairs({"a", "b"});
  age();
  const fs::path cached = volumes().train[0].cached;
  const std::string whole = read_file(cached);
  for (const std::size_t at : {whole.size() - 1, whole.size() / 2, std::size_t{60}}) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    std::ofstream(cached, std::ios::in | std::ios::binary) << bytes;
    volumes();
    EXPECT_THAT(said, HasSubstr("reading 1 volume into the cache")) << at;
    EXPECT_EQ(read_file(cached), whole) << at;
  }
  volumes();
  EXPECT_THAT(said, Not(HasSubstr("reading")));
}

TEST_F(Cache, ReadsSourcesOnce) {
  write_pairs({"a", "b"});
  age();
  prepare();
  EXPECT_THAT(said, HasSubstr("reading 2 volumes into the cache"));
  // Nothing but the stamps of the sources is looked at: their bytes may be anything.
  for (const char* file : {"train_images/a.tif", "train_labels/a.tif"}) {
    const fs::path source = data() / file;
    const auto time = fs::last_write_time(source);
    const auto size = fs::file_size(source);
    std::ofstream(source, std::ios::in | std::ios::binary) << std::string(size, 'x');
    fs::last_write_time(source, time);
  }
  prepare();
  EXPECT_THAT(said, Not(HasSubstr("read")));
}

TEST_F(Cache, NoticesASourceThatHasChanged) {
  write_pairs({"a"});
  age();
  const auto before = volumes().train[0].cached;
  write_image("a", usual, 99);
  age();
  const PreparedVolumes after = volumes();
  EXPECT_NE(after.train[0].cached, before);
  const auto image = image_of(usual, 99);
  EXPECT_TRUE(std::ranges::equal(CachedVolume(after.train[0].cached).image(),
                                 std::as_bytes(std::span(image))));
}

TEST_F(Cache, SharesVolumesOfTheSameContent) {
  write_pairs({"a"});
  fs::copy(data() / "train_images/a.tif", data() / "train_images/b.tif");
  fs::copy(data() / "train_labels/a.tif", data() / "train_labels/b.tif");
  const PreparedVolumes found = volumes();
  ASSERT_EQ(found.train.size(), 2U);
  EXPECT_EQ(found.train[0].cached, found.train[1].cached);
  fs::rename(data(), path("moved"));
  options.data.path = path("moved").string();
  EXPECT_EQ(volumes().train[0].cached, found.train[0].cached);
}

TEST_F(Cache, TellsOptionsThatMatterApart) {
  write(data() / "images" / "a.nii", usual, image_of(usual, 1), {.spacing_mm = {{2, 1, 1}}});
  write(data() / "labels" / "a.nii", usual, labels_of(usual), {.spacing_mm = {{2, 1, 1}}});
  const PreparedVolumes usual_one = volumes();
  options.data.spacing = {"1"};
  const PreparedVolumes finer = volumes();
  EXPECT_EQ(finer.train[0].shape, (VolumeShape{.depth = 12, .height = 5, .width = 7}));
  EXPECT_EQ(CachedVolume(finer.train[0].cached).header().spacing_mm,
            (std::array<double, 3>{1, 1, 1}));
  options.data.spacing.clear();
  EXPECT_EQ(CachedVolume(usual_one.train[0].cached).header().spacing_mm,
            (std::array<double, 3>{2, 1, 1}));
  options.data.classes = 3;
  options.data.ignore = -1;
  EXPECT_NE(volumes().train[0].cached, usual_one.train[0].cached);
  EXPECT_EQ(files().size(), 3U);
}

TEST_F(Cache, MakesAFileAgainThatIsDamaged) {
  write_pairs({"a"});
  age();
  const fs::path cached = volumes().train[0].cached;
  fs::resize_file(cached, fs::file_size(cached) - 1);
  EXPECT_EQ(volumes().train[0].cached, cached);
  EXPECT_NO_THROW(CachedVolume{cached});
  write_file_atomic(cache() / "volumes/sources.json", "{]");
  EXPECT_EQ(volumes().train[0].cached, cached);
}

TEST_F(Cache, RemovesWhatAProcessThatWasEndedHadBegun) {
  write_pairs({"a"});
  make_directories(cache() / "volumes");
  write_file_atomic(cache() / "volumes/.x.vox.7.0.tmp", "half");
  prepare();
  EXPECT_FALSE(fs::exists(cache() / "volumes/.x.vox.7.0.tmp"));
}

TEST_F(Cache, IsSafeForTwoProcessesAtOnce) {
  for (int i = 0; i < 12; ++i) write_pair(cat("v", i));
  std::vector<pid_t> children;
  for (int child = 0; child < 3; ++child) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    const std::string error = prepare_error();
    ::_exit(error.empty() ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(volumes().train.size(), 12U);
}

// Of volumes in a folder of their own, with a disk that has as much room as the test says.
class CacheRoom : public Cache {
 protected:
  std::vector<fs::path> cache_them(const std::vector<std::string>& ids, double free_bytes,
                                   double most_gb = 0, double check_s = 60) {
    std::vector<Pair> pairs;
    for (const std::string& id : ids)
      pairs.push_back({.id = id,
                       .image = data() / "train_images" / (id + ".tif"),
                       .label = data() / "train_labels" / (id + ".tif")});
    return cache_volumes(pairs, decode_options(options), cache() / "volumes",
                         {.most_gb = most_gb,
                          .free_bytes = [=](const fs::path&) { return free_bytes; },
                          .check_s = check_s},
                         [&](const std::string& line) { said += line + "\n"; });
  }
  static void use_long_ago(const fs::path& cached, int hours) {
    fs::last_write_time(cached, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }
  static constexpr double gib = 1 << 30;
  static constexpr double plenty = 100 * gib;
};

TEST_F(CacheRoom, ReadsContentsNoLongerThanAStartMayTake) {
  write_pairs({"a", "b"});
  age();
  const fs::path cached = cache_them({"a", "b"}, plenty)[0];
  std::string bytes = read_file(cached);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file_atomic(cached, bytes);
  cache_them({"a", "b"}, plenty, 0, 0);
  EXPECT_THAT(said, Not(HasSubstr("damaged")));
  cache_them({"a", "b"}, plenty);
  EXPECT_THAT(said, HasSubstr("1 volume in the cache is damaged and read again"));
}

TEST_F(CacheRoom, RefusesWhatDoesNotFitBeforeAnythingIsDecoded) {
  write_pairs({"a", "b"});
  EXPECT_THAT(error_if_any([&] {
                cache_them({"a", "b"}, gib + 100);
              }),
              AllOf(HasSubstr((cache() / "volumes").string()), HasSubstr("has no room"),
                    HasSubstr("are needed"), HasSubstr("are free"), HasSubstr("run.cache")));
  EXPECT_TRUE(files().empty());
  EXPECT_THAT(said, Not(HasSubstr("reading")));
  EXPECT_EQ(cache_them({"a", "b"}, 1.2 * gib).size(), 2U);
}

TEST_F(CacheRoom, RemovesWhatWasNotUsedLongest) {
  write_pairs({"a", "b", "c", "d"});
  age();
  const auto before = cache_them({"a", "b", "c"}, plenty);
  EXPECT_THAT(said, HasSubstr(cat("reading 3 volumes into the cache ",
                                  (cache() / "volumes").string(), ": ")));
  EXPECT_THAT(said, HasSubstr(" of 100 GiB that are free there"));
  const double one = static_cast<double>(fs::file_size(before[0]));
  use_long_ago(before[0], 2);
  use_long_ago(before[1], 3);
  cache_them({"c", "d"}, plenty, 3.1 * one / 1e9);
  EXPECT_TRUE(fs::exists(before[0]));
  EXPECT_FALSE(fs::exists(before[1])) << "the oldest";
  EXPECT_TRUE(fs::exists(before[2]));
}

TEST_F(CacheRoom, NeverRemovesWhatIsInUse) {
  write_pairs({"a", "b", "c"});
  age();
  const auto before = cache_them({"a", "b"}, plenty);
  const double one = static_cast<double>(fs::file_size(before[0]));
  use_long_ago(before[0], 2);
  EXPECT_THAT(
      error_if_any([&] {
        cache_them({"a", "c"}, plenty, 2.1 * one / 1e9);
      }),
      AllOf(HasSubstr("has no room"), HasSubstr("data.cache_gb"),
            HasSubstr(cat("removing the .vox files there that are of other volumes would free ",
                          format_bytes(static_cast<double>(fs::file_size(before[1]))),
                          ", where no run uses them"))));
  EXPECT_TRUE(fs::exists(before[0])) << "of this set";
  EXPECT_TRUE(fs::exists(before[1])) << "used just now by another run";
}

TEST_F(CacheRoom, LooksWhetherVolumesAreThereUnderOtherPathsBeforeItGivesUp) {
  write_pairs({"a"});
  cache_them({"a"}, plenty);
  fs::copy(data() / "train_images/a.tif", data() / "train_images/b.tif");
  fs::copy(data() / "train_labels/a.tif", data() / "train_labels/b.tif");
  EXPECT_EQ(cache_them({"b"}, 0).size(), 1U);
}

using Index = PrepareTest;

TEST_F(Index, RemembersAHashWhileTheSourceIsAsItWas) {
  write_pairs({"a"});
  age();
  const fs::path source = data() / "train_images/a.tif";
  SourceIndex index(path("sources.json"));
  const std::string stamp = stamp_of(source);
  EXPECT_FALSE(index.hash_of(source, stamp));
  index.remember(source, stamp, "abc");
  index.save();
  EXPECT_EQ(SourceIndex(path("sources.json")).hash_of(source, stamp), "abc");
  EXPECT_FALSE(SourceIndex(path("sources.json")).hash_of(source, stamp + "0"));
}

TEST_F(Index, DoesNotRememberWhatMayStillChange) {
  write_pairs({"a"});
  const fs::path source = data() / "train_images/a.tif";
  SourceIndex index(path("sources.json"));
  index.remember(source, stamp_of(source), "abc");
  EXPECT_FALSE(index.hash_of(source, stamp_of(source)));
}

TEST_F(Index, KeepsWhatOthersWroteAndForgetsWhatIsGone) {
  write_pairs({"a", "b"});
  age();
  const fs::path a = data() / "train_images/a.tif", b = data() / "train_images/b.tif";
  SourceIndex first(path("sources.json")), second(path("sources.json"));
  first.remember(a, stamp_of(a), "1");
  second.remember(b, stamp_of(b), "2");
  first.save();
  second.save();
  EXPECT_EQ(SourceIndex(path("sources.json")).hash_of(a, stamp_of(a)), "1");
  fs::remove(a);
  SourceIndex third(path("sources.json"));
  third.remember(b, stamp_of(b), "3");
  third.save();
  EXPECT_EQ(read_file(path("sources.json")).find("a.tif"), std::string::npos);
}

TEST(Parallel, ThrowsTheErrorOfTheFirstInOrder) {
  std::atomic<int> begun = 0;
  const ParallelWork work{
      .count = 100, .run = [&](std::size_t i) {
        ++begun;
        if (i != 8) std::this_thread::sleep_for(std::chrono::milliseconds(i == 7 ? 30 : 2));
        if (i == 7 || i == 8) throw Error(cat("piece ", i));
      }};
  EXPECT_THAT(error_if_any([&] { run_parallel(work, 4, 0); }), HasSubstr("piece 7"));
  EXPECT_LT(begun, 60);
}

TEST(Parallel, HoldsNoMoreMemoryThanItMayButRunsWhatIsLarger) {
  std::atomic<double> held = 0;
  std::atomic<int> over = 0;
  std::atomic<std::size_t> done = 0;
  const auto bytes = [](std::size_t i) { return i == 5 ? 100.0 : 4.0; };
  run_parallel({.count = 20,
                .bytes = bytes,
                .run =
                    [&](std::size_t i) {
                      const double now = held += bytes(i);
                      if (now > 10 && now != 100) ++over;
                      std::this_thread::sleep_for(std::chrono::milliseconds(1));
                      held -= bytes(i);
                      ++done;
                    }},
               8, 10);
  EXPECT_EQ(over, 0);
  EXPECT_EQ(done, 20U);
}

}  // namespace
}  // namespace lockstep::volume
