// The server over real sockets: what it refuses, and what cannot hold it up.
#include "tools/monitor/serve/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "fakes/http_client.h"

namespace lockstep {
namespace {

using testing::HttpClient;

class Server : public ::testing::Test {
 protected:
  HttpReply answer(const HttpRequest& request) {
    ++answered_;
    if (request.path == "/throws") throw std::runtime_error("cannot");
    if (request.path == "/large")
      return {.body = std::make_shared<const std::string>(std::size_t{64} << 20, 'x')};
    return {.body = std::make_shared<const std::string>(
                cat(request.path, "|", request.query, "|", request.host))};
  }
  void start(const HttpLimits& limits = {}) {
    server_.emplace(
        ListenAddress{"127.0.0.1", 0},
        [this](const HttpRequest& request) { return answer(request); }, limits);
  }
  int port() const { return server_->address().port; }
  std::string exchange(const std::string& text) {
    HttpClient client(port());
    client.send(text);
    return client.read_to_end();
  }
  static std::string get(const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  }
  std::atomic<int> answered_ = 0;
  std::optional<HttpServer> server_;
};

bool starts(const std::string& reply, int status) {
  return reply.starts_with(cat("HTTP/1.1 ", status, " "));
}

TEST_F(Server, AnswersWithHeadersThatLetNothingElseIn) {
  start();
  const std::string reply = exchange(get("/a%20b?x=1"));
  EXPECT_TRUE(starts(reply, 200)) << reply;
  EXPECT_TRUE(reply.ends_with("\r\n\r\n/a%20b|x=1|localhost")) << reply;
  for (const char* header : {"Cache-Control: no-store\r\n", "X-Content-Type-Options: nosniff\r\n",
                             "Content-Security-Policy: default-src 'none'; ",
                             "Cross-Origin-Resource-Policy: same-origin"})
    EXPECT_NE(reply.find(header), std::string::npos) << header;
  EXPECT_EQ(reply.find("Access-Control-Allow-Origin"), std::string::npos);
}

TEST_F(Server, AnswersSeveralRequestsOfOneConnection) {
  start();
  HttpClient client(port());
  const std::string request = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n";
  client.send(request + request + get("/last"));
  const std::string all = client.read_to_end();
  EXPECT_EQ(answered_, 3) << all;
  EXPECT_TRUE(all.ends_with("/last||localhost")) << all;
}

TEST_F(Server, LeavesTheBodyOutForHead) {
  start();
  const std::string reply =
      exchange("HEAD /page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(starts(reply, 200)) << reply;
  EXPECT_NE(reply.find("Content-Length: 16\r\n"), std::string::npos) << reply;
  EXPECT_TRUE(reply.ends_with("\r\n\r\n")) << reply;
}

TEST_F(Server, RefusesWhatIsNotForReading) {
  start();
  for (const char* method :
       {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "BREW"}) {
    const std::string reply = exchange(cat(
        method, " /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\nx=1"));
    EXPECT_TRUE(starts(reply, 405)) << method << reply;
    EXPECT_NE(reply.find("Allow: GET, HEAD\r\n"), std::string::npos) << reply;
  }
  EXPECT_EQ(answered_, 0);
}

TEST_F(Server, RefusesWhatIsTooLongOrNoHttp) {
  start();
  const std::string host = "Host: localhost\r\n";
  const struct {
    std::string text;
    int status;
  } cases[] = {
      {get("/" + std::string(2000, 'a')), 414},
      {get("/" + std::string(100000, 'a')), 431},
      {"GET / HTTP/1.1\r\n" + host + "X: " + std::string(1 << 20, 'a') + "\r\n\r\n", 431},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\nabc", 400},
      {"GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS is not spoken here\r\n\r\n", 400},
      {"hello\r\n\r\n", 400},
  };
  for (const auto& one : cases) {
    const std::string reply = exchange(one.text);
    EXPECT_TRUE(starts(reply, one.status)) << one.status << ": " << reply.substr(0, 200);
  }
  EXPECT_EQ(answered_, 0);
  EXPECT_TRUE(starts(exchange("GET / HTTP/1.0\r\n\r\n"), 200));
}

TEST_F(Server, SaysThatItFailedAndGoesOn) {
  start();
  EXPECT_TRUE(starts(exchange(get("/throws")), 500));
  EXPECT_TRUE(starts(exchange(get("/")), 200));
}

TEST_F(Server, DropsAClientThatIsSlowToAsk) {
  start({.request_s = 0.5});
  HttpClient slow(port());
  const double begin = system_clock().now_s();
  for (int i = 0; i < 4; ++i) {  // each byte in good time, the request never
    slow.send("G");
    system_clock().sleep_s(0.05);
  }
  EXPECT_EQ(slow.read_to_end(), "");
  EXPECT_NEAR(system_clock().now_s() - begin, 0.5, 0.4);
  EXPECT_EQ(answered_, 0);
}

TEST_F(Server, IsNotHeldUpByAClientThatDoesNotRead) {
  start({.reply_s = 0.5});
  HttpClient deaf(port());
  deaf.send(get("/large"));
  const double begin = system_clock().now_s();
  while (answered_ == 0 && system_clock().now_s() - begin < 5) system_clock().sleep_s(0.01);
  EXPECT_TRUE(starts(exchange(get("/")), 200));  // meanwhile
  system_clock().sleep_s(1);
  EXPECT_LT(deaf.read_to_end().size(), std::size_t{64} << 20);  // it was dropped
}

TEST_F(Server, OutlivesClientsThatGoAway) {
  start();
  for (int i = 0; i < 20; ++i) {
    HttpClient gone(port());
    gone.send(i % 2 ? get("/large") : "GET /par");
    if (i % 4 == 1) gone.read_some();
  }
  EXPECT_TRUE(starts(exchange(get("/")), 200));
}

TEST_F(Server, AnswersThoughAHundredConnectionsWait) {
  start({.connections = 16});
  std::vector<std::unique_ptr<HttpClient>> waiting;
  for (int i = 0; i < 100; ++i) {
    waiting.push_back(std::make_unique<HttpClient>(port()));
    ASSERT_TRUE(waiting.back()->connected());
    waiting.back()->send("GET / HTT");
  }
  EXPECT_TRUE(starts(exchange(get("/")), 200));
  // The oldest made room, the newest are still served.
  EXPECT_EQ(waiting.front()->read_to_end(), "");
  waiting.back()->send("P/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(starts(waiting.back()->read_to_end(), 200));
}

TEST_F(Server, EndsThoughClientsWait) {
  start();
  HttpClient idle(port()), deaf(port());
  deaf.send(get("/large"));
  system_clock().sleep_s(0.1);
  const double begin = system_clock().now_s();
  server_.reset();
  EXPECT_LT(system_clock().now_s() - begin, 1);
  EXPECT_EQ(idle.read_to_end(), "");
}

TEST_F(Server, SaysWhyItCannotListen) {
  start();
  const auto listen = [](const std::string& host, int port) {
    return error_of([&] { const HttpServer server({host, port}, {}); });
  };
  EXPECT_NE(listen("127.0.0.1", port()).find("the port is in use"), std::string::npos);
  EXPECT_NE(listen("192.0.2.1", 0).find("this machine does not have the address"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
