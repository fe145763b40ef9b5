#include "tools/sst_inspect/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <span>
#include <vector>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {
namespace {

using Json = nlohmann::ordered_json;

// Returns JSON without "<", which could end a script element.
std::string InScript(const Json& json) {
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

// Adds a table. The first cell of a row is its heading, after `mark` of it.
void AddTable(std::string_view caption, const Table& table, std::ostream& out,
              std::string (*mark)(const std::string& heading) = nullptr) {
  const auto class_of = [&table](size_t column) {
    return table.IsRight(column) ? " class=number>" : ">";
  };
  const std::vector<size_t> columns = table.Shown();
  out << "<div class=wide><table><caption>" << caption
      << "</caption>\n<thead><tr>";
  for (const size_t i : columns) {
    out << "<th scope=col" << class_of(i) << EscapeHtml(table.TitleOf(i));
  }
  out << "</thead>\n<tbody>\n";
  for (const auto& row : table.rows()) {
    out << "<tr>";
    for (const size_t i : columns) {
      out << (i == 0 ? "<th scope=row" : "<td") << class_of(i)
          << (i == 0 && mark != nullptr ? mark(row[i].text) : "")
          << EscapeHtml(row[i].text);
    }
    out << "\n";
  }
  out << "</tbody></table></div>\n";
}

void AddFacts(const Facts& facts, std::ostream& out) {
  out << "<dl>\n";
  for (const auto& [name, value] : facts) {
    out << "<dt>" << EscapeHtml(name) << "<dd>" << EscapeHtml(value) << "\n";
  }
  out << "</dl>\n";
}

// Adds a drawing and the line of figures below it. page.js finds both by class,
// and draws the data by `kind`.
void AddDrawing(std::string_view kind, const std::string& label,
                const Json& data, std::ostream& out) {
  out << fmt::format(
      "<div class=\"drawing {}\">\n"
      "<canvas role=slider tabindex=0 aria-label=\"{}\" aria-valuemin=1 "
      "aria-valuenow=1></canvas>\n"
      "<p class=figures>Point at a piece, or reach it with the arrow keys, for "
      "its figures.</p>\n"
      "<script type=\"application/json\">{}</script>\n"
      "</div>\n",
      kind, EscapeHtml(label), InScript(data));
}

// Returns a square in a type's colour. Hyphens replace the blanks of the type.
std::string Swatch(const std::string& type) {
  std::string slug = type;
  std::replace(slug.begin(), slug.end(), ' ', '-');
  return fmt::format("<span class=swatch data-type={}></span> ", slug);
}

// The data from which page.js draws the blocks.
Json BlocksJson(const FilePicture& picture) {
  Json runs = Json::array();
  for (const BlockRun& run : picture.runs) {
    runs.push_back({std::string(ToString(run.type)), run.mixed ? 1 : 0,
                    run.offset_bytes, run.stored_bytes, run.contents_bytes,
                    run.blocks, run.damaged, run.compression});
  }
  return runs;
}

Json FillJson(const SectionPicture& section, const std::string& part) {
  Json buckets = Json::array();
  for (const FillBucket& bucket : section.buckets) {
    buckets.push_back({bucket.first_part, bucket.last_part, bucket.offset_bytes,
                       bucket.bytes, bucket.bits_set});
  }
  return {{"part", part}, {"buckets", std::move(buckets)}};
}

void AddProblems(const FilePicture& picture, std::ostream& out) {
  if (picture.damaged == 0) return;
  out << fmt::format("<p class=damaged>Damaged: {}{}</p>\n<ul class=damaged>\n",
                     Grouped(picture.damaged),
                     picture.problems.size() < picture.damaged
                         ? fmt::format(", the first {} of which are:",
                                       Grouped(picture.problems.size()))
                         : "");
  for (const std::string& problem : picture.problems) {
    out << "<li>" << EscapeHtml(problem) << "\n";
  }
  out << "</ul>\n";
}

void AddLegend(const FilePicture& picture, std::ostream& out) {
  out << "<p class=legend role=group aria-label=\"Types of blocks that are "
         "drawn\">\n";
  for (const auto& [type, totals] : picture.totals) {
    const std::string name(ToString(type));
    out << fmt::format(
        "<button type=button data-type=\"{0}\" aria-pressed=true "
        "disabled>{1}{0} "
        "<span class=count>{2}</span></button>\n",
        EscapeHtml(name), Swatch(name), Grouped(totals.blocks));
  }
  out << "</p>\n";
}

void AddTotals(const FilePicture& picture, std::ostream& out) {
  Table table(kTotalsColumns);
  TypeTotals all;
  for (const auto& [type, totals] : picture.totals) {
    table.Add(totals.RecordOf(ToString(type), picture.size_bytes));
    all += totals;
  }
  table.Add(all.RecordOf("all", picture.size_bytes));
  AddTable("Blocks by type", table, out, Swatch);
}

void AddFills(const FilePicture& picture, std::ostream& out) {
  out << "<h3>Filter</h3>\n";
  if (picture.filter_parts == 0 && picture.notes.empty()) {
    out << "<p>None.</p>\n";
    return;
  }
  for (const std::string& note : picture.notes) {
    out << "<p>" << EscapeHtml(note) << "</p>\n";
  }
  if (picture.sections.empty()) return;
  Table table(kSectionColumns);
  for (const SectionPicture& section : picture.sections) {
    Record record;
    AddSectionTo(&record, section.what, section.totals);
    table.Add(record);
  }
  AddTable("Sections", table, out);
  for (const SectionPicture& section : picture.sections) {
    const std::string name = section.what.first + ", " + section.what.second;
    out << "<h4>" << EscapeHtml(name) << "</h4>\n";
    if (!section.buckets.empty()) {
      AddDrawing("fill", "Share of bits set in " + name + " of " + picture.path,
                 FillJson(section, picture.filter_part), out);
    }
    out << "<p class=note>" << EscapeHtml(section.note) << "</p>\n";
  }
}

// Neighbouring files of a level that are drawn as one.
struct FileRun {
  TreeSums sums;
  std::string path;      // of the first, printable
  std::string smallest;  // key of the first, as text
  std::string largest;   // key of the last, as text

  // MergingList calls these.
  uint64_t size_bytes() const { return sums.bytes; }
  bool BelongsWith(const FileRun& next) const {
    return (sums.unread_files > 0) == (next.sums.unread_files > 0);
  }
  void Join(const FileRun& next) {
    sums += next.sums;
    largest = next.largest;
  }
};

// The data from which page.js draws a level.
Json LevelJson(std::span<const TreeFile> level, const KeyFormat& keys) {
  // Each level is drawn by up to twice as many runs.
  constexpr size_t kRuns = 1024;
  MergingList<FileRun> merged(kRuns);
  for (const TreeFile& file : level) {
    merged.Add({file.sums, ToPrintable(file.path),
                keys.ShortText(file.smallest), keys.ShortText(file.largest)});
  }
  Json runs = Json::array();
  for (const FileRun& run : merged.items()) {
    runs.push_back({run.sums.files, run.sums.unread_files, run.sums.bytes,
                    run.sums.entries, run.sums.filter_bytes, run.path,
                    run.smallest, run.largest});
  }
  return {{"level", level.front().level}, {"runs", std::move(runs)}};
}

void AddLevels(const TreeFamily& family, std::ostream& out) {
  Table table(fmt::format("level files {} in_filters filters", kSumColumns));
  const auto add = [&](const std::string& name, const TreeSums& sums) {
    Record record;
    // Files that were not read count with their bytes, without their filters.
    const double share = static_cast<double>(sums.filter_bytes) /
                         static_cast<double>(sums.bytes);
    record.InText("level", name)
        .Share("in_filters",
               sums.unread_files > 0 ? std::nullopt : std::optional(share));
    sums.AddWithFilesTo(&record);
    table.Add(record);
  };
  ForEachLevel(family, [&](std::span<const TreeFile> level) {
    add(fmt::format("{}", level.front().level), SumOf(level));
  });
  add("all", SumOf(family.files));
  AddTable("Levels", table, out);
}

void AddFamily(const std::string& tree_path, const TreeFamily& family,
               const KeyFormat& keys, std::ostream& out) {
  const std::string name = ToPrintable(family.name);
  out << "<h3>Family " << EscapeHtml(name) << "</h3>\n";
  AddFacts(
      {{"order", ToPrintable(family.comparator)},
       {"filter of new files", NameOrNone(family.filter_policy)},
       {"prefix extractor of new files", NameOrNone(family.prefix_extractor)}},
      out);
  if (family.files.empty()) {
    out << "<p>No files.</p>\n";
    return;
  }
  AddLevels(family, out);
  ForEachLevel(family, [&](std::span<const TreeFile> level) {
    const int number = level.front().level;
    out << fmt::format("<h4>Level {}: {}</h4>\n", number,
                       HumanBytes(SumOf(level).bytes));
    AddDrawing("level",
               fmt::format("Files of level {} of family {} of {}", number, name,
                           tree_path),
               LevelJson(level, keys), out);
  });
}

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\'') {
      escaped += "&#39;";
    } else if (byte < 0x20 || byte >= 0x7f) {
      escaped += fmt::format("\\x{:02X}", byte);
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void StartPage(std::string_view title, std::ostream& out) {
  // The policy forbids the page to load anything, which it never needs.
  out << "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
         "<meta http-equiv=Content-Security-Policy content=\"default-src "
         "'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
         "<meta name=viewport content=\"width=device-width\">\n"
         "<meta name=color-scheme content=\"light dark\">\n"
      << "<title>" << EscapeHtml(title) << " - sst_inspect</title>\n<style>\n"
      << kPageCss << "</style>\n</head>\n<body>\n<main>\n<h1>sst_inspect: "
      << EscapeHtml(title) << "</h1>\n"
      << "<noscript><p>The drawings need scripts; the tables do not."
         "</p></noscript>\n";
}

void AddToPage(const DatabaseTree& tree, const KeyFormat& keys,
               std::ostream& out) {
  out << "<section class=tree>\n<h2>" << EscapeHtml(tree.path) << "</h2>\n"
      << "<p>Each level has its files side by side, to scale by bytes, those "
         "of level 0 from the newest on. Their colour is the share of filters "
         "in their bytes.</p>\n<p class=scale></p>\n";
  for (const TreeFamily& family : tree.families) {
    AddFamily(tree.path, family, keys, out);
  }
  out << "</section>\n";
}

void AddToPage(const FilePicture& picture, bool is_open, std::ostream& out) {
  // Files are collapsible, so that a page of many files opens at once.
  out << fmt::format(
             "<details class=file{} data-path=\"{}\" data-blocks={}>\n"
             "<summary>",
             is_open ? " open" : "", EscapeHtml(ToPrintable(picture.path)),
             picture.blocks)
      << "<h2>" << EscapeHtml(picture.path) << "</h2> "
      << fmt::format("<span class=count>{}, {} blocks{}</span></summary>\n",
                     HumanBytes(picture.size_bytes), Grouped(picture.blocks),
                     picture.damaged == 0
                         ? ""
                         : fmt::format(", <span class=damaged>{} "
                                       "damaged</span>",
                                       Grouped(picture.damaged)));
  AddFacts(picture.facts, out);
  AddProblems(picture, out);
  out << "<h3>Blocks</h3>\n<p>Left to right, then down, to scale by stored "
         "bytes. The buttons hide and show types.";
  if (picture.runs.size() < picture.blocks) {
    out << fmt::format(
        " {} blocks are drawn as {} pieces: neighbours of a type as one.",
        Grouped(picture.blocks), Grouped(picture.runs.size()));
  }
  out << "</p>\n";
  AddLegend(picture, out);
  AddDrawing("blocks",
             "Blocks of " + picture.path + ", in the order of the file",
             BlocksJson(picture), out);
  AddTotals(picture, out);
  AddFills(picture, out);
  out << "</details>\n";
}

void FinishPage(std::ostream& out) {
  out << "</main>\n<script>\n" << kPageJs << "</script>\n</body>\n</html>\n";
}

}  // namespace rowbloom::sst_inspect
