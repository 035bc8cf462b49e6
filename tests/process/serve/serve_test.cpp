// `lockstep monitor --serve` over a fake NVML: its clients are promtool, Prometheus and Chromium.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "serve_fixture.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::free_port;
using testing::http_body;
using testing::http_get;
using testing::HttpClient;
using testing::is_there;
using testing::Serve;
using testing::ToolProcess;
using testing::ToolResult;
using testing::wait_for;

TEST_F(Serve, HasMetricsThatPromtoolTakes) {
  const int port = serve({"--interval", "0.2s"});
  ASSERT_TRUE(wait_for_samples(port, 3));
  const std::string reply = http_get(port, "/metrics");
  EXPECT_TRUE(has(reply, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n")) << reply;
  const std::string text = http_body(reply);
  EXPECT_TRUE(has(text,
                  "lockstep_gpu_sm_active_ratio{gpu=\"2\",uuid=\"GPU-02\",name=\"NVIDIA "
                  "H200\"} 0.32\n"))
      << text;
  EXPECT_FALSE(has(text, "lockstep_gpu_power_watts{gpu=\"3\"")) << text;
  EXPECT_FALSE(has(text, "lockstep_gpu_temperature_celsius{gpu=\"6\"")) << text;
  EXPECT_TRUE(has(text, ",name=\"Tesla <b>T4</b> \\\"old\\\"\",metric=\"power\"} 0\n")) << text;
  EXPECT_TRUE(has(text, "command=\"process-serve\"")) << text;
  if (!is_there("promtool")) GTEST_SKIP() << "there is no promtool (package prometheus)";
  std::ofstream(folder_.path() / "metrics.txt") << text;
  const ToolResult lint =
      ToolProcess({"sh", "-c", "promtool check metrics < metrics.txt"}, folder_.path()).wait();
  EXPECT_EQ(lint.code, 0);
  EXPECT_EQ(lint.out + lint.err, "");
}

TEST_F(Serve, IsScrapedByPrometheus) {
  if (!is_there("prometheus")) GTEST_SKIP() << "there is no prometheus (package prometheus)";
  const int port = serve({"--interval", "0.2s"});
  const int web = free_port();
  std::filesystem::create_directory(folder_.path() / "prometheus");
  std::ofstream(folder_.path() / "prometheus/prometheus.yml")
      << "scrape_configs:\n  - job_name: lockstep\n    scrape_interval: 500ms\n"
         "    scrape_timeout: 500ms\n    static_configs:\n      - targets: [\"127.0.0.1:"
      << port << "\"]\n";
  start({"prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
         cat("--web.listen-address=127.0.0.1:", web)},
        "prometheus");
  const auto ask = [&](const std::string& query) {
    const std::string body = http_body(http_get(web, "/api/v1/query?query=" + query));
    const json answer = json::parse(body, nullptr, false);
    return answer.is_object() ? answer["data"]["result"] : json::array();
  };
  ASSERT_TRUE(wait_for(60, [&] { return ask("lockstep_gpu_sm_active_ratio").size() == 7; }))
      << started_.back()->err();
  const json up = ask("up");
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0]["value"][1], "1");
  const json power = ask("lockstep_gpu_power_watts%7Bgpu=%225%22%7D");
  ASSERT_EQ(power.size(), 1u);
  EXPECT_EQ(power[0]["value"][1], "305");
  EXPECT_EQ(power[0]["metric"]["uuid"], "GPU-05");
  EXPECT_EQ(ask("lockstep_gpu_power_watts%7Bgpu=%223%22%7D").size(), 0u);
  const json unsupported = ask("lockstep_gpu_metric_supported%7Bmetric=%22power%22%7D==0");
  ASSERT_EQ(unsupported.size(), 1u);
  EXPECT_EQ(unsupported[0]["metric"]["name"], "Tesla <b>T4</b> \"old\"");
}

