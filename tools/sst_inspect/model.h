// The names that the verbs take from tools/table, the model of a table file.
#pragma once

#include "tools/table/key_format.h"
#include "tools/table/table_file.h"
#include "tools/table/table_filter.h"

namespace rowbloom::sst_inspect {

using table::BlockInfo;
using table::BlockType;
using table::Cell;
using table::CellReader;
using table::Facts;
using table::FileKind;
using table::FilterAnswer;
using table::FilterLookup;
using table::FilterPart;
using table::FilterProblem;
using table::FilterReader;
using table::Findings;
using table::IndexEntryInfo;
using table::KeyForm;
using table::KeyFormat;
using table::KindOf;
using table::OpenTable;
using table::Property;
using table::SectionAnswer;
using table::SectionFacts;
using table::TableFacts;
using table::TableFile;
using table::Timestamp;
using table::VerifyCounts;

}  // namespace rowbloom::sst_inspect
