#!/usr/bin/env python3
"""Random pairs of loop nests in MLIR, right and wrong ones: is any verdict of `rewright validate` wrong?

    scripts/mlir_attack.py REWRIGHT [COUNT [SEED [FOLDER]]]

A kernel (maps, recurrences, stencils with any dependence, triangles, imperfect nests, sequences of loops with different
bounds, reductions, products) is changed by one to three transformations that compilers make (interchange, reversal, shift,
tiling, unrolling with and without a loop for the rest, peeling, splitting at a number or a size, fusion, fission, skewing,
unroll-and-jam, guards instead of bounds, buffers, a store done twice, parallel loops), whether they are legal or not,
sometimes with a wrong bound. Both versions are interpreted here, on sizes from -2 to 7; values are what was computed, so
floats are in no other order by luck. A verdict is wrong if

* `proved`, and versions differ on sizes that the condition, if there is one, allows;
* `refuted`, and versions agree on the sizes of the counterexample;
* a condition under which refuted versions are said to do the same, and they differ where it holds.

Wrong and undecided pairs are written to FOLDER. Exits with 1 where a verdict is wrong.
"""
import collections, copy, itertools, json, os, random, re, subprocess, sys, tempfile


# Affine expressions are dicts from variables (and '' for the constant) to numbers; ('floor', e, k) is k * floor(e / k).

def lin(const=0, **terms):
    return {'': const, **terms}


def plus(a, b, factor=1):
    result = dict(a)
    for var, c in b.items():
        result[var] = result.get(var, 0) + factor * c
    return result


def replace(e, var, by):
    result = {}
    for v, c in e.items():
        if isinstance(v, tuple):
            inner = replace(dict(v[1]), var, by)
            v = ('floor', tuple(sorted(inner.items(), key=str)), v[2])
        result = plus(result, by if v == var else {v: 1}, c)
    return result


