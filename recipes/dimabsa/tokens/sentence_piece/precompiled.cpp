// Finds replacements of characters in a Darts trie.
#include "recipes/dimabsa/tokens/sentence_piece/precompiled.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"

namespace lockstep::dimabsa {
namespace {

// a cluster of this length or more is replaced character by character
constexpr std::size_t cluster_bytes = 6;

class ReplacementTable {
 public:
  ReplacementTable(const std::string& table, const std::string& file) {
    std::uint32_t size = 0;
    if (table.size() >= sizeof(size)) std::memcpy(&size, table.data(), sizeof(size));
    if (size == 0 || size % 4 != 0 || size > table.size() - sizeof(size))
      throw Error(cat(file, ": the table of its Precompiled normalizer is damaged"),
                  "take the file that came with the weights");
    units_.resize(size / 4);
    std::memcpy(units_.data(), table.data() + sizeof(size), size);
    texts_ = table.substr(sizeof(size) + size);
  }

  // The replacement of the shortest prefix of `key` in the trie.
  std::optional<std::string_view> find(std::string_view key) const {
    std::size_t node = offset(units_[0]);
    for (const char c : key) {
      const auto label = static_cast<unsigned char>(c);
      node ^= label;
      if (label == 0 || node >= units_.size()) return {};
      const std::uint32_t unit = units_[node];
      if ((unit & 0x800000FFu) != label) return {};
      node ^= offset(unit);
      if ((unit >> 8 & 1) == 0) continue;
      if (node >= units_.size()) return {};
      const std::size_t place = units_[node] & 0x7FFFFFFFu;
      if (place >= texts_.size()) return {};
      return std::string_view(texts_).substr(place, texts_.find('\0', place) - place);
    }
    return {};
  }

 private:
  static std::size_t offset(std::uint32_t unit) { return unit >> 10 << ((unit & 0x200u) >> 6); }

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

void add_text(std::string_view text, std::uint32_t begin, std::uint32_t end, Characters& out) {
  while (!text.empty()) {
    const CodePoint next = next_code_point(text);
    out.push_back({next.value, begin, end});
    text.remove_prefix(next.length);
  }
}

}  // namespace

Normalizer read_precompiled(const std::string& table, const std::string& file) {
  return [replacements = ReplacementTable(table, file)](const Characters& text) {
    Characters out;
    out.reserve(text.size());
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = cluster_end(text, begin);
      std::string cluster;
      for (std::size_t i = begin; i < end && cluster.size() < cluster_bytes; ++i)
        append_utf8(cluster, text[i].value);
      if (const auto whole =
              cluster.size() < cluster_bytes ? replacements.find(cluster) : std::nullopt) {
        add_text(*whole, text[begin].begin, text[end - 1].end, out);
        begin = end;
        continue;
      }
      for (; begin < end; ++begin) {
        std::string one;
        append_utf8(one, text[begin].value);
        if (const auto found = replacements.find(one))
          add_text(*found, text[begin].begin, text[begin].end, out);
        else
          out.push_back(text[begin]);
      }
    }
    return out;
  };
}

}  // namespace lockstep::dimabsa
