#!/usr/bin/env python3
"""Straight-line MLIR of many shapes, in two versions that differ in every tenth statement.

    scripts/mlir_straight.py write SHAPE FILE LINES [SEED [WRONG]]    FILE.{before,after}.mlir
    scripts/mlir_straight.py run REWRIGHT LINES [SEED ...]            verdicts and processor time of all shapes
    scripts/mlir_straight.py wrong REWRIGHT LINES SEED ...            verdicts on wrong versions of all shapes

Shapes: `widths` (integers of all widths, conversions, truth values), `floats`, `chain` (each value is made of the one
before), `fan` (values are made of arguments only, and all are combined at the end), `once` (each argument is used once),
`select` (comparisons and selections), `mixed` (all types, conversions, divisions, shifts; values may end in few), `hub` (half
of all operands are one value), `parameters` (64 of them), `products` (of i64), `constants`, `reordered` (statements of the
second version in another order), `merged` (common subexpressions only in the first version), `dead` (unused values in the
second version), `functions` (several of them, with several results), `few` (masks, remainders, shifts to the right and
comparisons: all values end in few). A wrong version differs in one statement of the
second half: operands of a subtraction are swapped, a constant or a predicate is another one, the sign of an extension is
dropped, or the second version promises something. `run` exits with 1 where a right version is not proved, `wrong` where a
wrong one is.
"""
import collections, os, random, re, resource, subprocess, sys, tempfile
from mlir_datapaths import TRUE, Function, listed, out_type, types

INT, ALL = ['i8', 'i16', 'i32', 'i64'], ['i8', 'i16', 'i32', 'i64', 'f32', 'f64']
SHAPES = {'widths': INT, 'floats': ['f32', 'f64'], 'chain': ['i32'], 'fan': ['i32', 'i64'], 'once': ['i32', 'i64'],
          'select': ['i16', 'i32'], 'mixed': ALL, 'hub': ['i32', 'i64'], 'parameters': INT, 'products': ['i64'], 'constants': INT,
          'reordered': ALL, 'merged': ALL, 'dead': INT, 'functions': ALL, 'few': ['i8', 'i32', 'i64']}
PLAIN = {'i': [('addi', 'x', 'y'), ('subi', 'x', 'y'), ('xori', 'x', 'y'), ('muli', 'x', '5'), ('minsi', 'x', 'y'), ('ori', 'x', 'y'),
               ('addi', 'x', '77'), ('maxui', 'x', 'y')],
         'f': [('addf', 'x', 'y'), ('mulf', 'x', 'y'), ('subf', 'x', 'y'), ('maximumf', 'x', 'y'), ('negf', 'x')]}
SELECT = [('select', 'c', 'x', 'y'), ('slt', 'x', 'y'), ('ult', 'x', 'y'), ('addi', 'x', 'y'), ('select', ('eq', 'x', 'y'), 'z', 'x')]
EVERY = {'i': PLAIN['i'] + SELECT + [('muli', 'x', 'y'), ('andi', 'x', 'y'), ('shli', 'x', '3'), ('shrsi', 'x', '2'), ('shrui', 'x', '5'),
                                     ('divui', 'x', '7'), ('divsi', 'x', '10'), ('remui', 'x', '5'), ('absi', 'x'), ('trunci', ('extsi', 'x')),
                                     ('select', ('slt', 'x', '0'), 'y', 'z')],
         'f': PLAIN['f'] + [('minimumf', 'x', 'y'), ('divf', 'x', 'y'), ('select', ('olt', 'x', 'y'), 'z', 'y'), ('absf', 'x'),
                            ('une', 'x', 'y'), ('mulf', 'x', '0.5')]}
PRODUCT = [('muli', 'x', 'y')] * 3 + [('addi', 'x', 'y'), ('muli', ('muli', 'x', 'y'), 'z')]
FEW = [('andi', 'x', '15'), ('remui', 'x', '5'), ('shrui', 'x', '5'), ('minui', 'x', 'y'), ('select', 'c', 'x', 'y'), ('eq', 'x', 'y'),
       ('ult', 'x', '3'), ('andi', 'x', 'y'), ('muli', 'x', 'y'), ('addi', 'x', '1'), ('select', ('slt', 'x', '0'), 'y', 'z')]
CONSTANT = [(name, 'x', n) for name in ('addi', 'xori', 'muli', 'subi') for n in ('1', '7', '-1', '100')]
WRONG = {'i': [(('subi', 'x', 'y'), ('subi', 'y', 'x')), (('addi', 'x', '77'), ('addi', 'x', '78')), (('slt', 'x', 'y'), ('sle', 'x', 'y')),
               (('ult', 'x', 'y'), ('slt', 'x', 'y')), (('addi', 'x', 'y'), ('addi.nsw', 'x', 'y')), (('minsi', 'x', 'y'), ('minui', 'x', 'y')),
               (('extsi', 'x'), ('extui', 'x'))],
         'f': [(('subf', 'x', 'y'), ('subf', 'y', 'x')), (('mulf', 'x', '0.5'), ('mulf', 'x', '0.25')), (('olt', 'x', 'y'), ('ole', 'x', 'y')),
               (('maximumf', 'x', 'y'), ('minimumf', 'x', 'y')), (('addf', ('addf', 'x', 'y'), 'z'), ('addf', 'x', ('addf', 'y', 'z')))]}
