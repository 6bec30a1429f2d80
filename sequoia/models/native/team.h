// Threads that share the work of a pass.
#pragma once
#include <atomic>
#include <cstdint>
#include <sched.h>
#include <thread>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

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
