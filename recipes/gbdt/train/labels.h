// Makes the labels that a model learns, one for each row.
#pragma once

#include "recipes/gbdt/bars/made_bars.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {

// Fills in labels and classes. If the data have labels, from a column or a generated table, these
// are used. Otherwise, labels come from the returns:
//   - binary: 1 if the return is above the threshold, else 0.
//   - multiclass: down (below -threshold), up (above threshold), else flat.
//   - regression: the return.
//   - ranking, only with generated prices: the fifth, from 0 to 4, in which a return lies among
//     those of its day.
// Throws Error for labels that the objective cannot learn.
void make_labels(const GbdtOptions& options, SymbolData& data);

// Returns a text if all labels of these rows are equal, so that there is nothing to learn. The text
// is empty if labels differ. There must be at least one row.
std::string nothing_to_learn(const SymbolData& data, const std::vector<std::size_t>& rows);

// Returns the rule of the labels in words, for the record.
std::string label_rule(const GbdtOptions& options);

// Generates a market of ten series, from which a ranking without data learns. Each day is a group,
// with one row per series. Fills in bars, features and returns.
void make_panel(const GbdtOptions& options, const std::string& symbol, const MadeBars& how,
                SymbolData& data);

// Returns the metrics of the predictions for these rows. scores: [rows, outputs]. Rows without a
// label are left out.
Metrics measure(const GbdtOptions& options, const SymbolData& data,
                const std::vector<std::size_t>& rows, std::span<const double> scores);

// Returns the number of these rows in each group, in order. It is empty if there are no groups.
std::vector<std::int32_t> group_sizes(const Bars& bars, const std::vector<std::size_t>& rows);

}  // namespace lockstep::gbdt
