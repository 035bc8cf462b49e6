// The labels that a model learns, one for each row.
#pragma once

#include "recipes/gbdt/bars/made_bars.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {

// Fills in labels and classes, from the label's column, else from the returns. With prices, a
// binary label is 1 if the return is above the threshold. A multiclass label is down (below
// -threshold), flat or up (above threshold). A regression label is the return. The label of a
// ranking, which needs generated prices, is the rank of a return among those of its day, from 0 to
// 4. Throws Error for labels that the objective cannot learn.
void make_labels(const GbdtOptions& options, SymbolData& data);

// Why no objective can learn from the labels of these rows (at least one row). "" if labels differ.
std::string nothing_to_learn(const SymbolData& data, const std::vector<std::size_t>& rows);

// The rule of the labels in words, for the record.
std::string label_rule(const GbdtOptions& options);

// Generates a market of ten series, row by row the bars of a day. A ranking without data learns
// from it. Fills in bars with groups, features and returns.
void make_panel(const GbdtOptions& options, const std::string& symbol, const MadeBars& how,
                SymbolData& data);

// Measures the predictions of these rows. scores: [rows, outputs]. Rows without a label are left
// out.
Metrics measure(const GbdtOptions& options, const SymbolData& data,
                const std::vector<std::size_t>& rows, std::span<const double> scores);

// The number of these rows in each group, in order.
std::vector<std::int32_t> group_sizes(const Bars& bars, const std::vector<std::size_t>& rows);

}  // namespace lockstep::gbdt