class ServePage : public Serve {
 protected:
  void SetUp() override {
    for (const char* name : {"chromium", "google-chrome"})
      if (browser_.empty() && is_there(name)) browser_ = name;
    if (browser_.empty()) GTEST_SKIP() << "there is no chromium (package chromium)";
    environment_["HOME"] = folder_.path();  // nothing of the user's
  }
  std::vector<std::string> browser_words(int port, const std::string& state,
                                         const std::vector<std::string>& what, int budget_ms) {
    std::vector<std::string> words{"timeout",
                                   "100",
                                   browser_,
                                   "--headless",
                                   "--no-sandbox",
                                   "--disable-gpu",
                                   "--disable-dev-shm-usage",
                                   "--no-proxy-server",
                                   "--hide-scrollbars",
                                   "--enable-logging=stderr",
                                   "--user-data-dir=profile",
                                   "--window-size=1500,1350",
                                   cat("--virtual-time-budget=", budget_ms)};
    words.insert(words.end(), what.begin(), what.end());
    words.push_back(cat("http://127.0.0.1:", port, "/", state));
    return words;
  }
  // What the browser says after three seconds of its time.
  ToolResult browse(int port, const std::string& state, const std::vector<std::string>& what) {
    std::filesystem::create_directory(folder_.path() / "browser");
    return ToolProcess(browser_words(port, state, what, 3000), folder_.path() / "browser",
                       environment_)
        .wait();
  }
  std::string page(int port, const std::string& state = "") {
    const ToolResult result = browse(port, state, {"--dump-dom"});
    EXPECT_EQ(result.code, 0) << result.err;
    // A script that fails, or something that the page may not load.
    EXPECT_FALSE(has(result.err, "CONSOLE")) << result.err;
    return result.out;
  }
  // The texts of the cells of a table's body, by row.
  static std::vector<std::string> rows(const std::string& dom, const std::string& table) {
    const std::size_t begin = dom.find("<tbody>", dom.find("<table id=\"" + table + "\""));
    const std::string body = dom.substr(begin, dom.find("</tbody>", begin) - begin);
    std::vector<std::string> all;
    for (std::size_t at = body.find("<tr"); at != body.npos; at = body.find("<tr", at + 1)) {
      std::string text;
      bool tag = false;
      for (const char c : body.substr(at, body.find("</tr>", at) - at)) {
        if (c == '<') text += tag ? "" : "|";
        if (c == '<' || c == '>')
          tag = c == '<';
        else if (!tag)
          text += c;
      }
      all.push_back(text);
    }
    return all;
  }
  std::string browser_;
};

TEST_F(ServePage, ShowsEightGpusWithTheirValuesAndHistory) {
  const int port = serve({"--interval", "0.5s"});
  ASSERT_TRUE(wait_for_samples(port, 8));
  const std::string dom = page(port);
  const std::vector<std::string> gpus = rows(dom, "gpus");
  ASSERT_EQ(gpus.size(), 8u) << dom;
  for (int i = 0; i < 8; ++i) {
    const std::string& row = gpus[static_cast<std::size_t>(i)];
    EXPECT_TRUE(has(row, cat("|", i, "|"))) << row;
    EXPECT_TRUE(has(row, cat(10 + i, ".0 / 141.0"))) << row;
    if (i == 3) continue;
    EXPECT_TRUE(has(row, cat("|", 30 + i, " % |SM|"))) << row;
    EXPECT_TRUE(has(row, cat(300 + i, " / 700"))) << row;
    EXPECT_TRUE(has(row, i == 6 ? "|-|" : cat("|", 40 + i, " °C|"))) << row;
    EXPECT_TRUE(has(row, i == 1 ? "|power|" : "|no|")) << row;
  }
  // That it tells little is shown as that, and its name is no markup.
  EXPECT_TRUE(has(gpus[3], "|Tesla &lt;b&gt;T4&lt;/b&gt; \"old\"|")) << gpus[3];
  EXPECT_TRUE(has(gpus[3], "|53 % |busy|")) << gpus[3];
  EXPECT_TRUE(has(gpus[3], "n/a / 700")) << gpus[3];
  EXPECT_TRUE(has(gpus[3], "|n/a|")) << gpus[3];
  EXPECT_TRUE(has(dom, ">3: n/a<")) << dom;  // in the legend of a chart
  const std::vector<std::string> processes = rows(dom, "processes");
  ASSERT_EQ(processes.size(), 8u);
  EXPECT_TRUE(has(processes[2], cat("|2|", "|", getpid(), "|")) ||
              has(processes[2], cat("|2||", getpid(), "|")))
      << processes[2];
  EXPECT_TRUE(has(processes[2], "3.0 GiB")) << processes[2];
  EXPECT_TRUE(has(processes[2], "process-serve")) << processes[2];
  // Charts: drawn, with a history.
  std::size_t canvases = 0;
  for (std::size_t at = 0; (at = dom.find("<canvas", at)) != dom.npos; ++at) ++canvases;
  EXPECT_GE(canvases, 4u);
  const std::size_t at = dom.find("data-samples=\"");
  ASSERT_NE(at, dom.npos);
  EXPECT_GE(std::atoi(dom.c_str() + at + 14), 3) << dom;
  EXPECT_TRUE(has(dom, "live, a sample every 0.5 s")) << dom;
}

