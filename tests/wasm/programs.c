// Small programs over integers and bytes.

#include "calls.h"

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;

#define SIZE 4096

static u8 bytes[SIZE], more[2 * SIZE];
static u32 words[SIZE], table[256];

static void fill_bytes(void) {
    u32 seed = 12345;
    for (int i = 0; i < SIZE; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (seed >> 24) % 23 + 'a';
        words[i] = seed ^ seed >> 11;
    }
}

u32 crc32(const u8 *data, int count) {
    for (u32 i = 0; i < 256; i++) {
        u32 c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xEDB88320 ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    u32 crc = ~0u;
    while (count--) crc = table[(crc ^ *data++) & 255] ^ crc >> 8;
    return ~crc;
}

u32 adler32(const u8 *data, int count) {
    u32 a = 1, b = 0;
    for (int i = 0; i < count; i++) a = (a + data[i]) % 65521, b = (b + a) % 65521;
    return b << 16 | a;
}

u64 fnv1a(const u8 *data, int count) {
    u64 hash = 0xcbf29ce484222325;
    for (int i = 0; i < count; i++) hash = (hash ^ data[i]) * 0x100000001b3;
    return hash;
}

static u32 rotated(u32 x, int n) { return x << n | x >> (32 - n); }

void chacha_block(u32 *out, const u32 *in) {
    u32 x[16];
    for (int i = 0; i < 16; i++) x[i] = in[i];
#define QUARTER(a, b, c, d)                                                                                            \
    x[a] += x[b], x[d] = rotated(x[d] ^ x[a], 16), x[c] += x[d], x[b] = rotated(x[b] ^ x[c], 12), x[a] += x[b],        \
        x[d] = rotated(x[d] ^ x[a], 8), x[c] += x[d], x[b] = rotated(x[b] ^ x[c], 7)
    for (int round = 0; round < 10; round++) {
        QUARTER(0, 4, 8, 12), QUARTER(1, 5, 9, 13), QUARTER(2, 6, 10, 14), QUARTER(3, 7, 11, 15);
        QUARTER(0, 5, 10, 15), QUARTER(1, 6, 11, 12), QUARTER(2, 7, 8, 13), QUARTER(3, 4, 9, 14);
    }
    for (int i = 0; i < 16; i++) out[i] = x[i] + in[i];
}

static void chacha(int blocks) {
    for (int i = 0; i < blocks; i++) chacha_block(words + 16, words), words[12] ^= words[16 + i % 16];
}

u64 siphash(const u8 *data, int count, u64 k0, u64 k1) {
    u64 v0 = k0 ^ 0x736f6d6570736575, v1 = k1 ^ 0x646f72616e646f6d, v2 = k0 ^ 0x6c7967656e657261, v3 = k1 ^ 0x7465646279746573;
#define ROL(x, n) ((x) << (n) | (x) >> (64 - (n)))
#define ROUND                                                                                                          \
    (v0 += v1, v1 = ROL(v1, 13) ^ v0, v0 = ROL(v0, 32), v2 += v3, v3 = ROL(v3, 16) ^ v2, v0 += v3,                     \
     v3 = ROL(v3, 21) ^ v0, v2 += v1, v1 = ROL(v1, 17) ^ v2, v2 = ROL(v2, 32))
    for (int i = 0; i + 8 <= count; i += 8) {
        u64 m = 0;
        for (int k = 0; k < 8; k++) m |= (u64)data[i + k] << (8 * k);
        v3 ^= m, ROUND, ROUND, v0 ^= m;
    }
    v2 ^= 255, ROUND, ROUND, ROUND, ROUND;
    return v0 ^ v1 ^ v2 ^ v3;
}

void quicksort(u32 *array, int count) {
    while (count > 8) {
        u32 pivot = array[count / 2];
        int i = 0, j = count - 1;
        while (i <= j) {
            while (array[i] < pivot) i++;
            while (array[j] > pivot) j--;
            if (i <= j) {
                u32 t = array[i];
                array[i++] = array[j], array[j--] = t;
            }
        }
        quicksort(array + i, count - i);
        count = j + 1;
    }
    for (int i = 1; i < count; i++) {
        u32 t = array[i];
        int j = i;
        for (; j > 0 && array[j - 1] > t; j--) array[j] = array[j - 1];
        array[j] = t;
    }
}

static void sift(u32 *array, int root, int count) {
    for (int child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && array[child] < array[child + 1]) child++;
        if (array[root] >= array[child]) return;
        u32 t = array[root];
        array[root] = array[child], array[child] = t;
    }
}

