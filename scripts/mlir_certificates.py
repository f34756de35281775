#!/usr/bin/env python3
"""Certificates of pairs of files: are genuine ones accepted, and corrupted ones rejected?

    scripts/mlir_certificates.py FOLDER REWRIGHT [SEED [COUNT]]

FOLDER has truth.csv (name,source,target,..) of files of MLIR, LLVM IR (`scripts/nests.py --keep FOLDER` makes one of
those), CLIF or our own text. `validate --certificate` writes a certificate for each function that it proves; `--check-
certificate` must accept it, with the precondition of the verdict.

All functions of a pair of files are checked at once, each against a change of its own.

Then COUNT of each reason (by sequence, by cells, by order) meet another second version, with one number or operator
changed, and must be rejected. A certificate claims that the versions do the same if a condition holds, so one that
is accepted is right where `validate` proves the changed pair, too, under the same condition; such pairs are counted apart.
And COUNT of each reason are corrupted, each by one change, and must be rejected. Of cells and orders: one of several cases
left out (they exclude each other), or what wrote a cell left out or replaced by another instance (only one is the last); a
statement taken for another instance, or the only instance left out. Of sequences: a step left out, put in twice or in
another place; a number of copies, a size or a coefficient changed, so that polynomials have other values at small numbers
(else the change has no effect, and is not counted); a precondition left out or weakened, where a counterexample of `validate`
is within what is left of it. Of all: cells that are joined the other way round, with another one, or not at all; a bound of
all sizes (of LLVM IR, CLIF and our own text) that is higher, or left out.
"""
import collections, copy, csv, itertools, json, os, random, re, shutil, subprocess, sys, tempfile


def value(polynomial, at):
    total = 0
    for coefficient, factors in polynomial:
        for factor in factors:
            if 'var' in factor:
                coefficient *= at.get(factor['var'], 0)
            else:
                inner, divisor = factor['floor']
                coefficient *= value(inner, at) // divisor
        total += coefficient
    return total


def variables(polynomial):
    for _, factors in polynomial:
        for factor in factors:
            if 'var' in factor:
                yield factor['var']
            else:
                yield from variables(factor['floor'][0])


def differ(before, after, join):
    """Whether two lists of bounds have other values somewhere among small numbers."""
    names = sorted({v for p in before + after for v in variables(p)})
    points = itertools.product(range(6), repeat=len(names)) if len(names) < 5 else \
        [[random.Random(n).randrange(9) for _ in names] for n in range(2000)]
    for point in points:
        at = dict(zip(names, point))
        if join(value(p, at) for p in before) != join(value(p, at) for p in after):
            return True
    return False


def name_of(step):
    return step if isinstance(step, str) else next(iter(step))


def polynomials(step):
    """Lists of polynomials in a step, with how they are joined."""
    if isinstance(step, str):
        return []
    (name, inner), = step.items()
    if name == 'once':
        return [([inner], max)]
    if name == 'bounds':
        return [(inner['lower'], max), (inner['upper'], min)]
    if name == 'untile':
        return [(inner['upper'], min)]
    return []


def weakened(certificate, rng, outside):
    """Without a part of its precondition, where a counterexample is within what is left."""
    result = copy.deepcopy(certificate)
    case = rng.choice(result['cases'])
    if not case['precondition'] or not outside:
        return None
    n = rng.randrange(len(case['precondition']))
    # A size that the counterexample does not need is none.
    if len(case['precondition']) > 1 or ' >= ' not in case['precondition'][0]:
        case['precondition'] = []
    elif rng.random() < 0.5:
        del case['precondition'][n]
    else:
        size, bound = case['precondition'][n].split(' >= ')
        bound = int(bound) - rng.randrange(1, 4)
        if int(outside.get(size, bound)) < bound:  # The counterexample is still outside: it may be true.
            return None
        case['precondition'][n] = f'{size} >= {bound}'
    return 'precondition', result


def of_all(certificate, rng):
    """With cells joined in another way, or without the bound of all sizes; none if there is nothing of these."""
    result = copy.deepcopy(certificate)
    joined = [case[side].get('joined') for case in result['cases'] for side in ('before', 'after')]
    joined = [pairs for pairs in joined if pairs]
    if joined and (result.get('most') is None or rng.random() < 0.5):
        pairs = rng.choice(joined)
        n = rng.randrange(len(pairs))
        kind = rng.choice(['the other way', 'with another', 'not at all'])
        if kind == 'the other way':
            pairs[n] = pairs[n][::-1]
        elif kind == 'with another':
            pairs[n][rng.randrange(2)] += rng.choice([-1, 1])
        else:
            del pairs[n]
        return f'joined {kind}', result
    if result.get('most') is None:
        return None
    if rng.random() < 0.5:
        del result['most']
        return 'without a bound', result
    result['most'] += rng.choice([1, 2, 1 << 8])
    return 'higher bound', result


