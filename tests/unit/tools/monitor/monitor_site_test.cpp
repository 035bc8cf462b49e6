// What is answered to which request.
#include "tools/monitor/serve/monitor_site.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/fake_clock.h"
#include "fakes/fake_reader.h"
#include "tools/monitor/serve/page_files.h"

namespace lockstep {
namespace {

using nlohmann::json;

class Site : public ::testing::Test {
 protected:
  void take(double at_s) {
    MonitorSample sample{.number = ++number_, .wall_s = 1.7e9 + at_s, .at_s = at_s};
    sample.gpus.resize(1);
    sample.gpus[0][GpuMetric::power] = measured(100 + at_s);
    site_.take(sample);
  }
  HttpReply get(const std::string& path, const std::string& query = "",
                const std::string& host = "localhost:9400") {
    return site_.answer({.path = path, .query = query, .host = host});
  }
  std::string body(const std::string& path, const std::string& query = "") {
    return *get(path, query).body;
  }
  FakeClock clock_;
  double hanging_s_ = 0;
  long long number_ = 0;
  int lookups_ = 0;
  MonitorSite site_{{.gpus = {{.index = 0, .uuid = "GPU-0", .name = "H200"}},
                     .interval_s = 1,
                     .hanging_s = [this] { return hanging_s_; },
                     .find = [this](int) -> std::optional<ProcessInfo> {
                       ++lookups_;
                       return std::nullopt;
                     }},
                    clock_};
};

TEST_F(Site, AnswersBeforeTheFirstSample) {
  EXPECT_EQ(get("/sample.json").status, 503);
  EXPECT_EQ(json::parse(body("/history.json"))["newest"], 0);
  EXPECT_NE(body("/metrics").find("lockstep_monitor_samples_total 0\n"), std::string::npos);
}

TEST_F(Site, HasThePageWithAllItsFilesAndNothingElse) {
  EXPECT_EQ(get("/").type, "text/html; charset=utf-8");
  const std::string page = body("/");
  EXPECT_NE(page.find("<title>Lockstep monitor</title>"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "the page names an address";
  for (const char* attribute : {"src=\"", "href=\""})
    for (std::size_t at = 0; (at = page.find(attribute, at)) != page.npos;) {
      at += std::string(attribute).size();
      const std::string path = page.substr(at, page.find('"', at) - at);
      if (path[0] == '#') continue;
      EXPECT_NE(get("/" + path).status, 404) << path;
    }
  for (const char* path : {"/nothing", "/..", "/../etc/passwd", "/page.js/..", "//", "/etc/passwd",
                           "/%2e%2e/etc/passwd", "", "page.js", "/page.js%00", "/index.html/"})
    EXPECT_EQ(get(path).status, 404) << path;
}

TEST_F(Site, HoldsThePackagedFilesUnchanged) {
  const std::string folder = LOCKSTEP_SOURCE_DIR "/src/tools/monitor/page";
  for (const char* name :
       {"index.html", "page.css", "page.js", "state.js", "tables.js", "charts.js", "icon.svg"})
    EXPECT_EQ(body(cat("/", name)), read_file(folder + "/" + name)) << name;
  EXPECT_NE(body("/dygraph.min.js").find("@license"), std::string::npos);
  EXPECT_NE(body("/licences.txt").find("Permission is hereby granted, free of charge"),
            std::string::npos);
  for (const PageFile& file : page_files()) {
    if (file.path == "/licences.txt" || file.path == "/icon.svg") continue;
    for (const char* outside : {"src=\"http", "url(", "import(", "sourceMappingURL"})
      EXPECT_EQ(file.content.find(outside), std::string_view::npos) << file.path << outside;
  }
}

TEST_F(Site, NeverMakesMarkupOfData) {
  const std::string script =
      body("/page.js") + body("/state.js") + body("/tables.js") + body("/charts.js");
  for (const char* way :
       {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("})
    EXPECT_EQ(script.find(way), std::string::npos) << way;
}

TEST_F(Site, AnswersToLocalNamesOnly) {
  for (const char* host :
       {"localhost", "localhost:8000", "127.0.0.1:9400", "127.1.2.3", "[::1]:9400", "[::1]", ""})
    EXPECT_EQ(get("/metrics", "", host).status, 200) << host;
  for (const char* host : {"evil.example",
                           "localhost.evil.example:9400",
                           "127.0.0.1.evil.example",
                           "127.evil.example:9400",
                           "[::2]:9400",
                           "10.0.0.1:9400",
                           "localhost@evil",
                           "[::1]evil.example",
                           "[::1]evil.example:9400",
                           "[::1]:9400.evil.example",
                           "[::1].evil.example",
                           "[::1",
                           "[::1:9400",
                           "[",
                           "[]",
                           "[::1]]",
                           "[[::1]]",
                           "[::1]:",
                           "[::1]:x",
                           "[::1%lo]",
                           "::1",
                           "localhost:",
                           "localhost:x",
                           "localhost:80:80",
                           "localhost:80@evil.example",
                           "localhost:80.evil.example",
                           "localhost:99999",
                           "localhost:-1",
                           "localhost.",
                           "localhost ",
                           " localhost",
                           "127.",
                           "127.0.0.1.",
                           "127.0.0.1.2",
                           "127.1",
                           "127.0.0.256",
                           "127..0.1",
                           "127.0.0.1:80 evil",
                           ":80",
                           ":",
                           "127.0.0.1,evil.example",
                           "localhost/evil.example"}) {
    EXPECT_EQ(get("/metrics", "", host).status, 403) << host;
    EXPECT_EQ(get("/", "", host).status, 403) << host;
  }
  const MonitorSite open({.local_only = false}, clock_);
  EXPECT_EQ(open.answer({.path = "/metrics", .host = "node7:9400"}).status, 200);
}

TEST_F(Site, GivesHistoryAfterANumber) {
  for (int i = 0; i < 5; ++i) take(i);
  EXPECT_EQ(json::parse(body("/history.json", "after=3"))["values"]["power"][0], json({103, 104}));
  for (const char* query : {"after=", "after=x", "after=-1", "after=1x", "before=2", "after=1&x=2",
                            "after=99999999999999999999"})
    EXPECT_EQ(get("/history.json", query).status, 400) << query;
}

TEST_F(Site, KeepsASampleASecondHoweverShortTheInterval) {
  MonitorSite often({.gpus = {{.index = 0}}, .interval_s = 0.1}, clock_);
  for (int i = 0; i <= 100; ++i) {
    MonitorSample sample{.number = i + 1, .at_s = 0.1 * i};
    sample.gpus.resize(1);
    often.take(sample);
  }
  const std::size_t kept =
      json::parse(*often.answer({.path = "/history.json"}).body)["time"].size();
  EXPECT_GE(kept, 10u);
  EXPECT_LE(kept, 12u);
  for (int i = 0; i < 10; ++i) take(i + (i % 2 ? 0.2 : 0));  // about a second apart
  EXPECT_EQ(json::parse(body("/history.json"))["time"].size(), 10u);
}

TEST_F(Site, LeavesOutOldValuesAndSaysThatTheDriverHangs) {
  take(clock_.now_s());
  EXPECT_NE(body("/metrics").find("lockstep_gpu_power_watts{"), std::string::npos);
  hanging_s_ = 60;
  clock_.sleep_s(60);
  const std::string text = body("/metrics");
  EXPECT_EQ(text.find("lockstep_gpu_"), std::string::npos) << text;
  EXPECT_NE(text.find("lockstep_monitor_sample_age_seconds 60\n"), std::string::npos) << text;
  EXPECT_NE(text.find("lockstep_driver_hanging_seconds 60\n"), std::string::npos) << text;
  const json data = json::parse(body("/history.json"));
  EXPECT_EQ(data["hanging_s"], 60.0);
  EXPECT_EQ(data["age_s"], 60.0);
}

TEST_F(Site, GivesASampleThatIsLateWithTheAgesOfNow) {
  take(clock_.now_s());
  const auto age = [&] {
    return json::parse(body("/sample.json"))["gpus"][0]["metrics"]["power"]["age_s"].get<double>();
  };
  EXPECT_EQ(age(), 0);
  clock_.sleep_s(8);
  EXPECT_NEAR(age(), 8, 1e-6);
  clock_.sleep_s(2);
  EXPECT_NEAR(age(), 10, 1e-6);
}

// For ThreadSanitizer.
TEST_F(Site, TakesSamplesWhileItAnswers) {
  std::thread sampler([this] {
    for (int i = 0; i < 300; ++i) take(i);
  });
  for (int i = 0; i < 100; ++i)
    for (const char* path : {"/metrics", "/sample.json", "/history.json"}) get(path);
  sampler.join();
  EXPECT_EQ(json::parse(body("/history.json"))["newest"], 300);
}

TEST_F(Site, LooksProcessesUpOnceASample) {
  MonitorSample sample{.number = 1, .at_s = clock_.now_s()};
  sample.gpus.resize(1);
  sample.gpus[0].processes_known = true;
  sample.gpus[0].processes = {{.pid = 7}};
  site_.take(sample);
  for (int i = 0; i < 50; ++i) body("/metrics");
  EXPECT_EQ(lookups_, 1);
  for (int i = 0; i < 50; ++i) body("/sample.json");
  EXPECT_EQ(lookups_, 2);
  EXPECT_EQ(json::parse(body("/sample.json"))["gpus"][0]["processes"][0]["pid"], 7);
}

}  // namespace
}  // namespace lockstep
