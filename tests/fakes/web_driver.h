// A browser that a test types into: a session of the WebDriver protocol (W3C), which chromedriver
// speaks on loopback.
#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/text/text.h"
#include "fakes/http_client.h"

namespace lockstep::testing {

class WebDriver {
 public:
  // port: of a chromedriver. profile: a folder for the browser's files.
  WebDriver(int port, const std::string& profile) : port_(port) {
    const nlohmann::json options{
        {"args",
         {"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
          "--no-proxy-server", "--window-size=1500,1350", "--user-data-dir=" + profile}}};
    const nlohmann::json reply =
        post("/session", {{"capabilities", {{"alwaysMatch", {{"goog:chromeOptions", options}}}}}});
    if (reply.is_object()) session_ = "/session/" + reply.value("sessionId", "");
  }
  ~WebDriver() {
    if (is_open()) call("DELETE", session_, "");
  }
  WebDriver(const WebDriver&) = delete;
  WebDriver& operator=(const WebDriver&) = delete;

  bool is_open() const { return session_.size() > std::string("/session/").size(); }
  void open(const std::string& url) { post(session_ + "/url", {{"url", url}}); }
  // The value of an expression of JavaScript in the page.
  nlohmann::json value(const std::string& expression) {
    return post(session_ + "/execute/sync",
                {{"script", "return " + expression}, {"args", nlohmann::json::array()}});
  }
  // One key, as a person presses it: a character, or WebDriver's code of a named key.
  void press(const std::string& key, bool with_shift = false) {
    nlohmann::json actions = nlohmann::json::array();
    const auto add = [&](const char* what, const std::string& which) {
      actions.push_back({{"type", what}, {"value", which}});
    };
    constexpr const char* shift = "\uE008";
    if (with_shift) add("keyDown", shift);
    add("keyDown", key);
    add("keyUp", key);
    if (with_shift) add("keyUp", shift);
    post(session_ + "/actions",
         {{"actions",
           nlohmann::json::array({{{"type", "key"}, {"id", "keyboard"}, {"actions", actions}}})}});
  }

 private:
  nlohmann::json post(const std::string& target, const nlohmann::json& body) {
    const nlohmann::json all =
        nlohmann::json::parse(call("POST", target, body.dump()), nullptr, false);
    return all.is_object() ? all.value("value", nlohmann::json()) : nlohmann::json();
  }
  // The body of the reply, which chromedriver ends by its length and not with the connection.
  std::string call(const std::string& method, const std::string& target, const std::string& body) {
    constexpr int patience_s = 30;
    HttpClient client(port_, patience_s);
    client.send(cat(method, " ", target,
                    " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    "Content-Length: ",
                    body.size(), "\r\n\r\n", body));
    constexpr std::string_view length = "ontent-Length:";
    std::string reply;
    for (std::string part; !(part = client.read_some()).empty();) {
      reply += part;
      const std::size_t head = reply.find("\r\n\r\n"), at = reply.find(length);
      if (head == reply.npos || at > head) continue;
      const std::size_t size = std::strtoul(reply.c_str() + at + length.size(), nullptr, 10);
      if (reply.size() >= head + 4 + size) return reply.substr(head + 4, size);
    }
    return "";
  }

  int port_;
  std::string session_;
};

}  // namespace lockstep::testing
