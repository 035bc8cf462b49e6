#include "runtime/run/formats/tensorboard_records.h"

#include "core/base/crc32c.h"

#include <bit>

namespace lockstep {
namespace {

template <class Number>
void append_little_endian(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i)
    bytes += static_cast<char>((number >> (8 * i)) & 0xFF);
}

std::string framed(const std::string& message) {
  std::string record;
  append_little_endian(record, static_cast<std::uint64_t>(message.size()));
  append_little_endian(record, masked_crc32c(record));
  record += message;
  append_little_endian(record, masked_crc32c(message));
  return record;
}

// Writes the fields of a protobuf message by number: protobuf.dev/programming-guides/encoding.
class ProtoMessage {
 public:
  void varint(int field, std::uint64_t value) {
    key(field, 0);
    append_varint(value);
  }
  void fixed64(int field, double value) {
    key(field, 1);
    append_little_endian(bytes_, std::bit_cast<std::uint64_t>(value));
  }
  void fixed32(int field, float value) {
    key(field, 5);
    append_little_endian(bytes_, std::bit_cast<std::uint32_t>(value));
  }
  void bytes(int field, std::string_view value) {
    key(field, 2);
    append_varint(value.size());
    bytes_ += value;
  }
  const std::string& text() const { return bytes_; }

 private:
  void key(int field, unsigned type) { append_varint((static_cast<unsigned>(field) << 3) | type); }
  void append_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

ProtoMessage event_of(double time, std::int64_t step) {
  ProtoMessage event;
  event.fixed64(1, time);
  event.varint(2, static_cast<std::uint64_t>(step));
  return event;
}

}  // namespace

std::string tensorboard_version(double time) {
  ProtoMessage event;
  event.fixed64(1, time);
  event.bytes(3, "brain.Event:2");
  return framed(event.text());
}

namespace {

std::string session_log(int status, double time, std::int64_t step) {
  ProtoMessage session, event = event_of(time, step);
  session.varint(1, status);
  event.bytes(7, session.text());
  return framed(event.text());
}

}  // namespace

std::string tensorboard_restart(double time, std::int64_t step) {
  constexpr int start = 1;
  return session_log(start, time, step);
}

std::string tensorboard_stop(double time, std::int64_t step) {
  constexpr int stop = 2;
  return session_log(stop, time, step);
}

std::string tensorboard_scalars(double time, std::int64_t step,
                                std::span<const TensorboardScalar> scalars) {
  ProtoMessage summary, event = event_of(time, step);
  for (const auto& [tag, value] : scalars) {
    ProtoMessage one;
    one.bytes(1, tag);
    one.fixed32(2, static_cast<float>(value));
    summary.bytes(1, one.text());
  }
  event.bytes(5, summary.text());
  return framed(event.text());
}

}  // namespace lockstep
