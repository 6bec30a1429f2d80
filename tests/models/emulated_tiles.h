// The tile registers of AMX in ordinary C++, to test code that uses them on other CPUs.
#pragma once
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

struct EmulatedConfig {
    uint8_t palette, unused[15];
    uint16_t bytes[16];
    uint8_t rows[16];
};
static thread_local EmulatedConfig emulated_config;
static thread_local uint8_t emulated_tiles[8][16][64];

static float emulated_number(const uint8_t* from) {
    uint16_t half;
    memcpy(&half, from, 2);
    return std::bit_cast<float>((uint32_t)half << 16);
}

static void emulated_loadconfig(const void* from) { memcpy(&emulated_config, from, 64); }
static void emulated_storeconfig(void* to) { memcpy(to, &emulated_config, 64); }
static void emulated_zero(int tile) {
    memset(emulated_tiles[tile], 0, sizeof emulated_tiles[tile]);
}

static void emulated_loadd(int tile, const void* from, long stride) {
    for (int r = 0; r < emulated_config.rows[tile]; r++)
        memcpy(emulated_tiles[tile][r], (const char*)from + r * stride,
               emulated_config.bytes[tile]);
}

static void emulated_stored(int tile, void* to, long stride) {
    for (int r = 0; r < emulated_config.rows[tile]; r++)
        memcpy((char*)to + r * stride, emulated_tiles[tile][r], emulated_config.bytes[tile]);
}

static void emulated_dpbf16ps(int sums, int a, int b) {
    for (int r = 0; r < emulated_config.rows[sums]; r++)
        for (int pair = 0; pair < emulated_config.rows[b]; pair++)
            for (int c = 0; c < 16; c++) {
                float sum;
                memcpy(&sum, &emulated_tiles[sums][r][4 * c], 4);
                for (int i = 0; i < 2; i++)
                    sum += emulated_number(&emulated_tiles[a][r][4 * pair + 2 * i]) *
                           emulated_number(&emulated_tiles[b][pair][4 * c + 2 * i]);
                memcpy(&emulated_tiles[sums][r][4 * c], &sum, 4);
            }
}

// Headers that use these names must be included above.
#define __AMX_BF16__ 1
#define syscall(...) 0
#undef _tile_loadconfig
#define _tile_loadconfig emulated_loadconfig
#undef _tile_storeconfig
#define _tile_storeconfig emulated_storeconfig
#undef _tile_loadd
#define _tile_loadd emulated_loadd
#undef _tile_stored
#define _tile_stored emulated_stored
#undef _tile_zero
#define _tile_zero emulated_zero
#undef _tile_dpbf16ps
#define _tile_dpbf16ps emulated_dpbf16ps
