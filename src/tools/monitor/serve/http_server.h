// A small read-only HTTP/1.1 server: GET and HEAD, one thread, everything bounded.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "tools/monitor/serve/listen_address.h"

namespace lockstep {

struct HttpRequest {
  std::string path;   // as sent, up to "?", without decoding
  std::string query;  // after "?"
  std::string host;   // of the Host header; "" without one
};

struct HttpReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;  // null: empty body
};

struct HttpLimits {
  // Above this, the connection that has waited longest for a request is closed. If none waits, the
  // new one is closed.
  std::size_t connections = 64;
  std::size_t header_bytes = 8192;  // of a request
  std::size_t target_bytes = 1024;  // path and query
  double request_s = 10;            // time for a connection's first request to arrive whole
  double idle_s = 60;               // the same for each later one
  double reply_s = 20;              // time for a client to receive a reply
};

class HttpServer {
 public:
  // Called on the server's thread, one request at a time; an exception becomes a 500.
  using Answer = std::function<HttpReply(const HttpRequest&)>;

  // Listens when it returns. Throws Error if it cannot: the port is taken, not permitted, or the
  // address does not belong to this machine.
  HttpServer(const ListenAddress& address, Answer answer, const HttpLimits& limits = {});
  ~HttpServer();  // closes every connection
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  const ListenAddress& address() const;  // with the actual port

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