void heapsort(u32 *array, int count) {
    for (int i = count / 2; i-- > 0;) sift(array, i, count);
    for (int i = count; i-- > 1;) {
        u32 t = array[0];
        array[0] = array[i], array[i] = t;
        sift(array, 0, i);
    }
}

int sieve(u8 *composite, int count) {
    int found = 0;
    for (int i = 0; i < count; i++) composite[i] = 0;
    for (int i = 2; i < count; i++) {
        if (composite[i]) continue;
        found++;
        for (int j = 2 * i; j < count; j += i) composite[j] = 1;
    }
    return found;
}

int base64(u8 *out, const u8 *in, int count) {
    int written = 0;
    for (int i = 0; i + 2 < count; i += 3) {
        u32 bits = in[i] << 16 | in[i + 1] << 8 | in[i + 2];
        for (int k = 18; k >= 0; k -= 6) {
            int v = bits >> k & 63;
            out[written++] = v < 26 ? v + 'A' : v < 52 ? v - 26 + 'a' : v < 62 ? v - 52 + '0' : v == 62 ? '+' : '/';
        }
    }
    return written;
}

int run_lengths(u8 *out, const u8 *in, int count) {
    int written = 0;
    for (int i = 0; i < count;) {
        int run = 1;
        while (i + run < count && run < 255 && in[i + run] >> 3 == in[i] >> 3) run++;
        out[written++] = run, out[written++] = in[i] >> 3;
        i += run;
    }
    return written;
}

// The greedy half of a compressor: matches of at least four bytes by a table of hashes.
int matches(const u8 *in, int count) {
    static int heads[1024];
    int covered = 0;
    for (int i = 0; i < 1024; i++) heads[i] = -1;
    for (int i = 0; i + 4 <= count;) {
        u32 word = in[i] | in[i + 1] << 8 | in[i + 2] << 16;
        u32 hash = word * 2654435761u >> 22;
        int before = heads[hash], length = 0;
        heads[hash] = i;
        if (before >= 0)
            while (i + length < count && in[before + length] == in[i + length]) length++;
        covered += length >= 3 ? length : 0;
        i += length >= 3 ? length : 1;
    }
    return covered;
}

