// The product of a few rows with many weights, in float32 or bfloat16. Sums are float32. Each is
// computed in the same order whatever the number of rows.
#pragma once
#include <bit>
#include <cstring>

#include "lanes.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__AMX_BF16__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

// Rows, and blocks of W outputs, that are computed at once: as many as there are registers for. One
// or two rows are always computed with four blocks.
constexpr int ROWS = 6, BLOCKS = W == 16 ? 4 : 2;
constexpr int ITEM = 64 / W;  // blocks of one item of work

static float number(float x) { return x; }
static float number(Bf16 x) { return std::bit_cast<float>((uint32_t)x << 16); }

// One of the lanes that alternate number by number. In float32 there is only one. It is read here
// once: without `volatile`, GCC reads it again for each row.
static Lane part(const float* from, int) { return *(const volatile Lane*)from; }
static Lane part(const Bf16* from, int i) {
    IntLane both = *(const IntLane*)from;
    return (Lane)(i ? both & 0xffff0000 : both << 16);
}

static Lane part(const Byte* from, int i) {
    IntLane both = __builtin_convertvector(*(const HalfLane*)from, IntLane);
    return __builtin_convertvector(i ? both >> 8 : both & 0xff, Lane);
}

// What `multiply` adds to each byte.
template <class X>
constexpr float ADDED = 0;

// Add R rows of x (R, n), times C blocks of weights, to `sums`. Weights: float32 (C, n, W), others
// (C, n / 2, W, 2). Meanwhile the next blocks are fetched into the second cache.
template <int R, int C, class X, class T>
static void multiply(const X* x, int64_t n, const T* weights, Lane (&sums)[R][C]) {
    constexpr int parts = sizeof(T) < sizeof(float) ? 2 : 1;
    for (int64_t i = 0; i < n; i += parts)
        for (int j = 0; j < parts; j++) {
            Lane lanes[C];
            for (int c = 0; c < C; c++) {
                lanes[c] = part(weights + (c * n + i) * W, j);
                if (j == 0) __builtin_prefetch(weights + ((C + c) * n + i) * W, 0, 2);
            }
            for (int r = 0; r < R; r++)
                for (int c = 0; c < C; c++) sums[r][c] += lanes[c] * number(x[r * n + i + j]);
        }
}

#if defined(__AVX512BF16__)
template <>
constexpr float ADDED<Bf16> = 128;

// Pairs of bfloat16. Those of bytes, which are below 128, are the seven bits after the first of
// 128 + byte.
static IntLane pairs(const Bf16* from) { return *(const IntLane*)from; }
static IntLane pairs(const Byte* from) {
    return (IntLane)_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i*)from)) | 0x43004300;
}

template <int R, int C, class T>
static void multiply(const Bf16* x, int64_t n, const T* weights, Lane (&sums)[R][C]) {
    for (int64_t i = 0; i < n; i += 2)
        for (int c = 0; c < C; c++) {
            IntLane lane = pairs(weights + (c * n + i) * W);
            __builtin_prefetch(weights + ((C + c) * n + i) * W, 0, 2);
            for (int r = 0; r < R; r++) {
                int32_t pair;
                memcpy(&pair, x + r * n + i, sizeof pair);
                sums[r][c] = (Lane)_mm512_dpbf16_ps((__m512)sums[r][c], (__m512bh)lane,
                                                    (__m512bh)_mm512_set1_epi32(pair));
            }
        }
}
#endif

#if defined(__AMX_BF16__)
// Gives the tile registers of this thread a shape. At the end it restores the one that they had
// before, which libraries of torch may expect to find again.
class Tiles {
  public:
    Tiles() { _tile_storeconfig(&before); }
    ~Tiles() { _tile_loadconfig(&before); }

    static bool are_allowed() {  // Linux has to be asked, once
        static const bool allowed = syscall(SYS_arch_prctl, 0x1023, 18) == 0;
        return allowed;
    }

