// The texts that all pages of HtmlPage have in common: page/page.css and
// page/page.js, as CMake puts them into the program.
#pragma once

namespace rowbloom::sst_inspect {

extern const char* const kPageCss;
extern const char* const kPageJs;

}  // namespace rowbloom::sst_inspect