def corrupted(certificate, rng, outside):
    """A certificate with one change, and what was changed; none if it is no change."""
    kind = rng.choice(['drop', 'twice', 'swap', 'coefficient', 'coefficient', 'number', 'precondition'])
    if kind == 'precondition':
        return weakened(certificate, rng, outside)
    result = copy.deepcopy(certificate)
    number, side = rng.randrange(len(result['cases'])), rng.choice(['before', 'after'])
    steps, genuine = result['cases'][number][side]['steps'], certificate['cases'][number][side]['steps']
    if not steps:
        return None
    n = rng.randrange(len(steps))
    if kind == 'drop' and name_of(steps[n]) != 'bounds':
        del steps[n]
        return f'drop {name_of(genuine[n])}', result
    if kind == 'twice' and name_of(steps[n]) != 'bounds':
        steps.insert(n, copy.deepcopy(steps[n]))
        return f'twice {name_of(steps[n])}', result
    if kind == 'swap' and n + 1 < len(steps) and steps[n] != steps[n + 1]:
        steps[n], steps[n + 1] = steps[n + 1], steps[n]
        return f'swap {name_of(steps[n])} {name_of(steps[n + 1])}', result
    if kind == 'coefficient':
        lists = [(s, l) for s in range(len(steps)) for l in range(len(polynomials(steps[s])))]
        if not lists:
            return None
        s, l = rng.choice(lists)
        before, join = polynomials(genuine[s])[l]
        after, _ = polynomials(steps[s])[l]
        polynomial = rng.choice(after)
        if polynomial and rng.random() < 0.7:
            rng.choice(polynomial)[0] += rng.choice([-1, 1, 2, -3])
        else:
            polynomial.append([rng.choice([-2, -1, 1]), []])
        return (f'coefficient of {name_of(steps[s])}', result) if differ(before, after, join) else None
    if kind == 'number':
        step = steps[n]
        name = name_of(step)
        if name in ('reroll', 'reroll_carried'):
            step[name] = rng.choice([k for k in (0, 1, 2, 3, 4, 5, 6, 8) if k != step[name]])
        elif name == 'untile':
            step['untile']['size'] += rng.choice([-1, 1, 2])
        elif name == 'split':
            if step['split']['floors'] and rng.random() < 0.5:
                rng.choice(step['split']['floors'])[2] += rng.choice([-1, 1])
            else:
                step['split']['size'] += rng.choice([-1, 1])
        else:
            return None
        return f'number of {name}', result
    return None


def moved(at, rng):
    """Another instance: a variable that is not what it was."""
    named = [p for p in at if any(factors for _, factors in p)]
    if not named:
        return False
    rng.choice(named).append([rng.choice([-2, -1, 1, 2]), []])
    return True


def corrupted_reason(certificate, rng):
    """The same of what is said of cells or of an order."""
    result = copy.deepcopy(certificate)
    (name, said), = rng.choice(result['cases'])['reason'].items()
    if name == 'order':
        if rng.random() < 0.6:
            return ('match', result) if moved(rng.choice(said['matches'])[1], rng) else None
        instances = rng.choice(said['instances'])
        if len(instances) != 1:  # Of several, one may be needed nowhere.
            return None
        del instances[rng.randrange(len(instances))]
        return 'instance left out', result
    flow = said[rng.choice(['before', 'after'])]
    places = [pieces for _, pieces in flow['loads'] + flow['last'] if pieces]
    pieces = rng.choice(places) if places else []
    if not pieces:
        return None
    n = rng.randrange(len(pieces))
    kind = rng.choice(['piece left out', 'source left out', 'source'])
    if kind == 'piece left out':
        del pieces[n]
        return kind, result
    if pieces[n]['source'] is None:
        return None
    if kind == 'source left out':
        pieces[n]['source'] = None
        return kind, result
    return (kind, result) if moved(pieces[n]['source'][1], rng) else None


