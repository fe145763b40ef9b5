// A page of --html draws databases and files. It is one file that needs neither
// a network nor another file. Tables have the figures of the drawings, too. The
// page is ASCII, and every byte that comes from a file is text, never markup.
//
//   StartPage(title, out);
//   AddToPage(picture, /*is_open=*/true, out);
//   FinishPage(out);
//
// page/page.css has the style, and page/page.js draws. CMake puts both into the
// program.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "tools/sst_inspect/database_tree.h"
#include "tools/sst_inspect/file_picture.h"
#include "tools/sst_inspect/model.h"

namespace rowbloom::sst_inspect {

extern const char* const kPageCss;
extern const char* const kPageJs;

// Escapes `text` for use between tags and in quoted attributes. Bytes that are
// not printable ASCII become \xHH.
std::string EscapeHtml(std::string_view text);

void StartPage(std::string_view title, std::ostream& out);
// Adds a database; its files may follow. The size has a bound for each level:
// in a level of many files, neighbours are drawn as one.
void AddToPage(const DatabaseTree& tree, const KeyFormat& keys,
               std::ostream& out);
// Adds a file, which is collapsed unless `is_open`.
void AddToPage(const FilePicture& picture, bool is_open, std::ostream& out);
void FinishPage(std::ostream& out);

}  // namespace rowbloom::sst_inspect
