// einsum: contracts operands in pairs, each pair by one matrix product.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

using Label = int;  // a letter, or negative for an axis of an ellipsis, counted from its end
using Labels = std::vector<Label>;

struct Operand {
  array a;
  Labels labels;
};

struct Problem {
  std::vector<Labels> inputs;
  Labels output;
  std::map<Label, int> sizes;
};

bool contains(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// The subscripts, for errors.
struct Request {
  const char* op;
  const std::string& subscripts;
};

[[noreturn]] void refuse(const Request& request, const std::string& why) {
  invalid_argument(request.op, "Subscripts \"" + request.subscripts + "\": " + why);
}

// One operand's labels; `ellipsis_rank` axes stand for "...".
Labels parse_term(const std::string& term, int ellipsis_rank, const Request& request) {
  Labels out;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term.compare(i, 3, "...") == 0) {
      for (int axis = ellipsis_rank; axis > 0; --axis) {
        out.push_back(-axis);
      }
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      out.push_back(term[i]);
    } else {
      refuse(request, std::string("'") + term[i] + "' is not a letter.");
    }
  }
  return out;
}

bool has_ellipsis(const std::string& term) { return term.find("...") != std::string::npos; }

std::vector<std::string> split_terms(const std::string& text) {
  std::vector<std::string> terms{""};
  for (char c : text) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  return terms;
}

// Without "->", the output has the ellipsis and, in order, the letters that occur once.
Labels implied_output(const std::vector<Labels>& inputs, int ellipsis_rank) {
  std::map<Label, int> counts;
  for (const auto& labels : inputs) {
    for (Label label : labels) {
      counts[label] += 1;
    }
  }
  Labels out;
  for (int axis = ellipsis_rank; axis > 0; --axis) {
    out.push_back(-axis);
  }
  for (auto [label, count] : counts) {
    if (label > 0 && count == 1) {
      out.push_back(label);
    }
  }
  return out;
}

void collect_sizes(Problem& problem, const std::vector<array>& operands, const Request& request) {
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t axis = 0; axis < problem.inputs[i].size(); ++axis) {
      int n = operands[i].shape(static_cast<int>(axis));
      auto [it, is_new] = problem.sizes.try_emplace(problem.inputs[i][axis], n);
      if (!is_new && it->second != n && n != 1 && it->second != 1) {
        refuse(request, message("one label has the lengths ", it->second, " and ", n, "."));
      }
      it->second = it->second == 1 ? n : it->second;
    }
  }
  std::set<Label> seen;
  for (Label label : problem.output) {
    if (!problem.sizes.count(label) || !seen.insert(label).second) {
      refuse(request, "each label of the output must occur in an input, and once in the output.");
    }
  }
}

Problem parse(const Request& request, const std::vector<array>& operands) {
  std::string text = request.subscripts;
  std::erase(text, ' ');
  size_t arrow = text.find("->");
  auto terms = split_terms(text.substr(0, arrow));
  if (terms.size() != operands.size()) {
    refuse(request,
           message("there are ", terms.size(), " terms for ", operands.size(), " operands."));
  }
  Problem problem;
  int ellipsis_rank = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    int letters = static_cast<int>(parse_term(terms[i], 0, request).size());
    int rest = static_cast<int>(operands[i].ndim()) - letters;
    if (rest < 0 || (rest > 0 && !has_ellipsis(terms[i]))) {
      refuse(request, message("\"" + terms[i] + "\" does not fit an operand with ",
                              operands[i].ndim(), " dimensions."));
    }
    problem.inputs.push_back(parse_term(terms[i], rest, request));
    ellipsis_rank = std::max(ellipsis_rank, rest);
  }
  problem.output = arrow == std::string::npos
                       ? implied_output(problem.inputs, ellipsis_rank)
                       : parse_term(text.substr(arrow + 2), ellipsis_rank, request);
  collect_sizes(problem, operands, request);
  return problem;
}

// ---- contraction ----