# Operators of all languages that stand for another one.
OTHER = {'add': 'sub', 'sub': 'add', 'mul': 'add', 'fadd': 'fsub', 'fsub': 'fadd', 'fmul': 'fadd', 'iadd': 'isub',
         'isub': 'iadd', 'imul': 'iadd', 'slt': 'sle', 'sle': 'slt', 'icmp_slt': 'icmp_sle', 'icmp_sle': 'icmp_slt',
         'arith.addf': 'arith.subf', 'arith.subf': 'arith.addf', 'arith.mulf': 'arith.addf', 'arith.addi': 'arith.subi'}
# The tokens that are changed: numbers that are no name, type, alignment or metadata, and operators.
CHANGED = re.compile(r'(?<![\w%!#.@])(?<!align )-?\d+(?![\w.x])|(?<![\w.])(?:' + '|'.join(map(re.escape, OTHER)) + r')(?![\w.])')


def changed(text, function, rng):
    """The text with one change in the body of a function."""
    name = re.escape(function.lstrip('@%'))
    head = re.search(rf'(?m)^(?:define|func|function|  func.func|func.func)\b[^\n]*[@%]"?{name}\b.*$', text)
    if not head:
        return None
    end = re.search(r'(?m)^ {0,2}\}', text[head.end():])
    body = text[head.end():head.end() + end.start()] if end else ''
    places = [m for m in CHANGED.finditer(body) if 'metadata' not in body[body.rfind('\n', 0, m.start()):m.start()]]
    if not places:
        return None
    place = rng.choice(places)
    word = place.group()
    other = OTHER.get(word) or str(int(word) + rng.choice([-2, -1, 1, 2, 3]))
    at = head.end() + place.start()
    return f'{word} -> {other}', text[:at] + other + text[at + len(word):]


Genuine = collections.namedtuple('Genuine', 'reason name files function certificate outside')


def reason_of(certificate):
    return name_of(certificate['cases'][0]['reason'])


