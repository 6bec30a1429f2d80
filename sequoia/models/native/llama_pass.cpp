// One pass of a Llama-like model on a CPU, as one call. native_llama.py prepares the weights and
// says what each field means.
//
// Each number is computed in the same order whatever the number of rows and columns. So a node of a
// tree gets, bit for bit, the logits that plain decoding computes for the same text.

#include <cmath>
#include <vector>

#include "product.h"
#include "team.h"

struct Matrix {
    const void* weights;
    const float* scales;  // of bytes
};

struct Layer {
    Matrix qkv, out, gate_up, down;
    const float *qkv_bias, *before, *after, *head_norm;
};

struct Model {
    const Layer* layers;
    Matrix head;
    int64_t is_bf16, is_rounded, layer_count, hidden, heads, kv_heads, dim, inner, outputs;
    float eps, scale;
};

struct Pass {
    float *x, *logits;
    void* cache;
    const float *rotations, *mask, *norm;
    int64_t rows, end, capacity, mask_stride, last_only, threads;
};

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
template <int... I>
static Lane rotated(Lane x, Lane rotation, std::integer_sequence<int, I...>) {
    Lane cosine = __builtin_shufflevector(rotation, rotation, (I & ~1)...);
    Lane sine = __builtin_shufflevector(-rotation, rotation, (I % 2 ? W + I : I + 1)...);
    Lane other = __builtin_shufflevector(x, x, (I ^ 1)...);
    return x * cosine + other * sine;
}

static Lane silu(Lane x) {
    Lane e = exponential(x < 0.0f ? x : -x);
    return x * (x < 0.0f ? e : all(1)) / (e + 1.0f);
}

// T: the dtype of the weights, K of keys and values
template <class T, class K>
class Forward {
  public:
    Forward(const Model& model, const Pass& pass, Team* team)
        : m(model),
          p(pass),
          team(team),
          x(p.x),
          queries(p.rows * m.heads * m.dim),
          normed(p.rows * m.hidden),
          attended(p.rows * m.heads * m.dim),
          active(p.rows * m.inner) {}

    void run() {
        for (int64_t i = 0; i < m.layer_count; i++)
            run_layer(m.layers[i], (K*)p.cache + i * 2 * cache_size());
        int64_t first = p.last_only ? p.rows - 1 : 0, rows = p.rows - first;
        norms(p.norm, first);
        split(m.outputs, [&](int64_t block, int64_t count) {
            int64_t start = block * W, width = count * W;
            float* found =
                multiplied(&normed[first * m.hidden], rows, m.hidden, m.head, block, count);
            int64_t used = std::min(width, m.outputs - start);  // the last block may be padded
            for (int64_t r = 0; r < rows; r++)
                memcpy(p.logits + r * m.outputs + start, found + r * width, used * sizeof(float));
        });
    }

  private:
    const Model& m;
    const Pass& p;
    Team* team;
    float* x;  // the residual stream (rows, hidden)
    std::vector<float> queries;
    // Without AVX-512, products in float32 are the fastest also for weights in bfloat16.
    typedef std::conditional_t<W == 16, K, float> Input;
    std::vector<Input> normed, attended, active;

    template <class Work>
    void each(int64_t items, const Work& work) {
        if (team) return team->run(p.threads, items, work);
        for (int64_t i = 0; i < items; i++) work(i);
    }

    // work(first block, count) for all blocks of outputs, a few at a time
    template <class Work>
    void split(int64_t outputs, const Work& work) {
        int64_t blocks = (outputs + W - 1) / W;
        each((blocks + ITEM - 1) / ITEM,
             [&](int64_t i) { work(i * ITEM, std::min<int64_t>(ITEM, blocks - i * ITEM)); });
    }

    // The product of `from` (rows, n) with some blocks of a matrix, (rows, count * W), until this
    // thread computes the next.
    static float* multiplied(const Input* from, int64_t rows, int64_t n, const Matrix& matrix,
                             int64_t block, int64_t count) {
        float* to = scratch(rows * count * W);
        product(from, rows, n, (const T*)matrix.weights + block * W * n, count, to, count * W);
        if constexpr (std::is_same_v<T, Byte>)
            for (int64_t r = 0; r < rows; r++)
                scale(to + r * count * W, from + r * n, n, matrix.scales + block * W, count);
        return to;
    }

