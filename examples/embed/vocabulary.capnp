# Vocabulary: the messages of the service in service.cpp.
@0xb5e3a6c1d2f40917;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("vocabulary");

struct FindWords {
  # Request -> WordNumbers. Attachment: the words, strings of any shape. Words that are new get the next numbers.
}

struct WordNumbers {
  # Or ResourceExhausted: the vocabulary is full. Attachment: the number of each word, int64, of the shape of the words.

  known @0 :UInt64;    # words that the vocabulary now has
}
