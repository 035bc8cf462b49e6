// Makes the labels that a model learns, one for each row.
#pragma once

#include "recipes/gbdt/bars/made_bars.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {

// Fills in SymbolData::labels and SymbolData::classes. If the data have labels, from a column or a
// generated table, these are used. Otherwise, labels are made from SymbolData::returns:
//   - binary: 1 if the return is above options.threshold, else 0.
//   - multiclass: down if the return is below -options.threshold, up if it is above
//     options.threshold, else flat.
//   - regression: the return.
//   - ranking, only with generated prices: the returns of a day are divided into fifths, and the
//     label is the fifth of the return, from 0 to 4.
// Throws Error for labels that the objective cannot learn.
void make_labels(const GbdtOptions& options, SymbolData& data);

// Returns the reason why there is nothing to learn, if all labels of `rows` are equal. The text is
// empty if labels differ. There must be at least one row.
std::string nothing_to_learn(const SymbolData& data, const std::vector<std::size_t>& rows);

// Returns a description of how labels are made, for metadata.json.
std::string label_rule(const GbdtOptions& options);

// Generates a market of ten price series, from which a ranking learns if the user names no data.
// Each day is a group, with one row per series. Fills in bars, features and returns of `data`.
void make_panel(const GbdtOptions& options, const std::string& symbol, const MadeBars& how,
                SymbolData& data);

// Returns the metrics of the predictions for `rows`. scores: the predictions [rows, outputs]. Rows
// without a label are left out.
Metrics measure(const GbdtOptions& options, const SymbolData& data,
                const std::vector<std::size_t>& rows, std::span<const double> scores);

// Returns how many of `rows` each group has, in order. The result is empty if there are no groups.
std::vector<std::int32_t> group_sizes(const Bars& bars, const std::vector<std::size_t>& rows);

}  // namespace lockstep::gbdt
