#include "tools/report/tensorboard/tensorboard_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <istream>
#include <optional>
#include <sstream>
#include <utility>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

template <class Number>
Number little_endian(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  Number number;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

// A field of a protocol buffer message. See protobuf.dev/programming-guides/encoding.
struct Field {
  std::uint32_t number = 0;
  int type = 0;             // 0 = varint, 1 = eight bytes, 2 = bytes, 5 = four bytes
  std::uint64_t value = 0;  // the value of a varint
  std::string_view bytes;   // the value of the other types
};

class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  // Returns nothing at the end. Sets `broken` if the bytes are not a valid message.
  std::optional<Field> next() {
    if (rest_.empty() || broken) return std::nullopt;
    const std::optional<std::uint64_t> key = varint();
    if (!key || *key >> 3 == 0 || *key >> 3 > 0x1fffffff) return fail();
    Field field{.number = static_cast<std::uint32_t>(*key >> 3),
                .type = static_cast<int>(*key & 7)};
    if (field.type == 0) {
      const std::optional<std::uint64_t> value = varint();
      if (!value) return fail();
      field.value = *value;
      return field;
    }
    std::uint64_t length = field.type == 1 ? 8 : 4;
    if (field.type == 2) {
      const std::optional<std::uint64_t> given = varint();
      if (!given) return fail();
      length = *given;
    } else if (field.type != 1 && field.type != 5) {
      return fail();
    }
    if (length > rest_.size()) return fail();
    field.bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return field;
  }

  bool broken = false;

 private:
  std::nullopt_t fail() {
    broken = true;
    return std::nullopt;
  }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return std::nullopt;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

// Fields of TensorProto: dtype = 1 (1 float, 2 double), tensor_content = 4, float_val = 5,
// double_val = 6.
std::optional<double> scalar_of_tensor(std::string_view bytes, bool& broken) {
  Message tensor(bytes);
  std::optional<double> value;
  std::uint64_t type = 0;
  std::string_view content;
  while (const std::optional<Field> field = tensor.next()) {
    if (field->number == 1 && field->type == 0) type = field->value;
    if (field->number == 4 && field->type == 2) content = field->bytes;
    if (field->number == 5 && field->bytes.size() == sizeof(float))
      value = little_endian<float>(field->bytes);
    if (field->number == 6 && field->bytes.size() == sizeof(double))
      value = little_endian<double>(field->bytes);
  }
  broken = broken || tensor.broken;
  if (!value && type == 1 && content.size() == sizeof(float)) value = little_endian<float>(content);
  if (!value && type == 2 && content.size() == sizeof(double))
    value = little_endian<double>(content);
  return value;
}

using VisitScalar = std::function<void(const ScalarEvent&)>;
using VisitSession = std::function<void(const TensorboardSession&)>;

// Fields of Summary.Value: tag = 1, simple_value = 2, tensor = 8.
void read_value(std::string_view bytes, ScalarEvent& scalar, const VisitScalar& visit,
                bool& broken) {
  Message message(bytes);
  scalar.tag.clear();
  std::optional<double> value;
  while (const std::optional<Field> field = message.next()) {
    if (field->number == 1 && field->type == 2) scalar.tag.assign(field->bytes);
    if (field->number == 2 && field->type == 5) value = little_endian<float>(field->bytes);
    if (field->number == 8 && field->type == 2) value = scalar_of_tensor(field->bytes, broken);
  }
  broken = broken || message.broken;
  if (!value || message.broken) return;
  scalar.value = *value;
  visit(scalar);
}

constexpr std::uint64_t session_start = 1, session_stop = 2;

// Field of SessionLog: status = 1.
std::uint64_t session_status(std::string_view session) {
  std::uint64_t status = 0;
  Message message(session);
  while (const std::optional<Field> field = message.next())
    if (field->number == 1 && field->type == 0) status = field->value;
  return status;
}

// Fields of Event: wall_time = 1, step = 2, summary = 5, session_log = 7. The values of a summary
// are its field 1.
bool read_event(std::string_view bytes, const VisitScalar& visit,
                const VisitSession& visit_session) {
  Message message(bytes);
  ScalarEvent event;
  std::vector<std::string_view> summaries;
  std::uint64_t status = 0;
  while (const std::optional<Field> field = message.next()) {
    if (field->number == 1 && field->type == 1)
      event.wall_time = little_endian<double>(field->bytes);
    if (field->number == 2 && field->type == 0)
      event.step = static_cast<std::int64_t>(field->value);
    if (field->number == 5 && field->type == 2) summaries.push_back(field->bytes);
    if (field->number == 7 && field->type == 2) status = session_status(field->bytes);
  }
  if (status == session_start || status == session_stop)
    visit_session({event.wall_time, event.step, status == session_start});
  bool broken = message.broken;
  for (const std::string_view summary : summaries) {
    Message values(summary);
    while (const std::optional<Field> field = values.next())
      if (field->number == 1 && field->type == 2) read_value(field->bytes, event, visit, broken);
    broken = broken || values.broken;
  }
  return !broken;
}

// head: length and its checksum; foot: checksum of the data
constexpr std::size_t head_bytes = 12, foot_bytes = 4;
constexpr std::uint64_t most_record_bytes = 64 << 20;

// Reads `count` bytes. Returns false if there are fewer. Memory grows with the bytes read, so a
// wrong length allocates little.
bool read_exactly(std::istream& in, std::uint64_t count, std::string& bytes) {
  constexpr std::uint64_t piece = 1 << 20;
  bytes.clear();
  while (bytes.size() < count) {
    const std::size_t have = bytes.size();
    bytes.resize(have + std::min(piece, count - have));
    if (!in.read(bytes.data() + have, std::ssize(bytes) - static_cast<std::streamsize>(have)))
      return false;
  }
  return true;
}

enum class NextRecord { whole, skipped, torn, none };

// data: receives the next record if it is complete.
NextRecord next_record(std::istream& in, std::string& data) {
  if (in.peek() == std::istream::traits_type::eof()) return NextRecord::none;
  std::string head;
  if (!read_exactly(in, head_bytes, head)) return NextRecord::torn;
  const auto length = little_endian<std::uint64_t>(head);
  if (masked_crc32c(std::string_view(head).substr(0, 8)) !=
      little_endian<std::uint32_t>(std::string_view(head).substr(8)))
    return NextRecord::torn;
  if (length > most_record_bytes) {
    constexpr std::uint64_t longest = std::uint64_t{1} << 31;  // the limit of protocol buffers
    if (length > longest) return NextRecord::torn;
    in.seekg(static_cast<std::streamoff>(length + foot_bytes - 1), std::ios::cur);
    return in.get() == std::istream::traits_type::eof() ? NextRecord::torn : NextRecord::skipped;
  }
  if (!read_exactly(in, length + foot_bytes, data)) return NextRecord::torn;
  const auto checksum = little_endian<std::uint32_t>(std::string_view(data).substr(length));
  data.resize(length);
  return masked_crc32c(data) == checksum ? NextRecord::whole : NextRecord::torn;
}

}  // namespace

