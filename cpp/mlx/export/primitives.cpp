// The primitives that files can hold: a row for each class.
#include "mlx/export/primitives.h"

#include <typeindex>
#include <unordered_map>

#include "mlx/errors.h"
#include "mlx/export/parameters.h"

namespace mlx::core::exported {

namespace {

// ---- parameters that the constructor takes in the order of state() ----

template <typename T>
concept HasState = requires(const T& primitive) { primitive.state(); };

template <typename T>
auto state_of(const Primitive& primitive) {
  if constexpr (HasState<T>) {
    return static_cast<const T&>(primitive).state();
  } else {
    return std::tuple<>();
  }
}
template <typename T>
using StateOf = decltype(state_of<T>(std::declval<const Primitive&>()));

// Converts a parameter of the state to what a constructor takes.
template <typename T>
T argument(T value) {
  return value;
}
Dtype argument(Dtype::Val value) { return dtype_of(value); }

template <typename T>
struct Rule {
  static void write(const Primitive& primitive, ByteWriter& to) { put(to, state_of<T>(primitive)); }
  static std::shared_ptr<Primitive> read(const Stream& stream, ByteReader& from) {
    return std::apply(
        [&](auto... value) { return std::make_shared<T>(stream, argument(std::move(value))...); },
        get<StateOf<T>>(from));
  }
  static Parameters parameters(const Primitive& primitive) {
    Parameters out;
    report_all(out, state_of<T>(primitive));
    return out;
  }
};

// ---- others ----

// The primitive does not own its name, so it gets one of the literals.
template <>
std::shared_ptr<Primitive> Rule<Solve>::read(const Stream& stream, ByteReader& from) {
  const auto [form, op] = get<StateOf<Solve>>(from);
  for (const char* known :
       {"linalg::solve", "linalg::solve_triangular", "linalg::inv", "linalg::tri_inv"}) {
    if (op == known) return std::make_shared<Solve>(stream, form, known);
  }
  from.refuse("The file is damaged: no equations are called " + io::in_quotes(op) + ".");
}

using fast::CustomKernel;

template <>
void Rule<CustomKernel>::write(const Primitive& primitive, ByteWriter& to) {
  const auto& launch = static_cast<const CustomKernel&>(primitive).launch();
  put(to, *launch.variant);
  put(to, launch);
}

template <>
std::shared_ptr<Primitive> Rule<CustomKernel>::read(const Stream& stream, ByteReader& from) {
  auto variant = std::make_shared<fast::KernelVariant>();
  Codec<fast::KernelVariant>::read_into(from, *variant);
  auto launch = get<fast::KernelLaunch>(from);
  launch.variant = std::move(variant);
  return std::make_shared<CustomKernel>(stream, std::move(launch));
}

template <>
Parameters Rule<CustomKernel>::parameters(const Primitive& primitive) {
  const auto& launch = static_cast<const CustomKernel&>(primitive).launch();
  auto lengths = [](const fast::GridSize& size) {
    return std::vector<int>{std::get<0>(size), std::get<1>(size), std::get<2>(size)};
  };
  return {launch.variant->name, launch.variant->source, lengths(launch.grid),
          lengths(launch.threadgroup)};
}

// ---- the table ----

struct Entry {
  std::type_index type;
  PrimitiveRow row;
};

template <typename T>
Entry entry(const char* name) {
  return {typeid(T), {name, &Rule<T>::write, &Rule<T>::read, &Rule<T>::parameters}};
}

#define ROW(Class) entry<Class>(#Class),

// Load has no row: an array that is read from a file is exported as a constant. CustomTransforms
// and fused operations have none either: they are replaced by other nodes. Nor have operations of a
// group, which belong to processes that run.
const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
#define MLX_UNARY(Class, ...) ROW(Class)
#define MLX_UNARY_VARIANT(...)
#define MLX_BINARY(Class, ...) ROW(Class)
#define MLX_BINARY_VARIANT(...)
#include "mlx/primitives/elementwise.def"
      // clang-format off
      ROW(AddMM) ROW(Arange) ROW(ArgPartition) ROW(ArgReduce) ROW(ArgSort) ROW(AsStrided)
      ROW(AsType) ROW(Attention) ROW(BitwiseBinary) ROW(Broadcast) ROW(BroadcastAxes) ROW(Cholesky) ROW(Clip) ROW(Concatenate) ROW(Contiguous)
      ROW(ConvertFP8) ROW(Convolution) ROW(Copy) ROW(CustomKernel) ROW(Depends) ROW(Dequantize)
      ROW(Determinant) ROW(DivMod) ROW(DynamicSlice) ROW(DynamicSliceUpdate) ROW(Eig) ROW(Eigh)
      ROW(Equal) ROW(ExpandDims) ROW(FFT) ROW(Flatten) ROW(Full) ROW(Gather) ROW(GatherAxis)
      ROW(GatherMM) ROW(GatherQMM) ROW(LUF) ROW(Log) ROW(LogSumExp) ROW(Matmul)
      ROW(Normalize) ROW(NormalizeVJP)
      ROW(NumberOfElements) ROW(Pad) ROW(Partition) ROW(QRF) ROW(Quantize) ROW(QuantizedMatmul)
      ROW(RandomBits) ROW(Reduce) ROW(Reshape) ROW(RoPE) ROW(SVD) ROW(Scan) ROW(Scatter) ROW(ScatterAxis)
      ROW(SegmentedMM) ROW(Select) ROW(Slice) ROW(SliceUpdate) ROW(Softmax) ROW(Solve) ROW(Sort)
      ROW(Split) ROW(Sqrt) ROW(Squeeze) ROW(StopGradient) ROW(Transpose) ROW(Unflatten) ROW(Variance)
      ROW(View)
      // clang-format on
  };
  return all;
}
#undef ROW

}  // namespace

const PrimitiveRow& row_of(const Primitive& primitive) {
  static const auto by_type = [] {
    std::unordered_map<std::type_index, const PrimitiveRow*> map;
    for (const auto& entry : entries()) map.emplace(entry.type, &entry.row);
    return map;
  }();
  const auto found = by_type.find(typeid(primitive));
  if (found == by_type.end()) {
    invalid_argument("export_function", message("The operation ", std::string(primitive.name()),
                                                " cannot be exported: no file can hold it."));
  }
  return *found->second;
}

const PrimitiveRow* row_named(const std::string& name) {
  static const auto by_name = [] {
    std::unordered_map<std::string, const PrimitiveRow*> map;
    for (const auto& entry : entries()) map.emplace(entry.row.name, &entry.row);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace mlx::core::exported
