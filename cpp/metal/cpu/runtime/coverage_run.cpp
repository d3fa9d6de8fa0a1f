#include "metal/cpu/runtime/coverage_run.h"

#include <algorithm>

#include "metal/cpu/runtime/coverage_total.h"

namespace metal::cpu {

void CoverageRun::use(const CoverageTable& table) {
  if (table_) return;
  table_ = &table;
  runs_.resize(size_t{table.blocks} * threads_);
  counts_.resize(table.blocks);
  issues_.resize(table.blocks);
  edges_.resize(table.edges);
  bytes_.resize(table.accesses);
  patterns_.resize(table.accesses);
}

void CoverageRun::start_threadgroup(uint32_t threads) {
  threads_ = threads;
  if (table_) runs_.assign(size_t{table_->blocks} * threads, 0);
  for (AccessPattern& pattern : patterns_) pattern.start_threadgroup();
}

void CoverageRun::run_block(const CoverageTable& table, uint32_t thread, uint32_t block) {
  use(table);
  ++runs_[size_t{block} * threads_ + thread];
}

void CoverageRun::take(const CoverageTable& table, uint32_t edge) {
  use(table);
  ++edges_[edge];
}

void CoverageRun::touch(const CoverageTable& table, uint32_t thread, uint32_t access,
                        const void* place, uint64_t bytes) {
  use(table);
  bytes_[access] += bytes;
  if (table.access[access].device)
    patterns_[access].add(thread, reinterpret_cast<uint64_t>(place), bytes);
}

// Lanes that run a block equally often run it together.
void CoverageRun::end_threadgroup() {
  if (!table_) return;
  for (uint32_t block = 0; block < table_->blocks; ++block) {
    const uint32_t* runs = &runs_[size_t{block} * threads_];
    for (uint32_t first = 0; first < threads_; first += kSimdWidth) {
      uint32_t most = 0;
      for (uint32_t thread = first; thread < std::min(first + kSimdWidth, threads_); ++thread) {
        counts_[block] += runs[thread];
        most = std::max(most, runs[thread]);
      }
      issues_[block] += most;
    }
  }
}

void CoverageRun::add_to_total(const std::string& kernel, const std::string& source) const {
  if (!table_) return;
  CoverageTotal::Addition total(kernel, source);
  // Of the blocks with code of a line, the one that ran most often counts, in each copy of it.
  std::map<std::pair<const CheckSite*, uint32_t>, const CoverageTable::Line*> copies;
  for (uint32_t i = 0; i < table_->lines; ++i) {
    const CoverageTable::Line& line = table_->line[i];
    const CoverageTable::Line*& best = copies[{line.site, line.copy}];
    if (!best || counts_[best->block] < counts_[line.block]) best = &line;
  }
  for (const auto& [copy, line] : copies)
    total.line(*line->site, counts_[line->block], issues_[line->block]);
  for (uint32_t i = 0; i < table_->edges; ++i)
    total.edge(*table_->edge[i].site, table_->edge[i].successor, edges_[i]);
  for (uint32_t i = 0; i < table_->accesses; ++i) {
    const CoverageTable::Access& access = table_->access[i];
    total.access(*access.site, access.writes != 0, bytes_[i], patterns_[i]);
  }
}

}  // namespace metal::cpu
