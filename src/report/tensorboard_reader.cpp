#include "report/tensorboard_reader.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace lockstep {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ polynomial : crc >> 1;
    table[byte] = crc;
  }
  return table;
}();

template <class Number>
Number little_endian(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  Number number;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

// A field of a protocol buffer's message; docs: protobuf.dev/programming-guides/encoding.
struct Field {
  std::uint32_t number = 0;
  int type = 0;             // 0 varint, 1 eight bytes, 2 bytes, 5 four bytes
  std::uint64_t value = 0;  // of varints
  std::string_view bytes;   // of the others
};

class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  // Nothing at the end; `broken` where the bytes are no message.
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

// TensorProto: dtype = 1 (1 float, 2 double), tensor_content = 4, float_val = 5, double_val = 6.
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

// Summary.Value: tag = 1, simple_value = 2, tensor = 8.
void read_value(std::string_view bytes, const ScalarEvent& event, TensorboardFile& file,
                bool& broken) {
  Message message(bytes);
  ScalarEvent scalar = event;
  std::optional<double> value;
  while (const std::optional<Field> field = message.next()) {
    if (field->number == 1 && field->type == 2) scalar.tag = std::string(field->bytes);
    if (field->number == 2 && field->type == 5) value = little_endian<float>(field->bytes);
    if (field->number == 8 && field->type == 2) value = scalar_of_tensor(field->bytes, broken);
  }
  broken = broken || message.broken;
  if (!value || message.broken) return;
  scalar.value = *value;
  file.scalars.push_back(std::move(scalar));
}

// Event: wall_time = 1, step = 2, summary = 5, whose values are field 1.
bool read_event(std::string_view bytes, TensorboardFile& file) {
  Message message(bytes);
  ScalarEvent event;
  std::vector<std::string_view> summaries;
  while (const std::optional<Field> field = message.next()) {
    if (field->number == 1 && field->type == 1)
      event.wall_time = little_endian<double>(field->bytes);
    if (field->number == 2 && field->type == 0)
      event.step = static_cast<std::int64_t>(field->value);
    if (field->number == 5 && field->type == 2) summaries.push_back(field->bytes);
  }
  bool broken = message.broken;
  for (const std::string_view summary : summaries) {
    Message values(summary);
    while (const std::optional<Field> field = values.next())
      if (field->number == 1 && field->type == 2) read_value(field->bytes, event, file, broken);
    broken = broken || values.broken;
  }
  return !broken;
}

constexpr std::size_t head_bytes = 12, foot_bytes = 4;  // length and its checksum; checksum

// The data of the record that begins here; nothing where it is not whole.
std::optional<std::string_view> record_at(std::string_view bytes) {
  if (bytes.size() < head_bytes + foot_bytes) return std::nullopt;
  const auto length = little_endian<std::uint64_t>(bytes);
  if (record_checksum(bytes.substr(0, 8)) != little_endian<std::uint32_t>(bytes.substr(8)))
    return std::nullopt;
  if (length > bytes.size() - head_bytes - foot_bytes) return std::nullopt;
  const std::string_view data = bytes.substr(head_bytes, length);
  if (record_checksum(data) != little_endian<std::uint32_t>(bytes.substr(head_bytes + length)))
    return std::nullopt;
  return data;
}

}  // namespace

std::uint32_t record_checksum(std::string_view bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char byte : bytes)
    crc = crc >> 8 ^ crc_table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return std::rotr(~crc, 15) + 0xa282ead8U;
}

TensorboardFile read_tensorboard(std::string_view bytes, const std::string& name) {
  TensorboardFile file;
  bool first = true;
  while (!bytes.empty()) {
    const std::optional<std::string_view> data = record_at(bytes);
    if (!data && first)
      throw Error(cat(name,
                      " is no TensorBoard log: its first record is not whole, or its "
                      "checksum is wrong"),
                  "logs are files events.out.tfevents.…, or a folder of them");
    if (!data) {
      file.torn = true;
      break;
    }
    if (!read_event(*data, file)) ++file.damaged;
    bytes.remove_prefix(head_bytes + data->size() + foot_bytes);
    first = false;
  }
  return file;
}

}  // namespace lockstep
