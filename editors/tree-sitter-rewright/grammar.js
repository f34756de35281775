/**
 * The rule language of Rewright: packs of typed rewrite rules. The grammar follows `dsl/src/syntax/grammar.rs`, and a
 * test of the repository parses every pack that ships with both.
 *
 * Words are keywords by their place: a parameter may be called `cost`.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

const PREC = {
  or: 1,
  and: 2,
  not: 3,
  comparison: 4,
  bitOr: 5,
  bitAnd: 6,
  shift: 7,
  sum: 8,
  product: 9,
  negation: 10,
  power: 11,
  transpose: 12,
  call: 13,
};

const SECTIONS = [
  '+', '-', '*', '/', '.+', '.-', '.*', './', '^', '&', '|', '<<', '>>', '==', '!=', '<=', '>=', '<', '>', "'",
];

const commaSep1 = (rule) => seq(rule, repeat(seq(',', rule)));
const commaSep = (rule) => optional(seq(commaSep1(rule), optional(',')));

module.exports = grammar({
  name: 'rewright',

  word: ($) => $.identifier,

  extras: ($) => [/[ \t\r\n\uFEFF]/, $.comment],

  supertypes: ($) => [$._item, $._expression, $._fn_clause, $._rule_clause],

  rules: {
    source_file: ($) => seq(optional($.pack_clause), repeat($._item)),

    pack_clause: ($) => seq('pack', field('name', $.path)),

    comment: (_) => token(seq('//', /[^\n]*/)),

    _item: ($) =>
      choice(
        $.import,
        $.type_item,
        $.family_item,
        $.effect_item,
        $.fact_item,
        $.fn_item,
        $.override_item,
        $.rule_item,
        $.infer_item,
        $.ruleset_item,
        $.schedule_item,
        $.example_item,
      ),

    attribute: ($) =>
      seq('@', field('name', $.identifier), optional(seq('(', commaSep($._expression), ')'))),

    import: ($) =>
      seq(
        repeat($.attribute),
        'import',
        field('pack', $.path),
        optional(seq('as', field('alias', $.identifier))),
        optional(seq('(', commaSep1(field('name', $.identifier)), optional(','), ')')),
      ),

    type_item: ($) =>
      seq(
        repeat($.attribute),
        'type',
        field('name', $.identifier),
        optional($.type_parameters),
        optional(seq('<:', field('supertype', $.type))),
        optional(seq('model', field('model', $.identifier))),
      ),

    family_item: ($) =>
      seq(
        repeat($.attribute),
        'type',
        field('name', $.identifier),
        '=',
        field('member', $.type),
        repeat(seq('|', field('member', $.type))),
      ),

    effect_item: ($) => seq(repeat($.attribute), 'effect', field('name', $.identifier)),

    fact_item: ($) =>
      seq(
        repeat($.attribute),
        'fact',
        field('name', $.identifier),
        optional($.type_parameters),
        $.parameters,
        optional($.spec_clause),
      ),

    fn_item: ($) =>
      seq(
        repeat($.attribute),
        optional('host'),
        'fn',
        field('name', $.identifier),
        optional($.type_parameters),
        $.parameters,
        '->',
        field('result', choice($.type, $.result_list)),
        repeat($._fn_clause),
      ),

    result_list: ($) => seq('(', commaSep($.type), ')'),

    _fn_clause: ($) =>
      choice(
        $.as_clause,
        $.purity,
        $.effects_clause,
        $.cost_clause,
        $.requires_clause,
        $.spec_clause,
        $.law,
        $.recurrence_clause,
      ),

    recurrence_clause: ($) => seq('recurrence', field('step', $.path)),
    as_clause: ($) => seq('as', field('operator', $.string)),
    purity: (_) => choice('pure', 'lazy'),
    effects_clause: ($) => seq('effects', commaSep1($.effect)),
    cost_clause: ($) => seq('cost', $._expression),
    requires_clause: ($) => seq('requires', commaSep1($._expression)),
    spec_clause: ($) => seq('spec', $._expression),
    law: ($) =>
      seq(choice('commutative', 'associative', 'idempotent', 'identity'), optional(seq('(', $._expression, ')'))),

    effect: ($) => seq(field('name', $.path), optional(seq('(', field('region', $.path), ')'))),

    override_item: ($) => seq(repeat($.attribute), 'override', field('name', $.path), $.cost_clause),

    rule_item: ($) =>
      seq(
        repeat($.attribute),
        optional(choice('unsafe', 'dynamic', seq('unsafe', 'dynamic'), seq('dynamic', 'unsafe'))),
        'rule',
        field('name', $.identifier),
        optional($.type_parameters),
        $.parameters,
        choice(seq(':', $.rewrite, repeat($._rule_clause)), $.rule_block),
      ),

    rewrite: ($) => seq(field('left', $._side), choice('=>', '<=>'), field('right', $._side)),

    _side: ($) => choice($._expression, $.stated),
    stated: ($) => seq($._expression, repeat1(seq('after', field('state', $._expression)))),

    rule_block: ($) => seq('{', repeat1($._rule_statement), '}'),
    _rule_statement: ($) => choice($.match_statement, $.let_statement, $.rewrite_statement, $._rule_clause),
    match_statement: ($) => seq('match', field('name', $.identifier), '=', $._expression),
    let_statement: ($) => seq('let', field('name', $.identifier), '=', $._expression),
    rewrite_statement: ($) => seq('rewrite', $.rewrite),

    _rule_clause: ($) => choice($.when_clause, $.removes_clause, $.because_clause),
    when_clause: ($) => seq('when', commaSep1($._expression)),
    removes_clause: ($) => seq('removes', commaSep1($.effect)),
    because_clause: ($) => seq('because', $.string),

    infer_item: ($) =>
      seq(
        repeat($.attribute),
        'infer',
        field('name', $.identifier),
        optional($.type_parameters),
        $.parameters,
        ':',
        field('fact', $._expression),
        repeat($._rule_clause),
      ),

    ruleset_item: ($) => seq(repeat($.attribute), 'ruleset', field('name', $.identifier), '{', repeat($._item), '}'),

    schedule_item: ($) =>
      seq(
        repeat($.attribute),
        'schedule',
        field('name', $.identifier),
        optional(seq('at', field('point', $.identifier))),
        $.steps,
      ),
    steps: ($) => seq('{', repeat1($._step), '}'),
    _step: ($) => choice($.run_step, $.repeat_step),
    run_step: ($) =>
      seq(
        choice('run', 'saturate'),
        field('ruleset', $.path),
        optional(seq('limit', commaSep1($._limit))),
      ),
    _limit: ($) => seq($.integer, field('unit', $.identifier)),
    repeat_step: ($) => seq('repeat', optional($.integer), $.steps),

    example_item: ($) =>
      seq(
        repeat($.attribute),
        optional('todo'),
        'example',
        field('title', $.string),
        optional($.parameters),
        repeat(choice($.fires, $.using)),
        choice(seq(':', $.claim), $.example_blocks),
      ),
    fires: ($) => seq('fires', commaSep1($.path)),
    using: ($) => seq('using', $.path),
    claim: ($) =>
      seq($._side, choice(seq(choice('becomes', 'equals', 'differs'), $._side), 'stays')),
    example_blocks: ($) =>
      seq('{', 'before', field('before', $.block), 'after', field('after', $.block), '}'),
    block: ($) => seq('{', repeat($._statement), '}'),
    _statement: ($) => choice($.assignment, $.do_statement, $.return_statement, $.if_statement),
    assignment: ($) => seq(field('name', $.identifier), '=', $._expression),
    do_statement: ($) => seq('do', $._expression),
    return_statement: ($) => seq('return', $._expression),
    if_statement: ($) =>
      seq('if', '(', field('condition', $._expression), ')', $.block, optional(seq('else', $.block))),

    type_parameters: ($) => seq('{', commaSep1($.type_parameter), '}'),
    type_parameter: ($) => seq(field('name', $.identifier), optional(seq('<:', field('bound', $.type)))),

    parameters: ($) => seq('(', commaSep(choice($.parameter, $.constant_parameter)), ')'),
    parameter: ($) =>
      seq(field('name', $.identifier), optional('...'), optional(seq(':', field('type', $.type)))),
    constant_parameter: ($) => seq('const', $.parameter),

    type: ($) => seq(field('name', $.path), optional($.type_arguments)),
    type_arguments: ($) => seq('{', commaSep1(choice($.type, $.integer)), '}'),

    path: ($) => prec.left(seq($.identifier, repeat(seq('.', $.identifier)))),

    _expression: ($) =>
      choice(
        $.path,
        $.integer,
        $.float,
        $.string,
        $.boolean,
        $.wildcard,
        $.section,
        $.parenthesized,
        $.eval,
        $.call,
        $.binary,
        $.unary,
        $.postfix,
        $.is_expression,
      ),

    boolean: (_) => choice('true', 'false'),
    wildcard: (_) => '_',
    section: (_) => seq('(', field('operator', choice(...SECTIONS)), ')'),
    parenthesized: ($) => seq('(', $._side, ')'),
    eval: ($) => prec(PREC.call, seq('eval', '(', $._side, optional(','), ')')),
    call: ($) =>
      prec(
        PREC.call,
        seq(field('function', $.path), optional($.type_arguments), '(', commaSep($._argument), ')'),
      ),
    _argument: ($) => choice($._side, $.splat, $.each),
    splat: ($) => seq($.identifier, '...'),
    each: ($) => seq($._side, 'for', field('variable', $.identifier), 'in', field('list', $.identifier)),

    binary: ($) =>
      choice(
        ...[
          [PREC.or, ['or']],
          [PREC.and, ['and']],
          [PREC.comparison, ['==', '!=', '<=', '>=', '<', '>']],
          [PREC.bitOr, ['|']],
          [PREC.bitAnd, ['&']],
          [PREC.shift, ['<<', '>>']],
          [PREC.sum, ['+', '-', '.+', '.-']],
          [PREC.product, ['*', '/', '.*', './']],
        ].map(([level, operators]) =>
          prec.left(
            level,
            seq(
              field('left', $._expression),
              field('operator', operators.length === 1 ? operators[0] : choice(...operators)),
              field('right', $._expression),
            ),
          ),
        ),
        prec.right(
          PREC.power,
          seq(field('left', $._expression), field('operator', '^'), field('right', $._expression)),
        ),
      ),
    unary: ($) =>
      choice(
        prec(PREC.not, seq(field('operator', 'not'), $._expression)),
        prec(PREC.negation, seq(field('operator', '-'), $._expression)),
      ),
    postfix: ($) => prec(PREC.transpose, seq($._expression, field('operator', "'"))),
    is_expression: ($) => prec.left(PREC.comparison, seq($._expression, 'is', $.type)),

    identifier: (_) => /[A-Za-z_][A-Za-z0-9_]*/,
    integer: (_) => token(choice(/0x[0-9a-fA-F_]+/, /0b[01_]+/, /[0-9][0-9_]*/)),
    float: (_) =>
      token(choice(/[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9_]+)?/, /[0-9][0-9_]*[eE][+-]?[0-9_]+/)),
    string: ($) => seq('"', repeat(choice($.string_content, $.escape)), token.immediate('"')),
    string_content: (_) => token.immediate(prec(1, /[^"\\\n]+/)),
    escape: (_) => token.immediate(/\\(["\\ntr]|u\{[0-9a-fA-F]+\})/),
  },
});