BARE = {'mixed', 'reordered', 'merged', 'dead', 'functions', 'few'}
# Undefined behaviour is for the script of pairs.
ROWS = [row for row in listed(TRUE) if not re.search(r'div|rem', str(row[2:]))]


class Code:
    """One version, written statement by statement; the same seed makes the same choices in both."""
    def __init__(self, shape, seed, column):
        self.shape, self.column, self.rng = shape, column, random.Random(f'{shape} {seed}')
        self.f, self.arguments, self.count = Function('i32'), [], 0
        self.used = SHAPES[shape] + ['i1']
        self.pools = {ty: [self.argument(ty) for _ in range(16 if shape == 'parameters' else 4)] for ty in self.used}

    def argument(self, ty):
        self.arguments.append((f'%a{len(self.arguments)}', ty))
        return self.arguments[-1][0]

    def pick(self, ty, last=False):
        pool = self.pools.setdefault(ty, [])
        if self.shape == 'once' and not last and ty != 'i1' or not pool:
            return self.argument(ty)
        if self.shape == 'hub' and self.rng.random() < 0.5:
            return pool[0]
        if self.shape == 'fan':
            return pool[self.rng.randrange(4)]
        return pool[-1] if last else pool[-1 - self.rng.randrange(min(len(pool), 12))]

    def expression(self):
        """A type, the two forms and the result's type."""
        ty = self.rng.choice(SHAPES[self.shape])
        if self.count % 10 == 9:
            rows = [row for row in ROWS if ty in types(row[1]) or row[1] == 'bit' and ty[0] == 'i']
            _, kind, before, after = self.rng.choice(rows)
        else:
            rows = {'select': SELECT, 'products': PRODUCT, 'constants': CONSTANT, 'few': FEW}.get(self.shape)
            rows = rows or (EVERY if self.shape in BARE else PLAIN)[ty[0]]
            rows = [row for row in rows if not (ty == 'i64' and 'ext' in str(row)) and not (ty == 'i8' and '100' in row)]
            before = after = self.rng.choice(rows)
        return ty, before, after

    def statement(self, wrong=None):
        ty, *forms = wrong or self.expression()
        out = out_type(forms[0], ty) or out_type(forms[1], ty) or ty
        self.f.ty, self.f.vars = ty, {'x': ty, 'y': ty, 'z': ty, 'c': 'i1', 'd': 'i1'}
        self.f.vars_at = {'x': self.pick(ty, last=self.shape in ('chain', 'once')), 'y': self.pick(ty), 'z': self.pick(ty),
                          'c': self.pick('i1'), 'd': self.pick('i1')}
        if wrong:
            # Computed values may be the same, or always 0, and then nothing is wrong.
            self.f.vars_at.update({name: self.argument(ty) for name in 'xyz'})
        value = self.f.value(forms[self.column], out)
        # Values do not end in few: what is 0, or all bits, whatever it is made of tells nothing apart.
        if self.shape != 'floats' and self.shape not in BARE and out == ty:
            value = self.f.op(f'arith.xori {value}, {self.f.vars_at["x"]} : {ty}')
        self.pools.setdefault(out, []).append(value)
        if wrong:
            self.f.lines.append(f'  memref.store {value}, %m{out}[%i8] : memref<9x{out}>')
        elif self.count % 10 == 4:
            self.f.lines.append(f'  memref.store {value}, %m{out}[%i{self.count % 7}] : memref<9x{out}>')
        self.count += 1

    def text(self, name):
        last, several = [], self.shape == 'functions'
        for ty, pool in sorted(self.pools.items()):
            values = pool if self.shape == 'fan' else pool[-4:]
            op = {'i': 'arith.xori', 'f': 'arith.addf'}[ty[0]]
            while len(values) > 1:
                values = [self.f.op(f'{op} {a}, {b} : {ty}') for a, b in zip(values[::2], values[1::2])] + values[len(values) & ~1:]
            last += [(value, ty) for value in values]
        if not several:
            self.f.lines += [f'  memref.store {value}, %m{ty}[%i7] : memref<9x{ty}>' for value, ty in last]
        arguments = [f'{name}: {ty}' for name, ty in self.arguments] + [f'%m{ty}: memref<9x{ty}>' for ty in sorted(self.pools)]
        head = [f'  %i{n} = arith.constant {n} : index' for n in range(9)]
        lines = self.f.lines
        if self.column and self.shape == 'reordered':
            lines = reordered(lines, self.rng)
        if self.column and self.shape == 'merged':
            lines = merged(lines)
        if self.column and self.shape == 'dead':
            lines = [line for n, line in enumerate(lines) for line in [line] + dead(line, n)]
        values, kinds = (', '.join(part) for part in zip(*last))
        results, end = (f' -> ({kinds})', f'  return {values} : {kinds}') if several else ('', '  return')
        return f'func.func @{name}({", ".join(arguments)}){results} {{\n' + '\n'.join(head + lines + [end]) + '\n}\n'


