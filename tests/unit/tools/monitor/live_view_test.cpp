// The live view without a terminal: samples and keys in, lines out.
#include "tools/monitor/live/live_view.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "fakes/fake_reader.h"
#include "tools/monitor/live/live_devices.h"
#include "tools/monitor/live/sparkline.h"

namespace lockstep {
namespace {

constexpr std::uint64_t mib = 1 << 20;

GpuSample busy_gpu(double percent) {
  GpuSample gpu;
  for (Reading& reading : gpu.readings) reading = measured(percent);
  gpu[GpuMetric::memory_used] = measured(63.1 * (1 << 30));
  gpu[GpuMetric::memory_total] = measured(140.4 * (1 << 30));
  gpu[GpuMetric::power] = measured(612);
  gpu[GpuMetric::power_limit] = measured(700);
  gpu[GpuMetric::temperature] = measured(61);
  gpu[GpuMetric::sm_clock] = measured(1755);
  gpu[GpuMetric::sm_clock_most] = measured(1980);
  gpu[GpuMetric::clock_limits] = measured(0x4);
  for (const GpuMetric metric : {GpuMetric::pcie_sent, GpuMetric::nvlink_sent})
    gpu[metric] = measured(3.5 * (1 << 30));
  gpu.processes_known = true;
  return gpu;
}

class LiveViewTest : public ::testing::Test {
 protected:
  // `count` devices and three processes on each: 100, 101, … with ever more memory.
  explicit LiveViewTest(std::size_t count = 8) {
    sample_.wall_s = 1.7e9;
    for (std::size_t i = 0; i < count; ++i) {
      gpus_.push_back({.index = static_cast<int>(i), .name = "NVIDIA H200"});
      sample_.gpus.push_back(busy_gpu(90.0 - 10 * static_cast<double>(i)));
    }
    for (int i = 0; i < 30; ++i)
      sample_.gpus[static_cast<std::size_t>(i) % count].processes.push_back(
          {.pid = 100 + i, .memory_bytes = (100 + static_cast<std::uint64_t>(i)) * mib});
  }
  std::optional<ProcessInfo> find(int pid) {
    ++looked_up_;
    if (gone_.contains(pid)) return std::nullopt;
    if (const auto known = known_.find(pid); known != known_.end()) return known->second;
    return ProcessInfo{.user = pid % 2 ? "ada" : "bob",
                       .command = cat("python train-", pid, ".py"),
                       .age_s = 1000.0 - pid};
  }
  LiveView& view() {
    if (!view_)
      view_.emplace(
          gpus_,
          LiveOptions{.find = [this](int pid) { return find(pid); }, .more = more_, .utf8 = utf8_});
    return *view_;
  }
  void next() {
    ++sample_.number;
    sample_.at_s += 1;
    sample_.wall_s += 1;
    view().add(std::make_shared<const MonitorSample>(sample_));
  }
  void type(const std::string& text) {
    for (const char c : text)
      view().press({Key::character, static_cast<char32_t>(static_cast<unsigned char>(c))});
  }
  std::vector<std::string> screen(int width = 80, int height = 24) {
    std::vector<std::string> lines;
    for (const Line& line : view().lines(width, height)) {
      std::string text;
      for (const Span& span : line) text += span.text;
      EXPECT_LE(cells_of(text), width) << text;
      EXPECT_EQ(text, clean_cells(text));
      lines.push_back(text);
    }
    EXPECT_LE(lines.size(), static_cast<std::size_t>(height));
    return lines;
  }
  std::string text(int width = 80, int height = 24) { return join(screen(width, height), "\n"); }
  bool shows(const std::string& what, int width = 80, int height = 24) {
    return text(width, height).find(what) != std::string::npos;
  }
  // The line that is drawn as selected.
  std::string selected() {
    for (const Line& line : view().lines(80, 24))
      for (const Span& span : line)
        if (span.style == Style::selected) return span.text;
    return "";
  }
  // PIDs from the top of the screen on.
  std::vector<int> pids(int height = 24) {
    std::vector<int> found;
    bool below = false;
    for (const std::string& line : screen(80, height)) {
      if (below && line.size() > 12 && line[11] >= '0' && line[11] <= '9')
        found.push_back(std::stoi(line.substr(5, 7)));
      below = below || line.find("PID") != std::string::npos;
    }
    return found;
  }