    // Registers 0 to 3: sums of 16 outputs; 4: the rows; 5: weights of 16 outputs.
    void shape(uint8_t rows) {
        Config config{1, {}, {64, 64, 64, 64, 64, 64}, {rows, rows, rows, rows, rows, 16}};
        _tile_loadconfig(&config);
    }

  private:
    struct Config {
        uint8_t palette, unused[15];
        uint16_t bytes[16];
        uint8_t rows[16];
    };
    Config before;
};

#define ADD_TILE(BLOCK)                                       \
    if constexpr (C > BLOCK) {                                \
        _tile_loadd(5, weights + (BLOCK * n + i) * W, 4 * W); \
        _tile_dpbf16ps(BLOCK, 4, 5);                          \
    }
#define STORE_TILE(BLOCK) \
    if constexpr (C > BLOCK) _tile_stored(BLOCK, to + BLOCK * W, stride * sizeof(float));

// The product of up to 16 rows of x with C blocks of weights.
template <int C>
static void tile_product(const Bf16* x, int64_t n, const Bf16* weights, float* to, int64_t stride) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t i = 0; i < n; i += 2 * W) {
        _tile_loadd(4, x + i, n * sizeof(Bf16));
        ADD_TILE(0) ADD_TILE(1) ADD_TILE(2) ADD_TILE(3)
    }
    STORE_TILE(0) STORE_TILE(1) STORE_TILE(2) STORE_TILE(3)
}

template <int C>
static bool in_tiles(const Bf16* x, int64_t rows, int64_t n, const Bf16* weights, float* to,
                     int64_t stride) {
    if (n % (2 * W) || !Tiles::are_allowed()) return false;
    Tiles tiles;
    for (int64_t row = 0; row < rows; row += W) {
        tiles.shape(std::min<int64_t>(W, rows - row));
        tile_product<C>(x + row * n, n, weights, to + row * stride, stride);
    }
    return true;
}
#endif

// Whether the product was computed in tile registers, which no other number of rows changes.
template <int C, class X, class T>
static bool in_tiles(const X*, int64_t, int64_t, const T*, float*, int64_t) {
    return false;
}

// `rows` rows of x, at most R, times C blocks of weights.
template <int R, int C, class X, class T>
static void up_to(int64_t rows, const X* x, int64_t n, const T* weights, float* to,
                  int64_t stride) {
    if constexpr (R > 1)
        if (rows < R) return up_to<R - 1, C>(rows, x, n, weights, to, stride);
    Lane sums[R][C] = {};
    multiply<R, C>(x, n, weights, sums);
    for (int r = 0; r < R; r++)
        for (int c = 0; c < C; c++) store(to + r * stride + c * W, sums[r][c]);
}

// Multiply C blocks at once, from `block` on, and move `block`. All rows, in as few groups of at
// most R as possible, which are about equally large.
template <int R, int C, class X, class T>
static void block_products(const X* x, int64_t rows, int64_t n, const T* weights, int64_t blocks,
                           int64_t& block, float* to, int64_t stride) {
    int64_t groups = (rows + R - 1) / R;
    for (; blocks - block >= C; block += C) {
        const T* from = weights + block * W * n;
        if (in_tiles<C>(x, rows, n, from, to + block * W, stride)) continue;
        for (int64_t group = 0; group < groups; group++) {
            int64_t row = rows * group / groups, last = rows * (group + 1) / groups;
            up_to<R, C>(last - row, x + row * n, n, from, to + row * stride + block * W, stride);
        }
    }
}

// The product of x (rows, n) with some blocks of weights, (rows, blocks * W).
template <class X, class T>
static void product(const X* x, int64_t rows, int64_t n, const T* weights, int64_t blocks,
                    float* to, int64_t stride) {
    int64_t block = 0;
    if (rows <= 2) block_products<2, 4>(x, rows, n, weights, blocks, block, to, stride);
    block_products<ROWS, BLOCKS>(x, rows, n, weights, blocks, block, to, stride);
    block_products<ROWS, 1>(x, rows, n, weights, blocks, block, to, stride);
}