    // Turns the products of a row x with bytes into those with the weights.
    static void scale(float* to, const Input* x, int64_t n, const float* scales, int64_t count) {
        Lane total{};
        for (int64_t i = 0; i < n; i += W) total += load(x + i);
        float added = (ADDED<Input> + 64) * sum(total);
        for (int64_t i = 0; i < count * W; i += W)
            store(to + i, (load(to + i) - added) * load(scales + i));
    }

    // numbers in the keys or the values of a layer
    int64_t cache_size() const { return m.kv_heads * p.capacity * m.dim; }

    void norms(const float* weight, int64_t first = 0) {
        each(p.rows - first, [&](int64_t i) {
            int64_t at = (first + i) * m.hidden;
            norm(x + at, weight, m.eps, m.hidden, &normed[at]);
        });
    }

    void run_layer(const Layer& layer, K* keys) {
        norms(layer.before);
        each(m.heads + 2 * m.kv_heads, [&](int64_t head) { project(layer, head, keys); });
        attend_all(keys, std::integer_sequence<int, 16, 32, 64, 80, 96, 128>());
        add(&attended[0], m.heads * m.dim, layer.out);
        norms(layer.after);
        activate(layer.gate_up);
        add(&active[0], m.inner, layer.down);
    }

    // silu(gate) * up. Blocks of both alternate.
    void activate(const Matrix& gate_up) {
        split(2 * m.inner, [&](int64_t block, int64_t count) {
            float* gate = multiplied(&normed[0], p.rows, m.hidden, gate_up, block, count);
            for (int64_t r = 0; r < p.rows; r++)
                for (int64_t c = 0; c < count; c += 2, gate += 2 * W)
                    store(&active[r * m.inner + (block + c) / 2 * W],
                          silu(load(gate)) * load(gate + W));
        });
    }

    // Add the product of `from` (rows, n) to the residual stream.
    void add(const Input* from, int64_t n, const Matrix& matrix) {
        split(m.hidden, [&](int64_t block, int64_t count) {
            float* found = multiplied(from, p.rows, n, matrix, block, count);
            for (int64_t r = 0; r < p.rows; r++)
                for (int64_t c = 0; c < count; c++, found += W) {
                    float* into = x + r * m.hidden + (block + c) * W;
                    store(into, load(into) + load(found));
                }
        });
    }

    // Queries, keys or values of one head, for all rows. Keys and values go to the cache.
    void project(const Layer& layer, int64_t head, K* keys) {
        int64_t blocks = m.dim / W, key = head - m.heads;  // values follow keys, as in the cache
        float* found = multiplied(&normed[0], p.rows, m.hidden, layer.qkv, head * blocks, blocks);
        for (int64_t r = 0; r < p.rows; r++, found += m.dim) {
            if (layer.qkv_bias)
                for (int64_t i = 0; i < m.dim; i++) found[i] += layer.qkv_bias[head * m.dim + i];
            bool rotates = key < m.kv_heads;
            if (rotates && layer.head_norm)
                norm(found, layer.head_norm + head * m.dim, m.eps, m.dim, found);
            const float* rotation = p.rotations + r * m.dim;
            for (int64_t i = 0; i < m.dim; i += W) {
                Lane lane = load(found + i);
                if (rotates) lane = rotated(lane, load(rotation + i), Indices());
                if (key < 0)
                    store(&queries[(r * m.heads + head) * m.dim + i], lane);
                else
                    store(keys + (key * p.capacity + p.end - p.rows + r) * m.dim + i, lane);
            }
        }
    }

    // Dims: the sizes of heads that native_llama.py accepts
    template <int... Dims>
    void attend_all(const K* keys, std::integer_sequence<int, Dims...>) {
        ((m.dim == Dims && (attend_heads<Dims / W>(keys), true)) || ...);
    }

    // D: lanes of a head. P: queries that are computed at once, which all use the same keys.
    template <int D>
    void attend_heads(const K* keys) {
        constexpr int P = W == 16 ? std::min(4, 16 / D) : 4;
        int64_t shared = m.heads / m.kv_heads * p.rows;  // queries that use the same keys
        int64_t width = shared < 2 * P ? 1 : P, groups = (shared + width - 1) / width;
        each(m.kv_heads * groups, [&](int64_t item) {
            int64_t kv = item / groups, one = item % groups * width;
            int64_t last = std::min(one + width, shared);
            if (width == P && last - one == P) return attend<D, P>(keys, kv, one);
            for (; one < last; one++) attend<D, 1>(keys, kv, one);
        });
    }