TEST_F(ServePage, ShowsOneGpuAndOneThatIsLost) {
  json gone = gpu(1);
  gone["error"] = 15;
  set(json::array({gpu(0), gone}));
  const int port = serve({"--interval", "0.5s"});
  ASSERT_TRUE(wait_for_samples(port, 3));
  const std::string dom = page(port);
  const std::vector<std::string> gpus = rows(dom, "gpus");
  ASSERT_EQ(gpus.size(), 2u) << dom;
  EXPECT_TRUE(has(gpus[0], "|30 % |SM|")) << gpus[0];
  EXPECT_TRUE(has(gpus[1], "does not answer: GPU is lost")) << gpus[1];
  EXPECT_TRUE(has(dom, ">GPU 1: GPU is lost.</p>")) << dom;
}

TEST_F(ServePage, SaysThatTheConnectionIsLost) {
  const int port = serve({"--interval", "0.5s"});
  ASSERT_TRUE(wait_for_samples(port, 3));
  const pid_t tool = started_.back()->pid();
  // The browser's clock jumps from one request to the next: a long time for it is a short one here.
  const double begin_s = system_clock().now_s();
  ToolProcess& browser = start(browser_words(port, "", {"--dump-dom"}, 3'000'000), "browser");
  // A line of /proc/net/tcp: number, here, there, state, where 01 is established.
  const auto is_connected = [&] {
    std::array<char, 16> here{};
    std::snprintf(here.data(), here.size(), "0100007F:%04X", port);
    std::istringstream lines(read_file("/proc/net/tcp"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string number, from, to, state;
      words >> number >> from >> to >> state;
      if (from == here.data() && state == "01") return true;
    }
    return false;
  };
  ASSERT_TRUE(wait_for(60, is_connected));
  // It draws then for as long as it took to start at most, which is longer on a busy machine.
  system_clock().sleep_s(std::max(3.0, system_clock().now_s() - begin_s));
  kill(tool, SIGKILL);
  const std::string dom = browser.wait().out;
  started_.pop_back();
  EXPECT_TRUE(has(dom, "Lockstep does not answer since ")) << dom;
  EXPECT_TRUE(has(dom, "<body class=\"old\">")) << dom;  // the values are drawn pale
  EXPECT_EQ(rows(dom, "gpus").size(), 8u) << dom;
}

// LOCKSTEP_SCREENSHOTS: a folder where the pictures are kept, to be looked at.
TEST_F(ServePage, IsDrawnLightAndDark) {
  const int port = serve({"--interval", "0.5s"});
  ASSERT_TRUE(wait_for_samples(port, 8));
  std::map<std::string, std::string> pictures;
  for (const std::string theme : {"light", "dark"}) {
    const std::filesystem::path file = folder_.path() / (theme + ".png");
    const ToolResult result =
        browse(port, cat("#minutes=1&theme=", theme), {cat("--screenshot=", file.string())});
    EXPECT_EQ(result.code, 0) << result.err;
    ASSERT_TRUE(std::filesystem::exists(file)) << result.err;
    pictures[theme] = read_file(file);
    EXPECT_GT(pictures[theme].size(), 60'000u) << theme;  // an empty page has some 10 kB
    if (const char* const kept = std::getenv("LOCKSTEP_SCREENSHOTS"))
      std::filesystem::copy_file(file, std::filesystem::path(kept) / (theme + ".png"),
                                 std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_NE(pictures["light"], pictures["dark"]);
}

TEST_F(Serve, GivesTheSampleThatJsonGives) {
  const int port = serve();
  ASSERT_TRUE(wait_for_samples(port, 2));
  const json served = json::parse(http_body(http_get(port, "/sample.json")));
  const ToolResult once =
      testing::run_tool({"monitor", "--once", "--json"}, folder_.path(), environment_);
  const json printed = json::parse(once.out);
  EXPECT_EQ(served["gpus"].size(), 8u);
  const auto keys = [](const json& object) {
    std::vector<std::string> all;
    for (const auto& item : object.items()) all.push_back(item.key());
    return all;
  };
  EXPECT_EQ(keys(served), keys(printed));
  EXPECT_EQ(keys(served["gpus"][3]["metrics"]), keys(printed["gpus"][3]["metrics"]));
  EXPECT_EQ(served["gpus"][3]["metrics"]["power"], printed["gpus"][3]["metrics"]["power"]);
  EXPECT_EQ(served["gpus"][3]["metrics"]["power"]["state"], "unsupported");
}

TEST_F(Serve, TellsNoSecretOfACommand) {
  const testing::ToolProcess other(
      {"sh", "-c", "sleep 60; :", "x", "--token", "first swordfish", "--name=a b"}, folder_.path());
  json one = gpu(0);
  one["processes"] = json::array({{{"pid", other.pid()}, {"memory", 1}}});
  set(json::array({one}));
  const int port = serve();
  ASSERT_TRUE(wait_for_samples(port, 2));
  const std::string sample = http_body(http_get(port, "/sample.json"));
  EXPECT_NE(sample.find("--name=a b"), std::string::npos) << sample;
  for (const char* path : {"/sample.json", "/metrics", "/"})
    EXPECT_EQ(http_body(http_get(port, path)).find("swordfish"), std::string::npos) << path;
}

TEST_F(Serve, GoesWithCsvDevicesAndADuration) {
  const int port =
      serve({"--csv", "out.csv", "--devices", "5,2", "--interval", "0.2s", "--duration", "3s"});
  ASSERT_TRUE(wait_for_samples(port, 2));
  const json history = json::parse(http_body(http_get(port, "/history.json")));
  ASSERT_EQ(history["gpus"].size(), 2u);
  EXPECT_EQ(history["gpus"][0]["gpu"], 5);
  EXPECT_FALSE(has(metrics(port), "gpu=\"0\""));
  const ToolResult result = started_.back()->wait();
  started_.clear();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_GE(split(read_file(folder_.path() / "tool/out.csv"), '\n').size(), 1 + 2 * 5U);
}

TEST_F(Serve, ShowsWhatItsCommandDoes) {
  const int port = serve({"--interval", "0.2s", "--", "sh", "-c", "sleep 3; exit 4"});
  ASSERT_TRUE(wait_for_samples(port, 2));
  EXPECT_FALSE(has(metrics(port), "lockstep_gpu_process_memory_bytes"));  // not one of its own
  const ToolResult result = started_.back()->wait();
  started_.clear();
  EXPECT_EQ(result.code, 4) << result.err;
  EXPECT_TRUE(has(result.err, " samples in ")) << result.err;
}

TEST_F(Serve, RefusesAddressesThatCannotBe) {
  const int port = serve();
  const struct {
    std::vector<std::string> words;
    std::string error;
  } cases[] = {
      {{"--serve", cat("127.0.0.1:", port)},
       cat("error: --serve: cannot listen at 127.0.0.1:", port, ": the port is in use\n\nhint: ")},
      {{cat("--serve=", port), "--csv", "new.csv"}, "the port is in use"},
      {{"--serve", "nowhere:1"}, "--serve: \"nowhere:1\" is not an address"},
      {{"--serve", "127.0.0.1:70000"}, "--serve: port must be at most 65535, but is 70000"},
      {{"--serve", "192.0.2.1:9400"}, "this machine does not have the address"},
      {{"--serve", "--once"}, "--serve does not go with --once or --table"},
      {{"--serve", "--interval", "soon"}, "--interval: "},  // it is not the address
  };
  for (const auto& one : cases) {
    const ToolResult result = refused(one.words);
    EXPECT_EQ(result.code, 2) << one.error;
    EXPECT_TRUE(has(result.err, one.error)) << result.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "new.csv"));
}

TEST_F(Serve, SaysThatAPortIsNotPermitted) {
  std::ifstream in("/proc/sys/net/ipv4/ip_unprivileged_port_start");
  int first = 1024;
  in >> first;
  if (first <= 80) GTEST_SKIP() << "every port is permitted to everybody here";
  std::vector<std::string> words{
      testing::program("lockstep"), "monitor", "--serve", "127.0.0.1:80", "--duration", "1s"};
  if (geteuid() == 0) words.insert(words.begin(), {"setpriv", "--bounding-set=-net_bind_service"});
  const ToolResult result = ToolProcess(words, folder_.path(), environment_).wait();
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err, "cannot listen at 127.0.0.1:80: no permission\n\nhint: ports below"))
      << result.err;
}

TEST_F(Serve, WarnsWhereOthersCanReachIt) {
  ToolProcess& tool =
      start({testing::program("lockstep"), "monitor", "--serve", "0.0.0.0:0", "--duration", "0.5s"},
            "open");
  const ToolResult result = tool.wait();
  started_.clear();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "warning: whoever reaches 0.0.0.0:")) << result.err;
}

