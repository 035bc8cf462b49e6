// The callbacks that libtiff uses.
#include "recipes/volume/files/tiff/tiff_handle.h"

#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

// libtiff calls handlers on the thread that called libtiff. Handlers per file exist only since
// version 4.5.
thread_local std::string last_message;

void keep_message(thandle_t, const char* module, const char* format, va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  // Only the first message is kept, because later ones follow from it.
  if (last_message.empty()) last_message = module ? cat(module, ": ", text) : std::string(text);
}

void install_handlers() {
  static const bool done = [] {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
    TIFFSetWarningHandlerExt(nullptr);
    TIFFSetErrorHandlerExt(keep_message);
    return true;
  }();
  static_cast<void>(done);
}

tmsize_t read_stream(thandle_t handle, void* buffer, tmsize_t size) {
  auto& stream = *static_cast<TiffStream*>(handle);
  const std::span out(static_cast<std::byte*>(buffer), static_cast<std::size_t>(size));
  tmsize_t count = -1;
  if (stream.source) {
    try {
      count = static_cast<tmsize_t>(stream.source->read(stream.position, out));
    } catch (...) {  // exceptions must not pass through C
      stream.failure = std::current_exception();
      return -1;
    }
  } else {
    do {
      count = ::pread(stream.fd, buffer, out.size(), static_cast<off_t>(stream.position));
    } while (count < 0 && errno == EINTR);
  }
  if (count > 0) stream.position += static_cast<std::uint64_t>(count);
  return count;
}

tmsize_t write_stream(thandle_t handle, void* buffer, tmsize_t size) {
  auto& stream = *static_cast<TiffStream*>(handle);
  tmsize_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pwrite(stream.fd, static_cast<char*>(buffer) + done,
                 static_cast<std::size_t>(size - done), static_cast<off_t>(stream.position));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      stream.error = errno;
      return -1;
    }
    done += count;
    stream.position += static_cast<std::uint64_t>(count);
  }
  return done;
}

toff_t size_of_stream(thandle_t handle) {
  const auto& stream = *static_cast<TiffStream*>(handle);
  if (stream.source) return stream.source->size();
  const off_t end = ::lseek(stream.fd, 0, SEEK_END);
  return end < 0 ? 0 : static_cast<toff_t>(end);
}

toff_t seek_stream(thandle_t handle, toff_t offset, int whence) {
  auto& stream = *static_cast<TiffStream*>(handle);
  if (whence == SEEK_SET) stream.position = offset;
  if (whence == SEEK_CUR) stream.position += offset;
  if (whence == SEEK_END) stream.position = size_of_stream(handle) + offset;
  return stream.position;
}

int close_stream(thandle_t) { return 0; }

}  // namespace

TiffHandle open_tiff_handle(TiffStream& stream, const std::string& name, const char* mode) {
  install_handlers();
  last_message.clear();
  return TiffHandle(TIFFClientOpen(name.c_str(), mode, &stream, read_stream, write_stream,
                                   seek_stream, close_stream, size_of_stream, nullptr, nullptr));
}

std::string take_tiff_message() {
  std::string text = printable(std::move(last_message));
  last_message.clear();
  return text.empty() ? "it is damaged or truncated" : text;
}

}  // namespace lockstep::volume
