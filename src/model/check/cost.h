#pragma once

#include <string>
#include <vector>

#include "stator/model/model.h"

namespace stator::model {

struct CostOptions {
  std::size_t item_size = 1024;  // bytes of one row
  unsigned page = 0;             // rows of one page; 0: each pattern's own default
};

// The cost of one page of a pattern, when every row that is read is returned.
struct PatternCost {
  std::string pattern;
  std::string reads;      // the table or index
  unsigned requests = 0;  // queries, for each shard and each 1 MB of it, and batch-gets for joins
  unsigned items_read = 0;
  double read_units = 0;
};
std::vector<PatternCost> costs(const Model& model, const CostOptions& options);

// The cost of creating one entity.
struct WriteCost {
  std::string entity;
  unsigned rows = 0;           // written or checked at once: records, reservations, parents
  unsigned index_entries = 0;  // written beside them
  double write_units = 0;
};
std::vector<WriteCost> write_costs(const Model& model, const CostOptions& options);

// The cost for one child when an attribute of its parent changes and the child has a copy of it.  A change rewrites all
// children of that parent, one after another.
struct CopyCost {
  std::string source;          // "TENANT.name"
  std::string copy;            // "PROJECT.tenantName"
  unsigned rows = 0;           // of one child, with the copy or an attribute that is derived from it
  unsigned index_entries = 0;  // that follow; two where the copy is in the key
  double write_units = 0;
};
std::vector<CopyCost> copy_costs(const Model& model, const CostOptions& options);

}  // namespace stator::model
