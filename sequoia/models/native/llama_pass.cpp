// One pass of a Llama-like model on a CPU, as one call. native_llama.py prepares the weights and says
// what each field means. Any compiler with GCC's vector extensions will do; the widest instructions
// that the compiler's flags allow are used.
//
// Each number is computed in the same order whatever the number of rows and columns. So a node of a
// tree gets, bit for bit, the logits that plain decoding computes for the same text.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sched.h>
#include <thread>
#include <utility>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// -- lanes ---------------------------------------------------------------------------------------

constexpr int W = 16;  // numbers in a lane
typedef float Lane __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t IntLane __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint16_t HalfLane __attribute__((vector_size(32), aligned(2), may_alias));
typedef uint16_t Bf16;

static Lane load(const float* from) { return *(const Lane*)from; }
static void store(float* to, Lane lane) { *(Lane*)to = lane; }
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
    return __builtin_shufflevector(a, b, (I % Step + (I & Step ? W : 0) + I / (2 * Step) * 2 * Step)...) +
           __builtin_shufflevector(a, b, (I % Step + (I & Step ? W : 0) + I / (2 * Step) * 2 * Step + Step)...);
}
template <int Step>
static Lane halves(Lane a, Lane b) {
    return halves<Step>(a, b, std::make_integer_sequence<int, W>());
}

// The sums of 16 lanes, in order. Each sum adds its numbers in the same order.
static Lane sums(Lane* lanes) {
    for (int i = 0; i < 8; i++) lanes[i] = halves<8>(lanes[i], lanes[i + 8]);
    for (int i = 0; i < 4; i++) lanes[i] = halves<4>(lanes[i], lanes[i + 4]);
    for (int i = 0; i < 2; i++) lanes[i] = halves<2>(lanes[i], lanes[i + 2]);
    return halves<1>(lanes[0], lanes[1]);
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

// -- what Python passes ----------------------------------------------------------------------------

struct Layer {
    const void *qkv, *out, *gate_up, *down;
    const float *qkv_bias, *before, *after, *head_norm;
};

struct Model {
    const Layer* layers;
    const void* head;
    const float* head_bias;
    int64_t is_bf16, layer_count, hidden, heads, kv_heads, dim, inner, outputs;
    float eps, scale;
};

struct Pass {
    float *x, *cache, *logits;
    const float *rotations, *mask, *norm;
    int64_t rows, end, capacity, mask_stride, last_only, threads;
};

// -- threads ---------------------------------------------------------------------------------------

// Threads that take the items of a job one by one. The caller takes part, and does not wait for a
// thread that has not begun an item. So a busy neighbour costs little.
class Team {
  public:
    template <class Work>
    void run(int64_t threads, int64_t items, const Work& work) {
        if (threads <= 1 || items <= 1) {
            for (int64_t i = 0; i < items; i++) work(i);
            return;
        }
        for (; workers < threads - 1; workers++) std::thread(&Team::serve, this, workers).detach();
        call = [](const void* given, int64_t i) { (*(const Work*)given)(i); };
        data = &work;
        done.store(0, std::memory_order_relaxed);
        allowed.store(threads - 1, std::memory_order_relaxed);
        uint64_t job = ((ticket.load() >> JOB) + 1) << JOB | (uint64_t)items << ITEMS;
        ticket.store(job);
        if (sleeping.load()) ticket.notify_all();
        take();
        for (int spins = 0; done.load(std::memory_order_acquire) < items; spins++)
            spins < SPINS ? pause() : (void)sched_yield();
    }

  private:
    // A ticket has three parts: the job's number, its items, and the next item that nobody took.
    static constexpr int ITEMS = 20, JOB = 40, SPINS = 2000;
    static constexpr uint64_t PART = (1 << ITEMS) - 1;
    std::atomic<uint64_t> ticket{0};
    std::atomic<int64_t> done{0}, allowed{0}, sleeping{0};
    void (*call)(const void*, int64_t) = nullptr;
    const void* data = nullptr;
    int64_t workers = 0;

    static bool has_items(uint64_t seen) { return (seen & PART) < (seen >> ITEMS & PART); }

    static void pause() {
#if defined(__x86_64__)
        _mm_pause();
#endif
    }

    void take() {
        while (has_items(ticket.load(std::memory_order_relaxed))) {
            uint64_t mine = ticket.fetch_add(1);
            if (!has_items(mine)) return;
            call(data, mine & PART);
            done.fetch_add(1, std::memory_order_release);
        }
    }

    void serve(int64_t number) {
        for (int spins = 0;; spins++) {
            uint64_t seen = ticket.load();
            if (has_items(seen) && number < allowed.load(std::memory_order_relaxed)) {
                take();
                spins = 0;
            } else if (spins < SPINS) {
                pause();
            } else {
                sleeping++;
                ticket.wait(seen);
                sleeping--;
                spins = 0;
            }
        }
    }
};

// -- products --------------------------------------------------------------------------------------

// Rows, and blocks of 16 outputs, that are computed at once: as many as there are registers for.
#if defined(__AVX512F__)
constexpr int ROWS = 6, BLOCKS = 4;
#else
constexpr int ROWS = 3, BLOCKS = 2;
#endif
constexpr int ITEM = 4;  // blocks of one item of work

// Add R rows of x (R, n), times C blocks of weights, to `sums`. Weights: (C, n, 16).
template <int R, int C>
static void multiply(const float* x, int64_t n, const float* weights, Lane (&sums)[R][C]) {
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < C; c++) {
            Lane lane = load(weights + (c * n + i) * W);
            for (int r = 0; r < R; r++) sums[r][c] += lane * x[r * n + i];
        }
}

