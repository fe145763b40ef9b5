#include "tools/sst_inspect/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/html_parts.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/page_text.h"

namespace rowbloom::sst_inspect {
namespace {

using Align = Table::Align;

// "index partition" as it is in the names of colours.
std::string Slug(BlockType type) {
  std::string slug(ToString(type));
  std::replace(slug.begin(), slug.end(), ' ', '-');
  return slug;
}

std::string Swatch(BlockType type) {
  return fmt::format("<span class=swatch data-type={}></span>", Slug(type));
}

// The number of each text that occurs, by first occurrence.
class Texts {
 public:
  size_t Number(const std::string& text) {
    return numbers_.try_emplace(text, numbers_.size()).first->second;
  }
  std::vector<std::string> InOrder() const {
    std::vector<std::string> texts(numbers_.size());
    for (const auto& [text, number] : numbers_) texts[number] = text;
    return texts;
  }

 private:
  std::map<std::string, size_t> numbers_;
};

// The data from which page.js draws the blocks.
Json BlocksJson(const FilePicture& picture) {
  Texts types;
  Texts codecs;
  Json runs = Json::array();
  for (const BlockRun& run : picture.runs) {
    runs.push_back({types.Number(std::string(ToString(run.type))),
                    run.mixed ? 1 : 0, run.offset_bytes, run.stored_bytes,
                    run.contents_bytes, run.blocks, run.damaged,
                    codecs.Number(run.compression)});
  }
  return {{"types", types.InOrder()},
          {"codecs", codecs.InOrder()},
          {"runs", std::move(runs)}};
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
  out << fmt::format(
      "<p class=damaged>Damaged: {}. The tables below say what.</p>\n",
      Grouped(picture.damaged));
  if (picture.problems.empty()) return;
  out << "<ul class=damaged>\n";
  for (const std::string& problem : picture.problems) {
    out << "<li>" << EscapeHtml(problem) << "\n";
  }
  out << "</ul>\n";
}

void AddLegend(const FilePicture& picture, std::ostream& out) {
  out << "<p class=legend role=group aria-label=\"Types of blocks that are "
         "drawn\">\n";
  for (const auto& [type, totals] : picture.totals) {
    out << fmt::format(
        "<button type=button data-type=\"{}\" aria-pressed=true disabled>{} {} "
        "<span class=count>{}</span></button>\n",
        EscapeHtml(ToString(type)), Swatch(type), EscapeHtml(ToString(type)),
        Grouped(totals.blocks));
  }
  out << "</p>\n";
}

void AddTotals(const FilePicture& picture, std::ostream& out) {
  HtmlTable table("Blocks by type",
                  {{"type"},
                   {"blocks", Align::kRight},
                   {"stored bytes", Align::kRight},
                   {"of the file", Align::kRight},
                   {"contents bytes", Align::kRight},
                   {"ratio", Align::kRight},
                   {"damaged", Align::kRight}},
                  out);
  const auto add = [&](const std::string& name, const TypeTotals& totals) {
    table.AddRow({name, Grouped(totals.blocks), Grouped(totals.stored_bytes),
                  picture.size_bytes == 0
                      ? "-"
                      : Percent(static_cast<double>(totals.stored_bytes) /
                                static_cast<double>(picture.size_bytes)),
                  Grouped(totals.contents_bytes),
                  Ratio(totals.contents_bytes, totals.stored_bytes),
                  Grouped(totals.damaged)});
  };
  TypeTotals all;
  for (const auto& [type, totals] : picture.totals) {
    add(Swatch(type) + " " + EscapeHtml(ToString(type)), totals);
    all.blocks += totals.blocks;
    all.stored_bytes += totals.stored_bytes;
    all.contents_bytes += totals.contents_bytes;
    all.damaged += totals.damaged;
  }
  add("all", all);
}

std::string VerdictOf(const NamedBlock& named) {
  if (!named.problem.empty()) {
    return "<span class=damaged>DAMAGED</span> " + EscapeHtml(named.problem);
  }
  return named.block.has_checksum() ? "ok" : "";
}

void AddListedTable(const FilePicture& picture, std::ostream& out) {
  HtmlTable table("Each by itself",
                  {{"type"},
                   {"name"},
                   {"offset", Align::kRight},
                   {"stored bytes", Align::kRight},
                   {"contents bytes", Align::kRight},
                   {"codec"},
                   {"checksum"}},
                  out);
  for (const NamedBlock& named : picture.listed) {
    const BlockInfo& block = named.block;
    table.AddRow({Swatch(block.type) + " " + EscapeHtml(ToString(block.type)),
                  EscapeHtml(ToPrintable(block.name)),
                  Grouped(block.offset_bytes), Grouped(block.stored_bytes),
                  block.contents_bytes ? Grouped(*block.contents_bytes) : "-",
                  EscapeHtml(block.compression), VerdictOf(named)});
  }
}

void AddListed(const FilePicture& picture, std::ostream& out) {
  if (picture.listed.empty()) return;
  // Damage is what one looks for; otherwise the list may be long and dull.
  out << "<details" << (picture.damaged > 0 ? " open" : "")
      << "><summary>Blocks other than data, and damaged ones: "
      << Grouped(picture.listed.size() + picture.unlisted)
      << (picture.unlisted == 0
              ? ""
              : fmt::format(", the first {} of which are listed",
                            Grouped(picture.listed.size())))
      << "</summary>\n";
  AddListedTable(picture, out);
  out << "</details>\n";
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
  {
    HtmlTable table("Sections", SectionColumns(), out);
    for (const SectionPicture& section : picture.sections) {
      std::vector<std::string> cells =
          SectionCells(section.what, section.totals);
      for (std::string& cell : cells) cell = EscapeHtml(cell);
      table.AddRow(cells);
    }
  }
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

}  // namespace

HtmlPage::HtmlPage(std::string_view title, std::ostream& out) : out_(out) {
  // The policy forbids what the page has no need of: to load anything.
  out_ << "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
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

void HtmlPage::Add(const FilePicture& picture) {
  // One is shown at a time, so that a page of many files opens at once.
  out_ << fmt::format(
              "<details class=file{} data-path=\"{}\" data-blocks={}>\n"
              "<summary>",
              additions_ == 0 ? " open" : "",
              EscapeHtml(ToPrintable(picture.path)), picture.blocks)
       << "<h2>" << EscapeHtml(picture.path) << "</h2> "
       << fmt::format("<span class=count>{}, {} blocks{}</span></summary>\n",
                      HumanBytes(picture.size_bytes), Grouped(picture.blocks),
                      picture.damaged == 0
                          ? ""
                          : fmt::format(", <span class=damaged>{} "
                                        "damaged</span>",
                                        Grouped(picture.damaged)));
  ++additions_;
  AddFacts(picture.facts, out_);
  AddProblems(picture, out_);
  out_ << "<h3>Blocks</h3>\n<p>Left to right, then down, to scale by stored "
          "bytes. The buttons hide and show types.";
  if (picture.runs.size() < picture.blocks) {
    out_ << fmt::format(
        " {} blocks are drawn as {} pieces: neighbours of a type as one.",
        Grouped(picture.blocks), Grouped(picture.runs.size()));
  }
  out_ << "</p>\n";
  AddLegend(picture, out_);
  AddDrawing("blocks",
             "Blocks of " + picture.path + ", in the order of the file",
             BlocksJson(picture), out_);
  AddTotals(picture, out_);
  AddListed(picture, out_);
  AddFills(picture, out_);
  out_ << "</details>\n";
}

void HtmlPage::Finish() {
  out_ << "</main>\n<script>\n" << kPageJs << "</script>\n</body>\n</html>\n";
}

}  // namespace rowbloom::sst_inspect
