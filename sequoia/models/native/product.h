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

// Rows, and blocks of 16 outputs, that are computed at once: as many as there are registers for.
#if defined(__AVX512F__)
constexpr int ROWS = 6, BLOCKS = 4;
#else
constexpr int ROWS = 3, BLOCKS = 2;
#endif
constexpr int ITEM = 4;  // blocks of one item of work

// Add R rows of x (R, n), times C blocks of weights, to `sums`. Weights: (C, n, 16). Meanwhile the
// next blocks are fetched into the second cache.
template <int R, int C>
static void multiply(const float* x, int64_t n, const float* weights, Lane (&sums)[R][C]) {
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < C; c++) {
            Lane lane = load(weights + (c * n + i) * W);
            __builtin_prefetch(weights + ((C + c) * n + i) * W, 0, 2);
            for (int r = 0; r < R; r++) sums[r][c] += lane * x[r * n + i];
        }
}

// The same with weights (C, n / 2, 16, 2).
template <int R, int C>
static void multiply(const Bf16* x, int64_t n, const Bf16* weights, Lane (&sums)[R][C]) {
    for (int64_t i = 0; i < n; i += 2)
        for (int c = 0; c < C; c++) {
            IntLane lane = *(const IntLane*)(weights + (c * n + i) * W);
            __builtin_prefetch(weights + ((C + c) * n + i) * W, 0, 2);
            for (int r = 0; r < R; r++) {
                uint32_t pair;
                memcpy(&pair, x + r * n + i, sizeof pair);
#if defined(__AVX512BF16__)
                sums[r][c] = (Lane)_mm512_dpbf16_ps((__m512)sums[r][c], (__m512bh)lane,
                                                    (__m512bh)_mm512_set1_epi32(pair));
#else
                sums[r][c] += (Lane)(lane << 16) * std::bit_cast<float>(pair << 16);
                sums[r][c] += (Lane)(lane & 0xffff0000) * std::bit_cast<float>(pair & 0xffff0000);
#endif
            }
        }
}

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
template <int C, class T>
static bool in_tiles(const T*, int64_t, int64_t, const T*, float*, int64_t) {
    return false;
}

// R rows of x, times C blocks of weights.
template <int R, int C, class T>
static void row_group(const T* x, int64_t n, const T* weights, float* to, int64_t stride) {
    Lane sums[R][C] = {};
    multiply<R, C>(x, n, weights, sums);
    for (int r = 0; r < R; r++)
        for (int c = 0; c < C; c++) store(to + r * stride + c * W, sums[r][c]);
}

// The same for `rows` rows, which are at most R.
template <int R, int C, class T>
static void up_to(int64_t rows, const T* x, int64_t n, const T* weights, float* to,
                  int64_t stride) {
    if constexpr (R > 1)
        if (rows < R) return up_to<R - 1, C>(rows, x, n, weights, to, stride);
    row_group<R, C>(x, n, weights, to, stride);
}

// All rows, in as few groups as possible, which are about equally large.
template <int C, class T>
static void row_groups(const T* x, int64_t rows, int64_t n, const T* weights, float* to,
                       int64_t stride) {
    int64_t groups = (rows + ROWS - 1) / ROWS;
    for (int64_t group = 0; group < groups; group++) {
        int64_t row = rows * group / groups, last = rows * (group + 1) / groups;
        up_to<ROWS, C>(last - row, x + row * n, n, weights, to + row * stride, stride);
    }
}

template <int C, class T>
static void block_product(const T* x, int64_t rows, int64_t n, const T* weights, float* to,
                          int64_t stride) {
    if (!in_tiles<C>(x, rows, n, weights, to, stride))
        row_groups<C>(x, rows, n, weights, to, stride);
}

// The product of x (rows, n) with some blocks of weights, (rows, blocks * 16).
template <class T>
static void product(const T* x, int64_t rows, int64_t n, const T* weights, int64_t blocks,
                    float* to, int64_t stride) {
    int64_t block = 0;
    for (; blocks - block >= BLOCKS; block += BLOCKS)
        block_product<BLOCKS>(x, rows, n, weights + block * W * n, to + block * W, stride);
    for (; block < blocks; block++)
        block_product<1>(x, rows, n, weights + block * W * n, to + block * W, stride);
}