// The same with weights (C, n / 2, 16, 2).
template <int R, int C>
static void multiply(const Bf16* x, int64_t n, const Bf16* weights, Lane (&sums)[R][C]) {
    for (int64_t i = 0; i < n; i += 2)
        for (int c = 0; c < C; c++) {
            IntLane lane = *(const IntLane*)(weights + (c * n + i) * W);
            for (int r = 0; r < R; r++) {
                uint32_t pair;
                memcpy(&pair, x + r * n + i, sizeof pair);
#if defined(__AVX512BF16__)
                sums[r][c] = (Lane)_mm512_dpbf16_ps(
                    (__m512)sums[r][c], (__m512bh)lane, (__m512bh)_mm512_set1_epi32(pair));
#else
                sums[r][c] += (Lane)(lane << 16) * std::bit_cast<float>(pair << 16);
                sums[r][c] += (Lane)(lane & 0xffff0000) * std::bit_cast<float>(pair & 0xffff0000);
#endif
            }
        }
}

// As many whole groups of R rows as there are from `row` on, then the rest in smaller groups.
template <int R, int C, class T>
static void row_groups(
    const T* x, int64_t row, int64_t rows, int64_t n, const T* weights, float* to, int64_t stride) {
    for (; rows - row >= R; row += R) {
        Lane sums[R][C] = {};
        multiply<R, C>(x + row * n, n, weights, sums);
        for (int r = 0; r < R; r++)
            for (int c = 0; c < C; c++) store(to + (row + r) * stride + c * W, sums[r][c]);
    }
    if constexpr (R > 1) row_groups<R / 2, C>(x, row, rows, n, weights, to, stride);
}

// The product of x (rows, n) with some blocks of weights, (rows, blocks * 16).
template <class T>
static void product(
    const T* x, int64_t rows, int64_t n, const T* weights, int64_t blocks, float* to, int64_t stride) {
    int64_t block = 0;
    for (; blocks - block >= BLOCKS; block += BLOCKS)
        row_groups<ROWS, BLOCKS>(x, 0, rows, n, weights + block * W * n, to + block * W, stride);
    for (; block < blocks; block++)
        row_groups<ROWS, 1>(x, 0, rows, n, weights + block * W * n, to + block * W, stride);
}

// -- one pass --------------------------------------------------------------------------------------

static float* scratch(int64_t size) {
    thread_local std::vector<float> memory;
    if ((int64_t)memory.size() < size) memory.resize(size);
    return memory.data();
}

// x * weight / sqrt(mean(x * x) + eps)
template <class T>
static void norm(const float* x, const float* weight, float eps, int64_t n, T* to) {
    Lane squares{};
    for (int64_t i = 0; i < n; i += W) squares += load(x + i) * load(x + i);
    float factor = 1 / std::sqrt(sum(squares) / n + eps);
    for (int64_t i = 0; i < n; i += W) store(to + i, load(x + i) * load(weight + i) * factor);
}