  std::vector<GpuInfo> gpus_;
  MonitorSample sample_;
  std::map<int, ProcessInfo> known_;
  std::set<int> gone_;
  std::function<std::string(int)> more_;
  bool utf8_ = true;
  int looked_up_ = 0;
  std::optional<LiveView> view_;
};

TEST_F(LiveViewTest, HasEightDevicesAndProcessesIn80By24) {
  next();
  const std::vector<std::string> lines = screen();
  ASSERT_EQ(lines.size(), 24U);
  for (const char* head : {"GPU", "activity", "history", "tens%", "DRAM%", "mem GiB", "power W",
                           " C ", "MHz", "held by"})
    EXPECT_NE(lines[1].find(head), std::string::npos) << head << ": " << lines[1];
  for (std::size_t i = 0; i < 8; ++i) {
    const std::string& row = lines[2 + i];
    EXPECT_EQ(trim(row).substr(0, 1), cat(i)) << row;
    EXPECT_NE(row.find(cat(90 - 10 * i, " SM")), std::string::npos) << row;
    EXPECT_NE(row.find("63.1/140 612/700  61 1755 power"), std::string::npos) << row;
  }
  EXPECT_NE(lines[10].find("1-12 of 30"), std::string::npos) << lines[10];
  EXPECT_EQ(pids().size(), 12U);
  EXPECT_NE(lines[11].find("python train-100.py"), std::string::npos) << lines[11];
  EXPECT_NE(lines[23].find("q quit"), std::string::npos);
}

TEST_F(LiveViewTest, ShowsTrafficClockLimitAndNameWhereThereIsRoom) {
  next();
  const std::vector<std::string> lines = screen(160, 24);
  for (const char* head : {"of max", "PCIe out/in", "NVLink out/in", "name"})
    EXPECT_NE(lines[1].find(head), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("3.5G/90B"), std::string::npos) << lines[2];
  EXPECT_NE(lines[2].find("1755   1980"), std::string::npos) << lines[2];
  EXPECT_NE(lines[2].find("NVIDIA H200"), std::string::npos) << lines[2];
}

TEST_F(LiveViewTest, FitsIntoEverySize) {
  known_[100] = {.user = "用户名", .command = "訓練 🚀 --name 訓練訓練訓練訓練訓練訓練訓練訓練"};
  sample_.gpus[2].fault = "GPU is lost: 訓練\x1b[2J";
  next();
  for (int mode = 0; mode < 4; ++mode) {
    if (mode == 1) type("/x");
    if (mode == 2) view().press({Key::escape}), view().press({Key::enter});
    if (mode == 3) view().press({Key::escape}), type("?");
    for (int width = 0; width < 90; ++width)
      for (const int height : {0, 1, 2, 3, 4, 5, 6, 10, 11, 13, 24}) screen(width, height);
    for (const int size : {200, 1000}) screen(size, size);
  }
  EXPECT_TRUE(view().lines(0, 0).empty());
  EXPECT_TRUE(view().lines(-1, 5).empty());
  EXPECT_EQ(view().lines(5, 2).size(), 2U);
}

TEST_F(LiveViewTest, SaysThatDevicesAreLeftOutWhereTheLinesDoNotSuffice) {
  next();
  EXPECT_TRUE(shows("+4 more GPUs", 40, 10)) << text(40, 10);
  EXPECT_FALSE(shows("more GPUs", 40, 14));
}

TEST_F(LiveViewTest, NeverShowsZeroForWhatIsNotMeasured) {
  for (Reading& reading : sample_.gpus[0].readings) reading = unsupported();
  for (Reading& reading : sample_.gpus[1].readings) reading = Reading{};
  next();
  for (const std::size_t row : {2U, 3U}) {
    const std::string line = screen(100, 24)[row];
    EXPECT_EQ(line.find('0', 4), std::string::npos) << line;
    EXPECT_NE(line.find(row == 2 ? "n/a" : " -"), std::string::npos) << line;
  }
  EXPECT_EQ(activity_text(sample_.gpus[0]), "n/a");
  EXPECT_EQ(activity_text(sample_.gpus[1]), "- SM");
  EXPECT_TRUE(shows("   -  100 MiB")) << text();  // SM of a process without a sample
}

TEST_F(LiveViewTest, FallsBackToBusyAndSaysSo) {
  sample_.gpus[0][GpuMetric::sm_active] = unsupported();
  sample_.gpus[0][GpuMetric::gpu_busy] = measured(97);
  next();
  EXPECT_NE(screen()[2].find("97 busy"), std::string::npos) << screen()[2];
  EXPECT_NE(screen()[2].find("█"), std::string::npos) << screen()[2];
  EXPECT_NE(screen()[3].find("80 SM"), std::string::npos) << screen()[3];
  sample_.gpus[0][GpuMetric::gpu_busy] = Reading{};
  EXPECT_EQ(activity_text(sample_.gpus[0]), "- busy");
}

TEST_F(LiveViewTest, ShowsAFaultInPlaceOfValues) {
  sample_.gpus[5].fault = "GPU is lost";
  next();
  EXPECT_EQ(trim(screen()[7]), "5 GPU is lost");
}

TEST_F(LiveViewTest, DrawsHistoryWithGaps) {
  for (const double percent : {0.0, 50.0, -1.0, 100.0}) {
    sample_.gpus[0][GpuMetric::sm_active] = percent < 0 ? Reading{} : measured(percent);
    next();
  }
  EXPECT_NE(screen()[2].find("▁▅ █"), std::string::npos) << screen()[2];
}

TEST(Sparkline, HasLevelsOfAsciiWithoutUtf8) {
  const std::vector<float> values{0, 13, 50, 100, std::numeric_limits<float>::quiet_NaN(), 1e6, -5};
  EXPECT_EQ(sparkline(values, false), "_.=# #_");
  EXPECT_EQ(sparkline(values, true), "▁▂▅█ █▁");
}

TEST_F(LiveViewTest, IsAsciiWithoutUtf8) {
  utf8_ = false;
  known_[100] = {.user = "ada", .command = std::string(200, 'x')};
  next();
  const std::string all = text();
  EXPECT_TRUE(std::all_of(all.begin(), all.end(), [](char c) { return c >= 0; })) << all;
  EXPECT_NE(screen()[2].find("#"), std::string::npos) << screen()[2];
  EXPECT_TRUE(screen()[11].ends_with("x~")) << screen()[11];
}

TEST_F(LiveViewTest, SortsByTheNextColumnAndReverses) {
  next();
  EXPECT_EQ(pids()[0], 100);
  EXPECT_EQ(pids()[1], 108);  // the next on GPU 0
  type("s");                  // PID
  EXPECT_EQ(pids()[1], 101);
  EXPECT_TRUE(shows("PID^"));
  type("S");
  EXPECT_EQ(pids(50)[0], 129);
  EXPECT_TRUE(shows("PIDv"));
  type("s");  // user: in its own order again
  EXPECT_TRUE(shows("user^"));
  EXPECT_EQ(pids(50)[0] % 2, 1);  // ada before bob
  type("ss");                     // SM, memory
  EXPECT_TRUE(shows("memoryv"));
  EXPECT_EQ(pids(50)[0], 129);
  type("S");
  EXPECT_EQ(pids(50)[0], 100);
}

TEST_F(LiveViewTest, PutsWhatIsNotKnownLastBothWays) {
  for (GpuSample& gpu : sample_.gpus)
    for (GpuProcess& process : gpu.processes)
      if (process.pid < 103) process.sm_percent = process.pid;
  next();
  type("sss");
  EXPECT_EQ((std::vector{pids(50)[0], pids(50)[1], pids(50)[2]}), (std::vector{102, 101, 100}));
  type("S");
  EXPECT_EQ((std::vector{pids(50)[0], pids(50)[1], pids(50)[2]}), (std::vector{100, 101, 102}));
}

// Folders of environments are longer than a line; the page of a process has the whole command.
TEST_F(LiveViewTest, LeavesTheFolderOfAProgramToItsPage) {
  const std::string folder = cat("/", std::string(90, 'x'), "/bin/");
  known_[100] = {.user = "ada", .command = folder + "python /data/train.py --out a/b"};
  known_[101] = {.user = "ada", .command = "worker: of /usr/bin/pool"};
  next();
  EXPECT_TRUE(shows(" python /data/train.py")) << text();
  EXPECT_TRUE(shows(" worker: of /usr/bin/pool", 100)) << text(100);
  EXPECT_FALSE(shows("/x"));
  type("ssssss");  // command
  EXPECT_EQ(pids(50)[0], 100) << text();
  EXPECT_EQ(pids(50).back(), 101) << text();
  view().press({Key::enter});
  EXPECT_TRUE(shows("/x")) << text();
}

TEST_F(LiveViewTest, FiltersByUserCommandRunAndPid) {
  known_[117] = {.user = "Eve", .command = "BERT --lr 1"};
  known_[118] = {.user = "root", .command = "lockstep-worker"};
  known_[118].run = OwnRun{.name = "first-try", .path = "/first-try", .job = "train"};
  next();
  type("/eve");
  EXPECT_EQ(pids(), std::vector{117});
  EXPECT_TRUE(shows("filter: eve_"));
  for (int i = 0; i < 5; ++i) view().press({Key::backspace});
  EXPECT_EQ(pids(50).size(), 30U);
  type("bert");
  view().press({Key::enter});
  EXPECT_EQ(pids(), std::vector{117});
  EXPECT_TRUE(shows("filter: bert"));
  type("q");  // not text any more
  view().press({Key::escape});
  EXPECT_EQ(pids(50).size(), 30U);
  type("/129");
  EXPECT_EQ(pids(), std::vector{129});
  view().press({Key::escape});
  type("/FIRST");
  EXPECT_EQ(pids(), std::vector{118});
  type("nothing");
  EXPECT_TRUE(shows("no process matches the filter"));
  EXPECT_TRUE(pids().empty());
}

TEST_F(LiveViewTest, PausesWhileSamplingGoesOn) {
  next();
  type("p");
  sample_.gpus[0][GpuMetric::sm_active] = measured(7);
  const std::string before = screen()[2];
  next();
  EXPECT_TRUE(shows("PAUSED"));
  EXPECT_EQ(screen()[2], before);  // history too
  type(" ");
  EXPECT_FALSE(shows("PAUSED"));
  EXPECT_NE(screen()[2].find(" 7 SM"), std::string::npos) << screen()[2];
  EXPECT_NE(screen()[2].find("█▁"), std::string::npos) << screen()[2];
}

TEST_F(LiveViewTest, KeepsTheSelectionOnItsProcess) {
  next();
  type("sjj");
  EXPECT_NE(selected().find("102"), std::string::npos) << selected();
  // It moves to the end of the other order, and stays selected and on the screen.
  type("ssssS");
  EXPECT_NE(selected().find("train-102.py"), std::string::npos) << text();
  sample_.gpus[0].processes.insert(sample_.gpus[0].processes.begin(), {.pid = 50});
  next();
  EXPECT_NE(selected().find("train-102.py"), std::string::npos) << text();
}

TEST_F(LiveViewTest, SelectsWhatTakesThePlaceOfAProcessThatEnded) {
  next();
  type("sjj");
  for (GpuSample& gpu : sample_.gpus)
    std::erase_if(gpu.processes, [](const GpuProcess& process) { return process.pid == 102; });
  next();
  EXPECT_NE(selected().find("train-103.py"), std::string::npos) << text();
  for (GpuSample& gpu : sample_.gpus) gpu.processes.clear();
  next();
  EXPECT_EQ(selected(), "");
  EXPECT_TRUE(shows("no processes"));
  for (const Key key : {Key::up, Key::down, Key::page_down, Key::enter, Key::end})
    EXPECT_TRUE(view().press({key}));
}

TEST_F(LiveViewTest, Scrolls) {
  next();
  type("s");
  view().press({Key::end});
  EXPECT_EQ(pids().back(), 129);
  EXPECT_TRUE(shows("19-30 of 30"));
  view().press({Key::page_up});
  EXPECT_NE(selected().find("train-117.py"), std::string::npos) << selected();
  view().press({Key::home});
  EXPECT_EQ(pids()[0], 100);
  view().press({Key::page_down});
  EXPECT_NE(selected().find("train-112.py"), std::string::npos) << selected();
}

TEST_F(LiveViewTest, OpensThePageOfAProcessAndGoesBack) {
  known_[101] = {.user = "eve", .command = cat("python ", std::string(100, 'x'), " --last-word")};
  known_[101].run = OwnRun{.name = "first-try",
                           .path = "/runs/first-try",
                           .job = "train",
                           .step = 1200,
                           .total_steps = 20000,
                           .units_per_s = 1.02e6,
                           .unit = "tokens",
                           .eta_s = 9660};
  next();
  EXPECT_TRUE(shows("first… 1200/20000 1.02M tok/s eta 2h41m\n")) << text();
  EXPECT_TRUE(shows("first-try 1200/20000 1.02M tok/s eta 2h41m  python x", 120)) << text(120);
  type("sj");
  view().press({Key::enter});
  for (const char* part : {"process 101", "eve", "--last-word", "memory 101 MiB, SM -",
                           "first-try 1200/20000 1.02M tok/s eta 2h41m", "/runs/first-try"})
    EXPECT_TRUE(shows(part)) << part << "\n" << text();
  EXPECT_FALSE(shows("train-100.py"));
  type("q");  // back, not out
  EXPECT_TRUE(shows("train-100.py"));
  type("d");
  EXPECT_TRUE(shows("process 101"));
  view().press({Key::escape});
  EXPECT_TRUE(shows("train-100.py"));
}

TEST_F(LiveViewTest, ShowsThePageThatItIsGivenAndScrollsIt) {
  std::string rows;
  for (int i = 0; i < 40; ++i) rows += cat("row ", i, " of it\x1b[31m\n");
  more_ = [&](int pid) { return cat("doctor of ", pid, "\n", rows); };
  next();
  view().press({Key::enter});
  EXPECT_TRUE(shows("doctor of 100"));
  EXPECT_FALSE(shows("row 39"));
  for (int i = 0; i < 100; ++i) view().press({Key::page_down});
  EXPECT_TRUE(shows("row 39 of it"));
  view().press({Key::up});
  EXPECT_FALSE(shows("row 39"));
  view().press({Key::home});
  EXPECT_TRUE(shows("doctor of 100"));
}

TEST_F(LiveViewTest, KeepsThePageOfAProcessThatEnds) {
  next();
  view().press({Key::enter});
  sample_.gpus[0].processes.clear();
  next();
  next();
  EXPECT_TRUE(shows("ended: it is on no GPU any more")) << text();
  EXPECT_TRUE(shows("python train-100.py"));
  gone_.insert(108);
}

TEST_F(LiveViewTest, ShowsProcessesThatItCannotSee) {
  gone_.insert(100);
  next();
  EXPECT_NE(screen()[11].find("?"), std::string::npos);
  EXPECT_NE(screen()[11].find("(not a process of this PID namespace"), std::string::npos);
  view().press({Key::enter});
  EXPECT_TRUE(shows("not a process of this PID namespace"));
}

TEST_F(LiveViewTest, CleansNamesOfWhatWouldGarbleTheScreen) {
  known_[100] = {.user = "a\x1b[2Jb", .command = "x\r\n\t\x07y \xff\xfe z"};
  known_[100].run = OwnRun{.name = "ru\x1bn", .path = "/", .job = "train", .step = 3};
  next();
  screen();  // checks each line
  EXPECT_TRUE(shows("ru\\x1bn 3"));
  view().press({Key::enter});
  screen();
}

TEST_F(LiveViewTest, SaysForHowLongTheDriverHasNotAnswered) {
  next();
  view().set_hanging(4);
  EXPECT_FALSE(shows("driver"));
  view().set_hanging(7.4);
  EXPECT_TRUE(shows("driver has not answered for 7 s", 40, 10));
  type("?");  // keys still work
  EXPECT_TRUE(shows("driver has not answered for 7 s"));
}

TEST_F(LiveViewTest, ShowsItsKeysOnOneScreenAndClosesThemByTheSameKey) {
  next();
  type("?");
  const std::vector<std::string> lines = screen(), wide = screen(200);
  EXPECT_TRUE(shows("no sample this time"));  // the last line
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) EXPECT_EQ(trim(lines[i]), trim(wide[i]));
  type("?");
  EXPECT_EQ(pids().size(), 12U);
  for (const int width : {40, 20}) EXPECT_TRUE(shows("? keys", width)) << width;
}

TEST_F(LiveViewTest, NamesTheRecordingThatItShows) {
  view_.emplace(gpus_, LiveOptions{.find = [this](int pid) { return find(pid); },
                                   .recording = "night.jsonl"});
  next();
  EXPECT_TRUE(shows("8 GPUs, recording night.jsonl"));
  EXPECT_FALSE(shows("every"));
}

TEST_F(LiveViewTest, WaitsForTheFirstSample) {
  EXPECT_TRUE(shows("waiting for the first sample"));
  for (const Key key : {Key::up, Key::enter, Key::escape, Key::resize, Key::none})
    EXPECT_TRUE(view().press({key}));
  type("sS/x");
  EXPECT_TRUE(shows("waiting for the first sample"));
}

TEST_F(LiveViewTest, IsLeftByQAndWithItsTerminal) {
  next();
  EXPECT_FALSE(view().press({Key::character, 'q'}));
  EXPECT_FALSE(view().press({Key::gone}));
  type("/q");
  EXPECT_TRUE(shows("filter: q_"));
}

TEST_F(LiveViewTest, LooksProcessesUpOnceASecond) {
  next();
  EXPECT_EQ(looked_up_, 30);
  for (int i = 0; i < 5; ++i) {
    sample_.at_s -= 0.9;
    next();
  }
  EXPECT_EQ(looked_up_, 30);
  next();
  EXPECT_EQ(looked_up_, 60);
}

}  // namespace
}  // namespace lockstep
