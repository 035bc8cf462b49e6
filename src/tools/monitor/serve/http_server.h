// A small HTTP/1.1 server for GET and HEAD. It has one thread, and limits all its buffers and
// waiting times.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "tools/monitor/serve/listen_address.h"

namespace lockstep {

struct HttpRequest {
  std::string path;   // path as sent, up to "?", without decoding
  std::string query;  // text after "?"
  std::string host;   // value of the Host header; "" if there is none
};

struct HttpReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;  // null for an empty body
};

struct HttpLimits {
  // The largest number of connections. One more connection replaces the connection that has waited
  // longest for a request. If no connection waits for a request, the new connection is closed.
  std::size_t connections = 64;
  std::size_t header_bytes = 8192;  // largest header of a request
  std::size_t target_bytes = 1024;  // largest path and query together
  double request_s = 10;  // time for the first request of a connection to arrive completely
  double idle_s = 60;     // time for each later request to arrive completely
  double reply_s = 20;    // time in which a client must receive a reply
};

class HttpServer {
 public:
  // Called on the server's thread for one request at a time. An exception gives a reply with status
  // 500.
  using Answer = std::function<HttpReply(const HttpRequest&)>;

  // The server listens when the constructor returns. Throws Error if it cannot listen: the port is
  // in use or not permitted, or the address is not of this machine.
  HttpServer(const ListenAddress& address, Answer answer, const HttpLimits& limits = {});
  ~HttpServer();  // closes every connection
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  const ListenAddress& address() const;  // address with the port that is really used

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
