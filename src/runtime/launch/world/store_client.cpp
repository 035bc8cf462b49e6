#include "runtime/launch/world/store_client.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/process/pass_fd.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {
namespace {

MessageWriter request(StoreRequest kind) {
  return MessageWriter().number(static_cast<std::int64_t>(kind));
}

MessageWriter with_keys(MessageWriter writer, const std::vector<std::string>& keys) {
  writer.number(static_cast<std::int64_t>(keys.size()));
  for (const std::string& key : keys) writer.text(key);
  return writer;
}

[[noreturn]] void fail_closed() { throw StoreFailed("the launcher has closed the ranks' store"); }

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) fail_closed();
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string receive(int socket, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t got = ::recv(socket, text.data() + at, bytes - at, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail_closed();
    at += static_cast<std::size_t>(got);
  }
  return text;
}

}  // namespace

int take_store_door() {
  const char* const text = std::getenv("LOCKSTEP_STORE_FD");
  if (text == nullptr) return -1;
  const std::string value = text;
  const int door = whole_number<int>(value).value_or(-1);
  struct stat file {};
  if (::fstat(door, &file) != 0 || !S_ISSOCK(file.st_mode) ||
      ::fcntl(door, F_SETFD, FD_CLOEXEC) != 0)
    throw Error(cat("LOCKSTEP_STORE_FD must be an open socket, but is \"", value, "\""),
                "it is set by lockstep for the ranks that it starts: unset it");
  ::unsetenv("LOCKSTEP_STORE_FD");
  return door;
}

StoreClient::StoreClient(int door) {
  auto [own, theirs] = socket_pair();
  try {
    send_fd(door, theirs.get());
  } catch (const Error& error) {
    throw StoreFailed(error.what());
  }
  socket_ = std::move(own);
}

std::string StoreClient::exchange(const std::string& framed) {
  const std::lock_guard lock(mutex_);
  send_all(socket_.get(), framed);
  return receive(socket_.get(), *message_bytes(receive(socket_.get(), frame_bytes)));
}

template <class Take>
auto StoreClient::ask(const MessageWriter& request, const Take& take) {
  const std::string answer = exchange(request.framed());
  MessageReader reader(answer);
  switch (static_cast<StoreAnswer>(reader.number())) {
    case StoreAnswer::done:
      break;
    case StoreAnswer::timed_out:
      throw StoreTimedOut(std::string(reader.text()));
    default:
      throw StoreFailed(std::string(reader.text()));
  }
  return take(reader);
}

void StoreClient::set(const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  MessageWriter writer = request(StoreRequest::set);
  writer.number(static_cast<std::int64_t>(values.size()));
  for (const auto& [key, value] : values) writer.text(key).text(value);
  ask(writer, [](MessageReader&) {});
}

std::string StoreClient::compare_set(std::string_view key, std::string_view expected,
                                     std::string_view desired) {
  return ask(request(StoreRequest::compare_set).text(key).text(expected).text(desired),
             [](MessageReader& answer) { return std::string(answer.text()); });
}

void StoreClient::append(std::string_view key, std::string_view value) {
  ask(request(StoreRequest::append).text(key).text(value), [](MessageReader&) {});
}

std::int64_t StoreClient::add(std::string_view key, std::int64_t number) {
  return ask(request(StoreRequest::add).text(key).number(number),
             [](MessageReader& answer) { return answer.number(); });
}

std::vector<std::string> StoreClient::get(const std::vector<std::string>& keys,
                                          std::int64_t timeout_ms) {
  return ask(with_keys(request(StoreRequest::get).number(timeout_ms), keys),
             [&](MessageReader& answer) {
               std::vector<std::string> values;
               for (std::size_t i = 0; i < keys.size(); ++i) values.emplace_back(answer.text());
               return values;
             });
}

void StoreClient::wait(const std::vector<std::string>& keys, std::int64_t timeout_ms) {
  ask(with_keys(request(StoreRequest::wait).number(timeout_ms), keys), [](MessageReader&) {});
}

bool StoreClient::check(const std::vector<std::string>& keys) {
  return ask(with_keys(request(StoreRequest::check), keys),
             [](MessageReader& answer) { return answer.number() != 0; });
}

bool StoreClient::remove(std::string_view key) {
  return ask(request(StoreRequest::remove).text(key),
             [](MessageReader& answer) { return answer.number() != 0; });
}

std::int64_t StoreClient::count() {
  return ask(request(StoreRequest::count), [](MessageReader& answer) { return answer.number(); });
}

}  // namespace lockstep
