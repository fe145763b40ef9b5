// A page of --html: pictures of databases and files in one file that needs
// nothing else: no network, no other file. It has what it draws as tables, too,
// and is ASCII: every byte that comes from a file is text in it, never markup.
//
//   StartPage(title, out);
//   AddToPage(picture, /*is_open=*/true, out);
//   FinishPage(out);
//
// page/page.css is how it looks, page/page.js draws; CMake puts both into the
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

// `text` for use between tags and in quoted attributes. Bytes that are not
// printable ASCII become \xHH.
std::string EscapeHtml(std::string_view text);

void StartPage(std::string_view title, std::ostream& out);
// A database; its files may follow. Its size has a bound for each level:
// neighbours in a level of many files are drawn as one.
void AddToPage(const DatabaseTree& tree, const KeyFormat& keys,
               std::ostream& out);
// A file, folded unless it is open.
void AddToPage(const FilePicture& picture, bool is_open, std::ostream& out);
void FinishPage(std::ostream& out);

}  // namespace rowbloom::sst_inspect