def operands(line):
    return re.findall(r'%\w+', line.split(' = ', 1)[-1])


def reordered(lines, rng):
    """The same statements, each behind what it needs; stores stay in their order."""
    at, needs, users, store = {}, [], [[] for _ in lines], None
    for n, line in enumerate(lines):
        before = {at[name] for name in operands(line) if name in at}
        if 'memref.store' in line:
            before |= {store} - {None}
            store = n
        elif ' = ' in line:
            at[line.split()[0]] = n
        needs.append(len(before))
        for other in before:
            users[other].append(n)
    ready, found = [n for n in range(len(lines)) if not needs[n]], []
    while ready:
        # Mostly near to where it was.
        n = ready.pop(-1 - rng.randrange(min(len(ready), 20)))
        found.append(lines[n])
        for user in users[n]:
            needs[user] -= 1
            if not needs[user]:
                ready.append(user)
    return found


def merged(lines):
    """Without values that are computed again in the same way."""
    known, names, found = {}, {}, []
    for line in lines:
        line = re.sub(r'%\w+', lambda name: names.get(name[0], name[0]), line)
        if ' = ' in line:
            name, value = line.strip().split(' = ', 1)
            if value in known:
                names[name] = known[value]
                continue
            known[value] = name
        found.append(line)
    return found


def dead(line, n):
    """A value that nothing uses."""
    made = re.match(r'  (%\w+) = arith\.(addi|xori|muli|subi) .* : (i\d+)$', line)
    return [f'  %dead{n} = arith.muli {made[1]}, {made[1]} : {made[3]}'] if made and n % 5 == 0 else []


def wrong_statement(shape, rng):
    ty = rng.choice(SHAPES[shape])
    return ty, *rng.choice([forms for forms in WRONG[ty[0]] if not (ty == 'i64' and 'ext' in str(forms))])


def write(shape, path, lines, seed=1, wrong=None):
    count, texts = 5 if shape == 'functions' else 1, {'before': '', 'after': ''}
    for number in range(count):
        first = Code(shape, f'{seed}.{number}', 0)
        while len(first.f.lines) < int(lines) // count:
            first.statement()
        statements, rng = first.count, random.Random(f'{shape} {seed} {wrong}')
        at, instead = rng.randrange(statements // 2, statements - 1), wrong_statement(shape, rng)
        for column, what in enumerate(texts):
            code = Code(shape, f'{seed}.{number}', column)
            for n in range(statements):
                code.statement(instead if wrong and n == at and number == count - 1 else None)
            texts[what] += code.text(f'{shape}{number}')
    for what, text in texts.items():
        with open(f'{path}.{what}.mlir', 'w') as file:
            file.write(text)
    return instead[1:]


def verdicts(rewright, shape, lines, seed, wrong):
    """What is said of each function, with processor time, MiB at most, and what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, shape)
        forms = write(shape, path, lines, seed, wrong)
        timed = ['/usr/bin/env', 'time', '-f', '%U %S %M', '-o', f'{path}.time']
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*timed, rewright, 'validate', f'{path}.before.mlir', f'{path}.after.mlir'], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        memory = int(open(f'{path}.time').read().split()[-1]) // 1024
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # One function has no name before its verdict.
    said = re.findall(r'^(?:@?\w+: )?((?:proved|refuted|tested|unknown)\b.*)', done.stdout, re.M)
    return said or [done.stdout + done.stderr], took, memory, forms


def run(rewright, lines, *seeds):
    failed = 0
    for seed in seeds or ('1',):
        for shape in SHAPES:
            said, took, memory, _ = verdicts(rewright, shape, lines, seed, None)
            failed += not all(verdict.startswith('proved') for verdict in said)
            print(f'{shape}, seed {seed}, {lines} lines: {took:.1f} s, {memory} MiB: {" | ".join(sorted(set(said)))[:400]}', flush=True)
    return 1 if failed else 0


def wrong(rewright, lines, *seeds):
    counts, failed = collections.Counter(), 0
    for seed in seeds:
        for shape in SHAPES:
            said, took, _, forms = verdicts(rewright, shape, lines, seed, seed)
            worst = next((verdict for verdict in said if not verdict.startswith('proved')), 'proved')
            counts[worst.split()[0].rstrip(':')] += 1
            failed += worst == 'proved'
            if not worst.startswith('refuted'):
                print(f'{shape}, seed {seed}, {forms}: {took:.1f} s: {worst[:500]}', flush=True)
    print(f'{lines} lines: {dict(sorted(counts.items()))}')
    return 1 if failed else 0


if __name__ == '__main__':
    commands = {'write': write, 'run': run, 'wrong': wrong}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    status = commands[sys.argv[1]](*sys.argv[2:])
    sys.exit(0 if sys.argv[1] == 'write' else status)