// Rotate pairs of adjacent numbers. rotation: the cosine and sine of each pair.
static Lane rotated(Lane x, Lane rotation) {
    Lane cosine = __builtin_shufflevector(
        rotation, rotation, 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14);
    Lane sine = __builtin_shufflevector(
        -rotation, rotation, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
    Lane other = __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    return x * cosine + other * sine;
}

static Lane silu(Lane x) {
    Lane e = exponential(x < 0.0f ? x : -x);
    return x * (x < 0.0f ? e : all(1)) / (e + 1.0f);
}

// T: the dtype of the weights
template <class T>
class Forward {
  public:
    Forward(const Model& model, const Pass& pass, Team* team)
        : m(model), p(pass), team(team), x(p.x), queries(p.rows * m.heads * m.dim),
          normed(p.rows * m.hidden), attended(p.rows * m.heads * m.dim), active(p.rows * m.inner) {}

    void run() {
        for (int64_t i = 0; i < m.layer_count; i++) run_layer(m.layers[i], p.cache + i * 2 * cache_size());
        int64_t first = p.last_only ? p.rows - 1 : 0;
        norms(p.norm, first);
        int64_t rows = p.rows - first, blocks = (m.outputs + W - 1) / W;
        split(blocks, [&](int64_t block, int64_t count) {
            int64_t width = count * W, start = block * W;
            float* to = scratch(rows * width);
            product(&normed[first * m.hidden], rows, m.hidden, weights(m.head, block, m.hidden), count,
                    to, width);
            int64_t used = std::min(width, m.outputs - start);
            for (int64_t r = 0; r < rows; r++)
                for (int64_t i = 0; i < used; i++)
                    p.logits[r * m.outputs + start + i] =
                        to[r * width + i] + (m.head_bias ? m.head_bias[start + i] : 0);
        });
    }

  private:
    const Model& m;
    const Pass& p;
    Team* team;
    float* x;  // the residual stream (rows, hidden)
    std::vector<float> queries;
    std::vector<T> normed, attended, active;

    template <class Work>
    void each(int64_t items, const Work& work) {
        if (team) return team->run(p.threads, items, work);
        for (int64_t i = 0; i < items; i++) work(i);
    }

    // work(first block, count) for all blocks, a few at a time
    template <class Work>
    void split(int64_t blocks, const Work& work) {
        each((blocks + ITEM - 1) / ITEM,
             [&](int64_t i) { work(i * ITEM, std::min<int64_t>(ITEM, blocks - i * ITEM)); });
    }

    static const T* weights(const void* all, int64_t block, int64_t n) {
        return (const T*)all + block * W * n;
    }

    // numbers in the keys or the values of a layer
    int64_t cache_size() const { return m.kv_heads * p.capacity * m.dim; }

    void norms(const float* weight, int64_t first = 0) {
        auto one = [&](int64_t r) {
            norm(&x[r * m.hidden], weight, m.eps, m.hidden, &normed[r * m.hidden]);
        };
        if (p.rows < ITEM)
            for (int64_t r = first; r < p.rows; r++) one(r);
        else
            each(p.rows - first, [&](int64_t i) { one(first + i); });
    }

    void run_layer(const Layer& layer, float* keys) {
        norms(layer.before);
        each(m.heads + 2 * m.kv_heads, [&](int64_t head) { project(layer, head, keys); });
        attend_all(keys);
        add(&attended[0], m.heads * m.dim, layer.out);
        norms(layer.after);
        split(m.inner / W * 2, [&](int64_t block, int64_t count) {
            float* to = scratch(p.rows * count * W);
            product(&normed[0], p.rows, m.hidden, weights(layer.gate_up, block, m.hidden), count, to,
                    count * W);
            for (int64_t r = 0; r < p.rows; r++)
                for (int64_t c = 0; c < count; c += 2) {
                    float* gate = to + (r * count + c) * W;
                    store(&active[r * m.inner + (block + c) / 2 * W], silu(load(gate)) * load(gate + W));
                }
        });
        add(&active[0], m.inner, layer.down);
    }

    // Add the product of `from` (rows, n) to the residual stream.
    void add(const T* from, int64_t n, const void* matrix) {
        split(m.hidden / W, [&](int64_t block, int64_t count) {
            float* to = scratch(p.rows * count * W);
            product(from, p.rows, n, weights(matrix, block, n), count, to, count * W);
            for (int64_t r = 0; r < p.rows; r++)
                for (int64_t c = 0; c < count; c++) {
                    float* into = &x[r * m.hidden + (block + c) * W];
                    store(into, load(into) + load(to + (r * count + c) * W));
                }
        });
    }

    // Queries, keys or values of one head, for all rows. Keys and values go to the cache.
    void project(const Layer& layer, int64_t head, float* keys) {
        float* to = scratch(p.rows * m.dim);
        product(&normed[0], p.rows, m.hidden, weights(layer.qkv, head * m.dim / W, m.hidden), m.dim / W,
                to, m.dim);
        int64_t key = head - m.heads;  // values follow the keys, here as in the cache
        for (int64_t r = 0; r < p.rows; r++, to += m.dim) {
            float* into = key < 0 ? &queries[(r * m.heads + head) * m.dim]
                                  : keys + (key * p.capacity + p.end - p.rows + r) * m.dim;
            if (layer.qkv_bias)
                for (int64_t i = 0; i < m.dim; i++) to[i] += layer.qkv_bias[head * m.dim + i];
            bool rotates = key < m.kv_heads;
            if (rotates && layer.head_norm)
                norm(to, layer.head_norm + head * m.dim, m.eps, m.dim, to);
            const float* rotation = p.rotations + r * m.dim;
            for (int64_t i = 0; i < m.dim; i += W)
                store(into + i, rotates ? rotated(load(to + i), load(rotation + i)) : load(to + i));
        }
    }

    void attend_all(const float* keys) {
        switch (m.dim / W) {
            case 1: return attend_heads<1, 4>(keys);
            case 2: return attend_heads<2, 4>(keys);
            case 4: return attend_heads<4, 4>(keys);
            case 5: return attend_heads<5, 3>(keys);
            case 6: return attend_heads<6, 2>(keys);
            case 8: return attend_heads<8, 2>(keys);
        }
    }

    // D: lanes of a head. P: queries that are computed at once, which all use the same keys.
    template <int D, int P>
    void attend_heads(const float* keys) {
        int64_t shared = m.heads / m.kv_heads * p.rows;  // queries that use the same keys
        int64_t width = shared < 2 * P ? 1 : P;
        int64_t groups = (shared + width - 1) / width;
        each(m.kv_heads * groups, [&](int64_t item) {
            int64_t first = item % groups * width;
            bool whole = width == P && first + P <= shared;
            int64_t last = std::min(first + width, shared), kv = item / groups;
            if (whole)
                attend<D, P>(keys, kv, first);
            else
                for (int64_t one = first; one < last; one++) attend<D, 1>(keys, kv, one);
        });
    }

    template <int D, int P>
    void attend(const float* keys, int64_t kv, int64_t first) {
        keys += kv * p.capacity * m.dim;
        const float* values = keys + cache_size();
        int64_t group = m.heads / m.kv_heads, reach = 0, heads[P];
        const float* masks[P];
        Lane query[P][D];
        for (int q = 0; q < P; q++) {
            int64_t row = (first + q) / group;
            heads[q] = row * m.heads + kv * group + (first + q) % group;
            masks[q] = p.mask + row * p.mask_stride;
            for (int d = 0; d < D; d++) query[q][d] = load(&queries[heads[q] * m.dim + d * W]) * m.scale;
            reach = std::max(reach, columns(masks[q]));
        }
        int64_t width = (reach + W - 1) / W * W;
        float* scores = scratch(P * width);
        Lane most[P];
        for (int q = 0; q < P; q++) most[q] = all(LOWEST);
        for (int64_t c = 0; c < reach; c += W) {
            Lane parts[P][W] = {};
            for (int j = 0; j < W; j++)
                for (int d = 0; d < D; d++) {
                    Lane key = load(keys + std::min(c + j, reach - 1) * m.dim + d * W);
                    for (int q = 0; q < P; q++) parts[q][j] += key * query[q][d];
                }
            for (int q = 0; q < P; q++) {
                Lane mask = all(LOWEST);
                memcpy(&mask, masks[q] + c, std::min<int64_t>(W, reach - c) * sizeof(float));
                Lane score = sums(parts[q]) + mask;
                store(scores + q * width + c, score);
                most[q] = score > most[q] ? score : most[q];
            }
        }
        for (int q = 0; q < P; q++) {
            Lane peak = all(greatest(most[q]));
            for (int64_t c = 0; c < width; c += W)
                store(scores + q * width + c, exponential(load(scores + q * width + c) - peak));
        }
        Lane mixed[P][D] = {};
        float total[P] = {};
        for (int64_t c = 0; c < reach; c++)
            for (int q = 0; q < P; q++) {
                float weight = scores[q * width + c];
                total[q] += weight;
                for (int d = 0; d < D; d++) mixed[q][d] += load(values + c * m.dim + d * W) * weight;
            }
        for (int q = 0; q < P; q++)
            for (int d = 0; d < D; d++) store(&attended[heads[q] * m.dim + d * W], mixed[q][d] / total[q]);
    }

    // the columns up to the last one that a row attends to
    int64_t columns(const float* mask) const {
        int64_t end = p.end;
        while (end > 1 && mask[end - 1] < 0) end--;
        return end;
    }
};

extern "C" void llama_pass(const Model* model, const Pass* pass) {
    static Team& team = *new Team;  // its threads run until the process ends
    static std::atomic_flag is_busy;
    bool is_mine = !is_busy.test_and_set();
    Team* helpers = is_mine ? &team : nullptr;
    if (model->is_bf16)
        Forward<Bf16>(*model, *pass, helpers).run();
    else
        Forward<float>(*model, *pass, helpers).run();
    if (is_mine) is_busy.clear();
}