def main():
    folder, rewright = sys.argv[1], sys.argv[2]
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    genuine_ones, failed, without, reasons, found_in = [], [], [], collections.Counter(), {}
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, 'certificate.json')

        def check(files, certificates):
            """What is said of each function of these certificates; None where the files are no programs."""
            with open(path, 'w') as file:
                json.dump({**found_in, 'functions': certificates}, file)
            done = subprocess.run([rewright, 'validate', *files, '--check-certificate', path],
                                  capture_output=True, text=True)
            if done.returncode not in (0, 1):
                return None
            functions = {certificate['function'] for certificate in certificates}
            said = dict(line.split(': ', 1) for line in done.stdout.splitlines() if ': ' in line)
            return {function: line for function, line in said.items() if function in functions}

        for row in csv.DictReader(open(os.path.join(folder, 'truth.csv'))):
            files = [os.path.join(folder, row['source']), os.path.join(folder, row['target'])]
            how = ['--method', 'nests'] if files[0].endswith('.ll') else []
            done = subprocess.run([rewright, 'validate', *files, *how, '--format', 'json', '--certificate', path],
                                  capture_output=True, text=True)
            found = json.load(open(path)) if os.path.exists(path) else {'functions': []}
            verdicts = json.loads(done.stdout)['functions'] if done.stdout else []
            certificates = {certificate['function']: certificate for certificate in found['functions']}
            found_in = {key: value for key, value in found.items() if key != 'functions'} or found_in
            checked = (check(files, list(certificates.values())) if certificates else None) or {}
            for said in verdicts:
                function = said['function']
                if said['verdict'] != 'proved' or said.get('tier') == 'same':
                    continue
                if function not in certificates:
                    notes = [line for line in done.stderr.splitlines() if f'no certificate of {function}:' in line]
                    without.append((row['name'], notes[0] if notes else function))
                    continue
                condition = said.get('precondition')
                wanted = f'accepted if {condition}' if condition else 'accepted'
                line = checked.get(function, 'nothing is said of it')
                if line != wanted:
                    failed.append((row['name'], f'{function}: {line} (proved: {condition})'))
                    continue
                reason = reason_of(certificates[function])
                reasons[reason] += 1
                outside = said.get('outside', {}).get('input', {}).get('sizes')
                genuine_ones.append(Genuine(reason, row['name'], files, function, certificates[function], outside))
            if os.path.exists(path):
                os.remove(path)
        accepted = ', '.join(f'{number} by {reason}' for reason, number in sorted(reasons.items()))
        print(f'{sum(reasons.values())} genuine certificates accepted ({accepted}), {len(failed)} not; {len(without)} '
              'proofs without', flush=True)
        for name, said in failed + without:
            print(f'  {name}: {said}', flush=True)
        kinds, accepted = collections.Counter(), 0

        def keep(name, files, found, kind, line):
            nonlocal accepted
            accepted += 1
            print(f'NOT REJECTED {name}: {kind}: {line}', flush=True)
            kept = os.path.join(tempfile.gettempdir(), f'not-rejected-{accepted}')
            with open(kept + '.json', 'w') as file:
                json.dump(found, file)
            shutil.copy(files[1], kept + os.path.splitext(files[1])[1])

        def judged(name, files, of_file, changes):
            """Checks certificates of a file against a second version with these changes, by function."""
            other = [files[0], os.path.join(scratch, 'changed' + os.path.splitext(files[1])[1])]
            text, whats = open(files[1]).read(), {}
            for genuine in of_file:
                made = changed(text, genuine.function, changes)
                if made is not None:
                    whats[genuine.function], text = made
            with open(other[1], 'w') as file:
                file.write(text)
            certificates = [genuine.certificate for genuine in of_file if genuine.function in whats]
            said, verdicts = check(other, certificates), None
            if said is None:
                # It is no program any more. One change alone may be.
                return sum(judged(name, files, [genuine], changes) for genuine in of_file) if len(of_file) > 1 else 0
            for genuine in of_file:
                function, line = genuine.function, said.get(genuine.function)
                if function not in whats or line is None:
                    continue
                kinds[f'{genuine.reason}: another version'] += 1
                note(genuine.reason, line)
                if not line.startswith('accepted'):
                    continue
                if verdicts is None:
                    how = ['--method', 'nests'] if other[1].endswith('.ll') else []
                    done = subprocess.run([rewright, 'validate', *other, *how, '--format', 'json'],
                                          capture_output=True, text=True)
                    verdicts = {v['function']: v for v in json.loads(done.stdout)['functions']}
                verdict = verdicts.get(function)
                condition = verdict and verdict.get('precondition')
                # Functions that are one text are not listed.
                if not verdict or (verdict['verdict'] == 'proved' and line in ('accepted', f'accepted if {condition}')):
                    kinds[f'{genuine.reason}: another version that does the same'] += 1
                else:
                    keep(name, other, {**found_in, 'functions': [genuine.certificate]}, f'another version: {whats[function]}', line)
            return len(whats)

        def note(reason, line):
            # That says nothing of what was claimed.
            if re.search(r'are spent|resource', line):
                kinds[f'{reason}: rejected for lack of steps'] += 1

        def batch(wanted):
            """A file, and what is accepted of it for one reason: all of that is checked at once."""
            files = rng.choice([genuine for genuine in genuine_ones if genuine.reason == wanted]).files
            return files, [genuine for genuine in genuine_ones if genuine.reason == wanted and genuine.files == files]

        for wanted in sorted(reasons):
            left = count
            for _ in range(count * 20):
                files, of_file = batch(wanted)
                left -= judged(of_file[0].name, files, of_file[:left], rng)
                if left <= 0:
                    break
        for wanted in sorted(reasons):
            left = count
            for _ in range(count * 20):
                files, of_file = batch(wanted)
                made = {}
                for genuine in of_file[:left]:
                    one = of_all(genuine.certificate, rng) if rng.random() < 0.2 else None
                    if one is None and wanted == 'sequence':
                        one = corrupted(genuine.certificate, rng, genuine.outside)
                    elif one is None:
                        one = corrupted_reason(genuine.certificate, rng)
                    if one is not None:
                        made[genuine.function] = one
                said = check(files, [certificate for _, certificate in made.values()]) if made else {}
                for function, (kind, certificate) in made.items():
                    line = (said or {}).get(function, '')
                    kinds[f'{wanted}: {kind}'] += 1
                    note(wanted, line)
                    if not line.startswith('not accepted: '):
                        keep(of_file[0].name, files, {**found_in, 'functions': [certificate]}, kind, line)
                left -= len(made)
                if left <= 0:
                    break
    print(f'{sum(kinds.values())} corrupted certificates: {accepted} not rejected')
    for kind, number in sorted(kinds.items()):
        print(f'  {number:5} {kind}')
    return 1 if accepted or failed else 0


if __name__ == '__main__':
    sys.exit(main() if len(sys.argv) > 2 else __doc__)
