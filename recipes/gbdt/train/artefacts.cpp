#include "recipes/gbdt/train/artefacts.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "run/item_table.h"

namespace lockstep::gbdt {

void write_text(const std::filesystem::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) throw Error(cat("cannot write ", file.string(), ": ", errno_text(errno)));
}

void write_gzip(const std::filesystem::path& file, std::string_view text) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16, memory = 8;
  if (deflateInit2(&stream, 6, Z_DEFLATED, gzip_window, memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(cat("cannot compress ", file.string()));
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw Error(cat("cannot compress ", file.string()));
  write_text(file, packed);
}

std::string labels_csv(const SymbolData& data, const WindowRows& rows) {
  const auto cell = [](double value) { return std::isnan(value) ? Cell{} : Cell{value}; };
  std::string text = "timestamp,split,close,forward_return,label\n";
  const auto add = [&](const char* split, const std::vector<std::size_t>& part) {
    for (const std::size_t row : part)
      text += csv_line({data.bars.stamps[row], std::string(split),
                        data.bars.close.empty() ? Cell{} : Cell{data.bars.close[row]},
                        cell(data.returns[row]), static_cast<std::int64_t>(data.labels[row])});
  };
  add("train", rows.train);
  add("valid", rows.valid);
  add("test", rows.test);
  return text;
}

std::string importance_csv(const std::vector<std::string>& names, std::span<const double> splits,
                           std::span<const double> gains) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return splits[a] != splits[b] ? splits[a] > splits[b] : gains[a] > gains[b];
  });
  std::string text = "feature,importance,rank,gain\n";
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::size_t i = order[rank];
    text += csv_line({names[i], static_cast<std::int64_t>(splits[i]),
                      static_cast<std::int64_t>(rank + 1), gains[i]});
  }
  return text;
}

std::string predictions_csv(const Bars& bars, const std::string& window_label,
                            const std::vector<std::size_t>& rows,
                            std::span<const std::uint8_t> labels,
                            std::span<const double> probabilities) {
  std::string text = "timestamp,symbol,window,label,probability\n";
  for (std::size_t i = 0; i < rows.size(); ++i)
    text += csv_line({bars.stamps[rows[i]], bars.symbol, window_label, std::int64_t{labels[i]},
                      probabilities[i]});
  return text;
}

}  // namespace lockstep::gbdt
