// Rows of updates in the order of the rows that they change, on GPUs: so that the updates of one row are combined in an order that
// depends on the rows alone, and equal inputs give equal bits. Any thread may call these functions.
#pragma once

#include "kernels/gpu/divider.h"
#include "kernels/gpu/functions.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"

namespace troupe::gpu {

/// Sorts n pairs by key; pairs with equal keys stay in their order. The keys are at most `greatest`.
Status sort_pairs(DeviceContext& device, size_t n, uint32_t greatest, const uint32_t* keys,
                  const uint32_t* values, uint32_t* sorted_keys, uint32_t* sorted_values);

/// The updates by row: update order[k] changes row rows[k], or none if that is not below the number of rows.
struct SortedRows {
  BufferRef memory;
  const uint32_t *rows, *order;
};

/// Numbers the updates and finds the row of each: rule(i) is negative if update i changes none.
template <class Rule>
struct NumberRows {
  Rule rule;
  uint32_t none;
  uint32_t *rows, *order;
  TROUPE_ANY void operator()(size_t i) const {
    const int64_t row = rule(i);
    rows[i] = row < 0 ? none : static_cast<uint32_t>(row);
    order[i] = static_cast<uint32_t>(i);
  }
};

/// Sorts n updates of a tensor of `rows` rows by the rows that rule(i) returns. Fails with Unimplemented for 2^32 updates or rows.
template <class Rule>
Result<SortedRows> sort_rows(DeviceContext& device, size_t n, size_t rows, const Rule& rule) {
  if (n >= UINT32_MAX || rows >= UINT32_MAX)
    return unimplemented("kernels of GPUs combine less than 2^32 rows");
  TROUPE_ASSIGN(BufferRef sorted, scratch(device, 2 * n * sizeof(uint32_t)));
  TROUPE_ASSIGN(const BufferRef memory, scratch(device, 2 * n * sizeof(uint32_t)));
  auto *const unsorted = reinterpret_cast<uint32_t*>(memory->data), *const to = reinterpret_cast<uint32_t*>(
                                                                        sorted->data);
  const auto none = static_cast<uint32_t>(rows);
  TROUPE_RETURN_IF_FAILED(each(device, n, NumberRows<Rule>{rule, none, unsorted, unsorted + n}));
  TROUPE_RETURN_IF_FAILED(sort_pairs(device, n, none, unsorted, unsorted + n, to, to + n));
  return SortedRows{std::move(sorted), to, to + n};
}

/// The arithmetic of combining a row with updates: row = f(row, updates), where several updates are first combined by Updates.
template <class F>
struct UpdateRule {
  using Updates = F;
};
template <>
struct UpdateRule<Sub> {
  using Updates = Add;
};

/// The updates of a tensor, sorted and cut into chunks.
template <class T>
struct SortedUpdates {
  static constexpr size_t chunk = 32;
  const uint32_t *rows, *order;
  size_t n, limit;  ///< the number of updates, and of rows of the tensor
  Divider row;      ///< the number of elements of a row
  const T* updates;
  T* to;
  Wide<T>*firsts,
      *lasts;  ///< partial results of chunks, for runs of updates of one row that go beyond the chunk

  size_t chunks() const { return (n + chunk - 1) / chunk; }
  TROUPE_ANY bool continues(size_t k) const { return k > 0 && k < n && rows[k - 1] == rows[k]; }
  template <class F>
  TROUPE_ANY void change(size_t target, size_t column, Wide<T> total) const {
    if (target >= limit) return;
    T& element = to[target * row.divisor() + column];
    store(element, F()(load(element), total));
  }
};

/// Combines the updates of one column of a chunk. A run that is inside of the chunk changes its row at once.
template <class F, class T>
struct CombineChunks {
  SortedUpdates<T> sorted;

  TROUPE_ANY void operator()(size_t i) const {
    const size_t number = sorted.row.quotient(i), width = sorted.row.divisor(), column = i - number * width;
    const size_t begin = number * sorted.chunk,
                 end = begin + sorted.chunk < sorted.n ? begin + sorted.chunk : sorted.n;
    for (size_t k = begin; k < end;) {
      const bool began_before = k == begin && sorted.continues(k);
      Wide<T> total = load(sorted.updates[sorted.order[k] * width + column]);
      const uint32_t target = sorted.rows[k];
      for (++k; k < end && sorted.rows[k] == target; ++k)
        total =
            typename UpdateRule<F>::Updates()(total, load(sorted.updates[sorted.order[k] * width + column]));
      if (began_before)
        sorted.firsts[i] = total;
      else if (k == end && sorted.continues(k))
        sorted.lasts[i] = total;
      else
        sorted.template change<F>(target, column, total);
    }
  }
};

/// For a run that begins in the chunk and goes beyond it: combines its partial results and changes its row.
template <class F, class T>
struct CombineRuns {
  SortedUpdates<T> sorted;

  TROUPE_ANY void operator()(size_t i) const {
    const size_t number = sorted.row.quotient(i), width = sorted.row.divisor();
    const size_t begin = number * sorted.chunk;
    size_t next = begin + sorted.chunk;
    if (!sorted.continues(next)) return;
    const uint32_t target = sorted.rows[next];
    if (sorted.continues(begin) && sorted.rows[begin] == target) return;  // it began before
    Wide<T> total = sorted.lasts[i];
    for (size_t at = i + width; sorted.continues(next) && sorted.rows[next] == target;
         next += sorted.chunk, at += width)
      total = typename UpdateRule<F>::Updates()(total, sorted.firsts[at]);
    sorted.template change<F>(target, i - number * width, total);
  }
};

/// Combines n updates of `row` elements with the rows that rule(i) returns, of the `rows` rows of `to`: row = f(row, update).
template <class F, class T, class Rule>
Status combine_rows(DeviceContext& device, size_t n, size_t row, const Rule& rule, const T* updates,
                    size_t rows, T* to) {
  if (n == 0 || row == 0) return {};
  TROUPE_ASSIGN(const SortedRows order, sort_rows(device, n, rows, rule));
  SortedUpdates<T> sorted{order.rows, order.order, n, rows, Divider(row), updates, to, nullptr, nullptr};
  const size_t calls = sorted.chunks() * row;
  TROUPE_ASSIGN(const BufferRef memory, scratch(device, 2 * calls * sizeof(Wide<T>)));
  sorted.firsts = reinterpret_cast<Wide<T>*>(memory->data);
  sorted.lasts = sorted.firsts + calls;
  TROUPE_RETURN_IF_FAILED(each(device, calls, CombineChunks<F, T>{sorted}));
  return each(device, calls, CombineRuns<F, T>{sorted});
}

/// The later of two values, for updates that replace rows.
struct Later {
  TROUPE_ANY auto operator()(auto, auto later) const { return later; }
};

}  // namespace troupe::gpu
