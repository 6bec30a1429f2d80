// Numbers side by side that fill a vector register, with the vector extensions of GCC and Clang.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

// W: numbers in a lane
#if defined(__AVX512F__) || defined(__AMX_BF16__)
constexpr int W = 16;
#elif defined(__AVX__)
constexpr int W = 8;
#else
constexpr int W = 4;
#endif
typedef float Lane __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef int32_t IntLane __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef uint16_t HalfLane __attribute__((vector_size(2 * W), aligned(2), may_alias));
typedef uint16_t Bf16;
typedef uint8_t Byte;  // a rounded weight: (byte - 64) * scale, with a scale for each output
typedef std::make_integer_sequence<int, W> Indices;

static Lane load(const float* from) { return *(const Lane*)from; }
static void store(float* to, Lane lane) { *(Lane*)to = lane; }
static Lane load(const Bf16* from) {
    return (Lane)(__builtin_convertvector(*(const HalfLane*)from, IntLane) << 16);
}
static Lane all(float value) { return value - Lane{}; }

// Lane -> numbers of the weights' dtype, rounded to the nearest
static void store(Bf16* to, Lane lane) {
    IntLane bits = (IntLane)lane;
    bits = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    *(HalfLane*)to = __builtin_convertvector(bits, HalfLane);
}

// Sums of the halves of each group of 2 * Step numbers of two lanes, those of `a` first.
template <int Step, int... I>
static Lane halves(Lane a, Lane b, std::integer_sequence<int, I...>) {
    constexpr auto first = [](int i) {
        return i % Step + (i & Step ? W : 0) + i / (2 * Step) * 2 * Step;
    };
    return __builtin_shufflevector(a, b, first(I)...) +
           __builtin_shufflevector(a, b, (first(I) + Step)...);
}

// The sums of W lanes, in order. Each sum adds its numbers in the same order.
template <int Step = W / 2>
static Lane sums(Lane* lanes) {
    for (int i = 0; i < Step; i++) lanes[i] = halves<Step>(lanes[i], lanes[i + Step], Indices());
    if constexpr (Step > 1) return sums<Step / 2>(lanes);
    return lanes[0];
}

static float sum(Lane lane) {
    float total = 0;
    for (int i = 0; i < W; i++) total += lane[i];
    return total;
}

static float greatest(Lane lane) {
    float most = lane[0];
    for (int i = 1; i < W; i++) most = std::max(most, lane[i]);
    return most;
}

constexpr float LEAST = -85, LOWEST = -3.4e38f;

// e to the power of numbers that are at most 0; exactly 0 if that is below 1e-37
static Lane exponential(Lane given) {
    Lane x = given < LEAST ? all(LEAST) : given;
    Lane power = x * 1.44269504f;
    IntLane whole = __builtin_convertvector(power - 0.5f, IntLane);  // rounds towards 0
    Lane rest = x - __builtin_convertvector(whole, Lane) * 0.693359375f;
    rest += __builtin_convertvector(whole, Lane) * 2.12194440e-4f;
    Lane y = all(1.9875691500e-4f);
    for (float c : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 0.5f})
        y = y * rest + c;
    y = y * rest * rest + rest + 1.0f;
    return given < LEAST ? Lane{} : (Lane)((IntLane)y + (whole << 23));
}