    template <int D, int P>
    void attend(const K* keys, int64_t kv, int64_t first) {
        keys += kv * p.capacity * m.dim;
        Lane query[P][D];
        const float* masks[P];
        int64_t group = m.heads / m.kv_heads, reach = 0, at[P];
        for (int q = 0; q < P; q++) {
            int64_t row = (first + q) / group;
            at[q] = (row * m.heads + kv * group + (first + q) % group) * m.dim;
            masks[q] = p.mask + row * p.mask_stride;
            for (int d = 0; d < D; d++) query[q][d] = load(&queries[at[q] + d * W]) * m.scale;
            reach = std::max(reach, columns(masks[q]));
        }
        int64_t width = (reach + W - 1) / W * W;
        float* scores = scratch(P * width);
        for (int64_t c = 0; c < reach; c += W)
            score<D, P>(keys, query, masks, c, reach, scores, width);
        for (int q = 0; q < P; q++) exponentials(scores + q * width, width);
        mix<D, P>(keys + cache_size(), scores, reach, width, at);
    }

    // The scores (P, width) of W columns from `c` on, with the mask added.
    template <int D, int P>
    void score(const K* keys, const Lane (&query)[P][D], const float* const (&masks)[P], int64_t c,
               int64_t reach, float* scores, int64_t width) {
        Lane parts[P][W] = {};
        for (int j = 0; j < W; j++)
            for (int d = 0; d < D; d++) {
                Lane key = load(keys + std::min(c + j, reach - 1) * m.dim + d * W);
                for (int q = 0; q < P; q++) parts[q][j] += key * query[q][d];
            }
        for (int q = 0; q < P; q++) {
            Lane mask = all(LOWEST);
            memcpy(&mask, masks[q] + c, std::min<int64_t>(W, reach - c) * sizeof(float));
            store(scores + q * width + c, sums(parts[q]) + mask);
        }
    }

    static void exponentials(float* scores, int64_t width) {
        Lane most = load(scores);
        for (int64_t c = W; c < width; c += W)
            most = load(scores + c) > most ? load(scores + c) : most;
        Lane peak = all(greatest(most));
        for (int64_t c = 0; c < width; c += W)
            store(scores + c, exponential(load(scores + c) - peak));
    }

    // lanes of D whose sums for P queries fit in registers
    static constexpr int together(int D, int P) {
        return D * P > (W == 16 ? 16 : 12) ? together(D / 2, P) : D;
    }

    // The means of the values, weighted with the exponentials.
    template <int D, int P>
    void mix(const K* values, const float* weights, int64_t reach, int64_t width,
             const int64_t (&at)[P]) {
        constexpr int S = together(D, P);
        for (int64_t first = 0; first < D * W; first += S * W) {
            Lane mixed[P][S] = {};
            float total[P] = {};
            for (int64_t c = 0; c < reach; c++)
                for (int q = 0; q < P; q++) {
                    float weight = weights[q * width + c];
                    total[q] += weight;
                    for (int d = 0; d < S; d++)
                        mixed[q][d] += load(values + c * m.dim + first + d * W) * weight;
                }
            for (int q = 0; q < P; q++)
                for (int d = 0; d < S; d++)
                    store(&attended[at[q] + first + d * W], mixed[q][d] / total[q]);
        }
    }

    // the columns up to the last one that a row attends to
    int64_t columns(const float* mask) const {
        int64_t end = p.end;
        while (end > 1 && mask[end - 1] < 0) end--;
        return end;
    }
};

template <class K>
static void run(const Model& model, const Pass& pass, Team* team) {
    if (model.is_rounded)
        Forward<Byte, K>(model, pass, team).run();
    else
        Forward<K, K>(model, pass, team).run();
}

extern "C" int lane_size() { return W; }

extern "C" void llama_pass(const Model* model, const Pass* pass) {
    static Team& team = *new Team;  // its threads run until the process ends
    static std::atomic_flag is_busy;
    bool is_mine = !is_busy.test_and_set();
    Team* helpers = is_mine ? &team : nullptr;
    if (model->is_bf16)
        run<Bf16>(*model, *pass, helpers);
    else
        run<float>(*model, *pass, helpers);
    if (is_mine) is_busy.clear();
}
