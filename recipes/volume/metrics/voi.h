// Computes the variation of information between the connected components of two masks.
#pragma once

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// The two parts of the variation of information, in bits. H is the conditional entropy.
struct VariationOfInformation {
  // H(prediction | truth); grows if the prediction splits components of the truth
  double split = 0;
  // H(truth | prediction); grows if the prediction merges components of the truth
  double merge = 0;
};

// Compares the labels of 26-connected components of the two masks (Meila, "Comparing clusterings -
// an information based distance", 2007). The comparison covers the voxels that are foreground in at
// least one mask. Among these voxels, the background of a mask counts as one more label. Voxels
// that are background in both masks are left out, so empty space does not dilute the result. Both
// values are 0 if both masks are empty. Throws Error if the shapes differ.
VariationOfInformation variation_of_information(const Mask& truth, const Mask& predicted);

// Returns 1 / (1 + alpha * (split + merge)). If only one mask is empty, the score depends on the
// other mask. It is 1 for one component, and less for several. The competition does the same. Its
// other scores are low if only one mask is empty.
double voi_score(const VariationOfInformation& voi, double alpha = 0.3);

}  // namespace lockstep::volume