// Takes the diagonal of repeated labels, and drops axes of length 1 that others broadcast.
Operand simplified(Operand x, const std::map<Label, int>& sizes, const Stream& s) {
  for (size_t i = 0; i < x.labels.size(); ++i) {
    for (size_t j = i + 1; j < x.labels.size(); ++j) {
      if (x.labels[i] == x.labels[j]) {
        Label label = x.labels[i];
        x.a = diagonal(x.a, 0, static_cast<int>(i), static_cast<int>(j), s);
        x.labels.erase(x.labels.begin() + j);
        x.labels.erase(x.labels.begin() + i);
        x.labels.push_back(label);
        return simplified(std::move(x), sizes, s);
      }
    }
  }
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (x.a.shape(static_cast<int>(i)) == 1 && sizes.at(x.labels[i]) != 1) {
      x.a = squeeze(x.a, static_cast<int>(i), s);
      x.labels.erase(x.labels.begin() + i);
      return simplified(std::move(x), sizes, s);
    }
  }
  return x;
}

// Sums over the labels that no other operand and not the output needs.
Operand sum_out(Operand x, const std::set<Label>& needed, const Stream& s) {
  std::vector<int> axes;
  Labels kept;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (needed.count(x.labels[i])) {
      kept.push_back(x.labels[i]);
    } else {
      axes.push_back(static_cast<int>(i));
    }
  }
  if (axes.empty()) {
    return x;
  }
  Dtype dtype = x.a.dtype();
  return {astype(sum(x.a, axes, false, s), dtype, s), kept};
}

// Transposes the operand to the order of `labels`; missing axes get length 1.
array arranged(const Operand& x, const Labels& labels, const Stream& s) {
  std::vector<int> order, missing;
  for (size_t i = 0; i < labels.size(); ++i) {
    auto it = std::find(x.labels.begin(), x.labels.end(), labels[i]);
    if (it == x.labels.end()) {
      missing.push_back(static_cast<int>(i));
    } else {
      order.push_back(static_cast<int>(it - x.labels.begin()));
    }
  }
  return expand_dims(transpose(x.a, order, s), missing, s);
}

int product_of_sizes(const Labels& labels, const std::map<Label, int>& sizes) {
  int n = 1;
  for (Label label : labels) {
    n *= sizes.at(label);
  }
  return n;
}

// The labels of a pair of operands, by their role in the product.
struct PairLabels {
  Labels batch, only_a, only_b, summed;

  PairLabels(const Operand& a, const Operand& b, const std::set<Label>& needed) {
    for (Label label : a.labels) {
      bool shared = contains(b.labels, label);
      (!shared ? only_a : needed.count(label) ? batch : summed).push_back(label);
    }
    for (Label label : b.labels) {
      if (!contains(a.labels, label)) {
        only_b.push_back(label);
      }
    }
  }
};

