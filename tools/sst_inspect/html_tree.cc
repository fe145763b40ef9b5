// The part of a page that shows a database.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "tools/sst_inspect/html_page.h"
#include "tools/sst_inspect/html_parts.h"

namespace rowbloom::sst_inspect {
namespace {

std::string FilterShare(const TreeSums& sums) {
  return sums.bytes == 0 ? "-"
                         : Percent(static_cast<double>(sums.filter_bytes) /
                                   static_cast<double>(sums.bytes));
}

// The data from which page.js draws a level.
Json LevelJson(const LevelPicture& level) {
  Json runs = Json::array();
  for (const FileRun& run : level.runs) {
    runs.push_back({run.sums.files, run.sums.unread_files, run.sums.bytes,
                    run.sums.entries, run.sums.filter_bytes, run.path,
                    run.smallest, run.largest});
  }
  return {{"level", level.level}, {"runs", std::move(runs)}};
}

void AddLevels(const FamilyPicture& family, std::ostream& out) {
  HtmlTable table(
      "Levels",
      TreeColumns({{"level"}, {"files", Table::Align::kRight}},
                  {{"in filters", Table::Align::kRight}, {"filters"}}),
      out);
  const auto add = [&](const std::string& name, const TreeSums& sums) {
    table.AddRow(
        TreeCells({name, EscapeHtml(sums.FilesCell())}, sums,
                  {FilterShare(sums), EscapeHtml(sums.FiltersCell())}));
  };
  for (const LevelPicture& level : family.levels) {
    add(fmt::format("{}", level.level), level.sums);
  }
  add("all", family.sums);
}

void AddFamily(const TreePicture& tree, const FamilyPicture& family,
               std::ostream& out) {
  out << "<h3>Family " << EscapeHtml(family.name) << "</h3>\n";
  AddFacts(family.facts, out);
  if (family.levels.empty()) {
    out << "<p>No files.</p>\n";
    return;
  }
  AddLevels(family, out);
  for (const LevelPicture& level : family.levels) {
    out << fmt::format("<h4>Level {}: {}</h4>\n", level.level,
                       HumanBytes(level.sums.bytes));
    AddDrawing("level",
               fmt::format("Files of level {} of family {} of {}", level.level,
                           family.name, tree.path),
               LevelJson(level), out);
  }
}

}  // namespace

void HtmlPage::Add(const TreePicture& picture) {
  out_ << "<section class=tree>\n<h2>" << EscapeHtml(picture.path) << "</h2>\n"
       << "<p>Each level has its files side by side, to scale by bytes, those "
          "of level 0 from the newest on. Their colour is the share of filters "
          "in their bytes.</p>\n<p class=scale></p>\n";
  for (const FamilyPicture& family : picture.families) {
    AddFamily(picture, family, out_);
  }
  out_ << "</section>\n";
  ++additions_;
}

}  // namespace rowbloom::sst_inspect
