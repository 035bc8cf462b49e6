#include "tools/jobs/job_key.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/hash.h"

namespace lockstep {
namespace {

// Stores each text with its length in front, so that different lists of texts never give the same
// bytes.
class Record {
 public:
  Record() { bytes_.reserve(usual_bytes); }
  void add(std::string_view text) {
    add(text.size());
    bytes_ += text;
  }
  void add(std::uint64_t number) {
    char bytes[8];
    for (int byte = 0; byte < 8; ++byte) bytes[byte] = static_cast<char>(number >> (8 * byte));
    bytes_.append(bytes, sizeof bytes);
  }
  void add_all(const std::vector<std::string>& texts) {
    add(texts.size());
    for (const std::string& text : texts) add(text);
  }
  void add_sorted(const std::vector<std::pair<std::string, std::string>>& values,
                  std::string_view without = {}) {
    std::vector<const std::pair<std::string, std::string>*> order;
    order.reserve(values.size());
    for (const auto& value : values)
      if (without.empty() || value.first != without) order.push_back(&value);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return a->first < b->first; });
    add(order.size());
    for (const auto* value : order) {
      add(value->first);
      add(value->second);
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr std::size_t usual_bytes = 512;
  std::string bytes_;
};

}  // namespace

std::string job_key(const Job& job, std::int64_t occurrence) {
  Record record;
  record.add("lockstep job 1");
  record.add(static_cast<std::uint64_t>(occurrence));
  record.add(static_cast<std::uint64_t>(job.shell));
  record.add_all(job.command);
  record.add_sorted(job.environment, batch_options_variable);
  record.add(job.folder);
  record.add_all(job.outputs);
  record.add_sorted(job.parameters);
  return hash128_hex(record.bytes());
}

}  // namespace lockstep