int levenshtein(const u8 *a, int m, const u8 *b, int n) {
    static int row[256];
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; i <= m; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

int queens(int n, u32 columns, u32 left, u32 right) {
    u32 all = (1u << n) - 1;
    if (columns == all) return 1;
    int found = 0;
    for (u32 free = all & ~(columns | left | right); free; free &= free - 1) {
        u32 bit = free & -free;
        found += queens(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}

// Iterations of z^2 + c in fixed point.
int mandelbrot(int width, int height) {
    int total = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int cr = x * 12288 / width - 8192, ci = y * 8192 / height - 4096, zr = 0, zi = 0, n = 0;
            for (; n < 32 && (zr * zr >> 12) + (zi * zi >> 12) < 16384; n++) {
                int t = (zr * zr >> 12) - (zi * zi >> 12) + cr;
                zi = (zr * zi >> 11) + ci, zr = t;
            }
            total += n;
        }
    return total;
}

u64 modular_power(u64 base, u64 exponent, u64 modulus) {
    u64 result = 1;
    for (base %= modulus; exponent; exponent >>= 1) {
        if (exponent & 1) result = result * base % modulus;
        base = base * base % modulus;
    }
    return result;
}

static double modular(void) {
    u64 total = 0;
    for (u64 i = 2; i < 200; i++) total += modular_power(i, 1000003, 2147483647);
    return total;
}

int collatz(int count) {
    int longest = 0;
    for (int i = 1; i < count; i++) {
        int steps = 0;
        for (u64 n = i; n != 1; steps++) n = n & 1 ? 3 * n + 1 : n / 2;
        if (steps > longest) longest = steps;
    }
    return longest;
}

// A word count by states, and numbers in other bases.
int scan(const u8 *in, int count) {
    int words = 0, inside = 0, number = 0;
    for (int i = 0; i < count; i++) {
        u8 c = in[i];
        int letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        words += letter && !inside;
        inside = letter && c != 'e';
        if (c >= 'a' && c <= 'f') number = number * 16 + (c - 'a' + 10);
        else if (c >= 'g' && c <= 'p') number = number * 10 + (c - 'g');
    }
    return words ^ number;
}

// What instructions of a small machine do.
int interpret(const u8 *code, int count, int fuel) {
    int registers[8];
    for (int i = 0; i < 8; i++) registers[i] = i + 1;
    for (int at = 0; fuel--; at = at + 1 < count ? at + 1 : 0) {
        int a = code[at] & 7, b = code[at] >> 3 & 7;
        switch (code[at] % 7) {
        case 0: registers[a] += registers[b]; break;
        case 1: registers[a] -= registers[b]; break;
        case 2: registers[a] *= registers[b] | 1; break;
        case 3: registers[a] ^= registers[b] << 3; break;
        case 4: registers[a] = (u32)registers[b] >> 1; break;
        case 5: if (registers[a] < registers[b]) at += 2; break;
        default: registers[a] = ~registers[b];
        }
    }
    int total = 0;
    for (int i = 0; i < 8; i++) total = total * 31 + registers[i];
    return total;
}

static double sum_of_words(void) {
    double total = 0;
    for (int i = 0; i < SIZE; i++) total += (double)words[i] * (i % 5 + 1);
    return total;
}

CALL(crc32, fill_bytes(), u32 result = crc32(bytes, SIZE), result)
CALL(adler32, fill_bytes(), u32 result = adler32(bytes, SIZE), result)
CALL(fnv1a, fill_bytes(), u64 result = fnv1a(bytes, SIZE), result)
CALL(chacha, fill_bytes(), chacha(100), sum_of_words())
CALL(siphash, fill_bytes(), u64 result = siphash(bytes, SIZE, 1, 2), result)
CALL(quicksort, fill_bytes(), quicksort(words, SIZE), sum_of_words())
CALL(heapsort, fill_bytes(), heapsort(words, SIZE), sum_of_words())
CALL(sieve, fill_bytes(), int result = sieve(more, 2 * SIZE), result)
CALL(base64, fill_bytes(), int result = base64(more, bytes, SIZE), result + more[17] + more[result - 3])
CALL(run_lengths, fill_bytes(), int result = run_lengths(more, bytes, SIZE), result + more[17])
CALL(matches, fill_bytes(), int result = matches(bytes, SIZE), result)
CALL(levenshtein, fill_bytes(), int result = levenshtein(bytes, 200, bytes + 1000, 200), result)
CALL(queens, fill_bytes(), int result = queens(7, 0, 0, 0), result)
CALL(mandelbrot, fill_bytes(), int result = mandelbrot(48, 32), result)
CALL(modular_power, fill_bytes(), double result = modular(), result)
CALL(collatz, fill_bytes(), int result = collatz(1000), result)
CALL(scan, fill_bytes(), int result = scan(bytes, SIZE), result)
CALL(interpret, fill_bytes(), int result = interpret(bytes, SIZE, 20000), result)
