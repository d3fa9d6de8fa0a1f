#include "metal/compiler/apple/reporter.h"

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "metal/programs/resources.h"

namespace metal::compiler::apple {
namespace {

constexpr size_t kMaxReports = 100;  // nobody reads more

}  // namespace

bool Reporter::is_users_file(clang::SourceLocation location) const {
  const clang::FileID file = sources_.getFileID(location);
  const auto known = users_files_.find(file);
  if (known != users_files_.end()) return known->second;
  bool is_users = false;
  if (!sources_.isLoadedFileID(file)) {
    const auto entry = sources_.getFileEntryRefForID(file);
    const llvm::StringRef name = entry ? entry->getName() : llvm::StringRef();
    // Packages may have copies of MLX's headers.
    is_users = entry && !name.starts_with(resource_directory()) &&
               !name.contains("mlx/backend/metal/kernels/");
  }
  users_files_.emplace(file, is_users);
  return is_users;
}

bool Reporter::is_users(clang::SourceLocation location) const {
  return location.isValid() && is_users_file(sources_.getExpansionLoc(location)) &&
         is_users_file(sources_.getSpellingLoc(location));
}

void Reporter::report(clang::SourceLocation location, const std::string& message) {
  if (found_.size() < kMaxReports && is_users(location))
    found_.emplace(sources_.getFileLoc(location), message);
}

void Reporter::print(clang::DiagnosticsEngine& diagnostics) const {
  const unsigned id = diagnostics.getDiagnosticIDs()->getCustomDiagID(
      clang::DiagnosticIDs::Warning, "Apple's compiler refuses this: %0");
  for (const auto& [location, message] : found_) diagnostics.Report(location, id) << message;
}

CheckPlace Reporter::place_of(clang::SourceLocation location) const {
  const clang::PresumedLoc shown = sources_.getPresumedLoc(location);
  CheckPlace place;
  place.file = shown.getFilename();
  place.line = shown.getLine();
  place.column = shown.getColumn();
  const llvm::StringRef text = sources_.getBufferData(sources_.getFileID(location));
  const size_t offset = sources_.getFileOffset(location);
  const size_t begin = offset - (sources_.getSpellingColumnNumber(location) - 1);
  place.text = text.substr(begin, text.find('\n', offset) - begin).rtrim('\r').str();
  return place;
}

std::vector<CheckReport> Reporter::reports() const {
  std::vector<CheckReport> reports;
  for (const auto& [location, message] : found_) {
    CheckReport report;
    report.kind = "apple";
    report.place = place_of(location);
    report.message = message;
    report.of_thread = false;
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace metal::compiler::apple
