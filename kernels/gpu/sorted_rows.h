// Rows of updates in the order of the rows that they change, on GPUs: so that the updates of one row are combined in an order that
// depends on the rows alone, and equal inputs give equal bits. Any thread may call these functions.
#pragma once

#include <span>
#include <vector>

#include "kernels/gpu/divider.h"
#include "kernels/gpu/functions.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"

namespace troupe::gpu {

/// Sorts n pairs by key; pairs with equal keys stay in their order. The keys are at most `greatest`.
Status sort_pairs(DeviceContext& device, size_t n, uint32_t greatest, const uint32_t* keys,
                  const uint32_t* values, uint32_t* sorted_keys, uint32_t* sorted_values);

/// The updates by row: update order[k] changes row rows[k], or none if that is not below the number of rows. Without `order` they
/// are sorted already: update k changes row rows[k].
struct SortedRows {
  BufferRef memory;
  const uint32_t *rows, *order;
};

/// Numbers the updates and finds the row of each: rule(i) is negative if update i changes none.
template <class Rule>
struct NumberRows {
  Rule rule;
  uint32_t none;
  uint32_t *rows, *order;  ///< without `order` the updates are not numbered
  TROUPE_ANY void operator()(size_t i) const {
    const int64_t row = rule(i);
    rows[i] = row < 0 ? none : static_cast<uint32_t>(row);
    if (order) order[i] = static_cast<uint32_t>(i);
  }
};

/// Fails with Unimplemented for 2^32 updates or rows.
inline Status check_row_count(size_t n, size_t rows) {
  if (n < UINT32_MAX && rows < UINT32_MAX) return {};
  return unimplemented("kernels of GPUs combine less than 2^32 rows");
}

/// Sorts n updates of a tensor of `rows` rows by the rows that rule(i) returns. Fails with Unimplemented for 2^32 updates or rows.
template <class Rule>
Result<SortedRows> sort_rows(DeviceContext& device, size_t n, size_t rows, const Rule& rule) {
  TROUPE_RETURN_IF_FAILED(check_row_count(n, rows));
  TROUPE_ASSIGN(BufferRef sorted, scratch(device, 2 * n * sizeof(uint32_t)));
  TROUPE_ASSIGN(const BufferRef memory, scratch(device, 2 * n * sizeof(uint32_t)));
  auto *const unsorted = reinterpret_cast<uint32_t*>(memory->data), *const to = reinterpret_cast<uint32_t*>(
                                                                        sorted->data);
  const auto none = static_cast<uint32_t>(rows);
  TROUPE_RETURN_IF_FAILED(each(device, n, NumberRows<Rule>{rule, none, unsorted, unsorted + n}));
  TROUPE_RETURN_IF_FAILED(sort_pairs(device, n, none, unsorted, unsorted + n, to, to + n));
  return SortedRows{std::move(sorted), to, to + n};
}

/// The same for a rule whose rows are in ascending order.
template <class Rule>
Result<SortedRows> find_rows(DeviceContext& device, size_t n, size_t rows, const Rule& rule) {
  TROUPE_RETURN_IF_FAILED(check_row_count(n, rows));
  TROUPE_ASSIGN(BufferRef memory, scratch(device, n * sizeof(uint32_t)));
  auto* const to = reinterpret_cast<uint32_t*>(memory->data);
  TROUPE_RETURN_IF_FAILED(each(device, n, NumberRows<Rule>{rule, static_cast<uint32_t>(rows), to, nullptr}));
  return SortedRows{std::move(memory), to, nullptr};
}

/// The same for rows in ascending order that the host knows: each is in [0, rows).
inline Result<SortedRows> upload_rows(DeviceContext& device, std::span<const int64_t> ascending,
                                      size_t rows) {
  TROUPE_RETURN_IF_FAILED(check_row_count(ascending.size(), rows));
  const std::vector<uint32_t> numbers(ascending.begin(), ascending.end());
  TROUPE_ASSIGN(BufferRef memory, uploaded(device, std::span(numbers)));
  const auto* const to = reinterpret_cast<const uint32_t*>(memory->data);
  return SortedRows{std::move(memory), to, nullptr};
}

/// Updates in the order of their rows, cut into chunks:
///   Combine   Acc operator()(Acc, Acc)
///   Terms     Acc operator()(size_t update, size_t column)              an element of an update
///   Sink      void operator()(size_t row, size_t column, Acc total)     takes the combined updates of a row that has any
template <class Combine, class Acc, class Terms, class Sink>
struct SortedUpdates {
  static constexpr size_t chunk = 32;
  const uint32_t *rows, *order;
  size_t n, limit;  ///< the number of updates, and of rows of the tensor
  Divider row;      ///< the number of elements of a row
  Terms terms;
  Sink sink;
  Acc *firsts,
      *lasts;  ///< partial results of chunks, for runs of updates of one row that go beyond the chunk

