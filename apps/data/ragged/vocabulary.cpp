#include "apps/data/ragged/vocabulary.h"

#include "apps/data/text_lines.h"
#include "apps/text/escaped.h"

namespace troupe::data {
namespace {

constexpr size_t most_of_word = 60;  // bytes of a word in an error

}  // namespace

Result<Vocabulary> Vocabulary::read(Disk& disk, std::span<const std::string> files) {
  Vocabulary vocabulary;
  for (const std::string& file : files) TROUPE_RETURN_IF_FAILED(vocabulary.add_file(disk, file));
  return vocabulary;
}

Result<Vocabulary> Vocabulary::of(std::span<const std::string> words) {
  Vocabulary vocabulary;
  for (const std::string& word : words)
    if (!vocabulary.ids_.emplace(word, vocabulary.size()).second)
      return invalid_argument("the word '" + escaped(std::string_view(word).substr(0, most_of_word)) +
                              "' is there twice");
  return vocabulary;
}

std::vector<std::string> Vocabulary::words() const {
  std::vector<std::string> words(ids_.size());
  for (const auto& [word, id] : ids_) words[static_cast<size_t>(id)] = word;
  return words;
}

Status Vocabulary::add_file(Disk& disk, const std::string& file) {
  TROUPE_ASSIGN(auto input, InputFile::open(disk, file));
  TextLines lines(std::move(input));
  for (;;) {
    TROUPE_ASSIGN(const auto line, lines.next());
    if (!line) return {};
    std::string_view word = *line;
    if (word.ends_with('\r')) word.remove_suffix(1);
    const std::string place = file + ": row " + std::to_string(lines.row());
    if (word.empty() || word.find_first_of(" \t") != std::string_view::npos)
      return data_loss(place + ": a line of a vocabulary must be one word without blanks");
    if (!ids_.emplace(word, size()).second)
      return data_loss(place + ": the word '" + escaped(word.substr(0, most_of_word)) + "' is there twice");
  }
}

}  // namespace troupe::data
