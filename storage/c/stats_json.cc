#include "storage/c/stats_json.h"

#include <nlohmann/json.hpp>

#include "storage/settings/family_spec.h"

namespace rowbloom {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& json) {
  return json.dump(/*indent=*/-1, /*indent_char=*/' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace);
}

template <typename Value>
Json OrNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json ObjectOf(const SectionStats& stats) {
  return {{"checked", stats.checked},
          {"skipped", stats.skipped},
          {"unusable", stats.unusable},
          {"true_positives", stats.true_positives},
          {"false_positives", stats.false_positives},
          {"true_negatives", stats.true_negatives}};
}

Json ObjectOf(const FilterStats& stats) {
  return {{"row", ObjectOf(stats.row)},
          {"row_col", ObjectOf(stats.row_col)},
          {"asked", stats.asked},
          {"may_match", stats.may_match},
          {"blocks_built", stats.blocks_built},
          {"blocks_failed", stats.blocks_failed},
          {"bytes_built", stats.bytes_built},
          {"build_nanos", stats.build_nanos},
          {"blocks_opened", stats.blocks_opened},
          {"blocks_unusable", stats.blocks_unusable},
          {"bytes_loaded", stats.bytes_loaded},
          {"builtin_blocks_opened", stats.builtin_blocks_opened}};
}

Json ObjectOf(const FrontFilterCounts& counts) {
  return {{"asked", counts.asked},
          {"answered", counts.answered},
          {"passed_found", counts.passed_found},
          {"passed_wasted", counts.passed_wasted},
          {"bypassed", counts.bypassed}};
}

Json ObjectOf(const FrontFilterStats& stats) {
  Json families = Json::array();
  for (const FrontFilterFamilyStats& family : stats.families) {
    Json object = {{"id", family.id},
                   {"name", family.name},
                   {"state", ToString(family.state)},
                   {"why", family.why},
                   {"reconciled", family.reconciled},
                   {"memtables", family.memtables},
                   {"memtable_bytes", family.memtable_bytes},
                   {"files_known", family.files_known},
                   {"files_unknown", family.files_unknown},
                   {"why_unknown", family.why_unknown},
                   {"files_with_cells", family.files_with_cells},
                   {"row_bytes", family.row_bytes}};
    object.update(ObjectOf(static_cast<const FrontFilterCounts&>(family)));
    families.push_back(std::move(object));
  }
  Json object = {{"bytes", stats.bytes}, {"cell_bytes", stats.cell_bytes}};
  object.update(ObjectOf(static_cast<const FrontFilterCounts&>(stats)));
  object["families"] = std::move(families);
  return object;
}

Json ObjectOf(const FamilyStats& stats) {
  Json settings = Json::object();
  for (const auto& [name, value] : FamilySpec::SettingsOf(stats.options)) {
    settings[name] = value;
  }
  Json levels = Json::array();
  for (const LevelStats& level : stats.levels) {
    levels.push_back({{"level", level.level},
                      {"files", level.files},
                      {"file_bytes", level.file_bytes},
                      {"filter", ObjectOf(level.filter)}});
  }
  return {{"settings", std::move(settings)},
          {"estimated_cells", stats.estimated_cells},
          {"estimated_rows", OrNull(stats.estimated_rows)},
          {"memtable_bytes", stats.memtable_bytes},
          {"files", stats.files},
          {"file_bytes", stats.file_bytes},
          {"filter_bytes", stats.filter_bytes},
          {"blob_files", stats.blob_files},
          {"blob_file_bytes", stats.blob_file_bytes},
          {"filter", ObjectOf(stats.filter)},
          {"levels", std::move(levels)},
          {"files_passed_over", stats.files_passed_over}};
}

}  // namespace

std::string ToJson(const PolicyStats& stats) {
  return Text({{"active", stats.active},
               {"policy", OrNull(stats.policy)},
               {"filter", stats.filter ? ObjectOf(*stats.filter) : Json()}});
}

std::string ToJson(const FrontFilterStats& stats) {
  return Text(ObjectOf(stats));
}

std::string ToJson(const StoreStats& stats) {
  Json families = Json::object();
  for (const auto& [name, family] : stats.families) {
    families[name] = ObjectOf(family);
  }
  Json cache;
  if (stats.cache) {
    cache = {{"hits", stats.cache->hits}, {"misses", stats.cache->misses}};
  }
  return Text({{"key_layout", stats.key_layout},
               {"cell_ttls", stats.cell_ttls},
               {"block_cache_bytes_used", stats.block_cache_bytes_used},
               {"families", std::move(families)},
               {"front_filter",
                stats.front_filter ? ObjectOf(*stats.front_filter) : Json()},
               {"cache", std::move(cache)}});
}

}  // namespace rowbloom