TEST_F(Serve, ServesNoFileAndTakesNothing) {
  std::ofstream(folder_.path() / "secret.txt") << "secret";
  const int port = serve();
  for (const char* target :
       {"/../secret.txt", "/..%2f..%2fetc/passwd", "//etc/passwd", "/secret.txt",
        "/%2e%2e/%2e%2e/etc/passwd", "/page.js/../../etc/passwd", "/tool/../metrics"}) {
    const std::string reply = http_get(port, target);
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 404 ")) << target << reply;
  }
  HttpClient client(port);
  client.send("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nx=1");
  EXPECT_TRUE(client.read_to_end().starts_with("HTTP/1.1 405 "));
  HttpClient rebound(port);
  rebound.send("GET /sample.json HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(rebound.read_to_end().starts_with("HTTP/1.1 403 "));
  HttpClient endless(port);
  endless.send("GET /" + std::string(1 << 22, 'a'));
  EXPECT_TRUE(endless.read_to_end().starts_with("HTTP/1.1 431 "));
}

TEST_F(Serve, SamplesOnThoughManyClientsAreSlow) {
  const int port = serve({"--interval", "0.1s"});
  ASSERT_TRUE(wait_for_samples(port, 2));
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 300; ++i) {
    clients.push_back(std::make_unique<HttpClient>(port));
    clients.back()->send(i % 3 == 0   ? "GET /hist"
                         : i % 3 == 1 ? "GET /history.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                      : "");
    if (i % 5 == 0) clients.back().reset(new HttpClient(port));  // gone in the middle
  }
  const std::string begin = metrics(port);
  const double before = value_of(begin, "lockstep_monitor_samples_total");
  system_clock().sleep_s(2);
  const std::string end = metrics(port);
  EXPECT_GE(value_of(end, "lockstep_monitor_samples_total") - before, 12) << end;
  EXPECT_LT(value_of(end, "process_resident_memory_bytes"), 100e6) << end;
  int threads = 0;
  for ([[maybe_unused]] const auto& one :
       std::filesystem::directory_iterator(cat("/proc/", started_.back()->pid(), "/task")))
    ++threads;
  EXPECT_EQ(threads, 3);  // it, the sampler and the server
}

TEST_F(Serve, AnswersWhileTheDriverHangs) {
  json hanging = gpu(0);
  hanging["slow_ms"] = {{"nvmlDeviceGetUtilizationRates", 600000}};
  set(json::array({hanging}));
  const int port = serve();
  EXPECT_TRUE(wait_for(
      10, [&] { return value_of(metrics(port), "lockstep_driver_hanging_seconds") >= 1; }));
  EXPECT_EQ(value_of(metrics(port), "lockstep_monitor_samples_total"), 0);
  EXPECT_TRUE(http_get(port, "/sample.json").starts_with("HTTP/1.1 503 "));
  const double begin = system_clock().now_s();
  kill(started_.back()->pid(), SIGTERM);
  const ToolResult result = started_.back()->wait();
  started_.clear();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_LT(system_clock().now_s() - begin, 3);
}

}  // namespace
}  // namespace lockstep