Labels joined(std::initializer_list<Labels> parts) {
  Labels out;
  for (const auto& part : parts) {
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

// The product without joined axes, which could not be separated again if their lengths change:
// there is at most one label of each role beside the batch.
array product_for_all_shapes(const Operand& a, const Operand& b, const PairLabels& l,
                             const Stream& s) {
  array left = arranged(a, joined({l.batch, l.only_a, l.summed}), s);
  array right = arranged(b, joined({l.batch, l.summed, l.only_b}), s);
  std::vector<int> added;
  if (l.only_b.empty()) {
    right = expand_dims(right, -1, s);
    added.push_back(-1);
  }
  if (l.only_a.empty()) {
    left = expand_dims(left, -2, s);
    added.push_back(-2);
  }
  return squeeze(matmul(left, right, s), added, s);
}

Operand contract(Operand a, Operand b, const std::set<Label>& needed,
                 const std::map<Label, int>& sizes, const Stream& s) {
  auto needed_with = [&](const Labels& others) {
    std::set<Label> out = needed;
    out.insert(others.begin(), others.end());
    return out;
  };
  a = sum_out(std::move(a), needed_with(b.labels), s);
  b = sum_out(std::move(b), needed_with(a.labels), s);
  PairLabels l(a, b, needed);
  Labels out = joined({l.batch, l.only_a, l.only_b});
  if (l.summed.empty()) {
    return {multiply(arranged(a, out, s), arranged(b, out, s), s), out};
  }
  const bool for_all_shapes = detail::InTracing::in_dynamic_tracing();
  if (for_all_shapes && l.summed.size() == 1 && l.only_a.size() <= 1 && l.only_b.size() <= 1 &&
      issubdtype(a.a.dtype(), inexact)) {
    return {product_for_all_shapes(a, b, l, s), out};
  }
  if (for_all_shapes || !issubdtype(a.a.dtype(), inexact)) {
    Labels all = joined({out, l.summed});
    return sum_out({multiply(arranged(a, all, s), arranged(b, all, s), s), all},
                   {out.begin(), out.end()}, s);
  }
  int batch = product_of_sizes(l.batch, sizes);
  int inner = product_of_sizes(l.summed, sizes);
  array left = reshape(arranged(a, joined({l.batch, l.only_a, l.summed}), s),
                       {batch, product_of_sizes(l.only_a, sizes), inner}, s);
  array right = reshape(arranged(b, joined({l.batch, l.summed, l.only_b}), s),
                        {batch, inner, product_of_sizes(l.only_b, sizes)}, s);
  Shape shape;
  for (Label label : out) {
    shape.push_back(sizes.at(label));
  }
  return {reshape(matmul(left, right, s), shape, s), out};
}

std::set<Label> needed_labels(const std::vector<Labels>& terms, size_t i, size_t j,
                              const Labels& output) {
  std::set<Label> needed(output.begin(), output.end());
  for (size_t k = 0; k < terms.size(); ++k) {
    if (k != i && k != j) {
      needed.insert(terms[k].begin(), terms[k].end());
    }
  }
  return needed;
}

double product_of(const std::set<Label>& labels, const std::map<Label, int>& sizes) {
  double n = 1;
  for (Label label : labels) {
    n *= sizes.at(label);
  }
  return n;
}

std::set<Label> united(const std::vector<Labels>& terms) {
  std::set<Label> out;
  for (const auto& term : terms) {
    out.insert(term.begin(), term.end());
  }
  return out;
}

// The multiplications of so many terms, and the additions if labels are summed over.
double operations(const std::vector<Labels>& terms, const std::set<Label>& needed,
                  const std::map<Label, int>& sizes) {
  const std::set<Label> all = united(terms);
  const bool sums = !std::includes(needed.begin(), needed.end(), all.begin(), all.end());
  const size_t factors = std::max<size_t>(terms.size() - 1, 1);
  return product_of(all, sizes) * static_cast<double>(factors + sums);
}

// The cost of a product of two terms: the elements that it removes, and its operations.
struct Pair {
  size_t i, j;
  double removed, cost;

  Pair(const std::vector<Labels>& terms, size_t i, size_t j, const Problem& problem) : i(i), j(j) {
    const auto needed = needed_labels(terms, i, j, problem.output);
    const std::set<Label> all = united({terms[i], terms[j]});
    std::set<Label> left;
    std::set_intersection(all.begin(), all.end(), needed.begin(), needed.end(),
                          std::inserter(left, left.end()));
    removed = product_of(united({terms[i]}), problem.sizes) +
              product_of(united({terms[j]}), problem.sizes) - product_of(left, problem.sizes);
    cost = operations({terms[i], terms[j]}, needed, problem.sizes);
  }
  bool is_better_than(const Pair& other) const {
    return removed > other.removed || (removed == other.removed && cost < other.cost);
  }
};

bool share_a_label(const Labels& a, const Labels& b) {
  return std::any_of(a.begin(), a.end(), [&](Label label) { return contains(b, label); });
}

// Finds the pair that removes the most elements, among those that share a label if there are any.
std::pair<size_t, size_t> next_pair(const std::vector<Labels>& terms, const Problem& problem) {
  std::optional<Pair> best;
  for (const bool sharing : {true, false}) {
    for (size_t i = 0; i < terms.size(); ++i) {
      for (size_t j = i + 1; j < terms.size(); ++j) {
        if (sharing && !share_a_label(terms[i], terms[j])) continue;
        const Pair pair(terms, i, j, problem);
        if (!best || pair.is_better_than(*best)) best = pair;
      }
    }
    if (best) break;
  }
  return {best->i, best->j};
}

// Calls step(i, j, needed) for each product. It returns the labels of the result, which is appended
// to the operands.
template <typename Step>
void in_order(std::vector<Labels> terms, const Problem& problem, Step step) {
  while (terms.size() > 1) {
    auto [i, j] = next_pair(terms, problem);
    Labels out = step(i, j, needed_labels(terms, i, j, problem.output));
    terms.erase(terms.begin() + j);
    terms.erase(terms.begin() + i);
    terms.push_back(std::move(out));
  }
}

}  // namespace

array einsum(const std::string& subscripts, const std::vector<array>& operands,
             StreamOrDevice stream) {
  Stream s = to_stream(stream);
  Problem problem = parse({"einsum", subscripts}, operands);
  Dtype dtype = result_type(operands);
  std::vector<Operand> pending;
  std::vector<Labels> terms;
  for (size_t i = 0; i < operands.size(); ++i) {
    pending.push_back(
        simplified({astype(operands[i], dtype, s), problem.inputs[i]}, problem.sizes, s));
    terms.push_back(pending.back().labels);
  }
  in_order(terms, problem, [&](size_t i, size_t j, const std::set<Label>& needed) {
    Operand out = contract(pending[i], pending[j], needed, problem.sizes, s);
    pending.erase(pending.begin() + j);
    pending.erase(pending.begin() + i);
    pending.push_back(out);
    return out.labels;
  });
  Operand last = sum_out(pending[0], {problem.output.begin(), problem.output.end()}, s);
  Shape shape;
  for (Label label : problem.output) {
    shape.push_back(problem.sizes.at(label));
  }
  return broadcast_to(arranged(last, problem.output, s), shape, s);
}

std::pair<std::vector<std::vector<int>>, std::string> einsum_path(
    const std::string& subscripts, const std::vector<array>& operands) {
  const Problem problem = parse({"einsum_path", subscripts}, operands);
  std::vector<Labels> terms = problem.inputs;
  const std::set<Label> output(problem.output.begin(), problem.output.end());
  const double naive = operations(terms, output, problem.sizes);
  const size_t naive_scaling = united(terms).size();
  std::vector<std::vector<int>> path;
  double optimized = 0;
  size_t scaling = 0;
  in_order(terms, problem, [&](size_t i, size_t j, const std::set<Label>& needed) {
    path.push_back({static_cast<int>(i), static_cast<int>(j)});
    const std::set<Label> all = united({terms[i], terms[j]});
    optimized += operations({terms[i], terms[j]}, needed, problem.sizes);
    scaling = std::max(scaling, all.size());
    Labels out;
    std::set_intersection(all.begin(), all.end(), needed.begin(), needed.end(),
                          std::back_inserter(out));
    terms.erase(terms.begin() + j);
    terms.erase(terms.begin() + i);
    terms.push_back(out);
    return out;
  });
  if (path.empty()) {
    path.push_back({0});
    optimized = naive;
    scaling = naive_scaling;
  }
  return {path, message("  Complete contraction:  ", subscripts, "\n         Naive scaling:  ",
                        naive_scaling, "\n     Optimized scaling:  ", scaling,
                        "\n      Naive FLOP count:  ", static_cast<int64_t>(naive),
                        "\n  Optimized FLOP count:  ", static_cast<int64_t>(optimized), "\n")};
}

}  // namespace mlx::core