  size_t chunks() const { return (n + chunk - 1) / chunk; }
  TROUPE_ANY bool continues(size_t k) const { return k > 0 && k < n && rows[k - 1] == rows[k]; }
  TROUPE_ANY Acc term(size_t k, size_t column) const { return terms(order ? order[k] : k, column); }
  TROUPE_ANY Acc combine(Acc a, Acc b) const { return Combine()(a, b); }
  TROUPE_ANY void end_row(size_t target, size_t column, Acc total) const {
    if (target < limit) sink(target, column, total);
  }
};

/// Combines the updates of one column of a chunk. A run that is inside of the chunk ends its row at once.
template <class Updates, class Acc>
struct CombineChunks {
  Updates sorted;

  TROUPE_ANY void operator()(size_t i) const {
    const size_t number = sorted.row.quotient(i), column = i - number * sorted.row.divisor();
    const size_t begin = number * sorted.chunk,
                 end = begin + sorted.chunk < sorted.n ? begin + sorted.chunk : sorted.n;
    for (size_t k = begin; k < end;) {
      const bool began_before = k == begin && sorted.continues(k);
      Acc total = sorted.term(k, column);
      const uint32_t target = sorted.rows[k];
      for (++k; k < end && sorted.rows[k] == target; ++k)
        total = sorted.combine(total, sorted.term(k, column));
      if (began_before)
        sorted.firsts[i] = total;
      else if (k == end && sorted.continues(k))
        sorted.lasts[i] = total;
      else
        sorted.end_row(target, column, total);
    }
  }
};

/// For a run that begins in the chunk and goes beyond it: combines its partial results and ends its row.
template <class Updates, class Acc>
struct CombineRuns {
  Updates sorted;

  TROUPE_ANY void operator()(size_t i) const {
    const size_t number = sorted.row.quotient(i), width = sorted.row.divisor();
    const size_t begin = number * sorted.chunk;
    size_t next = begin + sorted.chunk;
    if (!sorted.continues(next)) return;
    const uint32_t target = sorted.rows[next];
    if (sorted.continues(begin) && sorted.rows[begin] == target) return;  // it began before
    Acc total = sorted.lasts[i];
    for (size_t at = i + width; sorted.continues(next) && sorted.rows[next] == target;
         next += sorted.chunk, at += width)
      total = sorted.combine(total, sorted.firsts[at]);
    sorted.end_row(target, i - number * width, total);
  }
};

/// Combines n updates of `row` elements that belong to some of `rows` rows.
template <class Combine, class Acc, class Terms, class Sink>
Status combine_sorted(DeviceContext& device, const SortedRows& order, size_t n, size_t rows, size_t row,
                      const Terms& terms, const Sink& sink) {
  if (n == 0 || row == 0) return {};
  using Updates = SortedUpdates<Combine, Acc, Terms, Sink>;
  Updates sorted{order.rows, order.order, n, rows, Divider(row), terms, sink, nullptr, nullptr};
  const size_t calls = sorted.chunks() * row;
  TROUPE_ASSIGN(const BufferRef memory, scratch(device, 2 * calls * sizeof(Acc)));
  sorted.firsts = reinterpret_cast<Acc*>(memory->data);
  sorted.lasts = sorted.firsts + calls;
  TROUPE_RETURN_IF_FAILED(each(device, calls, CombineChunks<Updates, Acc>{sorted}));
  return each(device, calls, CombineRuns<Updates, Acc>{sorted});
}

// ---- Updates of tensors

/// The arithmetic of combining a row with updates: row = f(row, updates), where several updates are first combined by Updates.
template <class F>
struct UpdateRule {
  using Updates = F;
};
template <>
struct UpdateRule<Sub> {
  using Updates = Add;
};

/// The elements of rows, one behind the other.
template <class T>
struct RowElements {
  const T* data;
  size_t row;
  TROUPE_ANY Wide<T> operator()(size_t i, size_t column) const { return load(data[i * row + column]); }
};

/// Changes rows of a tensor: row = f(row, updates).
template <class F, class T>
struct ChangeRows {
  T* data;
  size_t row;
  TROUPE_ANY void operator()(size_t target, size_t column, Wide<T> total) const {
    T& element = data[target * row + column];
    store(element, F()(load(element), total));
  }
};

/// Combines n updates of `row` elements with the rows that rule(i) returns, of the `rows` rows of `to`: row = f(row, update).
template <class F, class T, class Rule>
Status combine_rows(DeviceContext& device, size_t n, size_t row, const Rule& rule, const T* updates,
                    size_t rows, T* to) {
  if (n == 0 || row == 0) return {};
  TROUPE_ASSIGN(const SortedRows order, sort_rows(device, n, rows, rule));
  return combine_sorted<typename UpdateRule<F>::Updates, Wide<T>>(
      device, order, n, rows, row, RowElements<T>{updates, row}, ChangeRows<F, T>{to, row});
}

/// The later of two values, for updates that replace rows.
struct Later {
  TROUPE_ANY auto operator()(auto, auto later) const { return later; }
};

}  // namespace troupe::gpu