TensorboardFile read_tensorboard(std::istream& in, const std::string& name,
                                 const VisitScalar& visit, const VisitSession& visit_session) {
  TensorboardFile file;
  std::string data;
  for (bool first = true;; first = false) {
    const NextRecord next = next_record(in, data);
    if (next == NextRecord::none) return file;
    if (first && next != NextRecord::whole)
      throw Error(cat(name,
                      " is no TensorBoard log: its first record is not whole, or its "
                      "checksum is wrong"),
                  "logs are files events.out.tfevents.…, or a folder of them");
    file.torn = next == NextRecord::torn;
    if (file.torn) return file;
    if (next == NextRecord::whole && !read_event(data, visit, visit_session)) ++file.damaged;
  }
}

TensorboardFile read_tensorboard(std::istream& in, const std::string& name) {
  std::vector<ScalarEvent> scalars;
  TensorboardFile file = read_tensorboard(
      in, name, [&](const ScalarEvent& scalar) { scalars.push_back(scalar); },
      [](const TensorboardSession&) {});
  file.scalars = std::move(scalars);
  return file;
}

TensorboardFile read_tensorboard(std::string_view bytes, const std::string& name) {
  std::istringstream in{std::string(bytes)};
  return read_tensorboard(in, name);
}

}  // namespace lockstep