def value(e, env):
    total = 0
    for v, c in e.items():
        if v == '':
            total += c
        elif isinstance(v, tuple):
            total += c * (value(dict(v[1]), env) // v[2] * v[2])
        else:
            total += c * env[v]
    return total


def floors(e, k):
    """k * floor(e / k)"""
    return {('floor', tuple(sorted(e.items(), key=str)), k): 1}


def names(e):
    found = []
    for v in e:
        found += names(dict(v[1])) if isinstance(v, tuple) else [v] if v else []
    return list(dict.fromkeys(found))


def text(e, of):
    parts = []
    for v, c in sorted(e.items(), key=str):
        if c == 0:
            continue
        if v == '':
            parts.append(str(c))
        elif isinstance(v, tuple):
            parts.append(f'(({text(dict(v[1]), of)}) floordiv {v[2]}) * {c * v[2]}')
        else:
            parts.append(f'{of(v)} * {c}')
    return ' + '.join(parts) or '0'


SIZES = ['n', 'm']


def mapped(exprs):
    vars_ = list(dict.fromkeys(v for e in exprs for v in names(e)))
    dims, syms = [v for v in vars_ if v not in SIZES], [v for v in vars_ if v in SIZES]
    head = f"({', '.join('d_' + v for v in dims)})[{', '.join('s_' + v for v in syms)}]"
    body = ', '.join(text(e, lambda v: ('s_' if v in SIZES else 'd_') + v) for e in exprs)
    return f"affine_map<{head} -> ({body})>({', '.join('%' + v for v in dims)})[{', '.join('%' + v for v in syms)}]"


# Statements: ('for', var, [lower], [upper], step, body), ('if', [e >= 0], body), ('store', array, [subscript], value).
# Values: ('load', array, [subscript]), ('op', name, a, b), ('arg',).

def subst_value(x, var, by):
    if x[0] == 'load':
        return ('load', x[1], [replace(s, var, by) for s in x[2]])
    if x[0] == 'op':
        return ('op', x[1], subst_value(x[2], var, by), subst_value(x[3], var, by))
    return x


def subst(item, var, by):
    if item[0] == 'for':
        _, v, lo, up, step, body, kind = item
        return ('for', v, [replace(e, var, by) for e in lo], [replace(e, var, by) for e in up], step,
                [subst(i, var, by) for i in body], kind)
    if item[0] == 'if':
        return ('if', [replace(e, var, by) for e in item[1]], [subst(i, var, by) for i in item[2]])
    if item[0] == 'store':
        return ('store', item[1], [replace(s, var, by) for s in item[2]], subst_value(item[3], var, by))
    return item


def loop(var, lower, upper, body, step=1, kind='for'):
    as_list = lambda x: x if isinstance(x, list) else [x]
    return ('for', var, as_list(lower), as_list(upper), step, body, kind)


class Stop(Exception):
    pass


class Machine:
    def __init__(self, env, extents=None):
        self.env, self.extents, self.memory, self.touched, self.fuel = env, extents, {}, {}, 6000

    def cell(self, array, subs):
        at = tuple(value(s, self.env) for s in subs)
        if any(a < 0 for a in at):
            raise Stop('out of bounds')
        own = array.startswith('t')
        if own and any(a >= 64 for a in at):
            raise Stop('out of bounds')
        if self.extents is not None and not own:
            known = self.extents.get(array, tuple(0 for _ in at))
            if any(a >= e for a, e in zip(at, known)):
                raise Stop('out of bounds')
        old = self.touched.get(array, tuple(0 for _ in at))
        self.touched[array] = tuple(max(a + 1, o) for a, o in zip(at, old))
        return array, at

    def eval(self, x):
        if x[0] == 'load':
            cell = self.cell(x[1], x[2])
            return self.memory.get(cell, ('undefined',) if x[1].startswith('t') else ('initial', cell))
        if x[0] == 'op':
            a, b = self.eval(x[2]), self.eval(x[3])
            pair = sorted([a, b], key=repr) if x[1] in ('addf', 'mulf') else [a, b]
            return hash((x[1], *pair))
        return x

    def run(self, items):
        for item in items:
            self.fuel -= 1
            if self.fuel < 0:
                raise Stop('fuel')
            if item[0] == 'for':
                _, v, lo, up, step, body, kind = item
                low, high = max(value(e, self.env) for e in lo), min(value(e, self.env) for e in up)
                order = range(low, high, step)
                for i in reversed(order) if kind == 'parallel' and self.backwards else order:
                    self.env[v] = i
                    self.run(body)
            elif item[0] == 'if':
                if all(value(e, self.env) >= 0 for e in item[1]):
                    self.run(item[2])
            elif item[0] == 'store':
                result = self.eval(item[3])
                self.memory[self.cell(item[1], item[2])] = result


def outcome(items, sizes, extents=None, backwards=False):
    machine = Machine(dict(sizes), extents)
    machine.backwards = backwards
    machine.run(items)
    return {c: v for c, v in machine.memory.items() if not c[0].startswith('t') and v != ('initial', c)}, machine.touched


def differ(before, after, sizes, backwards=False):
    """Whether versions differ; none where the first one is undefined or runs too long. The second one may execute the
    last iterations of parallel loops first."""
    try:
        expected, extents = outcome(before, sizes)
    except Stop:
        return None
    try:
        return outcome(after, sizes, extents, backwards)[0] != expected
    except Stop as stop:
        return None if str(stop) == 'fuel' else True


# Printing.

RANK = {'a': 1, 'b': 1, 'c': 1, 'p': 2, 'q': 2, 'r': 2, 's': 1, 't': 1}


class Printer:
    def __init__(self):
        self.lines, self.count = [], 0

    def fresh(self):
        self.count += 1
        return f'%v{self.count}'

    def type(self, array):
        if array[0] == 't':
            return 'memref<64xf64>'
        return f"memref<{'?x' * RANK[array[0]]}f64>"

    def value(self, x, pad):
        if x[0] == 'arg':
            return '%x'
        if x[0] == 'load':
            name = self.fresh()
            self.lines.append(f'{pad}{name} = affine.load %{x[1]}[{self.subs(x[2])}] : {self.type(x[1])}')
            return name
        a, b = self.value(x[2], pad), self.value(x[3], pad)
        name = self.fresh()
        self.lines.append(f'{pad}{name} = arith.{x[1]} {a}, {b} : f64')
        return name

    def subs(self, subs):
        return ', '.join(text(s, lambda v: f"{'symbol(' if v in SIZES else ''}%{v}{')' if v in SIZES else ''}")
                         for s in subs)

    def items(self, items, depth):
        pad = '  ' * depth
        for item in items:
            if item[0] == 'for':
                _, v, lo, up, step, body, kind = item
                low = ('max ' if len(lo) > 1 else '') + mapped(lo)
                high = ('min ' if len(up) > 1 else '') + mapped(up)
                by = f' step {step}' if step != 1 else ''
                if kind == 'parallel' and len(lo) == len(up) == 1:
                    l, u, s = self.fresh(), self.fresh(), self.fresh()
                    self.lines += [f'{pad}{l} = affine.apply {mapped(lo)}', f'{pad}{u} = affine.apply {mapped(up)}',
                                   f'{pad}{s} = arith.constant {step} : index',
                                   f'{pad}scf.parallel (%{v}) = ({l}) to ({u}) step ({s}) {{']
                else:
                    self.lines.append(f'{pad}affine.for %{v} = {low} to {high}{by} {{')
                self.items(body, depth + 1)
                self.lines.append(pad + '}')
            elif item[0] == 'if':
                vars_ = list(dict.fromkeys(v for e in item[1] for v in names(e)))
                dims, syms = [v for v in vars_ if v not in SIZES], [v for v in vars_ if v in SIZES]
                head = f"({', '.join('d_' + v for v in dims)})[{', '.join('s_' + v for v in syms)}]"
                facts = ', '.join(text(e, lambda v: ('s_' if v in SIZES else 'd_') + v) + ' >= 0' for e in item[1])
                of = f"({', '.join('%' + v for v in dims)})[{', '.join('%' + v for v in syms)}]"
                self.lines.append(f'{pad}affine.if affine_set<{head} : ({facts})>{of} {{')
                self.items(item[2], depth + 1)
                self.lines.append(pad + '}')
            elif item[0] == 'alloc':
                self.lines.append(f'{pad}%{item[1]} = memref.alloc() : memref<64xf64>')
            else:
                result = self.value(item[3], pad)
                self.lines.append(f'{pad}affine.store {result}, %{item[1]}[{self.subs(item[2])}] : {self.type(item[1])}')


def module(items):
    printer = Printer()
    printer.items(items, 1)
    arrays = ', '.join(f'%{a}: {printer.type(a)}' for a in ['a', 'b', 'c', 'p', 'q', 'r', 's'])
    return f"func.func @f(%n: index, %m: index, %x: f64, {arrays}) {{\n" + '\n'.join(printer.lines) + '\n  return\n}\n'


# Kernels.

def load(array, *subs):
    return ('load', array, list(subs))


def op(name, a, b):
    return ('op', name, a, b)


def kernel(rng):
    N, M, I, J, K = lin(n=1), lin(m=1), lin(i=1), lin(j=1), lin(k=1)
    off = lambda e, c: plus(e, lin(c))
    pick = rng.choice
    kind = pick(['map', 'recurrence', 'stencil', 'stencil', 'triangle', 'imperfect', 'two', 'two', 'sum', 'product',
                 'triple', 'writes', 'copyback'])
    f = lambda: pick(['addf', 'mulf', 'subf'])
    if kind == 'map':
        lo = pick([0, 1, 2])
        return [loop('i', lin(lo), pick([N, off(N, -1), off(N, 3)]),
                     [('store', pick('bc'), [off(I, pick([0, 1]))], op(f(), load('a', I), load('a', off(I, pick([0, 1, 2])))))])]
    if kind == 'recurrence':
        return [loop('i', lin(2), N, [('store', 'a', [I], op(f(), load('a', off(I, pick([-1, -2]))), load('b', I)))])]
    if kind == 'stencil':
        at = lambda: load('p', off(I, pick([-1, 0, 1])), off(J, pick([-1, 0, 1])))
        to = pick(['p', 'p', 'q'])
        return [loop('i', lin(1), off(N, -1), [loop('j', lin(1), off(M, -1), [('store', to, [I, J], op(f(), at(), at()))])])]
    if kind == 'triangle':
        lower, upper = pick([(lin(0), off(I, 1)), (I, N), (lin(0), I), (off(I, 1), off(N, 1))])
        to = pick([[I], [J]])
        return [loop('i', lin(0), N, [loop('j', lower, upper, [('store', 'c', to, op(f(), load('c', *to), load('p', I, J)))])])]
    if kind == 'imperfect':
        return [loop('i', lin(0), N, [
            ('store', 's', [I], pick([('arg',), load('a', I)])),
            loop('j', lin(0), pick([M, I]), [('store', 's', [I], op(f(), load('s', I), load('p', I, J)))]),
            ('store', 'b', [I], op(f(), load('s', I), load('a', I)))])]
    if kind == 'two':
        second = pick([load('b', I), load('b', off(I, 1)), load('a', I), load('b', lin(0))])
        return [loop('i', lin(0), N, [('store', 'b', [I], op(f(), load('a', I), ('arg',)))]),
                loop('i', lin(pick([0, 0, 1])), pick([N, M, off(N, -1)]), [('store', pick('bc'), [I], op(f(), second, load('a', I)))])]
    if kind == 'sum':
        return [loop('i', lin(0), N, [('store', 's', [lin(0)], op(f(), load('s', lin(0)), load('a', I)))])]
    if kind == 'product':
        return [loop('i', lin(0), N, [loop('j', lin(0), M, [loop('k', lin(0), pick([N, lin(5)]), [
            ('store', 'r', [I, J], op('addf', load('r', I, J), op('mulf', load('p', I, K), load('q', K, J))))])])])]
    if kind == 'triple':
        return [loop('i', lin(0), N, [loop('j', I, M, [loop('k', lin(0), pick([lin(3), off(J, 1)]), [
            ('store', 'r', [I, J], op(f(), load('r', I, J), load('q', J, K)))])])])]
    if kind == 'writes':
        return [loop('i', lin(0), N, [loop('j', lin(0), M, [('store', 'c', [pick([I, J, plus(I, J)])], load('p', I, J))])])]
    return [loop('t_', lin(0), lin(3), [
        loop('i', lin(1), off(N, -1), [('store', 'b', [I], op('addf', load('a', off(I, -1)), load('a', off(I, 1))))]),
        loop('i', lin(1), off(N, -1), [('store', 'a', [I], load('b', I))])])]


# Transformations: of one item in a list; none where they do not fit.

def rename(item, fresh):
    """The same with fresh variables of loops."""
    if item[0] == 'for':
        new = fresh(item[1])
        body = [rename(subst(i, item[1], lin(**{new: 1})), fresh) for i in item[5]]
        return ('for', new, item[2], item[3], item[4], body, item[6])
    if item[0] == 'if':
        return ('if', item[1], [rename(i, fresh) for i in item[2]])
    return item


def paths(items, at=()):
    for n, item in enumerate(items):
        yield at + (n,)
        if item[0] == 'for':
            yield from paths(item[5], at + (n,))


def change(items, path, of):
    """The items with the list around a place, and the place, given to `of`."""
    if len(path) == 1:
        changed = of(items, path[0])
        return None if changed is None else changed
    item = items[path[0]]
    body = change(item[5], path[1:], of)
    if body is None:
        return None
    return items[:path[0]] + [item[:5] + (body, item[6])] + items[path[0] + 1:]


def transform(items, rng):
    counter = itertools.count()
    fresh = lambda v: f"{v.split('_')[0]}_{rng.randrange(10 ** 6)}{next(counter)}"
    pick = rng.choice
    name = pick(['interchange', 'interchange', 'reverse', 'shift', 'tile', 'tile', 'unroll', 'unroll', 'peel', 'split',
                 'fuse', 'fuse', 'fission', 'skew', 'jam', 'guard', 'buffer', 'twice', 'bound', 'parallel', 'strip2'])

    def of(around, n):
        item = around[n]
        done = lambda *new: around[:n] + list(new) + around[n + 1:]
        if name == 'twice' and item[0] == 'store':
            return done(item, item)
        if name == 'buffer' and item[0] == 'store' and "'t'" not in repr(items):
            return done(('alloc', 't'), ('store', 't', [lin(3)], item[3]), ('store', item[1], item[2], load('t', lin(3))))
        if item[0] != 'for' or item[4] != 1:
            return None
        _, v, lo, up, step, body, kind = item
        one = len(lo) == len(up) == 1
        V = lin(**{v: 1})
        if name == 'interchange':
            if len(body) != 1 or body[0][0] != 'for' or body[0][4] != 1:
                return None
            _, w, lo2, up2, _, inner, _ = body[0]
            depends = any(v in names(e) for e in lo2 + up2)
            if not depends:
                return done(loop(w, lo2, up2, [loop(v, lo, up, inner)]))
            if not one or len(lo2) != 1 or len(up2) != 1:
                return None
            W = lin(**{w: 1})
            if names(up2[0]) == [v] and not names(lo2[0]) and up2[0].get(v) == 1:
                # w < v + c: v > w - c
                c = up2[0].get('', 0)
                return done(loop(w, lo2, plus(up[0], lin(c - 1 + pick([0, 0, 0, 1, -1]))),
                                 [loop(v, lo + [plus(W, lin(1 - c))], up, inner)]))
            if names(lo2[0]) == [v] and v not in names(up2[0]) and lo2[0].get(v) == 1:
                # w >= v + c: v <= w - c
                c = lo2[0].get('', 0)
                return done(loop(w, plus(lo[0], lin(c)), up2,
                                 [loop(v, lo, up + [plus(W, lin(1 - c + pick([0, 0, 0, 1])))], inner)]))
            return None
        if name == 'reverse' and one:
            back = plus(plus(plus(lo[0], up[0]), lin(-1)), V, -1)
            return done(loop(v, lo, up, [subst(i, v, back) for i in body]))
        if name == 'shift':
            c = pick([1, 2, -1])
            return done(loop(v, [plus(e, lin(c)) for e in lo], [plus(e, lin(c)) for e in up],
                             [subst(i, v, plus(V, lin(-c))) for i in body]))
        if name == 'strip2' and one and not names(lo[0]):
            # By quotient and remainder.
            k, q = pick([2, 3]), fresh(v)
            count = plus(up[0], lo[0], -1)
            quotients = floors(plus(count, lin(k - 1)), k)
            by = plus(plus(lin(**{q: 1}), V), lo[0])
            return done(loop(q, lin(0), quotients, [loop(v, lin(0), [lin(k), plus(count, lin(**{q: 1}), -1)],
                                                         [subst(i, v, by) for i in body])], k))
        if name == 'tile' and one:
            k, t = pick([2, 3, 4]), fresh(v)
            T = lin(**{t: 1})
            ends = [plus(T, lin(k))] + ([] if rng.random() < 0.15 else [up[0]])
            tiles = [loop(v, T, ends, body)]
            if len(body) == 1 and body[0][0] == 'for' and body[0][4] == 1 and rng.random() < 0.6 \
                    and not any(v in names(e) for e in body[0][2] + body[0][3]):
                _, w, lo2, up2, _, inner, _ = body[0]
                tiles = [loop(w, lo2, up2, [loop(v, T, ends, inner)])]
            return done(loop(t, lo, up, tiles, k))
        if name in ('unroll', 'jam') and one:
            k = pick([2, 3, 4])
            whole = plus(lo[0], floors(plus(up[0], lo[0], -1), k))
            if name == 'jam' and len(body) == 1 and body[0][0] == 'for':
                _, w, lo2, up2, step2, inner, _ = body[0]
                if any(v in names(e) for e in lo2 + up2):
                    return None
                copies = [rename(subst(i, v, plus(V, lin(c))), fresh) for c in range(k) for i in inner]
                first = loop(v, lo, whole, [loop(w, lo2, up2, copies, step2)], k)
            elif name == 'jam':
                return None
            else:
                copies = [rename(subst(i, v, plus(V, lin(c))), fresh) for c in range(k) for i in body]
                first = loop(v, lo, whole, copies, k)
            if rng.random() < 0.15:
                return done(loop(v, lo, up, first[5], k))
            return done(first, rename(loop(v, whole, up, body), fresh))
        if name == 'peel' and one:
            if rng.random() < 0.5:
                first = [rename(subst(i, v, lo[0]), fresh) for i in body]
                guard = [('if', [plus(plus(up[0], lo[0], -1), lin(-1))], first)] if rng.random() < 0.6 else first
                return done(*guard, loop(v, plus(lo[0], lin(1)), up, body))
            last = [rename(subst(i, v, plus(up[0], lin(-1))), fresh) for i in body]
            guard = [('if', [plus(plus(up[0], lo[0], -1), lin(-1))], last)] if rng.random() < 0.6 else last
            return done(loop(v, lo, plus(up[0], lin(-1)), body), *guard)
        if name == 'split' and one:
            at = pick([lin(2), lin(4), lin(m=1), lin(n=1)])
            if rng.random() < 0.7:
                return done(loop(v, lo, [at, up[0]], body), rename(loop(v, [at, lo[0]], up, body), fresh))
            return done(loop(v, lo, at, body), rename(loop(v, at, up, body), fresh))
        if name == 'fuse' and n + 1 < len(around) and around[n + 1][0] == 'for' and around[n + 1][4] == 1:
            _, w, lo2, up2, _, body2, _ = around[n + 1]
            moved = [rename(subst(i, w, V), fresh) for i in body2]
            if (lo2, up2) == (lo, up) or rng.random() < 0.15:
                new = [loop(v, lo, up, body + moved)]
            elif len(lo2) == len(up2) == 1 and one:
                guard = [plus(V, lo2[0], -1), plus(plus(up2[0], V, -1), lin(-1))]
                new = [loop(v, lo, up, body + [('if', guard, moved)])]
                if up != up2:
                    new.append(rename(loop(w, [up[0], lo2[0]], up2, body2), fresh))
            else:
                return None
            return around[:n] + new + around[n + 2:]
        if name == 'fission' and len(body) > 1:
            at = rng.randrange(1, len(body))
            return done(loop(v, lo, up, body[:at]), rename(loop(v, lo, up, body[at:]), fresh))
        if name == 'skew' and len(body) == 1 and body[0][0] == 'for' and body[0][4] == 1:
            _, w, lo2, up2, _, inner, _ = body[0]
            c = pick([1, 1, 2, -1])
            inner = [subst(i, w, plus(lin(**{w: 1}), lin(**{v: -c}))) for i in inner]
            move = lambda e: plus(e, lin(**{v: c}))
            return done(loop(v, lo, up, [loop(w, [move(e) for e in lo2], [move(e) for e in up2], inner)]))
        if name == 'guard' and one:
            wide = plus(up[0], lin(2))
            return done(loop(v, lo, wide, [('if', [plus(plus(up[0], V, -1), lin(-1))], body)]))
        if name == 'bound' and one:
            return done(loop(v, lo, plus(up[0], lin(pick([-1, 1]))), body))
        if name == 'parallel' and one and v in ('i', 'j'):
            return done(loop(v, lo, up, body, 1, 'parallel'))
        return None

    places = list(paths(items))
    rng.shuffle(places)
    for place in places:
        changed = change(items, place, of)
        if changed is not None:
            return name, changed
    return None


def allowed(condition, sizes):
    """Whether a condition as it is printed holds."""
    code = re.sub(r'%(?=[nm])', '', condition)
    return eval(code, {}, dict(sizes))


def check(verdict, before, after):
    """What is wrong with a verdict, if anything is."""
    for n, m in itertools.product(range(-2, 8), repeat=2):
        sizes = {'n': n, 'm': m}
        if differ(before, after, sizes):
            if verdict['verdict'] == 'proved' and allowed(verdict.get('precondition', 'True'), sizes):
                return f'proved, but they differ at {sizes}'
            if verdict.get('holds_if') and allowed(verdict['holds_if'], sizes):
                return f"said to be the same if {verdict['holds_if']}, but they differ at {sizes}"
    if verdict['verdict'] == 'refuted':
        found = {name.strip('%'): number for name, number in verdict['input']['sizes'].items()}
        sizes = {'n': 0, 'm': 0, **{k: int(v) for k, v in found.items() if k in SIZES}}
        if differ(before, after, sizes) is False and differ(before, after, sizes, True) is False:
            return f'refuted, but they agree at {sizes}'
    return None


def main():
    rewright, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    folder = sys.argv[4] if len(sys.argv) > 4 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    tally, wrong = collections.Counter(), 0
    made = 0
    while made < count:
        before = kernel(rng)
        after, done = copy.deepcopy(before), []
        for _ in range(rng.choice([1, 1, 2, 2, 3])):
            changed = transform(after, rng)
            if changed:
                done.append(changed[0])
                after = changed[1]
        if not done or after == before:
            continue
        made += 1
        paths_ = [os.path.join(folder, f'{made}.{side}.mlir') for side in ('before', 'after')]
        for path, items in zip(paths_, (before, after)):
            with open(path, 'w') as file:
                file.write(module(items))
        ran = subprocess.run([rewright, 'validate', *paths_, '--format', 'json'], capture_output=True, text=True)
        try:
            verdict = json.loads(ran.stdout)['functions'][0]
        except (ValueError, KeyError, IndexError):
            print(f'NO REPORT {made} {done}: {ran.stderr.strip()[:300]}', flush=True)
            wrong += 1
            continue
        grid = itertools.product(range(-2, 8), repeat=2)
        differs = any(differ(before, after, {'n': n, 'm': m}) for n, m in grid)
        kind = 'proved if' if 'precondition' in verdict else verdict['verdict']
        if verdict.get('holds_if'):
            kind += ', the same if'
        problem = check(verdict, before, after)
        tally['differ' if differs else 'same', kind] += 1
        if problem:
            wrong += 1
            print(f'WRONG {made} {done}: {problem}', flush=True)
        elif verdict['verdict'] == 'unknown' or (not differs and kind != 'proved'):
            reasons = '; '.join(verdict['reasons'])[:200]
            print(f"{kind} {made} {'differ' if differs else 'same'} {done}: {reasons}", flush=True)
        else:
            for path in paths_:
                os.remove(path)
    for (truth, kind), number in sorted(tally.items()):
        print(f'{number:5} {truth:7} {kind}')
    print(f'{made} pairs, {wrong} wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main() if len(sys.argv) > 1 else __doc__)
