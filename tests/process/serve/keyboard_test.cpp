// The monitor's page by its keys alone, in Chromium: what a person presses, through WebDriver.
#include <set>

#include "core/base/files/files.h"
#include "fakes/web_driver.h"
#include "serve_fixture.h"

namespace lockstep {
namespace {

using testing::is_there;
using testing::Serve;
using testing::ToolProcess;
using testing::wait_for;
using testing::WebDriver;

// WebDriver's codes of named keys.
constexpr const char *tab = "\uE004", *escape = "\uE00C", *enter = "\uE007", *left = "\uE012",
                     *home = "\uE011";

class ServeKeys : public Serve {
 protected:
  void SetUp() override {
    if (!is_there("chromedriver"))
      GTEST_SKIP() << "there is no chromedriver (package chromium-driver)";
    environment_["HOME"] = folder_.path();  // nothing of the user's
    const int port = serve({"--interval", "0.3s"});
    ASSERT_TRUE(wait_for_samples(port, 5));
    ToolProcess& driver = start({"chromedriver", "--port=0"}, "driver");
    const std::string before = "started successfully on port ";
    const std::filesystem::path output = folder_.path() / "driver/stdout.txt";
    const auto said = [&] { return std::filesystem::exists(output) ? read_file(output) : ""; };
    ASSERT_TRUE(wait_for(20, [&] { return has(said(), before); })) << said();
    const std::string text = said();
    browser_ = std::make_unique<WebDriver>(
        std::atoi(text.c_str() + text.find(before) + before.size()), folder_.path() / "profile");
    ASSERT_TRUE(browser_->is_open()) << driver.err();
    browser_->open(cat("http://127.0.0.1:", port, "/"));
    ASSERT_TRUE(wait_for(20, [&] { return samples() >= 3; })) << text_of("#status");
  }
  void TearDown() override { browser_.reset(); }

  std::string text_of(const std::string& selector) {
    const nlohmann::json text =
        browser_->value(cat("document.querySelector('", selector, "').textContent"));
    return text.is_string() ? text.get<std::string>() : "";
  }
  bool is(const std::string& expression) { return browser_->value(expression) == true; }
  bool is_pressed(const std::string& selector) {
    return is(
        cat("document.querySelector('", selector, "').getAttribute('aria-pressed') === 'true'"));
  }
  int samples() {
    const nlohmann::json count =
        browser_->value("Number(document.querySelector('[data-samples]')?.dataset.samples ?? 0)");
    return count.is_number() ? count.get<int>() : 0;
  }
  // What has the focus: its id, or what it says.
  std::string focus() {
    const nlohmann::json name = browser_->value(
        "document.activeElement.id || document.activeElement.getAttribute('aria-label') || "
        "document.activeElement.textContent");
    return name.is_string() ? name.get<std::string>() : "";
  }

  std::unique_ptr<WebDriver> browser_;
};

TEST_F(ServeKeys, ChooseTheTimeShownTheThemeAndWhetherItMoves) {
  for (const auto& [key, minutes] :
       std::map<std::string, int>{{"1", 1}, {"2", 5}, {"3", 15}, {"4", 60}}) {
    browser_->press(key);
    for (const int other : {1, 5, 15, 60})
      EXPECT_EQ(is_pressed(cat("[data-minutes=\"", other, "\"]")), other == minutes) << key;
  }
  for (const char* theme : {"light", "dark", "auto"}) {
    browser_->press("t");
    EXPECT_EQ(text_of("#theme"), cat("Theme: ", theme));
    if (std::string(theme) != "auto") {
      EXPECT_TRUE(is(cat("document.documentElement.dataset.theme === '", theme, "'")));
    }
  }
  browser_->press("p");
  EXPECT_TRUE(is_pressed("#pause"));
  EXPECT_TRUE(has(text_of("#status"), "paused"));
  const int before = samples();
  system_clock().sleep_s(1.5);
  EXPECT_EQ(samples(), before);
  browser_->press("p");
  EXPECT_FALSE(is_pressed("#pause"));
  EXPECT_TRUE(wait_for(10, [&] { return samples() > before; }));
}

TEST_F(ServeKeys, ReachEveryControlAndReadTheCharts) {
  std::set<std::string> reached;
  std::string chart;
  for (int i = 0; i < 40; ++i) {
    browser_->press(tab);
    const std::string name = focus();
    reached.insert(name);
    if (chart.empty() && name.starts_with("Chart ")) chart = name;
  }
  for (const char* control :
       {"1 min", "5 min", "15 min", "1 hour", "pause", "theme", "GPU 0", "GPU 7"})
    EXPECT_TRUE(reached.contains(control))
        << control << " of " << join(std::vector(reached.begin(), reached.end()), ", ");
  EXPECT_GE(std::count_if(reached.begin(), reached.end(),
                          [](const std::string& name) { return name.starts_with("Chart "); }),
            4);
  for (int i = 0; i < 40 && focus() != chart; ++i) browser_->press(tab);
  ASSERT_EQ(focus(), chart);
  browser_->press("p");  // so that nothing moves below the cursor
  browser_->press(left);
  const std::string spoken = text_of("#spoken");
  EXPECT_TRUE(has(spoken, "0: ") && has(spoken, "7: ")) << spoken;
  browser_->press(home);
  const std::string first = text_of("#spoken");
  EXPECT_NE(first, spoken);
  browser_->press(left);  // there is nothing before it
  EXPECT_EQ(text_of("#spoken"), first);
  browser_->press(escape);
  EXPECT_NE(text_of("#spoken"), first);
}

TEST_F(ServeKeys, HideALineAndShowItAgain) {
  for (int i = 0; i < 40 && focus() != "GPU 2"; ++i) browser_->press(tab);
  ASSERT_EQ(focus(), "GPU 2");
  const auto is_shown = [&] {
    return is("document.activeElement.getAttribute('aria-pressed') === 'true'");
  };
  EXPECT_TRUE(is_shown());
  browser_->press(enter);
  EXPECT_FALSE(is_shown());
  browser_->press(" ");
  EXPECT_TRUE(is_shown());
}

}  // namespace
}  // namespace lockstep
